"""Families that fit a story: a second, independent derivation of every answer.

Nothing is derived from relations here: families are sketched as the story tells, and looked at. A sketch has couples,
each with two seats, and for a seat the couple that its holder was born to. It has no people apart from their seats: a
family stays one if whoever is single marries somebody from nowhere, and nothing changes between the others. Nor need
it show everybody's parents: whoever has none in it is from nowhere, with ancestors that are nobody else's. A named man
sits in seat 0 and a named woman in seat 1; in a couple without a named one, either seat may be the man's.

Facts equate couples: x's own couple O(x), x's birth couple B(x), and the birth couples of those who sit in them. Some
leave a choice (through which parent? whose spouse?), and each series of choices makes one sketch. These decide every
question, because:

1. In a family that fits, every fact takes one side of its choice. The sketch that chooses alike maps into the family:
   couples to couples, births to births, seats to seats (in order, or swapped in a couple without a named one). Where
   a choice is between two seats of which nothing is known, the map may swap them, so one side will do.
2. Equating is all that a sketch does, so what holds in it holds in whatever it maps into. That goes for breaking a
   law, too: two names for one person, a man and a woman who are one, a couple met twice on the way up from another.
   So a sketch that breaks one maps into no family; and one that breaks none is itself a family that fits.
3. Two relations need people to differ: an uncle is not the parent, nor is one's spouse one's brother-in-law. As both
   are born to one couple, and siblings do not marry, this says just that two couples differ: O(x) and B(y) if y is
   x's nephew, O(x) and O(y) if y is x's brother-in-law. In a fact it is one more law to keep, as in 2.
4. So a query holds in some family if a sketch of the story with the query for another fact is lawful. It fails in
   some if a lawful sketch of the story does not equate what it equates, that sketch being a family; or if the couples
   of 3 may be one, which is to say, if the story has a lawful sketch with x's `child` or `SO` y for another fact.
   Otherwise every lawful sketch equates what the query does, and by 2 so does every family, and keeps them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storyproof.kinship.families import Family, Person
from storyproof.kinship.relations import FEMALE, GENDERS, NAMES, Fact, inverse

ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE = "entailed", "ambiguous", "contradicted", "impossible"
STATUSES = (ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE)

# The relations that are left when each is told from the elder's side, those without a choice first; and a choice that
# comes up on the way: two couples are one, but who is who?
_SPOUSE, _CHILD, _SIBLING, _IN_LAW, _GRAND, _NEPHEW, _SIBLING_IN_LAW, _SAME = range(8)
_DOWN = ("SO", "child", "sibling", "in-law", "grand", "un", "sibling-in-law")
_KINDS = {name: _DOWN.index(name if name in _DOWN else inverse(name)) for name in NAMES}
_UNLESS = {_NEPHEW: _CHILD, _SIBLING_IN_LAW: _SPOUSE}  # what says that the two couples that must differ are one

Told = tuple[int, int, int]  # a relation and two people; or _SAME and two couples
Option = tuple[int, int, int]  # a seat and the couple its holder was born to, and -1; or two couples, and their swap


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the families that fit a story say to a question.

    Attributes:
        status: One of STATUSES.
        fits: A family that fits the story and in which the query holds; None if there is none.
        against: A family that fits the story and in which the query does not hold; None if there is none.
    """

    status: str
    fits: Family | None
    against: Family | None


class _Sketch:
    """What a story and some choices fix of a family. Couple c has the seats 2c and 2c + 1; -1 stands for nobody known.

    Attributes:
        birth: The couple that each seat's holder was born to.
        name: The named person in each seat.
        where: Each named person's seat.
        into: The couple that each couple was merged into, itself if none.
        above: The couples that each couple descends from, with itself, as a bit mask.
        apart: Pairs of couples that must differ.
        open: Facts that leave a choice still to be made.
    """

    __slots__ = ("above", "apart", "birth", "into", "name", "open", "where")

    def __init__(self, genders: Sequence[str]) -> None:
        self.birth = [-1] * (2 * len(genders))
        self.name = [-1] * (2 * len(genders))
        self.where = list[int]()
        self.into = list(range(len(genders)))
        self.above = [1 << couple for couple in self.into]
        self.apart = list[tuple[int, int]]()
        self.open = list[Told]()
        for person, gender in enumerate(genders):
            seat = 2 * person + (gender == FEMALE)
            self.name[seat] = person
            self.where.append(seat)

    def copy(self) -> _Sketch:
        """Give a sketch that can be gone on with without changing this one."""
        twin = _Sketch.__new__(_Sketch)
        twin.birth, twin.name, twin.where = self.birth[:], self.name[:], self.where[:]
        twin.into, twin.above, twin.apart, twin.open = self.into[:], self.above[:], self.apart[:], self.open[:]
        return twin

    def tell(self, facts: Sequence[Told]) -> bool:
        """Take in facts, those without a choice first; say whether all is lawful so far."""
        where = self.where
        for kind, first, second in sorted(facts):
            if kind == _SPOUSE:
                lawful = self.merge(where[first] >> 1, where[second] >> 1)
            elif kind == _CHILD:
                lawful = self.bear(where[second], where[first] >> 1)
            elif kind == _SIBLING:
                known, new = (second, first) if self.birth[where[first]] < 0 else (first, second)
                lawful = self.bear(where[new], self.born(known))
            elif kind == _IN_LAW:
                lawful = self.bear(where[second] ^ 1, where[first] >> 1)
            else:
                lawful = self.postpone(kind, first, second)
            if not lawful:
                return False
        return True

    def postpone(self, kind: int, first: int, second: int) -> bool:
        """Take in a fact with a choice, which is made at once where one side will do; say if all is lawful so far."""
        couple = self.born(second)
        if kind != _GRAND:
            self.born(first)
            own, other = self.where[first] >> 1, couple if kind == _NEPHEW else self.where[second] >> 1
            self.apart.append((own, other))
            if own == other:
                return False
        options = self.options((kind, first, second))
        if len(options) > 1:
            self.open.append((kind, first, second))
        return len(options) != 1 or self.choose(options[0])

    def born(self, person: int) -> int:
        """Give the couple that a named person was born to."""
        seat = self.where[person]
        if self.birth[seat] < 0:
            couple = len(self.into)
            self.birth[seat] = couple
            self.birth += (-1, -1)
            self.name += (-1, -1)
            self.into.append(couple)
            own, bit = 1 << (seat >> 1), 1 << couple
            self.above = [mask | bit if mask & own else mask for mask in self.above]
            self.above.append(bit)
        return self.birth[seat]

    def bear(self, seat: int, couple: int) -> bool:
        """Let the one in a seat be born to a couple; say whether that is lawful."""
        known = self.birth[seat]
        if known >= 0:
            return known == couple or self.merge(known, couple)
        self.birth[seat] = couple
        above, own = self.above, 1 << (seat >> 1)
        new = above[couple]
        for below, mask in enumerate(above):
            if mask & own:
                if mask & new:
                    return False
                above[below] = mask | new
        return True

    def blank(self, couple: int) -> bool:
        """Say whether nothing tells a couple's seats apart."""
        birth, name, seat = self.birth, self.name, 2 * couple
        return birth[seat] & birth[seat + 1] & name[seat] & name[seat + 1] < 0  # all are -1

    def pinned(self, couple: int) -> bool:
        """Say whether a couple has a named one, so that its seats have genders."""
        return self.name[2 * couple] & self.name[2 * couple + 1] != -1

    def merge(self, first: int, second: int, swap: int = -1) -> bool:
        """Make two couples one, with all that follows; say whether that is lawful.

        Args:
            first: A couple.
            second: Another.
            swap: Whether seat 0 of the one is seat 1 of the other, 0 or 1; -1 to leave it open where it matters.
        """
        ahead = [(first, second, swap)]
        for one, other, turn in ahead:  # grows on the way
            keep, drop = self.find(one), self.find(other)
            if keep == drop:
                continue
            if self.pinned(drop):
                if self.pinned(keep):
                    turn = 0
                keep, drop = drop, keep
            if turn < 0 and not (self.blank(keep) or self.blank(drop)):
                self.open.append((_SAME, keep, drop))
            elif self.move(drop, keep, max(turn, 0), ahead):
                self.birth = [keep if couple == drop else couple for couple in self.birth]
                self.into[drop] = keep
            else:
                return False
        return all(self.find(one) != self.find(other) for one, other in self.apart) and self.climb()

    def move(self, drop: int, keep: int, swap: int, ahead: list[tuple[int, int, int]]) -> bool:
        """Seat the people of a couple with another's, noting the births to equate; say whether no two names meet."""
        birth, name = self.birth, self.name
        for seat, old in ((2 * keep, 2 * drop + swap), (2 * keep + 1, 2 * drop + 1 - swap)):
            if name[old] >= 0:
                if name[seat] >= 0:
                    return False
                name[seat] = name[old]
                self.where[name[old]] = seat
            if birth[seat] < 0:
                birth[seat] = birth[old]
            elif birth[old] >= 0:
                ahead.append((birth[seat], birth[old], -1))
            name[old] = birth[old] = -1
        return True

    def find(self, couple: int) -> int:
        """Give the couple that a couple has become."""
        into = self.into
        while into[couple] != couple:
            couple = into[couple]
        return couple

    def climb(self) -> bool:
        """Work out who descends from whom; say whether nobody is met twice on any way up, as the laws have it."""
        birth = self.birth
        above = self.above = [0] * len(self.into)
        for bottom in range(len(above)):
            ahead = [] if above[bottom] else [bottom]
            while ahead:
                couple = ahead[-1]
                parents = [birth[seat] for seat in (2 * couple, 2 * couple + 1) if birth[seat] >= 0]
                unknown = [parent for parent in parents if above[parent] <= 0]
                if unknown:
                    if any(above[parent] for parent in unknown):
                        return False
                    above[couple] = -1  # until those above it are known
                    ahead += unknown
                    continue
                mask = 1 << couple
                for parent in parents:
                    if mask & above[parent]:
                        return False
                    mask |= above[parent]
                above[couple] = mask
                ahead.pop()
        return True

    def options(self, told: Told) -> tuple[Option, ...]:
        """Give the sides of a choice; none if it is made already."""
        kind, first, second = told
        if kind == _SAME:
            one, other = self.find(first), self.find(second)
            if one == other:
                return ()
            return ((one, other, 0),) if self.pinned(one) and self.pinned(other) else ((one, other, 0), (one, other, 1))
        if self.holds(told):
            return ()
        birth, one, other = self.birth, self.where[first], self.where[second]
        if kind == _SIBLING_IN_LAW:
            return (one ^ 1, birth[other], -1), (other ^ 1, birth[one], -1)
        seat, elders = 2 * birth[other], one >> 1 if kind == _GRAND else birth[one]
        left, right = (seat, elders, -1), (seat + 1, elders, -1)
        return (left,) if self.blank(birth[other]) else (left, right)

    def choose(self, option: Option) -> bool:
        """Take one side of a choice; say whether that is lawful."""
        first, second, swap = option
        return self.bear(first, second) if swap < 0 else self.merge(first, second, swap)

    def holds(self, told: Told) -> bool:
        """Say whether the couples that a relation equates are the same."""
        kind, first, second = told
        birth, one, other = self.birth, self.where[first], self.where[second]
        if kind == _SPOUSE:
            return one >> 1 == other >> 1
        if kind == _CHILD or kind == _IN_LAW:
            return birth[other if kind == _CHILD else other ^ 1] == one >> 1
        if kind == _SIBLING:
            return birth[one] == birth[other] >= 0
        if kind == _SIBLING_IN_LAW:
            return birth[one ^ 1] == birth[other] >= 0 or birth[other ^ 1] == birth[one] >= 0
        elders = one >> 1 if kind == _GRAND else birth[one]
        seat = 2 * birth[other]
        return seat >= 0 <= elders and (birth[seat] == elders or birth[seat + 1] == elders)


def _finish(sketch: _Sketch, without: Told | None = None) -> Iterator[_Sketch]:
    """Make all choices that are left, in every lawful way; leave out those where something holds."""
    ahead = [] if without and sketch.holds(without) else [sketch]
    dead_ends = dict[Told, int]()
    while ahead:
        sketch = ahead.pop()
        options: tuple[Option, ...] = ()
        while sketch.open and not options:
            if dead_ends:  # try first what went wrong before, lest it go wrong again after each choice beside the point
                told = max(sketch.open, key=lambda each: dead_ends.get(each, 0))
                sketch.open.remove(told)
            else:
                told = sketch.open.pop()
            options = sketch.options(told)
        if not options:
            yield sketch
            continue
        before = len(ahead)
        for place, option in enumerate(options, start=1):
            twin = sketch if place == len(options) else sketch.copy()
            if twin.choose(option) and not (without and twin.holds(without)):  # what holds would go on to hold
                ahead.append(twin)
        if len(ahead) == before:
            dead_ends[told] = dead_ends.get(told, 0) + 1


def _finish_with(sketch: _Sketch, fact: Told) -> Iterator[_Sketch]:
    """Add a fact, then make all choices."""
    twin = sketch.copy()
    return _finish(twin) if fact[1] != fact[2] and twin.tell([fact]) else iter(())


def _parse(people: int, fact: Fact) -> Told:
    """Tell a fact from the elder's side."""
    first, predicate, second = fact
    if predicate not in _KINDS:
        raise ValueError(f"unknown predicate {predicate!r} in {fact}; known: {', '.join(_KINDS)}")
    if not (0 <= first < people and 0 <= second < people):
        raise ValueError(f"{fact} is about somebody else than people 0 to {people - 1}")
    return (_KINDS[predicate], first, second) if predicate in _DOWN else (_KINDS[predicate], second, first)


def _sketch(genders: Sequence[str], facts: Sequence[Fact]) -> _Sketch | None:
    """Sketch what a story tells, with its choices left open; None if that is unlawful already."""
    told = {_parse(len(genders), fact) for fact in facts}
    sketch = _Sketch(genders)
    return sketch if all(first != second for _, first, second in told) and sketch.tell(list(told)) else None


def _decide(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> tuple[_Sketch | None, _Sketch | None]:
    """Find a sketch that fits the story and in which the query holds, and one in which it does not."""
    asked = _parse(len(genders), query)
    story = _sketch(genders, facts)
    if story is None:
        return None, None
    kind, first, second = asked
    against = next(_finish(story.copy(), asked if first != second else None), None)
    if against is None and kind in _UNLESS:
        against = next(_finish_with(story, (_UNLESS[kind], first, second)), None)
    return next(_finish_with(story, asked), None), against


def _label(fits: _Sketch | None, against: _Sketch | None) -> str:
    if fits is None:
        return IMPOSSIBLE if against is None else CONTRADICTED
    return ENTAILED if against is None else AMBIGUOUS


def status(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> str:
    """Say whether a query holds in all, some or none of the families that fit a story, or that no family fits.

    Args:
        genders: Of the story's people, who are pairwise distinct.
        facts: The story.
        query: What is asked; nobody is anything to themself.

    Returns:
        One of STATUSES.

    Raises:
        ValueError: If a predicate is unknown or a person out of range.
    """
    return _label(*_decide(genders, facts, query))


def judge(genders: Sequence[str], facts: Sequence[Fact], query: Fact, names: Sequence[str] | None = None) -> Verdict:
    """Give the status of a query (see status) with families that show it; without names, people have their numbers."""
    fits, against = _decide(genders, facts, query)
    drawn = [sketch if sketch is None else _family(sketch, genders, names) for sketch in (fits, against)]
    return Verdict(_label(fits, against), *drawn)


def families(genders: Sequence[str], facts: Sequence[Fact], names: Sequence[str] | None = None) -> Iterator[Family]:
    """Give the most general family for each series of choices that a story leaves; none if the story is impossible."""
    story = _sketch(genders, facts)
    return (_family(sketch, genders, names) for sketch in (() if story is None else _finish(story)))


def _family(sketch: _Sketch, genders: Sequence[str], names: Sequence[str] | None) -> Family:
    """Draw a finished sketch, without the couples that matter to nobody."""
    born, name = Counter(sketch.birth), sketch.name
    births = [-1 if born[couple] == 1 and sketch.blank(couple) else couple for couple in sketch.birth]
    kept = set(births) - {-1}
    kept |= {seat >> 1 for seat, birth in enumerate(births) if (birth if name[seat] < 0 else name[seat ^ 1]) >= 0}
    number = {couple: place for place, couple in enumerate(sorted(kept))}
    unnamed = [seat for couple in number for seat in (2 * couple, 2 * couple + 1) if name[seat] < 0]
    labels: list[tuple[str | None, str]] = [(None, GENDERS[seat & 1]) for seat in unnamed]
    labels[:0] = zip(map(str, range(len(genders))) if names is None else names, genders, strict=True)
    seats = sketch.where + unnamed
    people = [
        Person(*label, number.get(births[seat]), number.get(seat >> 1))
        for label, seat in zip(labels, seats, strict=True)
    ]
    place = {seat: person for person, seat in enumerate(seats)}
    return Family(tuple(people), tuple((place[2 * couple], place[2 * couple + 1]) for couple in number))
