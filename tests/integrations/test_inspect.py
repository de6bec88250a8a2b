"""Against the real Inspect: `make test-integrations`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.solvers.llm.options import ModelOptions
from tests.solvers.llm.serving import FakeServer

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]

STORIES = 12


def run_task(
    task: str,
    reply: Callable[[str], str],
    *,
    stop: str = "stop",
    limit: int | None = None,
    epochs: int | None = None,
    **settings: Any,
) -> Any:
    """Run a task with Inspect's own stand-in for a model; returns the log."""
    from inspect_ai import eval as run_inspect
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        found = ModelOutput.from_content("mockllm", reply("\n\n".join(each.text for each in messages)), stop)  # type: ignore[arg-type]
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # Inspect would fetch a tokenizer
        return found

    model = get_model("mockllm/model", custom_outputs=output)
    [log] = run_inspect(
        task, model=model, task_args=settings, display="none", log_dir="logs", limit=limit, epochs=epochs
    )
    assert log.status == "success", log.error
    return log


def metrics(log: Any) -> dict[str, float]:
    [score] = log.results.scores
    return {name: each.value for name, each in score.metrics.items()}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answers(benchmark: str, **settings: Any) -> dict[str, str]:
    """The right answers by what is asked."""
    stories = storyproof.stream(benchmark, seed=7, split="test", **settings)[:STORIES]
    return {storyproof.prompt(row).text: row.answer for story in stories for row in story.rows}


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr", "orderings"])
def test_right_answers_score_1_and_samples_show_their_row(benchmark: str) -> None:
    right = answers(benchmark)
    log = run_task(f"storyproof/{benchmark}", right.__getitem__, stories=STORIES, seed=7)
    assert metrics(log) == {"accuracy": 1.0, "stderr": 0.0, "joint": 1.0, "joint_stderr": 0.0, "unparsed": 0.0}
    rows = {row.id: row for story in storyproof.stream(benchmark, seed=7, split="test")[:STORIES] for row in story.rows}
    assert {sample.id for sample in log.samples} == set(rows)
    for sample in log.samples:
        row = rows[sample.id]
        assert {name: sample.metadata[name] for name in row.as_row()} == row.as_row()
        assert sample.target == row.answer
        [score] = sample.scores.values()
        assert (score.answer, score.explanation) == (row.answer, storyproof.judge(row.answer, row).reason)


def test_one_wrong_question_costs_its_story_and_says_why() -> None:
    right = answers("tomi")
    wrong = next(text for text in right if "really" in text)
    log = run_task(
        "storyproof/tomi", lambda text: "Nowhere." if text == wrong else right[text], stories=STORIES, seed=7
    )
    found = metrics(log)
    assert found["accuracy"] == pytest.approx(1 - 1 / len(right))
    assert found["joint"] == pytest.approx(1 - 1 / STORIES)
    assert found["unparsed"] == pytest.approx(1 / len(right))
    assert found["stderr"] == pytest.approx(1 / len(right), rel=0.01)  # one story of twelve is one short
    [bad] = [sample for sample in log.samples if sample.scores["proved_answer"].value == "I"]
    assert bad.scores["proved_answer"].explanation.startswith("wrong: ")


def test_a_story_that_a_limit_cuts_does_not_count_as_a_whole() -> None:
    right = answers("tomi")
    log = run_task("storyproof/tomi", right.__getitem__, stories=STORIES, seed=7, limit=8)
    assert metrics(log)["joint"] == 1.0
    only = run_task("storyproof/tomi", right.__getitem__, stories=STORIES, seed=7, limit=5)
    assert isnan(metrics(only)["joint"])


def test_a_prompt_of_several_steps_is_asked_step_by_step() -> None:
    asked: list[str] = []

    def reply(text: str) -> str:
        asked.append(text)
        return "Nothing is known." if "one event a line" in text else "the box"

    log = run_task("storyproof/tomi", reply, stories=1, seed=7, prompt="perspective")
    assert sum("Nothing is known." in text for text in asked) == sum("one event a line" in text for text in asked) > 0
    assert len(log.samples) == 6


_STEPS_WITH_SHOTS = """
name: shown-in-steps
version: "1"
any:
  shots: 2
  shot: "{story} {question} {answer}"
  steps:
    - user: "{shots} Story: {story} Which sentences matter for: {question}"
      max_tokens: 30
    - user: "{shots} You said: {known} So: {question}"
      max_tokens: 10
"""


def test_a_prompt_of_several_steps_may_show_solved_examples() -> None:
    Path("steps.yaml").write_text(_STEPS_WITH_SHOTS)
    asked: list[str] = []
    run_task("storyproof/tomi", lambda text: asked.append(text) or "the box", stories=1, seed=7, prompt="steps.yaml")  # type: ignore[func-returns-value]
    assert sum("You said: the box" in text for text in asked) == 6
    assert len(asked) == 12


@pytest.mark.parametrize("prompt", ["few-shot", "multiple-choice"])
def test_other_prompts_are_asked_and_judged(prompt: str) -> None:
    from storyproof.integrations.harness_questions import from_benchmark

    questions = from_benchmark("tomi", stories=STORIES, seed=7, prompt=prompt)
    said = {questions.request(each).text: each.answer for each in questions.examples}
    log = run_task("storyproof/tomi", said.__getitem__, stories=STORIES, seed=7, prompt=prompt)
    assert metrics(log)["accuracy"] == 1.0


def test_a_reply_that_is_cut_off_before_its_answer_says_so() -> None:
    log = run_task("storyproof/tomi", lambda text: "First,", stop="max_tokens", stories=1, prompt="chain-of-thought")
    assert {sample.scores["proved_answer"].metadata["kind"] for sample in log.samples} == {"cut_off"}


def test_a_folder_and_a_file_of_samples_give_the_scores_of_evaluate() -> None:
    storyproof.generate("tomi", test=30, seed=7, out="data")
    storyproof.generate("tomi", test=30, seed=7, out="samples", format="inspect")
    with FakeServer() as server:
        options = ModelOptions(base_urls=(server.url,))
        run = storyproof.evaluate("openai/fake", "data", options=options)
        environment = {**os.environ, "LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "none", "INSPECT_DISPLAY": "plain"}
        for path in ("data", "samples/test.jsonl"):
            command = ["inspect", "eval", "storyproof/data", "-T", f"path={path}", "--model", "openai-api/local/fake"]
            done = subprocess.run(
                [Path(sys.executable).with_name(command[0]), *command[1:], "--log-dir", f"logs-{path[0]}"],
                capture_output=True,
                text=True,
                env=environment,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            found = _read_log(Path(f"logs-{path[0]}"))
            assert found["accuracy"] == pytest.approx(run.scores.accuracy)
            assert found["joint"] == pytest.approx(run.scores.joint_accuracy)
            assert 0.2 < found["accuracy"] < 0.8
            low, high = run.intervals["accuracy"]
            assert (high - low) / 2 == pytest.approx(1.96 * found["stderr"], rel=0.3)
        assert set(server.counts()["asked"].values()) == {3}  # each question by each of the three


def _read_log(folder: Path) -> dict[str, float]:
    from inspect_ai.log import read_eval_log

    [path] = folder.glob("*.eval")
    return metrics(read_eval_log(str(path)))


def test_inspect_reads_what_generate_writes() -> None:
    from inspect_ai.dataset import json_dataset

    storyproof.generate("clutrr", test=1, seed=7, out="samples", format="inspect")
    found = list(json_dataset("samples/test.jsonl"))
    rows = storyproof.load("samples").to_pylist()
    assert [(each.id, each.target) for each in found] == [(row["id"], row["answer"]) for row in rows]
    assert [each.input[0].text for each in found] == [storyproof.prompt(row).text for row in rows]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("storyproof/tomi", {"nose": 1}, "unknown dial of tomi 'nose'. Known: "),
        ("storyproof/tomi", {"prompt": "one-shot"}, "unknown prompt 'one-shot'"),
        ("storyproof/tomi", {"matching": "kind"}, "unknown matcher 'kind'"),
        ("storyproof/data", {"path": "nowhere"}, "nowhere does not exist"),
    ],
)
def test_bad_arguments_are_one_sentence(task: str, settings: dict[str, Any], message: str) -> None:
    from inspect_ai._util.error import PrerequisiteError

    with pytest.raises(PrerequisiteError) as stop:
        run_task(task, str, **settings)
    assert message in str(stop.value.message)


def test_joint_accuracy_of_epochs_is_that_of_each_epoch_averaged() -> None:
    right = answers("tomi")
    asked: dict[str, int] = {}

    def reply(text: str) -> str:
        """Every question is answered rightly in the first of two epochs only."""
        asked[text] = asked.get(text, 0) + 1
        return right[text] if asked[text] == 1 else "nothing"

    log = run_task("storyproof/tomi", reply, epochs=2, stories=STORIES, seed=7)
    found = metrics(log)
    assert (found["accuracy"], found["joint"], found["unparsed"]) == (0.5, 0.5, 0.5)


def test_what_is_unparsed_does_not_depend_on_the_matching() -> None:
    for matching in ("careful", "strict", "lenient"):
        log = run_task(
            "storyproof/tomi",
            lambda text: f"in the {answers('tomi')[text]}",
            matching=matching,
            stories=STORIES,
            seed=7,
        )
        assert metrics(log)["unparsed"] == 0
