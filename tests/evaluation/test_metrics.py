import pytest

from storyproof.evaluation.metrics import kind_of, score
from tests.samples import example

ROWS = [
    # story, split, question type, order, false belief, right?
    ("a", "test", "memory", 0, False, True),
    ("a", "test", "reality", 0, False, True),
    ("a", "test", "first_order_0_no_tom", 1, False, True),
    ("a", "test", "first_order_1_tom", 1, True, True),
    ("b", "test", "memory", 0, False, True),
    ("b", "test", "first_order_1_tom", 1, True, False),
    ("b", "test", "second_order_0_tom", 2, True, False),
    ("a", "val", "second_order_1_no_tom", 2, False, False),
]
EXAMPLES = [
    example(story_id=story, split=split, question_type=kind, order=order, false_belief=false, answer="box")
    for story, split, kind, order, false, _ in ROWS
]
ANSWERS = ["box" if right else "jar" for *_, right in ROWS]


def test_by_hand() -> None:
    scores = score(EXAMPLES, ANSWERS)
    assert (scores.questions, scores.stories) == (8, 3)  # story a of val is another than a of test
    assert scores.accuracy == 5 / 8
    assert scores.joint_accuracy == 1 / 3
    assert scores.by_question_type == {
        "first_order_0_no_tom": 1.0,
        "first_order_1_tom": 1 / 2,
        "memory": 1.0,
        "reality": 1.0,
        "second_order_0_tom": 0.0,
        "second_order_1_no_tom": 0.0,
    }
    assert scores.by_false_belief == {"false_belief": 1 / 3, "no_false_belief": 4 / 5}
    assert scores.by_order == {
        "false_belief": {"first_order": 1 / 2, "second_order": 0.0},
        "no_false_belief": {"first_order": 1.0, "memory": 1.0, "reality": 1.0, "second_order": 0.0},
    }


def test_kinship_has_no_beliefs() -> None:
    scores = score([example(order=0, chain=[], false_belief=False, k=2, edges=[])], ["box"])
    assert (scores.by_false_belief, scores.by_order) == ({}, {"no_false_belief": {"k=2": 1.0}})


def test_of_no_story_there_is_no_joint_accuracy() -> None:
    assert score([], []).as_dict()["joint_accuracy"] is None
    assert score(EXAMPLES, ANSWERS).as_dict()["joint_accuracy"] == 1 / 3


def test_joint_does_not_hang_on_where_the_questions_stand() -> None:
    order = [3, 6, 0, 7, 4, 1, 5, 2]
    mixed = score([EXAMPLES[place] for place in order], [ANSWERS[place] for place in order])
    assert mixed == score(EXAMPLES, ANSWERS)


def test_only_the_very_answer_is_right() -> None:
    assert score([example(answer="box")] * 3, ["Box", "box.", ""]).accuracy == 0.0


def test_an_answer_for_each_example() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score(EXAMPLES, ANSWERS[:-1])


@pytest.mark.parametrize(
    ("order", "question_type", "kind"),
    [(0, "memory", "memory"), (0, "reality", "reality"), (3, "third_order_0_tom", "third_order"), (7, "x", "order_7")],
)
def test_kind(order: int, question_type: str, kind: str) -> None:
    assert kind_of(example(order=order, question_type=question_type)) == kind
