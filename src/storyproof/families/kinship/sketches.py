"""Sketches of families: what a story, and some choices, fix of who is married to whom and who was born to whom.

See `models_of` for why sketches decide every question.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.kinship.relations import FEMALE, NAMES, inverse

# The relations that are left when each is told from the elder's side, those without a choice first; and a choice that
# comes up on the way: two couples are one, but who is who?
SPOUSE, CHILD, SIBLING, IN_LAW, GRAND, NEPHEW, SIBLING_IN_LAW, SAME = range(8)
DOWN = ("SO", "child", "sibling", "in-law", "grand", "un", "sibling-in-law")
KINDS = {name: DOWN.index(name if name in DOWN else inverse(name)) for name in NAMES}

Told = tuple[int, int, int]  # a relation and two people; or SAME and two couples
Option = tuple[int, int, int]  # a seat and the couple its holder was born to, and -1; or two couples, and their swap


class Sketch:
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

    def copy(self) -> Sketch:
        """Give a sketch that can be gone on with without changing this one."""
        twin = Sketch.__new__(Sketch)
        twin.birth, twin.name, twin.where = self.birth[:], self.name[:], self.where[:]
        twin.into, twin.above, twin.apart, twin.open = self.into[:], self.above[:], self.apart[:], self.open[:]
        return twin

    def tell(self, facts: Sequence[Told]) -> bool:
        """Take in facts, those without a choice first; say whether all is lawful so far."""
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
        """Take in a fact with a choice, which is made at once where one side will do; say if all is lawful so far."""
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
                self.open.append((SAME, keep, drop))
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
        if kind == SAME:
            one, other = self.find(first), self.find(second)
            if one == other:
                return ()
            return ((one, other, 0),) if self.pinned(one) and self.pinned(other) else ((one, other, 0), (one, other, 1))
        if self.holds(told):
            return ()
        birth, one, other = self.birth, self.where[first], self.where[second]
        if kind == SIBLING_IN_LAW:
            return (one ^ 1, birth[other], -1), (other ^ 1, birth[one], -1)
        seat, elders = 2 * birth[other], one >> 1 if kind == GRAND else birth[one]
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
