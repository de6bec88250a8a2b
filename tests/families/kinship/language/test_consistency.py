import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.checker import IMPOSSIBLE, status
from storyproof.families.kinship.language.consistency import find_contradiction, find_entangled
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, NAMES, Fact
from tests.groups import try_examples

LETTERS = {"m": MALE, "f": FEMALE, "?": None}


def story(genders: str, facts: str) -> tuple[list[Fact], list[str | None]]:
    """Read a story such as ("mf?", "0 SO 1, 0 child 2")."""
    found = [Fact(int(first), predicate, int(second)) for first, predicate, second in map(str.split, facts.split(", "))]
    return found, [LETTERS[letter] for letter in genders]


def entangled(facts: list[Fact], genders: list[str | None]) -> bool:
    bits = [[sum(1 << at for at, known in enumerate(genders) if known == gender) for gender in (FEMALE, MALE)]]
    columns = zip(*((0, fact.first, NAMES.index(fact.predicate), fact.second) for fact in facts), strict=True)
    of, first, predicate, second = (np.array(column) for column in columns)
    [found] = find_entangled(of, first, predicate, second, np.array(bits, np.uint64))
    return bool(found)


@pytest.mark.parametrize(
    ("genders", "facts"),
    [
        ("mm", "0 child 1, 0 sibling 1"),
        ("mmm", "0 inv-child 1, 0 inv-child 2"),  # two fathers
        ("???", "0 SO 1, 0 SO 2"),
        ("????", "0 child 1, 2 child 1, 3 child 1"),  # three parents
        ("??", "0 child 1, 1 child 0"),
        ("??", "0 sibling 1, 0 inv-un 1"),
        ("??", "0 SO 1, 0 in-law 1"),
        ("??", "0 SO 1, 0 sibling 1"),
        ("??", "0 inv-child 1, 0 inv-un 1"),  # father and uncle
        ("??", "0 inv-un 1, 0 inv-grand 1"),  # an uncle would marry his niece
        ("???", "0 inv-un 1, 2 inv-child 0, 1 inv-grand 2"),
        ("ffmf", "0 child 1, 1 inv-child 2, 2 SO 3"),  # the parents are not a couple
        ("ff", "0 SO 1"),
    ],
)
def test_contradictions(genders: str, facts: str) -> None:
    assert find_contradiction(*story(genders, facts))
    assert entangled(*story(genders, facts))


@pytest.mark.parametrize(
    ("genders", "facts"),
    [
        ("mf?", "0 SO 1, 0 child 2, 1 child 2"),
        ("????", "0 sibling 1, 1 sibling 2, 0 sibling 2, 0 inv-un 3"),
        ("????", "0 grand 1, 0 child 2, 2 child 1"),
        ("????", "0 in-law 1, 0 child 2, 2 SO 1"),
        ("????", "0 sibling-in-law 1, 1 sibling-in-law 0"),
        ("??????", "0 sibling 1, 2 sibling 3, 0 SO 2, 1 SO 3, 0 child 4, 1 child 5"),  # two brothers, two sisters
    ],
)
def test_possible_families(genders: str, facts: str) -> None:
    assert find_contradiction(*story(genders, facts)) is None


PEOPLE = 4


@st.composite
def stories(draw: st.DrawFn, most: int = 5, predicates: tuple[str, ...] = NAMES) -> tuple[list[Fact], list[str | None]]:
    pairs = st.permutations(range(PEOPLE)).map(lambda order: order[:2])
    facts = draw(st.lists(st.tuples(pairs, st.sampled_from(predicates)), min_size=1, max_size=most))
    genders = draw(st.lists(st.sampled_from(GENDERS), min_size=PEOPLE, max_size=PEOPLE))
    return [Fact(first, predicate, second) for (first, second), predicate in facts], list(genders)


@try_examples(150)
@given(stories(3, BASIC))
def test_what_is_contradictory_is_impossible(given_story: tuple[list[Fact], list[str | None]]) -> None:
    facts, genders = given_story
    if find_contradiction(facts, genders):
        assert status([gender or MALE for gender in genders], facts, facts[0]) == IMPOSSIBLE


@try_examples(300)
@given(stories(), st.lists(st.booleans(), min_size=PEOPLE, max_size=PEOPLE))
def test_nothing_contradictory_is_overlooked_in_bulk(
    given_story: tuple[list[Fact], list[str | None]], shown: list[bool]
) -> None:
    facts, genders = given_story
    known = [gender if each else None for gender, each in zip(genders, shown, strict=True)]
    if find_contradiction(facts, known):
        assert entangled(facts, known)
