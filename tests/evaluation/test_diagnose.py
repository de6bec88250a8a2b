"""Planted procedures are found from the answers that they give; what is not listed is not made up."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import storyproof
from benchmarks.procedures import choose_questions
from storyproof.datasets.reading import find_source, read_examples
from storyproof.errors import DataError
from storyproof.evaluation.diagnose import (
    ALL,
    FEWEST,
    GUESS,
    NONE,
    AnswerTable,
    ask_procedures,
    explain_answers,
    follow_shares,
    tabulate,
    weigh,
)
from storyproof.evaluation.runs import Prediction
from storyproof.example import Example
from storyproof.families.belief.block_checker import MindBlock
from storyproof.families.family import family_of

SETTINGS = {"belief": ("tom-k", {"preset": "hard"}, 60), "kinship": ("clutrr", {"split": "test"}, 300)}


def stories(family: str) -> list[Example]:
    benchmark, settings, count = SETTINGS[family]
    stream = storyproof.stream(benchmark, seed=5, **settings)
    return [row for story in islice(stream, count) for row in story.rows]


@pytest.fixture(scope="module", params=SETTINGS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def rows(family: str) -> list[Example]:
    return stories(family)


@pytest.fixture(scope="module")
def table(rows: list[Example]) -> AnswerTable:
    whole = tabulate(family_of(rows[0]), rows, [row.answer for row in rows], ask_procedures(rows))
    _, first = np.unique(whole.predicted, axis=0, return_index=True)
    kept = sorted(first.tolist())
    whole = replace(whole, names=tuple(whole.names[place] for place in kept), predicted=whole.predicted[kept])
    return whole.pick(choose_questions(whole, 60))


def answer(table: AnswerTable, *procedures: str, lapse: float = 0.0, seed: int = 1) -> AnswerTable:
    """Return the answers of somebody who follows one of some procedures, drawn for each question, and lapses."""
    random = np.random.default_rng(seed)
    followed = random.integers(len(procedures), size=len(table.ids))
    places = np.array([table.names.index(name) for name in procedures])[followed]
    planned = table.predicted[places, np.arange(len(table.ids))]
    is_guess = (random.random(len(planned)) < lapse) | (planned < 0)
    return replace(table, answers=np.where(is_guess, (random.random(len(planned)) * table.sizes), planned).astype(int))


def test_the_first_procedure_gives_all_labels(rows: list[Example]) -> None:
    family, some = family_of(rows[0]), rows[:90]
    first = next(iter(family.procedures))
    assert [family.procedure_answers(row).get(first) for row in some] == [row.answer for row in some]


def test_all_procedures_of_a_question_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one they took most of the time of a report."""
    rows, calls = stories("belief")[:40], []
    answers = MindBlock.answers
    monkeypatch.setattr(MindBlock, "answers", lambda *given: calls.append(given) or answers(*given))
    ask_procedures(rows)
    # Of the 30 procedures some change the story, and some ask about another object.
    assert len(calls) < 12 * len(rows)


def test_procedures_differ_from_each_other(table: AnswerTable) -> None:
    differ = (table.predicted[:, None] != table.predicted[None]).sum(axis=-1)
    assert len(table.names) > 18
    assert differ[np.triu_indices(len(differ), 1)].min() >= 5


def test_every_procedure_is_its_own_best_explanation(table: AnswerTable) -> None:
    for name in table.names:
        assert weigh(answer(table, name)).ranked()[0].procedures == (name,), name


def test_lapses_are_allowed(table: AnswerTable) -> None:
    found = [weigh(answer(table, name, lapse=0.05)).ranked()[0].procedures == (name,) for name in table.names]
    assert np.mean(found) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_two_procedures_are_found(table: AnswerTable, seed: int) -> None:
    one, other = table.names[0], table.names[3]
    assert set(weigh(answer(table, one, other, seed=seed)).ranked()[0].procedures) == {one, other}


def test_guesses_are_found(table: AnswerTable) -> None:
    assert weigh(answer(table, table.names[0], lapse=1.0)).ranked()[0].procedures == (GUESS,)


def test_a_procedure_that_is_not_listed_is_none_of_these(table: AnswerTable) -> None:
    found = []
    for place, name in enumerate(table.names):
        answered = answer(table, name)
        names = tuple(other for other in table.names if other != name)
        without = replace(answered, names=names, predicted=np.delete(answered.predicted, place, axis=0))
        found.append(weigh(without).ranked()[0].procedures == (NONE,))
    assert np.mean(found) > 0.75


def test_probabilities_sum_to_one(table: AnswerTable) -> None:
    assert sum(each.probability for each in weigh(answer(table, table.names[1])).ranked()) == pytest.approx(1)


def test_the_order_of_questions_does_not_matter(table: AnswerTable) -> None:
    answered = answer(table, table.names[1], table.names[4], lapse=0.1)
    order = np.random.default_rng(3).permutation(len(answered.ids)).tolist()
    assert weigh(answered).none == pytest.approx(weigh(answered.pick(order)).none)
    assert weigh(answered).mixed == pytest.approx(weigh(answered.pick(order)).mixed)


def test_intervals_contain_the_share(table: AnswerTable) -> None:
    random = np.random.default_rng(2)
    hits = 0
    for seed in range(100):
        share = random.uniform(0.5, 0.95)
        name = table.names[seed % len(table.names)]
        found = follow_shares(answer(table, name, lapse=1 - share, seed=seed), [name])[name]
        assert found.low <= found.value <= found.high
        hits += found.low <= share <= found.high
    assert hits >= 88  # of 95 expected; fewer once in 500 tries


def test_shares_of_two_add_up(table: AnswerTable) -> None:
    one, other = table.names[0], table.names[3]
    found = follow_shares(answer(table, one, other), [one, other])
    assert found[one].value + found[other].value == pytest.approx(1, abs=0.03)


def test_groups_and_what_decides_them(rows: list[Example]) -> None:
    family, rows = family_of(rows[0]), rows[:120]
    asked = [row for row in rows if not family.is_control(row)]
    wrong = list(family.procedures)[2]
    replies = [family.procedure_answers(row).get(wrong, row.answer) for row in asked]
    answers = {row.id: Prediction(id=row.id, answer=reply) for row, reply in zip(asked, replies, strict=True)}
    found = explain_answers("planted", "data", rows, {**{row.id: Prediction(id=row.id) for row in rows}, **answers})
    whole = found.groups[0]
    assert whole.group == ALL
    assert whole.questions == sum(reply in family.candidates(row) for row, reply in zip(asked, replies, strict=True))
    assert {group.group for group in found.groups[1:]} == {family.kind(row) for row in asked}
    assert all(each in {row.id for row in asked} for each in whole.deciding)
    assert found.as_dict()["groups"][0]["questions"] == whole.questions


def test_too_few_answers_say_nothing(rows: list[Example]) -> None:
    few = [row for row in rows if not family_of(row).is_control(row)][: FEWEST - 1]
    found = explain_answers("planted", "data", few, {row.id: Prediction(id=row.id, answer=row.answer) for row in few})
    assert found.groups[0].best is None


def test_refusals_are_counted_and_not_explained(rows: list[Example]) -> None:
    few = [row for row in rows if not family_of(row).is_control(row)][:30]
    answers = {
        row.id: Prediction(id=row.id, answer=row.answer if number else "I cannot say.")
        for number, row in enumerate(few)
    }
    assert explain_answers("planted", "data", few, answers).groups[0].unanswered == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diagnose")
    storyproof.generate("tomi", test=60, seed=7, out=folder / "data")
    for model in ("rules", "majority"):
        storyproof.evaluate(model, folder / "data", output_dir=folder / "runs")
    return folder


def test_rules_follow_rules(folder: Path) -> None:
    [found] = storyproof.diagnose(folder / "runs" / "rules_test.json")
    assert found.model == "rules"
    assert [group.best.procedures for group in found.groups if group.best] == [("rules",)] * 3


def test_majority_answers_by_position(folder: Path) -> None:
    """In `tomi` the most frequent first-order answer is where the object is, the second-order one where it was."""
    [found] = storyproof.diagnose(folder / "runs" / "majority_test.json")
    best = {group.group: group.best.procedures for group in found.groups if group.best}
    assert best == {ALL: (NONE,), "first_order": ("reality",), "second_order": ("first_mention",)}


def test_other_data_are_refused(folder: Path) -> None:
    storyproof.generate("tomi", test=60, seed=8, out=folder / "other")
    with pytest.raises(DataError, match="another story"):
        storyproof.diagnose(folder / "runs" / "rules_test.json", folder / "other")


def test_data_that_have_gone_are_named(folder: Path) -> None:
    run = {"model": "m", "data": str(folder / "gone"), "predictions": [{"id": "a", "answer": "b"}]}
    with pytest.raises(DataError, match="Name the data with"):
        storyproof.diagnose(run)
    with pytest.raises(DataError, match="does not say what was answered"):
        storyproof.diagnose({"predictions": [{"id": "a", "answer": "b"}]})


def test_logs_of_others_are_explained(tmp_path: Path) -> None:
    """A list of predictions, as a log; `tests/integrations/test_other_logs.py` has logs that others wrote."""
    storyproof.generate("tomi", out=tmp_path / "data", test=60, seed=7, format="jsonl")
    run = storyproof.evaluate("rules", tmp_path / "data")
    rows = {row.id: row for row in read_examples(find_source(tmp_path / "data"))}
    lines = [
        {"story": rows[each["id"]].story, "question": rows[each["id"]].question, "prediction": each["answer"]}
        for each in run.predictions
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    [expected] = storyproof.diagnose(run)
    [found] = storyproof.diagnose(log, tmp_path / "data")
    assert found.model == "log"
    assert [(each.group, each.best, each.shares) for each in found.groups] == [
        (each.group, each.best, each.shares) for each in expected.groups
    ]
    with pytest.raises(DataError, match="does not say which of your data was answered; name the data with --data"):
        storyproof.diagnose(log)
