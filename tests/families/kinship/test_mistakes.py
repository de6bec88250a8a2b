"""Mistakes about kin against the oracle over all facts, and against the checker's families."""

from functools import cache
from typing import Any

import pytest

import storyproof
from storyproof.evaluation.answer_judge import UNSETTLED, MistakeFinder, describe
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.family import FAMILY
from storyproof.families.kinship.mistakes import GENERATIONS, MISTAKES, mistaken_answers
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import (
    FEMALE,
    MALE,
    NAMES,
    WORDS,
    Fact,
    gender_of,
    inverse,
    predicate_of,
    word,
)
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.rules import published_rules, strict_rules
from tests.samples import changed

pytestmark = pytest.mark.usefixtures("small_blocks")

SETS: dict[str, dict[str, Any]] = {
    "clean": {"test": 40, "test_k": (2, 3, 4, 5)},
    "noisy": {"train": 60, "train_k": (2, 3), "task": "all"},
    "synthetic": {"train": 40, "train_k": (2, 3), "text": "synthetic"},
}
# How far up or down each step of a definition leads; spouses and siblings are of one generation.
STEPS = {"son": -1, "father": 1, "husband": 0, "brother": 0, "grandson": -2, "nephew": -1, "uncle": 1}


@cache
def examples(name: str) -> tuple[Example, ...]:
    return tuple(Example.from_row(row) for row in storyproof.generate("clutrr", seed=4, **SETS[name]).to_pylist())


@pytest.fixture(params=sorted(SETS))
def asked(request: pytest.FixtureRequest) -> tuple[Example, ...]:
    return examples(request.param)


def test_the_way_against_the_oracle_and_the_checker(asked: tuple[Example, ...]) -> None:
    """What part of the way gives follows from all facts, between two people of whom at most one is asked about."""
    for each in asked:
        row = read_row(each.as_row())
        found = mistaken_answers(each)
        derived = derive(strict_rules(), [row.facts], len(row.genders))
        chain = row.chain
        people = [chain[0].first, *(fact.second for fact in chain)]
        assert (people[0], people[-1]) == row.pair
        short: set[str] = set()
        part: set[str] = set()
        for one in range(len(people)):
            for other in range(one + 1, len(people)):
                names = set(derived.relations(0, people[one], people[other]))
                for name in names:
                    assert status(row.genders, row.facts, Fact(people[one], name, people[other])) == ENTAILED
                genders = {row.genders[people[other]], row.genders[row.pair[1]]}
                words = {word(name, gender) for name in names for gender in genders}
                if other - one == len(people) - 2:
                    short |= words
                elif other - one < len(people) - 2:
                    part |= words
        assert found["one_step_short"] <= short
        assert found["part_of_chain"] <= part
        assert found["one_step_short"] >= {
            word(fact.predicate, gender_of(row.word(fact))) for fact in chain if len(chain) == 2
        }


def test_generated_chains_have_all_their_parts(asked: tuple[Example, ...]) -> None:
    """Chains are composed by sound rules, so something follows one step short of nearly all of them."""
    found = [bool(mistaken_answers(each)["one_step_short"]) for each in asked]
    assert sum(found) > 0.9 * len(found)


def test_other_readings_are_what_the_published_rules_derive(asked: tuple[Example, ...]) -> None:
    for each in asked:
        row = read_row(each.as_row())
        names = derive(published_rules(), [row.facts], len(row.genders)).relations(0, *row.pair)
        assert mistaken_answers(each)["other_reading"] == {word(name, row.genders[row.pair[1]]) for name in names}


def test_every_word_is_explained(asked: tuple[Example, ...]) -> None:
    """Nothing is left unexplained, and explanations say what they claim."""
    order = list(describe(FAMILY))
    for each in asked[:20]:
        finder, right = MistakeFinder(each), predicate_of(each.answer)
        for answer in set(WORDS) - {each.answer}:
            names = finder.explain(answer)
            assert sorted(names, key=order.index) == list(names)
            given = predicate_of(answer)
            assert ("wrong_gender" in names) == (given == right)
            assert ("reversed" in names) == (given == inverse(right))
            assert ("same_generation" in names) == (GENERATIONS[given] == GENERATIONS[right])
            assert ("other_generation" in names) != ("same_generation" in names)
        assert finder.explain("friend") == ("no_answer",)


def test_generations() -> None:
    for male, level in STEPS.items():
        assert GENERATIONS[predicate_of(male)] == level
    for name in NAMES:
        assert GENERATIONS[inverse(name)] == -GENERATIONS[name]
    for (first, second), head in strict_rules().heads.items():  # going two ways adds up
        assert GENERATIONS[head] == GENERATIONS[first] + GENERATIONS[second]


def test_a_label_that_is_not_proved() -> None:
    each = next(each for each in examples("clean") if each.answer == "grandson")
    assert MistakeFinder(changed(each, answer="son")).explain("grandson")[0] == "label"
    assert MistakeFinder(each).explain("granddaughter")[0] == "wrong_gender"
    assert MistakeFinder(each).explain("grandfather")[0] == "reversed"


def test_an_ambiguous_story() -> None:
    each = examples("clean")[0]
    facts = {"edges": [[0, 1], [1, 2]], "edge_types": ["son", "uncle"], "genders": ["A:male", "B:male", "C:male"]}
    story = "B is the son of A. C is the uncle of B."
    facts |= {"query": ["A", "C"], "k": 2, "placeholders": None, "noise_types": []}
    facts |= {"proof_steps": [], "proof_relations": []}
    row = changed(each, story=story, question="What is C to A?", answer="brother", **facts)
    assert family_of(row).checked_answer(row) == ""  # or his wife's brother
    assert MistakeFinder(row).explain("brother-in-law")[0] == UNSETTLED


def test_rows_that_cannot_be_read() -> None:
    """Whoever says nonsense is told so, and nothing fails."""
    row = changed(examples("clean")[0], edges=[[0, 99]], candidates=["son"])
    assert MistakeFinder(row).explain("son") == ("unexplained",)
    assert MistakeFinder(row).explain("daughter") == ("no_answer",)


def test_every_mistake_is_described() -> None:
    assert set(mistaken_answers(examples("clean")[0])) == set(MISTAKES)
    assert word("grand", MALE) != word("grand", FEMALE)
