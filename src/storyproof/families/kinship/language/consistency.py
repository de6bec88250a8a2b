"""Whether facts fit into one strict family, as far as can be seen without a search.

Everyone is born to one couple, and belongs to one couple at most. A fact says which couples are the same: the parents of
a child are the couple that the parent belongs to, siblings are born to the same couple. Somebody between two people of
a fact ("Omar's niece" is the child of somebody born to the couple to which Omar was born) is a person without a name.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.kinship.relations import FEMALE, MALE, Fact


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
        found = _Couples(0)
        found.people, found.parent, found.different = self.people, list(self.parent), self.different
        found.join(one, other)
        return found

    def ancestors(self, couple: int) -> set[int]:
        """Return a couple with all couples from which its members descend."""
        found, ahead = {couple}, [couple]
        while ahead:
            lower = ahead.pop()
            above = {self.birth(person) for person in range(self.people) if self.own(person) == lower} - found
            found |= above
            ahead += above
        return found

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
