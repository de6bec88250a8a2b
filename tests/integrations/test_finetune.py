"""The example that fine-tunes a model: end to end on a CPU with a tiny random one."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import storyproof
from tests.tiny_model import make_tiny_model

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]
FOLDER = Path(__file__).parents[2] / "examples" / "finetune"


@pytest.fixture(scope="module")
def example() -> Iterator[SimpleNamespace]:
    """Return the modules of the example, imported as its script imports them."""
    pytest.importorskip("transformers")
    names = ("lora", "policy", "training", "finetune")
    sys.path.insert(0, str(FOLDER))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    rows = [row for story in storyproof.stream("tomi", seed=1)[:40] for row in story.rows]
    texts = [storyproof.prompt(row, "chain-of-thought").text for row in rows]
    return make_tiny_model(tmp_path_factory.mktemp("model"), texts, vocabulary=700, context=1024)


def test_everything_runs_and_is_written(example: Any, model: Path, tmp_path: Path) -> None:
    settings = "--sft-steps 3 --sft-batch 4 --grpo-steps 2 --grpo-prompts 2 --grpo-group 3 --grpo-tokens 9"
    settings += " --tokens 12 --test-stories 2"
    arguments = ["--model", str(model), "--out", str(tmp_path), "--others", "clutrr", *settings.split()]
    data = tmp_path / "data"
    storyproof.generate("tomi", test=30, seed=3, out=data, format="babi")
    results = example.finetune.main([*arguments, "--published", str(data), "--device", "cpu"])
    assert list(results["scores"]) == ["before", "after SFT", "after GRPO"]
    for scores in results["scores"].values():
        assert set(scores) == {"tomi (fresh)", "clutrr (fresh)", "published, corrected"}
        assert scores["tomi (fresh)"]["questions"] == 12
    assert json.loads((tmp_path / "results.json").read_text())["scores"] == results["scores"]
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["phase"] for line in lines] == ["sft"] * 3 + ["grpo"] * 2
    again = [*arguments, "--adapter", str(tmp_path / "adapter-sft.pt"), "--sft-steps", "0", "--device", "cpu"]
    assert list(example.finetune.main(again)["scores"]) == ["after GRPO"]
    assert list(example.finetune.main([*again, "--grpo-steps", "0"])["scores"]) == ["adapter-sft"]


def test_a_benchmark_can_have_a_preset(example: Any) -> None:
    options = ["--model", "none", "--out", "none", "--benchmark", "tom-k", "--preset", "plain", "--test-stories", "1"]
    found = example.finetune.test_sets(example.finetune.parse([*options, "--others", "tomi,tom-k:easy"]))
    assert list(found) == ["tom-k plain (fresh)", "tomi (fresh)", "tom-k easy (fresh)"]


def test_supervised_training_learns_and_leaves_the_base_alone(example: Any, model: Path) -> None:
    import torch

    torch.manual_seed(0)
    policy = example.policy.Policy(str(model), "cpu")
    before = {name: value.clone() for name, value in policy.model.named_parameters()}
    example.lora.add_lora(policy.model, 8, 16.0)
    [row] = storyproof.stream("clutrr", seed=1)[0].rows
    asked = example.training.Question(list(storyproof.prompt(row, "chain-of-thought").chat), row)
    losses: list[float] = []
    example.training.fine_tune(
        policy, iter([asked] * 30), steps=30, batch=1, rate=1e-2, report=lambda line: losses.append(line["loss"])
    )
    assert losses[-1] < 0.7 * losses[0]
    after = dict(policy.model.named_parameters())
    for name, value in before.items():
        parent, _, leaf = name.rpartition(".")
        kept = after.get(name, after.get(f"{parent}.base.{leaf}"))
        assert torch.equal(kept, value)


def test_reinforcement_raises_a_reward_that_can_be_reached(example: Any, model: Path) -> None:
    """Reward what a random model says now and then: a letter that is not frequent."""
    import torch

    torch.manual_seed(0)
    policy = example.policy.Policy(str(model), "cpu")
    example.lora.add_lora(policy.model, 8, 16.0)
    row = storyproof.stream("tomi", seed=1)[0].rows[0]
    asked = example.training.Question([{"role": "user", "content": "Say it."}], row)
    seen: list[float] = []

    def share_of_m(prompts: Any, completions: list[str], **columns: Any) -> list[float]:
        assert columns["story"] == [row.story] * len(completions)
        return [float("m" in text) for text in completions]

    example.training.reinforce(
        policy,
        iter([asked] * 1000),
        steps=25,
        prompts=2,
        group=12,
        tokens=4,
        rate=2e-2,
        reward=share_of_m,
        report=lambda line: seen.append(line["reward"]),
    )
    assert sum(seen[-5:]) / 5 > sum(seen[:5]) / 5 + 0.2


def test_log_probabilities_do_not_depend_on_padding(example: Any, model: Path) -> None:
    import torch

    policy = example.policy.Policy(str(model), "cpu")
    prompts, replies = [[5, 6, 7], [8, 9, 10, 11, 12, 13]], [[20, 21], [22, 23, 24]]
    with torch.no_grad():
        both, counts = policy.log_probabilities(prompts, replies)
        alone, _ = policy.log_probabilities(prompts[:1], replies[:1])
    assert counts.tolist() == [[False, True, True], [True, True, True]]
    assert torch.allclose(both[0][1:], alone[0], atol=1e-4)


def test_merged_adapters_answer_alike_and_leave_no_trace(example: Any, model: Path) -> None:
    import torch

    policy = example.policy.Policy(str(model), "cpu")
    example.lora.add_lora(policy.model, 8, 16.0)
    with torch.no_grad():
        for name, value in policy.model.named_parameters():
            if name.endswith(".up"):
                value.normal_(std=0.05)
        before = {name: value.clone() for name, value in policy.model.named_parameters()}
        words = torch.tensor([[5, 6, 7, 8, 9]])
        apart = policy.model(words).logits
        with example.lora.merged(policy.model):
            together = policy.model(words).logits
            base = next(module for module in policy.model.modules() if isinstance(module, example.lora.LoRALinear)).base
            assert not torch.equal(base.weight, before[_name_of(policy.model, base.weight)])
        again = policy.model(words).logits
    assert torch.allclose(apart, together, atol=1e-4)
    assert torch.equal(apart, again)
    assert all(torch.equal(value, before[name]) for name, value in policy.model.named_parameters())


def _name_of(model: Any, wanted: Any) -> str:
    return next(name for name, value in model.named_parameters() if value is wanted)


def test_a_reply_ends_as_the_chat_template_ends_it(example: Any, model: Path) -> None:
    """A tokenizer may name another token as the end of a text; that must not be taught."""
    policy = example.policy.Policy(str(model), "cpu")
    policy.tokenizer.chat_template = (
        "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}"
        + policy.tokenizer.convert_ids_to_tokens(41)
        + "{% endfor %}"
    )
    assert policy.end_token() == 41
    assert policy.ends >= {41, policy.tokenizer.eos_token_id}
    policy.tokenizer.chat_template = None
    assert policy.end_token() == policy.tokenizer.eos_token_id


def test_adapters_of_another_shape_are_refused(example: Any, model: Path, tmp_path: Path) -> None:
    policy = example.policy.Policy(str(model), "cpu")
    example.lora.add_lora(policy.model, 8, 16.0)
    example.lora.save_adapter(policy.model, tmp_path / "adapter.pt")
    other = example.policy.Policy(str(model), "cpu")
    example.lora.add_lora(other.model, 4, 8.0)
    with pytest.raises(SystemExit, match="another model or rank"):
        example.lora.load_adapter(other.model, tmp_path / "adapter.pt")


def test_the_solution_that_is_taught_is_right(example: Any) -> None:
    for benchmark in ("tomi", "tom-babi", "tom-k", "clutrr"):
        for story in storyproof.stream(benchmark, seed=2)[:5]:
            for row in story.rows:
                assert storyproof.judge(example.training.solution(row), row, prompt="chain-of-thought")
