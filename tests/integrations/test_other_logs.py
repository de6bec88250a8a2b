"""Logs that Inspect and lm-evaluation-harness wrote, as `compare --labels` and `diagnose` read them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.datasets.reading import find_source, read_examples
from storyproof.evaluation.rescore import rescore_all

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]
STORIES = 30


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A file whose third label in ten is wrong, and a corrected copy beside it."""
    storyproof.generate("tomi", out=tmp_path / "right", test=STORIES, seed=7, format="jsonl")
    lines = [json.loads(line) for line in (tmp_path / "right" / "test.jsonl").read_text().splitlines()]
    kept = ("id", "story_id", "story", "question", "answer", "candidates")
    rows = [{name: row[name] for name in kept} for row in lines]
    for row in rows[2::10]:
        row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    storyproof.audit(path, fix=tmp_path / "fixed")
    return path


def labels(path: Path) -> list[str]:
    return [json.loads(line)["answer"] for line in path.read_text().splitlines()]


def check(log: Path, published: Path, *, right: str) -> Any:
    """Return the scores of a log that answers as one of the two files says."""
    [found] = rescore_all(log, published.parent / "fixed" / "stories.jsonl")
    wrong = sum(
        one != two
        for one, two in zip(labels(published), labels(published.parent / "fixed" / "stories.jsonl"), strict=True)
    )
    scores = found.scores
    assert wrong > 10
    assert (scores.questions, scores.stories, scores.changed_labels) == (6 * STORIES, STORIES, wrong)
    share = 1 - wrong / (6 * STORIES)
    expected = {"published": (1.0, share), "corrected": (share, 1.0)}[right]
    assert (scores.published["accuracy"].value, scores.corrected["accuracy"].value) == pytest.approx(expected)
    return found


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("right", ["published", "corrected"])
def test_inspect(published: Path, tmp_path: Path, form: str, right: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import eval as run_inspect
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    monkeypatch.chdir(tmp_path)
    path = published if right == "published" else tmp_path / "fixed" / "stories.jsonl"
    said = {storyproof.prompt(row).text: row.answer for row in read_examples(find_source(path))}

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        found = ModelOutput.from_content("mockllm", said["\n\n".join(each.text for each in messages)])
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # Inspect would fetch a tokenizer
        return found

    [log] = run_inspect(
        "storyproof/data",
        model=get_model("mockllm/model", custom_outputs=output),
        task_args={"path": str(published)},
        display="none",
        log_dir="logs",
        log_format=form,  # type: ignore[arg-type]
    )
    assert log.status == "success", log.error
    found = check(Path(log.location), published, right=right)
    assert found.model == "mockllm/model"
    [diagnosis] = storyproof.diagnose(Path(log.location), tmp_path / "fixed" / "stories.jsonl")
    best = diagnosis.groups[0].best
    assert right == "published" or (best is not None and best.procedures == ("proved",))


def harness(folder: Path, task: str, path: Path) -> Path:
    """Run lm-evaluation-harness as a command, with its dummy model; return the file of samples."""
    settings = json.dumps({"storyproof": {"path": str(path)}})
    subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", task, "--metadata", settings),
            *("--include_path", str(storyproof.where("lm-eval")), "--output_path", str(folder), "--log_samples"),
        ],
        check=True,
        capture_output=True,
    )
    [samples] = folder.rglob(f"samples_{task}_*.jsonl")
    return samples


def test_lm_evaluation_harness(published: Path, tmp_path: Path) -> None:
    samples = harness(tmp_path / "out", "storyproof_data", published)  # the dummy says "lol"
    [found] = rescore_all(samples, tmp_path / "fixed" / "stories.jsonl")
    assert (found.scores.questions, found.scores.published["accuracy"].value) == (6 * STORIES, 0.0)
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    for line in lines:  # as if the model had learned the published labels
        line["resps"], line["filtered_resps"] = [[line["target"]]], [line["target"]]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    check(samples, published, right="published")


def test_likelihoods_of_lm_evaluation_harness(published: Path, tmp_path: Path) -> None:
    samples = harness(tmp_path / "out", "storyproof_data_choice", published)
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    chosen = []
    for line in lines:
        likelihoods = [float(each[0]) for each in line["filtered_resps"]]
        chosen.append(line["doc"]["choices"][likelihoods.index(max(likelihoods))])
    [found] = rescore_all(samples, tmp_path / "fixed" / "stories.jsonl")
    for scores, file in (
        (found.scores.published, published),
        (found.scores.corrected, tmp_path / "fixed" / "stories.jsonl"),
    ):
        right = sum(one == two for one, two in zip(chosen, labels(file), strict=True))
        assert scores["accuracy"].value == pytest.approx(right / (6 * STORIES))
