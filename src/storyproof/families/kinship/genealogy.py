"""Genealogies: who was born to which couple, and who is married to whom.

Everyone has two married parents, a man and a woman; couples share all their children; spouses share no ancestor. A
genealogy records only the relevant part of a family: parents of whom nothing is known are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from storyproof.families.kinship.relations import FEMALE, MALE


@dataclass(frozen=True, slots=True)
class Person:
    """A member of a family.

    Attributes:
        name: None for somebody whom the story does not mention.
        gender: male or female.
        parents: The couple they were born to; None if not recorded.
        marriage: The couple they belong to; None if not recorded.
    """

    name: str | None
    gender: str
    parents: int | None = None
    marriage: int | None = None


@dataclass(frozen=True, slots=True)
class Genealogy:
    """People and couples, by number.

    Attributes:
        people: Everybody, the named ones first.
        couples: Husband and wife of each couple.
    """

    people: tuple[Person, ...]
    couples: tuple[tuple[int, int], ...]

    def parents(self, person: int) -> frozenset[int]:
        """Return father and mother, if recorded."""
        couple = self.people[person].parents
        return frozenset() if couple is None else frozenset(self.couples[couple])

    def children(self, person: int) -> frozenset[int]:
        """Return all children of a person."""
        couple = self.people[person].marriage
        if couple is None:
            return frozenset()
        return frozenset(number for number, other in enumerate(self.people) if other.parents == couple)

    def spouse(self, person: int) -> frozenset[int]:
        """Return the person's husband or wife, if recorded."""
        couple = self.people[person].marriage
        return frozenset() if couple is None else frozenset(self.couples[couple]) - {person}

    def siblings(self, person: int) -> frozenset[int]:
        """Return everybody else who was born to the same couple."""
        couple = self.people[person].parents
        if couple is None:
            return frozenset()
        return frozenset(number for number, other in enumerate(self.people) if other.parents == couple) - {person}

    def kin(self, person: int, predicate: str) -> frozenset[int]:
        """Return everybody who stands in a relation to a person: this defines each relation."""
        return frozenset(relative for path in _DEFINITIONS[predicate] for relative in self._follow(person, path))

    def relations(self, first: int, second: int) -> frozenset[str]:
        """Return all relations in which the second person stands to the first."""
        return frozenset(predicate for predicate in _DEFINITIONS if second in self.kin(first, predicate))

    def problems(self) -> list[str]:
        """List broken laws: invalid couples, people who are their own ancestors, spouses who are related."""
        problems = []
        for number, (husband, wife) in enumerate(self.couples):
            pair = self.people[husband], self.people[wife]
            if (pair[0].gender, pair[1].gender) != (MALE, FEMALE) or {pair[0].marriage, pair[1].marriage} != {number}:
                problems.append(f"couple {number} is not a man and a woman married to each other")
            if self._ancestors(husband) & self._ancestors(wife):
                problems.append(f"the spouses of couple {number} share an ancestor")
        problems += [
            f"person {number} does not belong to couple {person.marriage}"
            for number, person in enumerate(self.people)
            if person.marriage is not None and number not in self.couples[person.marriage]
        ]
        problems += [
            f"person {number} is their own ancestor"
            for number in range(len(self.people))
            if any(number in self._ancestors(parent) for parent in self.parents(number))
        ]
        return problems

    def _ancestors(self, person: int) -> set[int]:
        """Return a person with all their ancestors."""
        ancestors, ahead = {person}, [person]
        while ahead:
            new = self.parents(ahead.pop()) - ancestors
            ancestors |= new
            ahead += new
        return ancestors

    def _follow(self, person: int, path: tuple[str, ...]) -> set[int]:
        reached = {person}
        for step in path:
            reached = {neighbour for each in reached for neighbour in getattr(self, step)(each)}
        return reached - {person}


# Each relation as the paths that lead to it. An uncle or aunt is a parent's sibling; only in-laws are related by
# marriage.
_DEFINITIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "child": (("children",),),
    "inv-child": (("parents",),),
    "SO": (("spouse",),),
    "sibling": (("siblings",),),
    "grand": (("children", "children"),),
    "inv-grand": (("parents", "parents"),),
    "un": (("siblings", "children"),),
    "inv-un": (("parents", "siblings"),),
    "in-law": (("children", "spouse"),),
    "inv-in-law": (("spouse", "parents"),),
    "sibling-in-law": (("spouse", "siblings"), ("siblings", "spouse")),
}
