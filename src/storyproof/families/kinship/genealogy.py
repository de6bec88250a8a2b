"""Families: who was born to which couple, and who is married to whom.

Everyone has two married parents, a man and a woman; couples share all their children; spouses share no ancestor. A
family here is the part of one that somebody cares about: people whose parents nobody speaks of have none recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

from storyproof.families.kinship.relations import FEMALE, MALE


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a family.

    Attributes:
        name: None for somebody of whom the story does not speak.
        gender: male or female.
        parents: The couple they were born to; None if nobody speaks of it.
        marriage: The couple they are one of; None if nobody speaks of it.
    """

    name: str | None
    gender: str
    parents: int | None = None
    marriage: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """People and couples, by number.

    Attributes:
        people: Everybody, the named ones first.
        couples: Husband and wife of each couple.
    """

    people: tuple[Person, ...]
    couples: tuple[tuple[int, int], ...]

    def parents(self, person: int) -> frozenset[int]:
        """Give father and mother, if recorded."""
        couple = self.people[person].parents
        return frozenset() if couple is None else frozenset(self.couples[couple])

    def children(self, person: int) -> frozenset[int]:
        """Give everybody born to a person."""
        couple = self.people[person].marriage
        if couple is None:
            return frozenset()
        return frozenset(number for number, other in enumerate(self.people) if other.parents == couple)

    def spouse(self, person: int) -> frozenset[int]:
        """Give the one a person is married to."""
        couple = self.people[person].marriage
        return frozenset() if couple is None else frozenset(self.couples[couple]) - {person}

    def siblings(self, person: int) -> frozenset[int]:
        """Give everybody else born to the same couple."""
        couple = self.people[person].parents
        if couple is None:
            return frozenset()
        return frozenset(number for number, other in enumerate(self.people) if other.parents == couple) - {person}

    def kin(self, person: int, predicate: str) -> frozenset[int]:
        """Give everybody who is something to a person: the definition of each relation."""
        return frozenset(found for way in _DEFINITIONS[predicate] for found in self._follow(person, way))

    def relations(self, first: int, second: int) -> frozenset[str]:
        """Give everything that the second person is to the first."""
        return frozenset(predicate for predicate in _DEFINITIONS if second in self.kin(first, predicate))

    def problems(self) -> list[str]:
        """Say what makes this no family: couples that are none, own ancestors, spouses of one blood."""
        found = []
        for number, (husband, wife) in enumerate(self.couples):
            pair = self.people[husband], self.people[wife]
            if (pair[0].gender, pair[1].gender) != (MALE, FEMALE) or {pair[0].marriage, pair[1].marriage} != {number}:
                found.append(f"couple {number} is not a man and a woman married to each other")
            if self._ancestors(husband) & self._ancestors(wife):
                found.append(f"the spouses of couple {number} share an ancestor")
        found += [
            f"person {number} is not one of couple {person.marriage}"
            for number, person in enumerate(self.people)
            if person.marriage is not None and number not in self.couples[person.marriage]
        ]
        found += [
            f"person {number} is their own ancestor"
            for number in range(len(self.people))
            if any(number in self._ancestors(parent) for parent in self.parents(number))
        ]
        return found

    def _ancestors(self, person: int) -> set[int]:
        """Give a person with everybody they descend from."""
        found, ahead = {person}, [person]
        while ahead:
            new = self.parents(ahead.pop()) - found
            found |= new
            ahead += new
        return found

    def _follow(self, person: int, way: tuple[str, ...]) -> set[int]:
        reached = {person}
        for step in way:
            reached = {found for each in reached for found in getattr(self, step)(each)}
        return reached - {person}


# Each relation as the ways that lead to it; an uncle or aunt is a parent's sibling, and nothing is by marriage but
# in-laws.
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
