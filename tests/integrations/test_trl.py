"""The rewards in TRL's own trainer, with a tiny random model."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof import rewards
from tests.tiny_model import make_tiny_model

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]


def test_grpo_of_trl_trains_with_our_rewards(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    rows = list(islice(rewards.prompt_rows(storyproof.stream("tomi", seed=7)), 8))
    model = make_tiny_model(
        tmp_path / "model", [row["prompt"][-1]["content"] for row in rows], vocabulary=700, context=1024
    )
    seen: list[tuple[int, list[float]]] = []

    def recorded(prompts: Any, completions: Any, **columns: Any) -> list[float]:
        found = rewards.stepwise(prompts, completions, **columns)
        seen.append((len(completions), found))
        return found

    config = trl.GRPOConfig(
        output_dir=str(tmp_path / "out"),
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        max_steps=2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
    )
    trainer = trl.GRPOTrainer(
        model=str(model),
        reward_funcs=[rewards.exact, recorded],
        args=config,
        train_dataset=datasets.Dataset.from_list(rows),
    )
    trainer.train()
    assert len(seen) == 2
    assert all(count == len(found) for count, found in seen)
    logged = {name for line in trainer.state.log_history for name in line}
    assert {"rewards/exact/mean", "rewards/recorded/mean"} <= logged
