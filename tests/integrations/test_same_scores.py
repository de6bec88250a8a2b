"""One file of replies, judged by `evaluate`, Inspect, lm-evaluation-harness and verifiers: the same numbers.

Digit by digit. verifiers needs an environment of its own (`make test-rl`), so each harness is compared with `evaluate`
where it is installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import storyproof
from storyproof.datasets.reading import as_example
from storyproof.example import Example
from storyproof.integrations.harness_questions import StoryAnswer, from_benchmark, joint_accuracy, story_key

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]

STORIES, SEED = 30, 7
MODEL = """
import json
from pathlib import Path
REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text())
def model(prompt):
    return REPLIES[prompt]
"""


def write_reply(number: int, row: Example) -> str:
    """Return one of the ways to reply: whole stories are right, and others go wrong in every way."""
    place = row.answer.replace("_", " ")
    other = next(each for each in row.candidates if each != row.answer)
    if number % 5 < 2:
        return (row.answer, f"In the {place}.", f"It is in the {place}, not in the {other}.")[number % 3]
    return (
        f"In the {place}.",
        f"In the {other}.",
        f"Not in the {place}.",
        f"The {place} or the {other}.",
        "I cannot tell.",
        f"{row.answer}",
        "It is lost",
    )[hash_of(row) % 7]


def hash_of(row: Example) -> int:
    return sum(map(ord, row.id + row.question))


@pytest.fixture
def replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The file of replies by what is asked, and the model that reads it."""
    monkeypatch.chdir(tmp_path)
    found = {}
    for number, story in enumerate(storyproof.stream("tomi", seed=SEED, split="test")[:STORIES]):
        for row in story.rows:
            found[storyproof.prompt(row).text] = write_reply(number, row)
    Path("replies.json").write_text(json.dumps(found))
    Path("models.py").write_text(MODEL)
    return found


def by_evaluate(matching: str) -> dict[str, float | None]:
    rows = [row for story in storyproof.stream("tomi", seed=SEED, split="test")[:STORIES] for row in story.rows]
    Path("data").mkdir(exist_ok=True)
    Path("data/test.jsonl").write_text("".join(json.dumps(row.as_row()) + "\n" for row in rows))
    run = storyproof.evaluate("models.py:model", "data/test.jsonl", matching=matching)
    scores = run.as_dict()
    return {"accuracy": scores["accuracy"], "joint": scores["joint_accuracy"], "unparsed": run.details["unparsed"]}


@pytest.mark.parametrize("matching", ["careful", "strict", "lenient"])
def test_inspect(replies: dict[str, str], matching: str) -> None:
    pytest.importorskip("inspect_ai")
    from tests.integrations.test_inspect import metrics, run_task

    found = metrics(run_task("storyproof/tomi", replies.__getitem__, stories=STORIES, seed=SEED, matching=matching))
    expected = by_evaluate(matching)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("matching", ["careful", "strict", "lenient"])
def test_lm_eval(replies: dict[str, str], matching: str) -> None:
    pytest.importorskip("lm_eval")
    from lm_eval.api.model import LM

    from tests.integrations.test_lm_eval import harness, scores

    class Replies(LM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [replies[request.args[0]] for request in requests]

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    found = scores(
        harness(["storyproof_tomi"], Replies(), {}, stories=STORIES, seed=SEED, matching=matching), "storyproof_tomi"
    )
    expected = by_evaluate(matching)
    assert {"accuracy": found["acc"], "joint": found["joint_acc"], "unparsed": found["unparsed"]} == expected


def test_verifiers(replies: dict[str, str]) -> None:
    pytest.importorskip("verifiers")
    from storyproof_verifiers import load_environment

    count = len(replies)
    environment = load_environment(
        "tomi", seed=SEED, split="test", prompt="zero-shot", conventions=False, num_tasks=count
    )
    sizes = from_benchmark("tomi", stories=STORIES, seed=SEED).sizes

    async def values() -> list[tuple[StoryAnswer, float]]:
        found = []
        for task in tasks_of(environment):
            row = as_example(task.data.row)
            trace = SimpleNamespace(last_reply=replies[storyproof.prompt(row).text])
            key = story_key(row)
            found.append((StoryAnswer(key, sizes[key], await task.exact(trace)), await task.unparsed(trace)))
        return found

    judged = asyncio.run(values())
    assert len(judged) == count
    found = {
        "accuracy": sum(each.right for each, _ in judged) / count,
        "joint": joint_accuracy(each for each, _ in judged)[0],
        "unparsed": sum(unclear for _, unclear in judged) / count,
    }
    assert found == by_evaluate("careful")


def tasks_of(environment: Any) -> Iterator[Any]:
    yield from environment.taskset


def test_replies_are_of_all_kinds(replies: dict[str, str]) -> None:
    careful, strict, lenient = (by_evaluate(matching) for matching in ("careful", "strict", "lenient"))
    assert careful["unparsed"] == strict["unparsed"] == lenient["unparsed"]
    assert 0.1 < (careful["unparsed"] or 0) < 0.9
    assert 0 < (careful["joint"] or 0) < 1
    assert (strict["accuracy"] or 0) < (careful["accuracy"] or 0) < (lenient["accuracy"] or 0)
