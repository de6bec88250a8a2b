import numpy as np
import pytest

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.families.belief.shortcuts.stories import POSITIONS, positions, slots, tell
from storyproof.solvers.baselines import Rules
from tests.samples import BELIEF, MEMORY, REALITY, SEARCH, STORY, example
from tests.shortcuts.stories import made, no_leak, toy


def six() -> list[str]:
    return [MEMORY, REALITY, SEARCH, BELIEF, "Where will Ada look for the key?"]


def asked(story: str = STORY) -> list[example]:
    orders = (0, 0, 1, 2, 1)
    kinds = ("memory", "reality", "first", "second", "first")
    return [
        example(story=story, question=question, order=order, question_type=kind)
        for question, order, kind in zip(six(), orders, kinds, strict=True)
    ]


def test_first_last_and_last_but_one_place() -> None:
    told = tell(
        asked(STORY + "\nThe ring is in the tin.\nAda moved the key to the tin.\nAda moved the key to the box.")
    )
    words = dict(zip(("box", "jar"), told.candidates[0].tolist(), strict=True))
    found = dict(zip(POSITIONS, positions(told)[:, 0].tolist(), strict=True))
    assert found["first"] == words["box"] == found["last"]
    assert found["before_last"] not in words.values()


def test_a_question_without_the_object_has_no_place() -> None:
    assert (positions(tell([example(question="Where is the ring really?")])) == -1).all()


def test_slots_name_kind_and_role() -> None:
    examples = asked()
    assert slots(tell(examples), examples) == ["memory", "reality", "first_order_1", "second_order_0", "first_order_0"]


def test_scores_by_hand() -> None:
    answers = ("box", "jar", "box", "box", "jar")  # of the story in which Ben misses the move
    rows = [
        example(
            id=str(number), story_id=f"s{number // 5}", question=each.question, answer=answer, order=each.order,
            question_type=each.question_type, false_belief=each.order > 0 and answer == "box",
        )
        for number, (each, answer) in enumerate(zip(asked() * 4, answers * 4, strict=True))
    ]  # fmt: skip
    report = find_shortcuts(None, rows, learned=False)
    assert report.stories == 4
    assert report.chance == 0.5
    assert report.joint_chance == pytest.approx(0.5**5)
    assert report.row("first_mentioned").accuracy.value == 0.6
    assert report.row("last_mentioned").accuracy.value == 0.4
    assert report.row("last_mentioned").by_kind["reality"].value == 1
    assert report.row("question_type_only").accuracy.value == pytest.approx(0.8)
    assert report.row("question_type_and_mover").joint_accuracy.value == 1
    assert report.row("algorithm_1").by_false_belief["false_belief"]["second_order"].value == 1
    assert report.forced.accuracy == report.forced.joint_accuracy == 1


def test_algorithm_1_is_the_solver_of_that_name() -> None:
    examples = made("tomi", "test", 99)
    right = np.mean([said == each.answer for said, each in zip(Rules().predict(examples), examples, strict=True)])
    assert find_shortcuts(None, examples, learned=False).row("algorithm_1").accuracy.value == pytest.approx(right)


def test_a_place_that_is_always_right_is_found_from_the_question_alone() -> None:
    examples = [each for each in toy(600, no_leak) if "tin" in each.candidates and each.answer == "tin"]
    found = find_shortcuts(examples[:60], examples[60:], learned=False).row("question_prior")
    assert found.accuracy.value == 1


def test_priors_learn_from_training_only() -> None:
    train = [each for each in toy(100, no_leak) if each.false_belief]  # the first place is right
    test = [each for each in toy(100, no_leak, seed=1) if not each.false_belief]
    report = find_shortcuts(train, test, learned=False)
    assert report.trained_on == "train"
    assert report.row("majority").accuracy.value == 0
    assert report.row("last_mentioned").accuracy.value == 1
