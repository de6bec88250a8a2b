from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.families.kinship.baselines import checked_answer, rules_answer
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.relations import WORDS, gender_of, word
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.rules import published_rules
from storyproof.solvers.solver import load_solver
from tests.samples import changed
from tests.samples import example as of_beliefs

pytestmark = pytest.mark.usefixtures("small_blocks")

SETS: dict[str, dict[str, Any]] = {
    "clean": {"test": 15, "test_k": (2, 3, 4)},
    "all": {"train": 40, "train_k": (2,), "task": "all"},
    "mixed": {"train": 40, "train_k": (2, 3), "task": "mixed"},
    "synthetic": {"train": 40, "train_k": (2, 3), "text": "synthetic"},
    "cloze": {"train": 40, "train_k": (2, 3), "cloze": True},
    "published": {"test": 60, "test_k": (3, 4), "reading": "published"},
}


@cache
def examples(name: str) -> tuple[Example, ...]:
    rows = storyproof.generate("clutrr", seed=6, **SETS[name]).to_pylist()
    return tuple(Example.from_row(row) for row in rows)


def answers(solver: str, asked: Any, seed: int = 0) -> list[str]:
    return load_solver(solver, seed).predict(list(asked))


def gender_of_the_asked(each: Example) -> str:
    return dict(person.split(":") for person in each.get("genders") or ())[(each.get("query") or [])[1]]


# ---------------------------------------------------------------------------------------------------------- oracle


@pytest.mark.parametrize("name", [name for name in SETS if name != "published"])
def test_the_oracle_is_always_right(name: str) -> None:
    assert answers("oracle", examples(name)) == [each.answer for each in examples(name)]


def test_the_oracle_says_nothing_where_families_do_not_agree() -> None:
    statuses = Counter(each.get("status") for each in examples("published"))
    assert statuses["ambiguous"]
    assert statuses["contradicted"]
    for each, answer in zip(examples("published"), answers("oracle", examples("published")), strict=True):
        assert (answer == each.answer) == (each.get("status") == "entailed")
        if each.get("status") == "ambiguous":
            assert answer == ""


@pytest.mark.parametrize("solver", ["oracle", "rules"])
@pytest.mark.parametrize("name", ["clean", "mixed", "synthetic"])
def test_the_label_is_not_looked_at(name: str, solver: str) -> None:
    """Neither a word that fits, nor one of the other gender, nor one that is not a kinship term."""
    dice = random.Random(name)
    asked = examples(name)[:20]
    said = answers(solver, asked)
    same = [
        replace(each, answer=dice.choice([word for word in WORDS if gender_of(word) == gender_of_the_asked(each)]))
        for each in asked
    ]
    assert answers(solver, same) == said
    for label in (*WORDS, "", "cousin"):
        assert answers(solver, [replace(each, answer=label) for each in asked[:4]]) == said[:4]


@pytest.mark.parametrize("solver", ["oracle", "rules"])
@pytest.mark.parametrize("name", ["clean", "synthetic"])
def test_the_text_is_read_not_the_facts_beside_it(name: str, solver: str) -> None:
    asked = examples(name)[:12]
    said = answers(solver, asked)
    dice = random.Random(name)
    others = []
    for each in asked:
        types = [
            dice.choice([other for other in WORDS if gender_of(other) == gender_of(told) and other != told])
            for told in each.get("edge_types") or ()
        ]
        others.append(changed(each, edge_types=types))
    assert answers(solver, others) == said


@pytest.mark.parametrize("solver", ["oracle", "rules"])
def test_neither_proof_nor_status_nor_pattern_is_looked_at(solver: str) -> None:
    asked = examples("clean")[:12]
    bare = [
        changed(
            each,
            proof=[],
            proof_steps=[],
            proof_relations=[],
            status="impossible",
            pattern="",
            readings=[],
            candidates=[],
            noise_types=[],
        )
        for each in asked
    ]
    assert answers(solver, bare) == answers(solver, asked)


def test_other_words_get_the_same_answers() -> None:
    """A running text in words that are not ours is answered by the facts beside it."""
    for each, answer in zip(examples("clean")[:12], answers("oracle", examples("clean")[:12]), strict=True):
        assert checked_answer(changed(each, story="They are all related.", placeholders=[])) == answer
        assert checked_answer(changed(each, story="They are all related.", placeholders=None)) == answer


def test_a_story_that_cannot_be_has_no_answer() -> None:
    each = examples("synthetic")[0]
    people = ["Ann:female", "Bob:male"]
    odd = changed(
        each,
        story="Bob is the son of Ann.\nBob is the father of Ann.",
        question="What is Bob to Ann?",
        query=["Ann", "Bob"],
        genders=people,
        edges=[[0, 1], [0, 1]],
        edge_types=["son", "father"],
        answer="son",
        k=2,
        noise_types=[],
        proof_steps=[],
        proof_relations=[],
        placeholders=[],
    )
    assert checked_answer(odd) == ""


# ----------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("name", ["clean", "all", "mixed", "published"])
def test_rules_answer_by_the_sixteen_rules(name: str) -> None:
    derived = 0
    for each, answer in zip(examples(name), answers("rules", examples(name)), strict=True):
        case = read_row(each.as_row())
        found = derive(published_rules(), [case.facts], len(case.names)).relations(0, *case.asked)
        assert answer in each.candidates
        assert gender_of(answer) == gender_of_the_asked(each)
        if found:
            derived += 1
            assert answer in [word(relation, gender_of_the_asked(each)) for relation in found]
    assert derived > len(examples(name)) / 4


def test_rules_are_right_where_they_hold() -> None:
    for each, answer in zip(examples("published"), answers("rules", examples("published")), strict=True):
        assert answer == each.answer
    for each, answer in zip(examples("clean"), answers("rules", examples("clean")), strict=True):
        if "published" in each.readings:
            assert answer == each.answer


def test_where_no_rule_helps_the_last_relation_told_of_the_asked_person_is_said() -> None:
    # No rule composes a grandparent's child.
    each = examples("synthetic")[0]
    asked = changed(
        each,
        story="Cy is the son of Bob.\nBob is the grandfather of Ann.",
        question="What is Cy to Ann?",
        query=["Ann", "Cy"],
        genders=["Ann:female", "Bob:male", "Cy:male"],
        edges=[[0, 1], [1, 2]],
        edge_types=["grandfather", "son"],
        answer="uncle",
        k=2,
        noise_types=[],
        proof_steps=[],
        proof_relations=[],
        placeholders=[],
    )
    assert rules_answer(asked) == "son"


# -------------------------------------------------------------------------------------------------- random, majority


@pytest.mark.parametrize("solver", ["random", "majority"])
@pytest.mark.parametrize("name", SETS)
def test_answers_are_among_the_candidates(name: str, solver: str) -> None:
    said = answers(solver, examples(name))
    assert len(said) == len(examples(name))
    assert all(answer in each.candidates for answer, each in zip(said, examples(name), strict=True))


def test_random_hangs_on_its_seed_alone() -> None:
    asked = examples("clean")
    assert answers("random", asked, 1) == answers("random", asked, 1)
    assert answers("random", asked, 1) != answers("random", asked, 2)
    assert answers("random", asked[::-1], 1) == answers("random", asked, 1)[::-1]
    assert len(set(answers("random", asked, 1))) > 10


def test_majority_says_what_is_most_frequent_for_each_task_and_length() -> None:
    asked = [*examples("clean"), *examples("mixed")]
    said = answers("majority", asked)
    for kind in {each.question_type for each in asked}:
        mine = [(each, answer) for each, answer in zip(asked, said, strict=True) if each.question_type == kind]
        counts = Counter(each.answer for each, _ in mine)
        assert len({answer for _, answer in mine}) == 1
        assert counts[mine[0][1]] == max(counts.values())


# ------------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("solver", ["oracle", "rules", "random", "majority"])
def test_kinship_and_beliefs_in_one_go(solver: str) -> None:
    asked = [examples("clean")[0], of_beliefs(), examples("clean")[1]]
    said = answers(solver, asked)
    assert all(answer in each.candidates for answer, each in zip(said, asked, strict=True))
    assert [family_of(each).name for each in asked] == ["kinship", "belief", "kinship"]


@pytest.mark.parametrize("name", ["parquet", "jsonl", "csv"])
def test_files_of_all_formats_are_scored(tmp_path: Path, name: str) -> None:
    out = tmp_path / "x"
    storyproof.generate("clutrr", test=6, test_k=(2, 3), seed=4, out=out, format=name)
    for labels in ("given", "proved"):
        found = storyproof.evaluate("oracle", out, labels=labels).scores
        assert (found.accuracy, found.questions) == (1.0, 12)


def test_wrong_labels_are_scored_as_wrong_and_proved_ones_as_right(tmp_path: Path) -> None:
    rows = storyproof.generate("clutrr", test=5, test_k=(2,), seed=4).to_pylist()
    wrong = [{**row, "answer": "wife" if row["answer"] != "wife" else "sister"} for row in rows]
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in wrong))
    assert storyproof.evaluate("oracle", path).scores.accuracy == 0.0
    assert storyproof.evaluate("oracle", path, labels="proved").scores.accuracy == 1.0
