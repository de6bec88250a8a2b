"""Steps of chains of thought: which count, and what the first wrong one is."""

import json

import pytest

from storyproof.datasets.stream import stream
from storyproof.errors import DataError
from storyproof.evaluation.cot_steps import check_steps
from storyproof.stories import story

STORY = """Sally entered the kitchen.
Anne entered the kitchen.
The ball is in the box.
Anne exited the kitchen.
Sally moved the ball to the jar."""
ROW = {"story": STORY, "question": "Where will Anne look for the ball?"}
REPLY = """Anne left before the ball was moved.
Sally thinks the ball is in the jar.
So Anne thinks the ball is in the jar, and Sally thinks that Anne thinks the ball is in the box.
Answer: jar"""


def test_the_first_wrong_step_is_reported_as_data() -> None:
    report = check_steps(REPLY, ROW)
    assert [step.verdict for step in report.steps] == ["right", "wrong", "right"]
    wrong = report.first_wrong
    assert wrong is not None
    assert (wrong.index, wrong.holds, wrong.question) == (1, "box", "Where will Anne look for the ball?")
    assert wrong.stated == "Anne thinks that the ball is in the jar"
    assert REPLY[wrong.start : wrong.end] == "Anne thinks the ball is in the jar"
    assert wrong.sentence.startswith("So Anne thinks the ball is in the jar, and Sally")
    assert (report.right_before, report.counted) == (1, 3)
    assert json.loads(json.dumps(report.as_dict()))["first_wrong"]["index"] == 1


def test_a_statement_counts_once_and_a_denial_that_holds_earns_nothing() -> None:
    report = check_steps("Anne thinks the ball is in the box. Anne believes the ball is in the box.", ROW)
    assert report.counted == 1
    report = check_steps("Anne does not think the ball is in the jar. The ball is not in the box.", ROW)
    assert [step.verdict for step in report.steps] == ["right", "right"]
    assert (report.counted, report.right_before, report.first_wrong) == (0, 0, None)
    assert check_steps("Anne does not think the ball is in the box.", ROW).first_wrong is not None


def test_what_is_taken_back_does_not_count() -> None:
    wrong, right = "Anne thinks the ball is in the jar.", "Anne thinks the ball is in the box."
    assert check_steps(f"{wrong} {right}", ROW).first_wrong is not None
    assert [step.verdict for step in check_steps(f"{wrong} Wait, no. {right}", ROW).steps] == ["right"]
    assert check_steps(f"{wrong} Sally thinks the ball is in the jar. Wait, no. {right}", ROW).first_wrong is None
    assert check_steps(f"{right} Wait. {wrong}", ROW).first_wrong is not None  # the new one counts


def test_every_proved_answer_of_a_stream_is_a_right_step() -> None:
    for benchmark in ("tomi", "tom-babi", "tomi-matched"):
        for told in stream(benchmark, seed=3)[:12]:
            for row in told.rows:
                thing = row.question.rstrip("?").split(" the ")[1].split()[0]
                minds = "".join(f"{agent} thinks that " for agent in row.chain)
                real = "" if row.chain else "really "
                text = f"{minds}the {thing} is {real}in the {row.answer}."
                if row.question_type == "memory":
                    text = f"At first, the {thing} was in the {row.answer}."
                [step] = check_steps(text[0].upper() + text[1:], row).steps
                assert (step.verdict, step.holds, step.question) == ("right", row.answer, row.question)


def test_another_family_has_no_steps_unless_it_reads_them() -> None:
    row = stream("orderings", seed=1)[0].rows[0]
    assert check_steps("Ada is taller than Ben.", row).steps == ()


def test_a_reply_that_is_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="expected a text"):
        check_steps(3, ROW)  # type: ignore[arg-type]


def test_steps_agree_with_asking_the_story() -> None:
    told = story(STORY)
    for who in ("Anne", "Sally"):
        proved = told.ask(f"Where will {who} look for the ball?").answer
        assert check_steps(f"{who} will look in the {proved}.", ROW).first_wrong is None
