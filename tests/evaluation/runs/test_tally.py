import pytest

from storyproof.evaluation.matching.match import EXACT, NO_MATCH, NORMALIZED
from storyproof.evaluation.metrics import score
from storyproof.evaluation.runs.tally import Tally
from storyproof.example import Example
from storyproof.intervals import wilson_interval
from tests.samples import example, examples

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


def test_says_what_scoring_all_at_once_says() -> None:
    rows = list(examples("tomi", "test"))
    answers = [row.answer if number % 3 else row.candidates[0] for number, row in enumerate(rows)]
    right = [answer == row.answer for row, answer in zip(rows, answers, strict=True)]
    found, expected = counted(rows, right).scores("strict").as_dict(), score(rows, answers).as_dict()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name != "by_order":
            assert found[name] == (value if isinstance(value, int) else pytest.approx(value))
    for belief, kinds in expected["by_order"].items():
        assert found["by_order"][belief] == pytest.approx(kinds)


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
