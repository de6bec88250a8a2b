import random
from collections.abc import Set
from dataclasses import replace
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.relations import FEMALE, MALE, NAMES, inverse
from tests.families.kinship.test_checker import grow

# Abe and Bea have Carl and Dora; Dora and Ed have Finn and Gina; Carl and Hana have Ivo; Finn is married to Jo.
ABE, BEA, CARL, DORA, ED, FINN, GINA, HANA, IVO, JO = range(10)
SMITHS = Genealogy(
    (
        Person("Abe", MALE, None, 0),
        Person("Bea", FEMALE, None, 0),
        Person("Carl", MALE, 0, 2),
        Person("Dora", FEMALE, 0, 1),
        Person("Ed", MALE, None, 1),
        Person("Finn", MALE, 1, 3),
        Person("Gina", FEMALE, 1),
        Person("Hana", FEMALE, None, 2),
        Person("Ivo", MALE, 2),
        Person("Jo", FEMALE, None, 3),
    ),
    ((ABE, BEA), (ED, DORA), (CARL, HANA), (FINN, JO)),
)

KIN = [
    (ABE, "child", {CARL, DORA}),
    (BEA, "child", {CARL, DORA}),
    (GINA, "child", set()),
    (FINN, "inv-child", {DORA, ED}),
    (ABE, "inv-child", set()),
    (DORA, "SO", {ED}),
    (GINA, "SO", set()),
    (FINN, "sibling", {GINA}),
    (IVO, "sibling", set()),
    (ABE, "grand", {FINN, GINA, IVO}),
    (IVO, "inv-grand", {ABE, BEA}),
    (CARL, "un", {FINN, GINA}),
    (HANA, "un", set()),  # by marriage only
    (GINA, "inv-un", {CARL}),  # and not Hana
    (IVO, "inv-un", {DORA}),
    (DORA, "in-law", {JO}),
    (ABE, "in-law", {ED, HANA}),
    (JO, "inv-in-law", {DORA, ED}),
    (ED, "sibling-in-law", {CARL}),  # the wife's brother, not that one's wife
    (HANA, "sibling-in-law", {DORA}),
    (DORA, "sibling-in-law", {HANA}),  # the brother's wife
    (JO, "sibling-in-law", {GINA}),
]


@pytest.mark.parametrize(("person", "relation", "expected"), KIN)
def test_each_relation_is_what_it_says(person: int, relation: str, expected: set[int]) -> None:
    assert SMITHS.problems() == []
    assert SMITHS.kin(person, relation) == expected


def test_relations_are_all_that_somebody_is_to_somebody() -> None:
    assert SMITHS.relations(ABE, IVO) == {"grand"}
    assert SMITHS.relations(IVO, ABE) == {"inv-grand"}
    assert SMITHS.relations(FINN, IVO) == set()  # a cousin
    assert SMITHS.relations(FINN, FINN) == set()


# --- laws

families = st.builds(lambda seed, size: grow(random.Random(seed), size), st.integers(0, 10**9), st.integers(1, 24))


@given(families)
def test_what_one_is_to_the_other_the_other_is_back(family: Genealogy) -> None:
    for person, name in product(range(len(family.people)), NAMES):
        for other in family.kin(person, name):
            assert person in family.kin(other, inverse(name))


@given(families)
def test_two_people_are_one_thing_to_each_other_at_most(family: Genealogy) -> None:
    for first, second in permutations(range(len(family.people)), 2):
        assert len(family.relations(first, second)) <= 1


@given(families)
def test_nobody_is_anything_to_themself(family: Genealogy) -> None:
    assert all(not family.relations(person, person) for person in range(len(family.people)))


@given(families)
def test_couples_are_a_man_and_a_woman_who_share_their_children(family: Genealogy) -> None:
    for husband, wife in family.couples:
        assert (family.people[husband].gender, family.people[wife].gender) == (MALE, FEMALE)
        assert family.spouse(husband) == {wife}
        assert family.children(husband) == family.children(wife)
    for person in range(len(family.people)):
        assert len(family.spouse(person)) <= 1
        assert sorted(family.people[parent].gender for parent in family.parents(person)) in ([], [FEMALE, MALE])


@given(families)
def test_kin_is_as_defined_in_terms_of_parents_and_spouses(family: Genealogy) -> None:
    """Each definition once more, by who is whose parent and who is married to whom alone."""
    everybody = range(len(family.people))
    parents = {
        (child, family.couples[family.people[child].parents][side])
        for child in everybody
        for side in (0, 1)
        if family.people[child].parents is not None
    }
    wed = {pair for husband, wife in family.couples for pair in ((husband, wife), (wife, husband))}
    siblings = {(a, b) for a, p in parents for b, q in parents if p == q and a != b}

    def back(pairs: Set[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(b, a) for a, b in pairs}

    def then(pairs: Set[tuple[int, int]], more: Set[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(a, d) for a, b in pairs for c, d in more if b == c and a != d}

    expected = {
        "child": back(parents),
        "inv-child": parents,
        "SO": wed,
        "sibling": siblings,
        "grand": back(then(parents, parents)),
        "inv-grand": then(parents, parents),
        "un": back(then(parents, siblings)),
        "inv-un": then(parents, siblings),
        "in-law": back(then(wed, parents)),
        "inv-in-law": then(wed, parents),
        "sibling-in-law": then(wed, siblings) | then(siblings, wed),
    }
    for name in NAMES:
        assert {(a, b) for a in everybody for b in family.kin(a, name)} == expected[name]


# --- what is no family


def couple(husband: Person, wife: Person, *others: Person) -> Genealogy:
    return Genealogy((husband, wife, *others), ((0, 1),))


UNLAWFUL = [
    (couple(Person("A", MALE, None, 0), Person("B", MALE, None, 0)), "couple 0 is not a man and a woman"),
    (couple(Person("A", FEMALE, None, 0), Person("B", MALE, None, 0)), "couple 0 is not a man and a woman"),
    (couple(Person("A", MALE, None, 0), Person("B", FEMALE)), "couple 0 is not a man and a woman"),
    (couple(Person("A", MALE, 0, 0), Person("B", FEMALE, None, 0)), "person 0 is their own ancestor"),
    (
        Genealogy(  # brother and sister
            (
                Person("A", MALE, None, 0),
                Person("B", FEMALE, None, 0),
                Person("C", MALE, 0, 1),
                Person("D", FEMALE, 0, 1),
            ),
            ((0, 1), (2, 3)),
        ),
        "the spouses of couple 1 share an ancestor",
    ),
    (
        Genealogy(  # father and daughter, the mother being another
            (Person("A", MALE, None, 1), Person("B", FEMALE, None, 0), Person("C", FEMALE, 0, 1)),
            ((0, 1), (0, 2)),
        ),
        "the spouses of couple 1 share an ancestor",
    ),
    (
        Genealogy(  # each the other's grandchild
            (
                Person("A", MALE, 1, 0),
                Person("B", FEMALE, None, 0),
                Person("C", MALE, 0, 1),
                Person("D", FEMALE, None, 1),
            ),
            ((0, 1), (2, 3)),
        ),
        "person 2 is their own ancestor",
    ),
    (
        couple(Person("A", MALE, None, 0), Person("B", FEMALE, None, 0), Person("C", FEMALE, None, 0)),
        "person 2",  # says that she is one of couple 0, which is somebody else's
    ),
]


@pytest.mark.parametrize(("family", "problem"), UNLAWFUL)
def test_what_is_no_family_is_found_out(family: Genealogy, problem: str) -> None:
    assert any(found.startswith(problem) for found in family.problems())


def test_people_whose_parents_nobody_speaks_of_are_no_problem() -> None:
    alone = Genealogy((Person("A", MALE), Person(None, FEMALE)), ())
    assert alone.problems() == []
    assert all(alone.kin(0, name) == set() for name in NAMES)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({ABE: {"marriage": None}}, "couple 0 is not a man and a woman married to each other"),
        ({BEA: {"marriage": 2}}, "couple 0 is not a man and a woman married to each other"),
        ({ABE: {"gender": FEMALE}}, "couple 0 is not a man and a woman married to each other"),
        ({BEA: {"gender": MALE}}, "couple 0 is not a man and a woman married to each other"),
        ({IVO: {"marriage": 3}}, f"person {IVO} does not belong to couple 3"),
        ({HANA: {"parents": 1}}, "the spouses of couple 2 share an ancestor"),
        ({JO: {"parents": 0}}, "the spouses of couple 3 share an ancestor"),
        ({ABE: {"parents": 2}}, f"person {CARL} is their own ancestor"),
    ],
)
def test_broken_laws_are_named(changes: dict[int, dict[str, object]], problem: str) -> None:
    people = tuple(replace(person, **changes.get(number, {})) for number, person in enumerate(SMITHS.people))
    assert problem in replace(SMITHS, people=people).problems()
