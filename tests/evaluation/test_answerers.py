"""Runs of people: several answers to a question, each by somebody else."""

from typing import Any

import pytest

from storyproof.errors import DataError
from storyproof.evaluation.compare import compare, judge_run
from storyproof.evaluation.rescore import rescore_all
from storyproof.evaluation.runs import read_runs
from storyproof.reports.report import report

STORIES = 12


def answer(number: int, given: str, **more: Any) -> dict[str, Any]:
    about = {"id": f"q{number}", "story_id": f"s{number}", "question_type": "kin", "question": f"{number}?"}
    return {**about, "answer": given, "target": "aunt", "right": given == "aunt", **more}


def people(count: int = 4) -> dict[str, Any]:
    """Return a run in which of the four answers to each question as many are right as its number says, modulo 5."""
    rows = [
        answer(number, "aunt" if person < number % 5 else "uncle", answerer=f"P{person}")
        for number in range(STORIES)
        for person in range(count)
    ]
    return {"schema": 1, "model": "people", "stories": 0, "note": "48 answers.", "predictions": rows}


def model(right: int = STORIES) -> dict[str, Any]:
    rows = [answer(number, "aunt" if number < right else "niece") for number in range(STORIES)]
    return {"schema": 1, "model": "model", "predictions": rows}


def test_several_people_may_answer_a_question() -> None:
    [run] = read_runs(people())
    assert len(run.predictions) == 48
    judged = judge_run(run)
    assert {number: judged.answers[f"q{number}"].right for number in range(5)} == {0: 0, 1: 0.25, 2: 0.5, 3: 0.75, 4: 1}
    assert {each.given for each in judged.answers.values()} == {4}


def test_nobody_answers_twice() -> None:
    run = people()
    run["predictions"].append(answer(3, "aunt", answerer="P1"))
    with pytest.raises(DataError, match="answers q3 more than once; keep one answer of 'P1' for each id"):
        read_runs(run)


def test_people_against_a_model() -> None:
    right = sum(min(4, number % 5) for number in range(STORIES)) / 48
    found = compare(people(), model())
    assert found.questions == STORIES
    assert found.accuracy.first.value == pytest.approx(right)
    assert found.accuracy.difference.value == pytest.approx(1 - right)
    assert found.joint is None
    # Of people more than half must be right: three of the five kinds of questions have fewer.
    assert found.agreement == {"neither": 0, "second": 8, "first": 0, "both": 4}
    assert 0 < found.accuracy.p < 0.05
    assert compare(people(), people()).accuracy.p == 1.0


def test_the_exact_test_counts_in_parts_of_an_answer() -> None:
    """Half of two people's answers right is as far from the model as the exact test says for twice the differences."""
    two = people(2)
    found = compare(two, model(6))
    halves = [sum(row["right"] for row in two["predictions"] if row["id"] == f"q{n}") for n in range(STORIES)]
    from storyproof.stats import permutation_p

    assert found.accuracy.p == permutation_p([2 * (n < 6) - halves[n] for n in range(STORIES)])


def test_reports_count_every_answer() -> None:
    found = report([people(), model(9)])
    [board] = found.boards
    row = next(each for each in board.rows if each.solver == "people")
    assert row.accuracy.of == 48
    assert row.joint is None
    assert "people: 48 answers." in board.notes
    assert board.missed is not None
    assert len(board.missed.questions) == 1  # the tenth, which nobody knows either
    assert "people" in found.render()


def test_rescoring_wants_one_answer_per_question(tmp_path: Any) -> None:
    with pytest.raises(DataError, match="several people's answers to q0"):
        rescore_all(people(), tmp_path)
