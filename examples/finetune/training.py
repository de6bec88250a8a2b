"""Supervised fine-tuning on proofs, then GRPO with a reward of storyproof; both train adapters only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from policy import Policy

from storyproof import rewards
from storyproof.example import Example

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Question:
    """What is asked, and the row that is asked about."""

    chat: list[dict[str, str]]
    row: Example


def solution(row: Example) -> str:
    """Return the reply that is taught: the sentences on which the answer rests, then the answer."""
    lines = row.story.split("\n")
    proof = "\n".join(lines[number - 1] for number in row.proof)
    return f"{proof}\nAnswer: {row.answer}"


def fine_tune(
    policy: Policy, questions: Iterator[Question], *, steps: int, batch: int, rate: float, report: Report
) -> None:
    """Train on solutions, each question once; only tokens of the solution count."""
    optimizer, schedule = _optimizer(policy, rate, steps)
    policy.model.train()
    for step in range(steps):
        begun = time.monotonic()
        some = list(islice(questions, batch))
        prompts = [policy.words(each.chat) for each in some]
        replies = [
            [*policy.tokenizer(solution(each.row), add_special_tokens=False)["input_ids"], policy.end_token()]
            for each in some
        ]
        found, counts = policy.log_probabilities(prompts, replies)
        loss = -(found * counts).sum() / counts.sum()
        _step(policy, optimizer, schedule, loss)
        report(
            {"phase": "sft", "step": step, "loss": round(loss.item(), 4), "seconds": round(time.monotonic() - begun, 2)}
        )
    policy.model.eval()


def reinforce(
    policy: Policy,
    questions: Iterator[Question],
    *,
    steps: int,
    prompts: int,
    group: int,
    tokens: int,
    rate: float,
    reward: rewards.RewardFunction,
    report: Report,
    temperature: float = 1.0,
    clip: float = 0.2,
    updates: int = 1,
) -> None:
    """Train by group-relative policy optimisation (Shao et al. 2024).

    Each prompt is answered `group` times; a reply's advantage is its reward minus the mean of its group, divided by
    the standard deviation. The loss is PPO's clipped one, over tokens, without a penalty for leaving the model that
    training began with, as current practice has it. Groups whose replies all have the same reward teach nothing.
    """
    optimizer, schedule = _optimizer(policy, rate, steps * updates)
    for step in range(steps):
        begun = time.monotonic()
        asked = [each for each in islice(questions, prompts) for _ in range(group)]
        words = [policy.words(each.chat) for each in asked]
        policy.model.eval()
        replies = policy.sample(words, tokens=tokens, temperature=temperature)
        rows = [each.row.as_row() for each in asked]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        given = torch.tensor(
            reward([each.chat for each in asked], [policy.text(reply) for reply in replies], **columns),
            device=policy.device,
        ).view(-1, group)
        spread = given.std(dim=1, keepdim=True)
        advantages = ((given - given.mean(dim=1, keepdim=True)) / (spread + 1e-4)).view(-1)
        policy.model.train()
        before = None
        for _ in range(updates):
            now, counts = policy.log_probabilities(words, replies)
            before = now.detach() if before is None else before
            ratio = (now - before).exp()
            gain = torch.minimum(ratio * advantages[:, None], ratio.clamp(1 - clip, 1 + clip) * advantages[:, None])
            _step(policy, optimizer, schedule, -(gain * counts).sum() / counts.sum())
        report(
            {
                "phase": "grpo",
                "step": step,
                "reward": round(given.mean().item(), 4),
                "undecided_groups": int((spread > 0).sum()),
                "tokens": round(float(counts.sum()) / len(replies), 1),
                "seconds": round(time.monotonic() - begun, 2),
            }
        )
    policy.model.eval()


def _optimizer(policy: Policy, rate: float, steps: int) -> tuple[torch.optim.Optimizer, Any]:
    """Return AdamW with a short warm-up and a linear decay."""
    trained = [parameter for parameter in policy.model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.0)
    warm = max(1, min(10, steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    return optimizer, schedule


def _step(policy: Policy, optimizer: torch.optim.Optimizer, schedule: Any, loss: torch.Tensor) -> None:
    if not torch.isfinite(loss):
        raise SystemExit("the loss became non-finite; choose a lower learning rate.")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([each for each in policy.model.parameters() if each.requires_grad], 1.0)
    optimizer.step()
    schedule.step()
