"""The checker: a second, independent derivation of every answer, from the families that fit a story.

Nothing is derived from relations here. Families are sketched from the facts of a story and then inspected. A sketch has
couples, each with two seats, and for each seat the couple to which its holder was born. People exist only as holders of
seats: marrying a single person to somebody unrelated keeps a family valid and changes nothing between the others. A
sketch need not record everybody's parents either: whoever has none recorded shares ancestors with nobody. A named man
sits in seat 0 and a named woman in seat 1; in a couple without a named member, either seat may be the man's.

Facts equate couples: x's own couple O(x), x's birth couple B(x), and the birth couples of the holders of their seats.
Some facts leave a choice (through which parent? whose spouse?), and each series of choices yields one sketch. Sketches
decide every question, because:

1. In a family that fits, every fact takes one side of its choice. The sketch that makes the same choices maps into the
   family: couples to couples, births to births, seats to seats (in order, or swapped in a couple without a named
   member). Where a choice is between two seats of which nothing is known, the map may swap them, so one side suffices.
2. A sketch only equates, so whatever holds in it holds in every family it maps into. This includes breaking a law: two
   names for one person, a man and a woman who are one person, a couple met twice on the way up from another couple. So
   a sketch that breaks a law maps into no family, and a sketch that breaks none is itself a family that fits.
3. Two relations require people to differ: an uncle is not the parent, and a spouse is not a brother-in-law. Both people
   are born to one couple and siblings do not marry, so this says exactly that two couples differ: O(x) and B(y) if y is
   x's nephew, O(x) and O(y) if y is x's brother-in-law. For a fact this is one more law to keep, as in 2.
4. So a query holds in some family if the story with the query as one more fact has a lawful sketch. It fails in some
   family if a lawful sketch of the story does not equate what the query equates, since that sketch is a family; or if
   the couples of 3 may be one, that is, if the story with x's `child` or `SO` y as one more fact has a lawful sketch.
   Otherwise every lawful sketch equates what the query equates, hence by 2 every family does, and keeps them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.relations import FEMALE, GENDERS, NAMES, Fact, inverse

ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE = "entailed", "ambiguous", "contradicted", "impossible"
STATUSES = (ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE)

# The relations that remain when each is stated from the elder's side, those without a choice first; and a choice that
# arises on the way: two couples are one, but which seat is which?
SPOUSE, CHILD, SIBLING, IN_LAW, GRAND, NEPHEW, SIBLING_IN_LAW, SAME = range(8)
DOWN = ("SO", "child", "sibling", "in-law", "grand", "un", "sibling-in-law")
KINDS = {name: DOWN.index(name if name in DOWN else inverse(name)) for name in NAMES}
_UNLESS = {NEPHEW: CHILD, SIBLING_IN_LAW: SPOUSE}  # states that the two couples that must differ are one

Link = tuple[int, int, int]  # a relation and two people; or SAME and two couples
Option = tuple[int, int, int]  # a seat and the couple its holder was born to, and -1; or two couples, and their swap


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The status of a query, with families that show it.

    Attributes:
        status: One of STATUSES.
        fits: A family that fits the story and in which the query holds; None if there is none.
        against: A family that fits the story and in which the query does not hold; None if there is none.
    """

    status: str
    fits: Genealogy | None
    against: Genealogy | None


def status(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> str:
    """Return whether a query holds in all, some or none of the families that fit a story, or that no family fits.

    Args:
        genders: The genders of the story's people, who are pairwise distinct.
        facts: The facts of the story.
        query: What is asked; nobody is related to themselves.

    Returns:
        One of STATUSES.

    Raises:
        ValueError: If a predicate is unknown or a person out of range.
    """
    return _label(*_decide(genders, facts, query))


def find_witnesses(
    genders: Sequence[str], facts: Sequence[Fact], query: Fact, names: Sequence[str] | None = None
) -> Witnesses:
    """Return the status of a query (see `status`) with families that show it; unnamed people are numbered."""
    fits, against = _decide(genders, facts, query)
    drawn = [sketch if sketch is None else _family(sketch, genders, names) for sketch in (fits, against)]
    return Witnesses(_label(fits, against), *drawn)


def fitting_families(
    genders: Sequence[str], facts: Sequence[Fact], names: Sequence[str] | None = None
) -> Iterator[Genealogy]:
    """Yield the most general family for each series of choices that a story leaves; none if it is impossible."""
    story = _sketch(genders, facts)
    return (_family(sketch, genders, names) for sketch in (() if story is None else _finish(story)))


def _finish(sketch: Sketch, without: Link | None = None) -> Iterator[Sketch]:
    """Yield every lawful way to make the remaining choices; leave out those in which `without` holds."""
    ahead = [] if without and sketch.holds(without) else [sketch]
    dead_ends = dict[Link, int]()
    while ahead:
        sketch = ahead.pop()
        options: tuple[Option, ...] = ()
        while sketch.open and not options:
            if dead_ends:  # first what failed before, or it fails again after every unrelated choice
                link = max(sketch.open, key=lambda each: dead_ends.get(each, 0))
                sketch.open.remove(link)
            else:
                link = sketch.open.pop()
            options = sketch.options(link)
        if not options:
            yield sketch
            continue
        before = len(ahead)
        for place, option in enumerate(options, start=1):
            twin = sketch if place == len(options) else sketch.copy()
            if twin.choose(option) and not (without and twin.holds(without)):  # what holds keeps holding
                ahead.append(twin)
        if len(ahead) == before:
            dead_ends[link] = dead_ends.get(link, 0) + 1


def _finish_with(sketch: Sketch, fact: Link) -> Iterator[Sketch]:
    """Add a fact, then make all choices."""
    twin = sketch.copy()
    return _finish(twin) if fact[1] != fact[2] and twin.add([fact]) else iter(())


def _parse(people: int, fact: Fact) -> Link:
    """Return a fact as stated from the elder's side."""
    first, predicate, second = fact
    if predicate not in KINDS:
        raise ValueError(f"unknown predicate {predicate!r} in {fact}; known: {', '.join(KINDS)}")
    if not (0 <= first < people and 0 <= second < people):
        raise ValueError(f"{fact} is about somebody other than people 0 to {people - 1}")
    return (KINDS[predicate], first, second) if predicate in DOWN else (KINDS[predicate], second, first)


def _sketch(genders: Sequence[str], facts: Sequence[Fact]) -> Sketch | None:
    """Sketch a story with its choices left open; None if that already breaks a law."""
    links = {_parse(len(genders), fact) for fact in facts}
    sketch = Sketch(genders)
    return sketch if all(first != second for _, first, second in links) and sketch.add(list(links)) else None


def _decide(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> tuple[Sketch | None, Sketch | None]:
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


def _label(fits: Sketch | None, against: Sketch | None) -> str:
    if fits is None:
        return IMPOSSIBLE if against is None else CONTRADICTED
    return ENTAILED if against is None else AMBIGUOUS


def _family(sketch: Sketch, genders: Sequence[str], names: Sequence[str] | None) -> Genealogy:
    """Build the family of a finished sketch, without the couples that no relation depends on."""
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
    return Genealogy(tuple(people), tuple((place[2 * couple], place[2 * couple + 1]) for couple in number))


class Sketch:
    """What a story and some choices determine of a family; couple c has the seats 2c and 2c + 1, and -1 is unknown.

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
        self.open = list[Link]()
        for person, gender in enumerate(genders):
            seat = 2 * person + (gender == FEMALE)
            self.name[seat] = person
            self.where.append(seat)

    def copy(self) -> Sketch:
        """Return a copy that can be extended without changing this sketch."""
        twin = Sketch.__new__(Sketch)
        twin.birth, twin.name, twin.where = self.birth[:], self.name[:], self.where[:]
        twin.into, twin.above, twin.apart, twin.open = self.into[:], self.above[:], self.apart[:], self.open[:]
        return twin

    def add(self, facts: Sequence[Link]) -> bool:
        """Add facts, those without a choice first; return whether all laws hold so far."""
        where = self.where
        for kind, first, second in sorted(facts):
            if kind == SPOUSE:
                lawful = self.merge(where[first] >> 1, where[second] >> 1)
            elif kind == CHILD:
                lawful = self.bear(where[second], where[first] >> 1)
            elif kind == SIBLING:
                known, new = (second, first) if self.birth[where[first]] < 0 else (first, second)
                lawful = self.bear(where[new], self.born(known))
            elif kind == IN_LAW:
                lawful = self.bear(where[second] ^ 1, where[first] >> 1)
            else:
                lawful = self.postpone(kind, first, second)
            if not lawful:
                return False
        return True

    def postpone(self, kind: int, first: int, second: int) -> bool:
        """Add a fact with a choice, made at once if one side suffices; return whether all laws hold so far."""
        couple = self.born(second)
        if kind != GRAND:
            self.born(first)
            own, other = self.where[first] >> 1, couple if kind == NEPHEW else self.where[second] >> 1
            self.apart.append((own, other))
            if own == other:
                return False
        options = self.options((kind, first, second))
        if len(options) > 1:
            self.open.append((kind, first, second))
        return len(options) != 1 or self.choose(options[0])

    def born(self, person: int) -> int:
        """Return the couple that a named person was born to; add it if it is not known."""
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
        """Record that the holder of a seat was born to a couple; return whether that is lawful."""
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
        """Return whether nothing distinguishes a couple's seats."""
        birth, name, seat = self.birth, self.name, 2 * couple
        return birth[seat] & birth[seat + 1] & name[seat] & name[seat + 1] < 0  # all are -1

    def pinned(self, couple: int) -> bool:
        """Return whether a couple has a named member, so that its seats have genders."""
        return self.name[2 * couple] & self.name[2 * couple + 1] != -1

    def merge(self, first: int, second: int, swap: int = -1) -> bool:
        """Make two couples one, with all consequences; return whether that is lawful.

        Args:
            first: A couple.
            second: Another.
            swap: Whether seat 0 of the one is seat 1 of the other, 0 or 1; -1 to leave it open where it matters.
        """
        ahead = [(first, second, swap)]
        for one, other, turn in ahead:  # grows while it is read
            keep, drop = self.find(one), self.find(other)
            if keep == drop:
                continue
            if self.pinned(drop):
                if self.pinned(keep):
                    turn = 0
                keep, drop = drop, keep
            if turn < 0 and not (self.blank(keep) or self.blank(drop)):
                self.open.append((SAME, keep, drop))
            elif self.move(drop, keep, max(turn, 0), ahead):
                self.birth = [keep if couple == drop else couple for couple in self.birth]
                self.into[drop] = keep
            else:
                return False
        return all(self.find(one) != self.find(other) for one, other in self.apart) and self.climb()

    def move(self, drop: int, keep: int, swap: int, ahead: list[tuple[int, int, int]]) -> bool:
        """Move a couple's people to another's seats, noting births to equate; return whether no two names meet."""
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
        """Return the couple that a couple was merged into."""
        into = self.into
        while into[couple] != couple:
            couple = into[couple]
        return couple

    def climb(self) -> bool:
        """Compute who descends from whom; return whether, as the laws require, no way up meets a couple twice."""
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
                    above[couple] = -1  # until its ancestors are known
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

    def options(self, link: Link) -> tuple[Option, ...]:
        """Return the sides of a choice; none if it is already made."""
        kind, first, second = link
        if kind == SAME:
            one, other = self.find(first), self.find(second)
            if one == other:
                return ()
            return ((one, other, 0),) if self.pinned(one) and self.pinned(other) else ((one, other, 0), (one, other, 1))
        if self.holds(link):
            return ()
        birth, one, other = self.birth, self.where[first], self.where[second]
        if kind == SIBLING_IN_LAW:
            return (one ^ 1, birth[other], -1), (other ^ 1, birth[one], -1)
        seat, elders = 2 * birth[other], one >> 1 if kind == GRAND else birth[one]
        left, right = (seat, elders, -1), (seat + 1, elders, -1)
        return (left,) if self.blank(birth[other]) else (left, right)

    def choose(self, option: Option) -> bool:
        """Take one side of a choice; return whether that is lawful."""
        first, second, swap = option
        return self.bear(first, second) if swap < 0 else self.merge(first, second, swap)

    def holds(self, link: Link) -> bool:
        """Return whether the couples that a relation equates are the same."""
        kind, first, second = link
        birth, one, other = self.birth, self.where[first], self.where[second]
        if kind == SPOUSE:
            return one >> 1 == other >> 1
        if kind == CHILD or kind == IN_LAW:
            return birth[other if kind == CHILD else other ^ 1] == one >> 1
        if kind == SIBLING:
            return birth[one] == birth[other] >= 0
        if kind == SIBLING_IN_LAW:
            return birth[one ^ 1] == birth[other] >= 0 or birth[other ^ 1] == birth[one] >= 0
        elders = one >> 1 if kind == GRAND else birth[one]
        seat = 2 * birth[other]
        return seat >= 0 <= elders and (birth[seat] == elders or birth[seat + 1] == elders)
