"""Whether facts fit together: into one strict family, as far as can be seen without a search, and into one sentence.

Everyone is born to one couple, and belongs to one couple at most. A fact says which couples are the same: the parents
of a child are the couple that the parent belongs to, siblings are born to the same couple. Somebody between the two
people of a fact is a person without a name: a niece of Omar's is the child of somebody who was born to the couple to
which Omar was born.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.relations import FEMALE, MALE, NAMES, Fact

# What a chain of two facts in one sentence must not be, since a nearer word exists: "his father, Suresh, and Suresh's
# wife, Sarah" suggests that Sarah is not the mother.
SUGGESTIVE = frozenset(
    {
        ("inv-child", "SO"), ("inv-child", "child"), ("SO", "child"), ("SO", "grand"), ("inv-grand", "SO"),
        ("child", "sibling"), ("child", "inv-child"), ("sibling", "inv-child"), ("sibling", "inv-grand"),
        ("sibling", "inv-un"), ("grand", "sibling"), ("un", "sibling"), ("sibling", "sibling"),
    }
)  # fmt: skip
# The same for two facts about one person: "her husband, Leonard, met her daughter, Matilda".
SUGGESTIVE_OF_ONE = frozenset({("SO", "child"), ("SO", "grand")})


class _Couples:
    """Couples that turn out to be the same; each person has two: the one they were born to, and their own."""

    def __init__(self, people: int) -> None:
        self.people = people
        self.parent = list(range(2 * people))
        self.different: list[tuple[int, int]] = []

    def person(self) -> int:
        self.people += 1
        self.parent += [len(self.parent), len(self.parent) + 1]
        return self.people - 1

    def birth(self, person: int) -> int:
        return self.find(2 * person)

    def own(self, person: int) -> int:
        return self.find(2 * person + 1)

    def find(self, couple: int) -> int:
        parent = self.parent
        while parent[couple] != couple:
            parent[couple] = parent[parent[couple]]
            couple = parent[couple]
        return couple

    def join(self, one: int, other: int) -> None:
        self.parent[self.find(one)] = self.find(other)

    def joined(self, one: int, other: int) -> _Couples:
        """Return a copy in which two couples are the same."""
        copy = _Couples(0)
        copy.people, copy.parent, copy.different = self.people, list(self.parent), self.different
        copy.join(one, other)
        return copy

    def ancestors(self, couple: int) -> set[int]:
        """Return a couple with all couples from which its members descend."""
        ancestors, ahead = {couple}, [couple]
        while ahead:
            lower = ahead.pop()
            above = {self.birth(person) for person in range(self.people) if self.own(person) == lower} - ancestors
            ancestors |= above
            ahead += above
        return ancestors

    def has_circle(self) -> bool:
        """Return whether a couple descends from itself."""
        below: dict[int, set[int]] = {}
        above: dict[int, int] = {}
        for person in range(self.people):
            birth, own = self.birth(person), self.own(person)
            if own not in below.setdefault(birth, set()):
                below[birth].add(own)
                above[own] = above.get(own, 0) + 1
        free = [couple for couple in below if couple not in above]
        left = len(below.keys() | above.keys())
        while free:
            left -= 1
            for lower in below.get(free.pop(), ()):
                above[lower] -= 1
                if not above[lower]:
                    free.append(lower)
        return left > 0

    def add(self, fact: Fact) -> None:
        """Add a fact; brothers- and sisters-in-law have two definitions, so they say nothing here."""
        first, predicate, second = fact
        if predicate.startswith("inv-"):
            first, predicate, second = second, predicate.removeprefix("inv-"), first
        if predicate == "child":
            self.join(self.own(first), self.birth(second))
        elif predicate == "SO":
            self.join(self.own(first), self.own(second))
            self.different.append((first, second))
        elif predicate == "sibling":
            self.join(self.birth(first), self.birth(second))
            self.different.append((first, second))
        elif predicate != "sibling-in-law":
            between = self.person()
            if predicate == "un":
                self.join(self.birth(between), self.birth(first))
                self.different.append((between, first))
            else:
                self.join(self.birth(between), self.own(first))
            if predicate == "in-law":
                self.join(self.own(between), self.own(second))
                self.different.append((between, second))
            else:
                self.join(self.own(between), self.birth(second))


def find_contradiction(facts: Sequence[Fact], genders: Sequence[str | None]) -> str | None:
    """Return why facts cannot all hold in a strict family, or None if no contradiction is seen.

    Args:
        facts: Who is what to whom, people by number.
        genders: Everybody's gender, None if unknown.
    """
    couples = _Couples(len(genders))
    for fact in facts:
        couples.add(fact)
    return _find_conflict(couples, genders) or _find_related_spouses(couples, genders)


def _find_conflict(couples: _Couples, genders: Sequence[str | None]) -> str | None:
    members: dict[int, list[int]] = {}
    for person in range(len(genders)):
        members.setdefault(couples.own(person), []).append(person)
    for couple in members.values():
        known = [genders[person] for person in couple]
        if len(couple) > 2 or known.count(MALE) > 1 or known.count(FEMALE) > 1:
            return "somebody would have two fathers, two mothers, or two spouses"
    for one, other in couples.different:
        if couples.own(one) == couples.own(other) and couples.birth(one) == couples.birth(other):
            return "siblings would be married to each other"
    if couples.has_circle():
        return "somebody would be their own ancestor"
    return None


def _find_related_spouses(couples: _Couples, genders: Sequence[str | None]) -> str | None:
    """Find two people of one couple who share an ancestor, unless they can be the same person."""
    members: dict[int, list[int]] = {}
    for person in range(couples.people):
        members.setdefault(couples.own(person), []).append(person)
    for couple in members.values():
        births = {couples.birth(person): person for person in couple}
        if len(births) != 2 or not couples.ancestors(min(births)) & couples.ancestors(max(births)):
            continue
        one, other = births.values()
        distinct = max(one, other) < len(genders) or {(one, other), (other, one)} & set(couples.different)
        if distinct or _find_conflict(couples.joined(min(births), max(births)), genders):
            return "spouses would share an ancestor"
    return None


# The joins that a relation makes, as in `_Couples.add`: of which people (first, second, the person between) which
# couples (0 the one they were born to, 1 their own) are the same. Relations that point up are turned round.
_FIRST, _SECOND, _BETWEEN = range(3)
_JOINS: dict[str, tuple[tuple[tuple[int, int], tuple[int, int]], ...]] = {
    "child": (((_FIRST, 1), (_SECOND, 0)),),
    "SO": (((_FIRST, 1), (_SECOND, 1)),),
    "sibling": (((_FIRST, 0), (_SECOND, 0)),),
    "grand": (((_BETWEEN, 0), (_FIRST, 1)), ((_BETWEEN, 1), (_SECOND, 0))),
    "un": (((_BETWEEN, 0), (_FIRST, 0)), ((_BETWEEN, 1), (_SECOND, 0))),
    "in-law": (((_BETWEEN, 0), (_FIRST, 1)), ((_BETWEEN, 1), (_SECOND, 1))),
    "sibling-in-law": (),
}
_DIFFERENT = {
    "SO": (_FIRST, _SECOND),
    "sibling": (_FIRST, _SECOND),
    "un": (_BETWEEN, _FIRST),
    "in-law": (_BETWEEN, _SECOND),
}
_POINTS_UP = np.array([name.startswith("inv-") for name in NAMES])
_SYMMETRIC = np.array([name in ("SO", "sibling", "sibling-in-law") for name in NAMES])
_DOWN = np.array([NAMES.index(name.removeprefix("inv-")) for name in NAMES])
_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


def find_entangled(
    story: _Numbers, first: _Numbers, predicate: _Numbers, second: _Numbers, genders: npt.NDArray[np.uint64]
) -> _Flags:
    """Return which stories may have a contradiction, of many stories at once.

    In all others `find_contradiction` finds none: no couple has too many members, no siblings are married, and there is
    one way at most from any couple to any other, so that nobody descends from themselves or shares an ancestor with a
    spouse.

    Args:
        story: [fact], in order.
        first: [fact], people by number.
        predicate: [fact], numbers of `relations.NAMES`.
        second: [fact].
        genders: [story, 2], women and men as bits.
    """
    count = len(genders)
    if not len(story):
        return np.zeros(count, np.bool_)
    story, who, names = _sort(story, first, predicate, second)
    place = np.arange(len(story)) - np.searchsorted(story, np.arange(count))[story]
    people, facts = int(who.max()) + 1, int(place.max()) + 1
    who = np.concatenate([who, (people + place)[:, None]], axis=1)
    couples = np.tile(np.arange(2 * (people + facts), dtype=np.int16), (count, 1))
    connected = np.tile(np.arange(people, dtype=np.int16), (count, 1))
    circular = np.zeros(count, np.bool_)
    for each in range(facts):
        here = np.flatnonzero(place == each)
        rows = story[here]
        circular[rows[connected[rows, who[here, 0]] == connected[rows, who[here, 1]]]] = True
        _join(connected, rows, who[here, 0], who[here, 1])
        for name, joins in _JOINS.items():
            chosen = here[names[here] == NAMES.index(name)]
            for (one, one_couple), (other, other_couple) in joins if len(chosen) else ():
                _join(couples, story[chosen], 2 * who[chosen, one] + one_couple, 2 * who[chosen, other] + other_couple)
    entangled = _has_full_couple(couples[:, 1 : 2 * people : 2], genders)
    # Without a circle of facts there is none of couples either, since every fact joins what was not connected before.
    suspects = np.flatnonzero(circular)
    entangled[suspects] |= _has_two_ways(couples[suspects])
    for name, (one, other) in _DIFFERENT.items():
        chosen = np.flatnonzero(names == NAMES.index(name))
        rows = story[chosen]
        born, own = (
            couples[rows, 2 * who[chosen, one] + couple] == couples[rows, 2 * who[chosen, other] + couple]
            for couple in (0, 1)
        )
        entangled[rows[born & own]] = True
    return entangled


def _sort(
    story: _Numbers, first: _Numbers, predicate: _Numbers, second: _Numbers
) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return facts without repetitions: stories, people [fact, 2] and predicates, none of which points up."""
    turn = _POINTS_UP[predicate]
    low, high = np.where(turn, second, first), np.where(turn, first, second)
    turn = _SYMMETRIC[predicate] & (low > high)
    low, high = np.where(turn, high, low), np.where(turn, low, high)
    key = ((story * 64 + low) * 64 + high) * len(NAMES) + _DOWN[predicate]
    key.sort()
    key = key[np.concatenate([[True], key[1:] != key[:-1]])]
    rest, name = key // len(NAMES), key % len(NAMES)
    return rest // 4096, np.stack([rest // 64 % 64, rest % 64], axis=1), name


def _join(couples: npt.NDArray[np.int16], rows: _Numbers, one: _Numbers, other: _Numbers) -> None:
    """Make two couples of each row the same; the lower number stands for both."""
    labels = couples[rows, one], couples[rows, other]
    low, high = np.minimum(*labels)[:, None], np.maximum(*labels)[:, None]
    chosen = couples[rows]
    couples[rows] = np.where(chosen == high, low, chosen)


def _has_full_couple(own: npt.NDArray[np.int16], genders: npt.NDArray[np.uint64]) -> _Flags:
    """Return whether three people, or two of one gender, belong to one couple."""
    people = np.arange(own.shape[1], dtype=np.uint64)
    women, men = (((genders[:, [each]] >> people) & np.uint64(1)).astype(np.int16) for each in (0, 1))
    couples = np.sort(own, axis=1)
    is_full: _Flags = (couples[:, 2:] == couples[:, :-2]).any(axis=1)
    for gender in (women, men):
        known = np.sort(np.where(gender == 1, own, -1 - people.astype(np.int16)), axis=1)  # all others are different
        is_full |= (known[:, 1:] == known[:, :-1]).any(axis=1)
    return is_full


def _has_two_ways(couples: npt.NDArray[np.int16]) -> _Flags:
    """Return whether people connect couples in a circle; each person connects two couples."""
    places = np.arange(couples.shape[1], dtype=np.int16)
    nodes = (couples == places).sum(axis=1)
    edges = np.sort(couples[:, 0::2].astype(np.int32) * couples.shape[1] + couples[:, 1::2], axis=1)
    distinct = 1 + (edges[:, 1:] != edges[:, :-1]).sum(axis=1)
    joined, rows = couples.copy(), np.arange(len(couples))
    for person in range(0, couples.shape[1], 2):
        _join(joined, rows, np.full(len(rows), person), np.full(len(rows), person + 1))
    components = (joined == places).sum(axis=1)
    has_circle: _Flags = distinct != nodes - components
    return has_circle
