import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.checker import AMBIGUOUS, ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, NAMES, Fact, inverse
from storyproof.families.kinship.rules import (
    DOWN,
    SIBLING,
    SPOUSE,
    UP,
    published_rules,
    relation_along,
    shortest_paths,
    sound_compositions,
)
from tests.families.kinship.test_checker import grow, holds

TOLD = {  # what two of the eight relations of stories come to
    ("child", "child"): "grand",
    ("child", "inv-child"): "SO",
    ("child", "SO"): "in-law",
    ("child", "sibling"): "child",
    ("child", "un"): "grand",
    ("inv-child", "child"): "sibling",
    ("inv-child", "inv-child"): "inv-grand",
    ("inv-child", "SO"): "inv-child",
    ("inv-child", "sibling"): "inv-un",
    ("SO", "child"): "child",
    ("SO", "inv-child"): "inv-in-law",
    ("SO", "sibling"): "sibling-in-law",
    ("SO", "grand"): "grand",
    ("sibling", "child"): "un",
    ("sibling", "inv-child"): "inv-child",
    ("sibling", "SO"): "sibling-in-law",
    ("sibling", "sibling"): "sibling",
    ("sibling", "inv-grand"): "inv-grand",
    ("sibling", "inv-un"): "inv-un",
    ("grand", "sibling"): "grand",
    ("inv-grand", "SO"): "inv-grand",
    ("un", "sibling"): "un",
    ("inv-un", "inv-child"): "inv-grand",
}
IN_LAWS = {  # what more there is with the three relations that are only concluded
    ("inv-child", "inv-in-law"): "inv-grand",
    ("SO", "in-law"): "in-law",
    ("SO", "inv-in-law"): "inv-child",
    ("in-law", "child"): "grand",
    ("in-law", "SO"): "child",
    ("in-law", "inv-in-law"): "SO",
    ("inv-in-law", "SO"): "inv-in-law",
}


def test_the_compositions_are_these_thirty() -> None:
    assert len(TOLD) == 23
    assert {body: head for body, head in sound_compositions().items() if set(body) <= set(BASIC)} == TOLD
    assert sound_compositions() == TOLD | IN_LAWS


def entailed_relation(first: str, second: str) -> list[set[str]]:
    """Give for all genders for which two facts in a row are possible what is entailed of the ends."""
    facts = [Fact(0, first, 1), Fact(1, second, 2)]
    found = []
    for genders in product(GENDERS, repeat=3):
        answers = {name: status(genders, facts, Fact(0, name, 2)) for name in NAMES}
        if IMPOSSIBLE not in answers.values():
            found.append({name for name, answer in answers.items() if answer == ENTAILED})
    return found


@pytest.mark.parametrize("first", NAMES)
def test_the_checker_confirms_every_rule_and_that_there_is_no_other(first: str) -> None:
    for second in NAMES:
        found = entailed_relation(first, second)
        common = set.intersection(*found) if found else set()
        head = sound_compositions().get((first, second))
        assert common == ({head} if head else set()), (first, second)


def test_turning_a_rule_round_gives_a_rule() -> None:
    turned = {
        (inverse(second), inverse(first)): inverse(head) for (first, second), head in sound_compositions().items()
    }
    assert turned == sound_compositions()


# --- against the paper's rules

# Al and Bo have Cy; Di is Bo's sister and Ed her mother.
IN_LAWS_OF_AL = Genealogy(
    (
        Person("Al", MALE, None, 0),
        Person("Bo", FEMALE, 1, 0),
        Person("Cy", MALE, 0),
        Person("Di", FEMALE, 1),
        Person("Ed", FEMALE, None, 1),
        Person(None, MALE, None, 1),
    ),
    ((0, 1), (5, 4)),
)


def test_fourteen_of_the_papers_sixteen_rules_are_sound() -> None:
    others = {body: head for body, head in published_rules().heads.items() if sound_compositions().get(body) != head}
    assert len(published_rules().heads) == 16
    assert others == {("child", "inv-grand"): "inv-child", ("child", "inv-un"): "sibling"}
    assert not set(others) & set(sound_compositions())


@pytest.mark.parametrize(
    ("second", "relative", "published", "really"),
    [("inv-un", 3, "sibling", "sibling-in-law"), ("inv-grand", 4, "inv-child", "inv-in-law")],
)
def test_the_two_others_fail_for_relatives_by_marriage(second: str, relative: int, published: str, really: str) -> None:
    """Al's son's aunt is Al's wife's sister, and his son's grandmother her mother."""
    assert IN_LAWS_OF_AL.problems() == []
    assert holds(IN_LAWS_OF_AL, Fact(0, "child", 2))
    assert holds(IN_LAWS_OF_AL, Fact(2, second, relative))
    assert published_rules().heads["child", second] == published
    assert IN_LAWS_OF_AL.relations(0, relative) == {really}
    facts = [Fact(0, "child", 1), Fact(1, second, 2)]
    for genders in product(GENDERS, repeat=3):
        assert status(genders, facts, Fact(0, published, 2)) == AMBIGUOUS
        assert status(genders, facts, Fact(0, really, 2)) == AMBIGUOUS


# --- ways

STEPS = {UP: "parents", DOWN: "children", SPOUSE: "spouse", SIBLING: "siblings"}


def follow(family: Genealogy, person: int, way: str) -> set[int]:
    reached = {person}
    for step in way:
        reached = {found for each in reached for found in getattr(family, STEPS[step])(each)}
    return reached


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("", {""}),
        ("D", {"D"}),
        ("DU", {"", "S"}),
        ("UD", {"", "B"}),
        ("SS", {""}),
        ("UBD", {"UBD"}),  # a cousin has no shorter way
        ("DBU", {"", "S"}),
        ("DUB", {"B", "SB"}),  # a child's uncle: the two ways that make the paper's rule unsound
        ("DUU", {"U", "SU"}),
    ],
)
def test_ways_get_shorter_as_the_laws_say(way: str, expected: set[str]) -> None:
    assert shortest_paths(way) == expected


@given(st.text(st.sampled_from("UDSB"), max_size=5), st.integers(0, 10**9))
def test_shortened_ways_lead_where_the_way_leads(way: str, seed: int) -> None:
    family = grow(random.Random(seed), 20)
    for person in range(len(family.people)):
        by_short_ways = set().union(*(follow(family, person, short) for short in shortest_paths(way)))
        assert follow(family, person, way) <= by_short_ways


@given(st.text(st.sampled_from("UDSB"), max_size=6))
def test_shortest_paths_cannot_be_shortened(way: str) -> None:
    for short in shortest_paths(way):
        assert shortest_paths(short) == {short}
        assert len(short) <= len(way)


@given(st.text(st.sampled_from("UDSB"), max_size=3), st.text(st.sampled_from("UDSB"), max_size=3))
def test_it_does_not_matter_which_part_of_a_way_is_shortened_first(start: str, end: str) -> None:
    by_parts = {
        short for one in shortest_paths(start) for other in shortest_paths(end) for short in shortest_paths(one + other)
    }
    assert by_parts == shortest_paths(start + end)


@given(st.integers(0, 10**9))
def test_rules_hold_in_families(seed: int) -> None:
    family = grow(random.Random(seed), 20)
    for (first, second), head in sound_compositions().items():
        for person in range(len(family.people)):
            ends = {end for through in family.kin(person, first) for end in family.kin(through, second)} - {person}
            assert ends <= family.kin(person, head)


def test_relations_along_a_chain_are_put_together_from_its_beginning() -> None:
    assert relation_along(["SO"]) == "SO"
    assert relation_along(["sibling", "inv-child", "inv-child"]) == "inv-grand"
    assert relation_along(["child", "sibling", "child"]) == "grand"
    assert relation_along(["inv-child", "sibling"]) == "inv-un"
    assert relation_along(["inv-child", "sibling", "child"]) is None  # a cousin
    assert relation_along(["child", "child", "child"]) is None
    assert relation_along(["child", "child", "child", "inv-child", "inv-child"]) is None


@given(st.integers(0, 10**9), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
def test_relations_along_a_chain_hold_between_its_ends(seed: int, path: list[str]) -> None:
    family, found = grow(random.Random(seed), 18), relation_along(path)
    chains = [(person,) for person in range(len(family.people))]
    for step in path:  # the people of a chain are distinct: a sibling of a sibling may be the same person
        chains = [(*chain, kin) for chain in chains for kin in family.kin(chain[-1], step) if kin not in chain]
    for chain in chains if found else ():
        assert found in family.relations(chain[0], chain[-1])
