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
    below: dict[int, set[int]] = {}
    for person in range(couples.people):
        below.setdefault(couples.birth(person), set()).add(couples.own(person))
    if _has_circle(below):
        return "somebody would be their own ancestor"
    return None


def _has_circle(below: dict[int, set[int]]) -> bool:
    above: dict[int, int] = {}
    for lower in below.values():
        for couple in lower:
            above[couple] = above.get(couple, 0) + 1
    free = [couple for couple in below if not above.get(couple)]
    seen = 0
    while free:
        couple = free.pop()
        seen += 1
        for lower in below.get(couple, ()):
            above[lower] -= 1
            if not above[lower]:
                free.append(lower)
    return seen < len(set(below) | set(above))
