from collections.abc import Callable

import pytest

from storyproof.evaluation.matching.kinds import EXACT, NO_MATCH, NORMALIZED
from storyproof.evaluation.scores import Tally
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.stats import wilson_interval
from tests.samples import example, examples
from tests.scoring import score

ROWS = [
    example(id="1", question_type="memory", order=0, chain=[], false_belief=False),
    example(id="2"),
    example(id="3", story_id="t"),
    example(id="4", story_id="t", question_type="reality", order=0, chain=[], false_belief=False),
]


def counted(rows: list[Example], right: list[bool]) -> Tally:
    tally = Tally(["strict", "lenient"])
    for row, good in zip(rows, right, strict=True):
        tally.add(row, {"strict": EXACT if good else NO_MATCH, "lenient": NORMALIZED})
    return tally


def test_says_what_counting_by_hand_says() -> None:
    rows = list(examples("tomi", "test"))
    answers = [row.answer if number % 3 else row.candidates[0] for number, row in enumerate(rows)]
    right = [answer == row.answer for row, answer in zip(rows, answers, strict=True)]
    found = counted(rows, right).scores("strict")

    def share(of: Callable[[Example], bool]) -> float:
        chosen = [good for row, good in zip(rows, right, strict=True) if of(row)]
        return sum(chosen) / len(chosen)

    stories = {row.story_id: True for row in rows}
    for row, good in zip(rows, right, strict=True):
        stories[row.story_id] &= good
    assert found.accuracy == pytest.approx(sum(right) / len(right))
    assert found.joint_accuracy == pytest.approx(sum(stories.values()) / len(stories))
    for name, value in found.by_question_type.items():
        assert value == pytest.approx(share(lambda row, name=name: row.question_type == name))  # type: ignore[misc]
    for belief, kinds in found.by_order.items():
        false = belief == "false_belief"
        assert found.by_false_belief[belief] == pytest.approx(share(lambda row, f=false: row.false_belief == f))  # type: ignore[misc]
        for kind, value in kinds.items():
            assert value == pytest.approx(
                share(lambda row, f=false, k=kind: row.false_belief == f and family_of(row).kind(row) == k)  # type: ignore[misc]
            )


def test_matchers_side_by_side() -> None:
    tally = counted(ROWS, [True, False, True, True])
    assert (tally.scores("strict").accuracy, tally.scores("lenient").accuracy) == (0.75, 1.0)
    assert tally.scores("strict").joint_accuracy == 0.5
    kinds = tally.kinds("strict")
    assert (kinds["exact_match"], kinds["no_match"], sum(kinds.values())) == (0.75, 0.25, 1.0)


def test_failures_are_not_wrong() -> None:
    tally = counted(ROWS[:3], [True, True, False])
    tally.fail(ROWS[3], "HTTP 500")
    tally.fail(example(story_id="u"), None)
    scores = tally.scores("strict")
    assert (scores.questions, scores.accuracy) == (3, pytest.approx(2 / 3))
    assert (scores.stories, scores.joint_accuracy) == (1, 1.0)  # the story with a failure does not count
    assert (tally.failed, tally.not_asked, tally.asked, dict(tally.errors)) == (1, 1, 5, {"HTTP 500": 1})


def test_intervals() -> None:
    found = counted(ROWS, [True, False, True, True]).intervals("strict")
    low, high = found["accuracy"]
    assert 0 <= low <= 0.75 <= high <= 1
    assert set(found["by_question_type"]) == {"memory", "reality", "first_order_1_tom"}
    assert found["by_question_type"]["memory"] == [0.0, 1.0]
    expected = [[each.low, each.high] for each in (wilson_interval(1, 2), wilson_interval(2, 2))]
    assert list(found["by_false_belief"].values()) == expected
    assert list(found["by_false_belief"]) == ["false_belief", "no_false_belief"]


def test_kinship_has_no_beliefs() -> None:
    rows = [example(id=str(k), story_id=str(k), order=0, chain=[], false_belief=False, k=k, edges=[]) for k in (2, 3)]
    tally = counted(rows, [True, False])
    assert tally.scores("strict").by_false_belief == tally.intervals("strict")["by_false_belief"] == {}
    assert tally.scores("strict").by_order == {"no_false_belief": {"k=2": 1.0, "k=3": 0.0}}


def test_no_whole_story() -> None:
    tally = counted(ROWS[:1], [True])
    tally.fail(ROWS[1], "x")
    assert tally.joint("strict") is None
    assert "joint_accuracy" not in tally.intervals("strict")
    assert tally.scores("strict").as_dict()["joint_accuracy"] is None


TABLE = [
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
ASKED = [
    example(story_id=story, split=split, question_type=kind, order=order, false_belief=false, answer="box")
    for story, split, kind, order, false, _ in TABLE
]
ANSWERS = ["box" if right else "jar" for *_, right in TABLE]


def test_by_hand() -> None:
    scores = score(ASKED, ANSWERS)
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


def test_kinship_has_no_beliefs_at_all() -> None:
    scores = score([example(order=0, chain=[], false_belief=False, k=2, edges=[])], ["box"])
    assert (scores.by_false_belief, scores.by_order) == ({}, {"no_false_belief": {"k=2": 1.0}})


def test_of_no_story_there_is_no_joint_accuracy() -> None:
    assert score([], []).as_dict()["joint_accuracy"] is None
    assert score(ASKED, ANSWERS).as_dict()["joint_accuracy"] == 1 / 3


def test_joint_does_not_hang_on_where_the_questions_stand() -> None:
    order = [3, 6, 0, 7, 4, 1, 5, 2]
    mixed = score([ASKED[place] for place in order], [ANSWERS[place] for place in order])
    assert mixed == score(ASKED, ANSWERS)


def test_only_the_very_answer_is_right() -> None:
    assert score([example(answer="box")] * 3, ["Box", "box.", ""]).accuracy == 0.0


def test_an_answer_for_each_example() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score(ASKED, ANSWERS[:-1])


@pytest.mark.parametrize(
    ("order", "question_type", "kind"),
    [(0, "memory", "memory"), (0, "reality", "reality"), (3, "third_order_0_tom", "third_order"), (7, "x", "order_7")],
)
def test_kind(order: int, question_type: str, kind: str) -> None:
    row = example(order=order, question_type=question_type)
    assert family_of(row).kind(row) == kind
    found = score([row], [row.answer])
    assert [(each.name, each.asks_belief) for each in found.kinds] == [(kind, order > 0)]


def test_more_groups_than_sixteen_bits_count() -> None:
    tally = Tally()
    for number in range((1 << 16) + 2):
        tally.add_exact(example(id=str(number), question_type=f"type {number}"), "box" if number % 2 else "jar")
    shares = tally.scores().by_question_type
    assert len(shares) == (1 << 16) + 2
    assert (shares["type 65536"], shares["type 65537"], shares["type 7"]) == (0.0, 1.0, 1.0)
