import json

import pytest

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.errors import ConfigError, DataError, ParseError
from storyproof.shortcuts.split_setup import MOST_TRAINING_QUESTIONS, set_up
from tests.samples import example
from tests.shortcuts.stories import kin, made, no_leak, toy

HEURISTICS = {
    "majority", "first_mentioned", "last_mentioned", "question_prior", "question_type_only",
    "question_type_and_mover", "algorithm_1",
}  # fmt: skip


def test_a_report_is_plain_json() -> None:
    report = find_shortcuts(None, made("tomi", "test", 99), learned=False)
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["questions"] == 594
    assert plain["stories"] == 99
    assert {row["name"] for row in plain["rows"]} == HEURISTICS
    assert plain["forced"]["joint_accuracy"] == pytest.approx(1 / 3)
    for row in plain["rows"]:
        assert 0 <= row["accuracy"]["low"] <= row["accuracy"]["value"] <= row["accuracy"]["high"] <= 1
        assert set(row["by_kind"]) == {"memory", "reality", "first_order", "second_order"}
    with pytest.raises(KeyError):
        report.row("no such row")


def test_tom_babi_does_not_test_belief() -> None:
    report = find_shortcuts(None, made("tom-babi", "test", 96), learned=False)
    assert report.row("algorithm_1").accuracy.value == 1
    assert "100%: this data does not test belief" in report.verdict


def test_tomi_is_answered_above_its_structure_by_the_rules() -> None:
    report = find_shortcuts(None, made("tomi", "test", 297), learned=False)
    assert report.row("algorithm_1").jointly_beats_structure
    assert "points above" in report.verdict


def test_folds_keep_stories_apart() -> None:
    data = made("tomi", "test", 60)
    trial = set_up(None, data, 0)
    assert sorted(row for fold in trial.folds for row in fold.ask.tolist()) == list(range(len(data)))
    for fold in trial.folds:
        asked, learned = ({data[row].story_id for row in rows} for rows in (fold.ask, fold.fit))
        assert not asked & learned


def test_of_many_training_stories_some_are_drawn() -> None:
    train = toy(MOST_TRAINING_QUESTIONS + 500, no_leak)
    trial = set_up(train, toy(5, no_leak), 0)
    assert trial.first == MOST_TRAINING_QUESTIONS
    assert {each.story_id for each in trial.examples[: trial.first]} != {each.story_id for each in train[: trial.first]}


def test_without_candidates_chance_is_a_guess_among_all_answers() -> None:
    rows = [
        example(story_id=str(number), answer=["tin", "box", "jar", "pot"][number % 4], candidates=())
        for number in range(12)
    ]
    assert find_shortcuts(None, rows, learned=False).chance == 1 / 4


def test_an_answer_that_is_no_candidate_is_never_right() -> None:
    report = find_shortcuts(None, [example(story_id=str(n), answer="tin") for n in range(12)])
    assert all(row.accuracy.value == 0 for row in report.rows)


def test_what_cannot_be_audited_is_said() -> None:
    with pytest.raises(DataError, match="no questions"):
        find_shortcuts(None, [])
    with pytest.raises(DataError, match="mixed"):
        find_shortcuts(None, [example(), kin("s", ["Al:male", "Bo:male"], ["brother"], "brother")])
    with pytest.raises(ParseError, match="not a sentence"):
        find_shortcuts(None, [example(story="Once upon a time.")])
    with pytest.raises(ConfigError, match="seed"):
        find_shortcuts(None, [example()], seed=-1)
