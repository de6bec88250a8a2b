"""Against the real lm-evaluation-harness: `make test-integrations`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.catalog import BENCHMARKS
from storyproof.errors import StoryproofError
from storyproof.integrations.harness_questions import from_benchmark
from storyproof.integrations.lm_eval.tasks import judge_reply, load
from storyproof.solvers.llm.options import ModelOptions
from tests.solvers.llm.serving import FakeServer
from tests.tiny_model import make_tiny_model

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]

_CHOICE_PROMPT = """
name: candidates
version: "1"
any:
  steps:
    - user: |-
        Read the story and answer the question. Answer with one container and nothing else.

        Story:
        {story}

        Question: {question}
        Answer:
      max_tokens: 10
      choices: answers
"""


def harness(tasks: list[str], model: Any, arguments: dict[str, Any], **settings: Any) -> dict[str, Any]:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    manager = TaskManager(
        include_path=str(storyproof.where("lm-eval")), include_defaults=False, metadata={"storyproof": settings}
    )
    found = simple_evaluate(
        model, model_args=arguments, tasks=tasks, task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    assert found is not None
    return dict(found)


def scores(found: dict[str, Any], task: str) -> dict[str, float]:
    return {
        name.partition(",")[0]: value
        for name, value in found["results"][task].items()
        if name.endswith(",none") and isinstance(value, float)
    }


def test_every_benchmark_has_tasks_that_the_dummy_model_goes_through() -> None:
    found = harness(["storyproof", "storyproof_choice"], "dummy", {}, stories=3, seed=7)
    named = [name.replace("-", "_") for name in BENCHMARKS if "@" not in name]
    expected = {f"storyproof_{name}{kind}" for name in named for kind in ("", "_choice")}
    assert expected <= set(found["samples"])
    for task in expected:
        values = scores(found, task)
        if task.endswith("_choice"):
            assert 0 <= values["joint_acc"] <= values["acc"] <= 1
        else:  # the dummy says "lol"
            assert (values["acc"], values["joint_acc"], values["unparsed"]) == (0.0, 0.0, 1.0)


def test_questions_prompts_and_labels_are_those_of_storyproof() -> None:
    found = harness(["storyproof_tomi", "storyproof_tomi_choice"], "dummy", {}, stories=4, seed=7)
    expected = from_benchmark("tomi", stories=4, seed=7).examples
    asked = found["samples"]["storyproof_tomi"]
    assert [each["arguments"][0][0] for each in asked] == [storyproof.prompt(row).text for row in expected]
    chosen = found["samples"]["storyproof_tomi_choice"]
    for each, row in zip(chosen, expected, strict=True):
        assert [argument[1] for argument in each["arguments"]] == [f" {name}" for name in sorted(row.candidates)]
        likeliest = max(range(len(each["filtered_resps"])), key=lambda place: float(each["filtered_resps"][place][0]))
        assert each["acc"] == float(sorted(row.candidates)[likeliest] == row.answer)


def test_generation_gives_the_scores_of_evaluate(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=30, seed=7, out=tmp_path / "data")
    with FakeServer() as server:
        options = ModelOptions(base_urls=(server.url,), api="completion")
        run = storyproof.evaluate("openai/fake", tmp_path / "data", options=options)
        model = {
            "model": "fake",
            "base_url": f"{server.url}/completions",
            "num_concurrent": 8,
            "tokenizer_backend": None,
            "tokenized_requests": False,
        }
        found = harness(["storyproof_data"], "local-completions", model, path=str(tmp_path / "data"))
        assert set(server.counts()["asked"].values()) == {2}
    values = scores(found, "storyproof_data")
    assert values["acc"] == pytest.approx(run.scores.accuracy)
    assert values["joint_acc"] == pytest.approx(run.scores.joint_accuracy)
    assert 0.2 < values["acc"] < 0.8
    low, high = run.intervals["accuracy"]
    assert (high - low) / 2 == pytest.approx(1.96 * values["acc_clustered_se"], rel=0.3)


def test_a_reply_is_judged_up_to_where_its_prompt_stops() -> None:
    [document] = load(benchmark="tomi", storyproof={"stories": 1, "prompt": "few-shot"})["test"].select([0])
    other = next(name for name in document["choices"] if name != document["answer"])
    reply = f"{document['answer']}\n\nStory: somebody moved it to the {other}.\nAnswer: {other}"
    assert judge_reply(document, [reply])["acc"] == 1.0
    assert judge_reply(document, [reply.replace("\n\n", " ")])["acc"] == 0.0


def test_likelihood_gives_the_choices_of_evaluate(tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "tiny", chat=False)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 2048}))
    (tmp_path / "candidates.yaml").write_text(_CHOICE_PROMPT)
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "data")
    run = storyproof.evaluate(
        f"hf/{model}", tmp_path / "data", prompt=str(tmp_path / "candidates.yaml"), likelihood=True
    )
    found = harness(
        ["storyproof_data_choice"],
        "hf",
        {"pretrained": str(model), "device": "cpu", "batch_size": 4},
        path=str(tmp_path / "data"),
    )
    values = scores(found, "storyproof_data_choice")
    assert values["acc"] == pytest.approx(run.scores.accuracy)
    assert values["joint_acc"] == pytest.approx(run.scores.joint_accuracy)
    ours = {each["id"]: each["right"] for each in run.predictions}
    theirs = {each["doc"]["id"]: bool(each["acc"]) for each in found["samples"]["storyproof_data_choice"]}
    assert theirs == ours
    assert set(ours.values()) == {True, False}


@pytest.mark.parametrize(
    ("benchmark", "settings", "message"),
    [
        ("tomi", {"nose": 1}, "unknown dial of tomi 'nose'. Known: "),
        ("tomi", 7, "the metadata 'storyproof' is 7; expected an object"),
        ("tomi", {"prompt": "perspective"}, "asks in 2 steps, which lm-evaluation-harness cannot"),
        ("tomi", {"seed": "abc"}, "the seed is 'abc'; use a whole number from 0 on."),
        ("", {}, "no data were named; add `--metadata"),
        ("", {"path": "data", "noise": 1}, "unknown setting of storyproof_data 'noise'"),
    ],
)
def test_bad_settings_are_one_sentence(benchmark: str, settings: Any, message: str) -> None:
    with pytest.raises(StoryproofError) as stop:
        load(benchmark=benchmark, storyproof=settings, version=1.0, pretrained="model")
    assert message in str(stop.value)
