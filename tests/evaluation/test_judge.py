from __future__ import annotations

import pytest

import storyproof
from storyproof.catalog import names
from storyproof.errors import ConfigError, DataError
from storyproof.solvers.llm.prompt import load_prompt

STORY = (
    "Ann entered the den.\nBob entered the den.\nThe key is in the box.\nBob exited the den.\n"
    "Ann moved the key to the jar."
)
ROW = {"story": STORY, "question": "Where will Bob look for the key?", "answer": "box"}


@pytest.mark.parametrize(
    ("reply", "right", "kind", "meant", "mistake", "reason"),
    [
        ("box", True, "exact_match", "box", "", "right: the reply is the answer and nothing else."),
        ("In the jar.", False, "no_match", "jar", "reality", "which is where the object really is; expected 'box'."),
        ("Not in the box.", False, "negated", None, "", "denies all possible answers that it names; expected 'box'."),
        ("The box or the jar.", False, "ambiguous", None, "", "names several possible answers; expected 'box'."),
        ("I do not know.", False, "no_match", None, "", "does not give the right answer; expected 'box'."),
        ("", False, "no_match", None, "", "does not give the right answer; expected 'box'."),
    ],
)
def test_verdicts_say_why(reply: str, right: bool, kind: str, meant: str | None, mistake: str, reason: str) -> None:
    found = storyproof.judge(reply, ROW)
    assert (found.right, bool(found), found.kind, found.meant, found.mistake) == (right, right, kind, meant, mistake)
    assert found.reason.endswith(reason)
    assert found.reason.startswith("right: " if right else "wrong: ")
    assert found.answer == "box"


def test_a_wrong_label_is_named() -> None:
    found = storyproof.judge("In the box.", {**ROW, "answer": "jar"})
    assert not found.right
    assert found.reason == "wrong by its label 'jar', but 'box' is what is proved."


def test_matchers_and_prompts_are_those_of_evaluate() -> None:
    assert not storyproof.judge("In the box.", ROW, matching="strict").right
    assert storyproof.judge("in the boxes", ROW, matching="lenient").right
    example = storyproof.stream("tomi", seed=3)[0].rows[0]
    prompt = load_prompt("multiple-choice")
    letters = [letter for letter in "AB" if prompt.answer([letter], example) == example.answer]
    assert len(letters) == 1
    assert storyproof.judge(letters[0], example, prompt="multiple-choice").right
    thought = f"It was {example.candidates[0]}, then {example.candidates[1]}.\nAnswer: {example.answer}"
    assert storyproof.judge(thought, example, prompt="chain-of-thought").right
    with pytest.raises(ConfigError, match="unknown matcher 'carefull'"):
        storyproof.judge("box", ROW, matching="carefull")


@pytest.mark.parametrize("benchmark", [*names("benchmark")])
def test_every_candidate_of_every_benchmark_is_judged(benchmark: str) -> None:
    for story in storyproof.stream(benchmark, seed=2)[:3]:
        for row in story.rows:
            for candidate in row.candidates:
                found = storyproof.judge(f"The answer is {candidate}.", row)
                assert found.right == (candidate == row.answer)
                assert found.meant == candidate
                assert found.reason.endswith(".")


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(DataError, match="has no answer and none follows"):
        storyproof.judge("box", {"story": "It rained.", "question": "Where is the key?"})
    with pytest.raises(DataError, match="the reply is None; expected a text"):
        storyproof.judge(None, ROW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("story", "question", "right", "wrong"),
    [
        (STORY, "Where will Bob look for the key?", "box", "jar"),
        ("Ada is the mother of Ben. Cleo is Ben's sister.", "What is Cleo to Ada?", "daughter", "son"),
    ],
)
def test_a_missing_answer_is_proved_from_the_text(story: str, question: str, right: str, wrong: str) -> None:
    row = {"story": story, "question": question}
    assert storyproof.judge(right, row).right
    assert storyproof.judge(wrong, row).reason.endswith(f"expected '{right}'.")
