from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.families.kinship.checker import status
from storyproof.families.kinship.prove_labels import LabelJudgement, entailed_relation, judge
from storyproof.families.kinship.relations import NAMES, Fact
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.rules import load_rules
from tests.groups import try_examples

pytestmark = pytest.mark.usefixtures("small_blocks")


@cache
def made(**options: Any) -> tuple[dict[str, Any], ...]:
    return tuple(storyproof.generate("clutrr", seed=3, text="synthetic", **options).to_pylist())


def case(genders: str, facts: list[Fact], asked: tuple[int, int], answer: str) -> KinshipRow:
    spelt = tuple("male" if each == "m" else "female" for each in genders)
    names = tuple(f"P{number}" for number in range(len(genders)))
    edges = tuple((fact.first, fact.second) for fact in facts)
    pair = names[asked[0]], names[asked[1]]
    return KinshipRow(names, spelt, edges, (), tuple(facts), len(facts), pair, asked, answer, None, {})


GRAND = case("ffm", [Fact(0, "child", 1), Fact(1, "child", 2)], (0, 2), "grand")
UNCLE = case("ffm", [Fact(0, "child", 1), Fact(1, "inv-un", 2)], (0, 2), "sibling")  # or her husband's brother
FATHER = case("mfmm", [Fact(0, "sibling", 1), Fact(1, "child", 2), Fact(2, "inv-grand", 3)], (0, 3), "inv-child")


def test_an_answer_that_follows() -> None:
    (found,) = judge([GRAND.structure])
    assert found == LabelJudgement("entailed", {"strict": ["grand"], "published": ["grand"]}, 2)
    assert found.readings("grand") == ["strict", "published"]
    assert entailed_relation(GRAND) == "grand"


@pytest.mark.parametrize("each", [UNCLE, FATHER], ids=["uncle", "father"])
def test_an_answer_by_the_published_rules_alone(each: KinshipRow) -> None:
    (found,) = judge([each.structure])
    assert found.status == "ambiguous"
    assert found.derived == {"strict": [], "published": [each.answer]}
    assert found.size is None
    assert found.readings(each.answer) == ["published"]
    assert entailed_relation(each) is None


def test_an_answer_that_only_strict_kinship_gives() -> None:
    # Facts are read in both directions: the son of one's mother.
    each = case("fmm", [Fact(0, "child", 1), Fact(0, "child", 2)], (1, 2), "sibling")
    (found,) = judge([each.structure])
    assert found == LabelJudgement("entailed", {"strict": ["sibling"], "published": []}, 2)
    assert found.readings("sibling") == ["strict"]


def test_a_wrong_answer() -> None:
    (found,) = judge([replace(GRAND, answer="child").structure])
    assert found.status == "contradicted"
    assert found.derived["strict"] == ["grand"]
    assert found.size is None
    assert found.readings("child") == []


def test_a_story_that_cannot_be() -> None:
    each = case("mm", [Fact(0, "child", 1), Fact(1, "child", 0)], (0, 1), "child")
    assert judge([each.structure])[0].status == "impossible"
    assert entailed_relation(each) is None


def test_each_is_judged_as_if_alone() -> None:
    several = [GRAND, FATHER, replace(GRAND, answer="child"), UNCLE, GRAND]
    assert judge(each.structure for each in several) == [judge([each.structure])[0] for each in several]
    assert judge([]) == []


def test_names_do_not_matter() -> None:
    one, other = judge([GRAND.structure, replace(GRAND, names=("X", "Y", "Z")).structure])
    assert one is other


@pytest.mark.parametrize("task", ["clean", "all", "memory"])
def test_what_was_made_under_strict_kinship_is_entailed(task: str) -> None:
    rows = made(train=60, task=task, train_k=(2,) if task == "all" else (2, 3))
    cases = [read_row(row) for row in rows]
    for row, each, found in zip(rows, cases, judge(each.structure for each in cases), strict=True):
        assert found.status == row["status"] == "entailed"
        assert found.readings(each.answer) == row["readings"]
        assert found.size == (1 if task == "memory" else row["k"])
        assert entailed_relation(each) == each.answer


def test_what_was_made_by_the_published_rules_is_judged_as_it_says() -> None:
    rows = made(test=100, reading="published", test_k=(3, 4))
    cases = [read_row(row) for row in rows]
    statuses = set()
    for row, each, found in zip(rows, cases, judge(each.structure for each in cases), strict=True):
        assert found.status == row["status"]
        assert found.readings(each.answer) == row["readings"]
        assert "published" in row["readings"]
        assert found.derived["published"] == [each.answer]
        statuses.add(found.status)
        assert (entailed_relation(each) == each.answer) == (found.status == "entailed")
    assert statuses == {"entailed", "ambiguous", "contradicted"}


@try_examples(40)
@given(st.integers(0, 199), st.randoms(use_true_random=False))
def test_renumbering_people_and_facts_changes_nothing(row: int, dice: Any) -> None:
    each = read_row(made(test=100, reading="published", test_k=(3, 4))[row])
    places = list(range(len(each.names)))
    dice.shuffle(places)
    genders = [""] * len(places)
    for person, place in enumerate(places):
        genders[place] = each.genders[person]
    facts = [Fact(places[fact.first], fact.predicate, places[fact.second]) for fact in each.facts]
    dice.shuffle(facts)
    asked = places[each.asked[0]], places[each.asked[1]]
    other = replace(each, genders=tuple(genders), facts=tuple(facts), asked=asked)
    assert judge([other.structure]) == judge([each.structure])
    assert entailed_relation(other) == entailed_relation(each)


@try_examples(60)
@given(st.integers(0, 199), st.sampled_from(NAMES))
def test_an_answer_is_entailed_if_and_only_if_the_checker_says_so(row: int, answer: str) -> None:
    each = replace(read_row(made(test=100, reading="published", test_k=(3, 4))[row]), answer=answer)
    (found,) = judge([each.structure])
    assert found.status == status(each.genders, each.facts, each.query)
    assert ("strict" in found.readings(answer)) == (entailed_relation(each) == answer)
    assert (answer in found.derived["strict"]) == (found.size is not None)
    if found.status == "entailed":
        assert found.derived["strict"] in ([], [answer])
    if answer in found.derived["strict"]:
        assert found.status == "entailed"


def test_rules_of_ones_own_are_asked_instead(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "relations:\n  milk: [milk-brother, milk-sister, milk]\nstories: [child, milk]\nrules:\n"
        "  - grand: [child, child]\n  - milk: [milk, milk]\n"
    )
    rules = load_rules(path)
    (found,) = judge([GRAND.structure], rules)
    assert found == LabelJudgement("entailed", {rules.name: ["grand"]}, 2)
    assert found.readings("grand") == ["strict", rules.name]
    milk = case("fff", [Fact(0, "milk", 1), Fact(1, "milk", 2)], (0, 2), "milk")
    (found,) = judge([milk.structure], rules)
    assert found == LabelJudgement(None, {rules.name: ["milk"]}, 2)  # families have no such relation
    assert found.readings("milk") == [rules.name]
