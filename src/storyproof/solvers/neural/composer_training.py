"""The training of `composer`: reading from stated facts, and composing from answers."""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from storyproof import __version__
from storyproof.catalog import load
from storyproof.errors import ConfigError
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.solvers.neural.checkpoint import claimed
from storyproof.solvers.neural.composer import (
    FIRST_NAME,
    FIRST_WORD,
    NAMES,
    UNKNOWN,
    ComposerNetwork,
    ComposerSize,
    number_tokens,
    tokens_of,
)
from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.tracker import RUN, WEIGHTS
from storyproof.solvers.neural.training_job import choose_device, hardware

_MENTIONS = 20  # of names in a story of three facts
_FACTS = 6  # of a story, in both directions
_LEAST_COUNT, _MOST_WORDS = 4, 6000
_WORD_BLOCKS = 6  # blocks whose words are known
_HELD = 1 << 20


@dataclass(frozen=True)
class ComposerPlan:
    """How composers are trained.

    Attributes:
        stories: How many stories are drawn.
        steps: Steps of training.
        batch: Stories in a step.
        rate: The highest learning rate.
        minutes: The most time that one run may take; 0 for no limit.
        runs: How many runs.
        seed: The seed.
        workers: Processes that draw stories; 0 for all cores.
        tokens: Longer stories are left out.
        width: The width of the network.
        layers: Its layers.
        dropout: The share of words that are hidden.
    """

    stories: int = 400_000
    steps: int = 12_000
    batch: int = 256
    rate: float = 1e-3
    minutes: float = 0.0
    runs: int = 1
    seed: int = 0
    workers: int = 0
    tokens: int = 128
    width: int = 128
    layers: int = 4
    dropout: float = 0.05

    def __post_init__(self) -> None:
        least = {"stories": 1, "steps": 1, "batch": 1, "runs": 1, "layers": 1, "tokens": 16}
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float) or value < least.get(item.name, 0):
                raise ConfigError(f"{item.name} is {value!r}; use a number from {least.get(item.name, 0)} on.")
        if self.width % 8:
            raise ConfigError(f"width is {self.width}; use a multiple of 8.")


def make_composer_plan(options: Mapping[str, Any]) -> ComposerPlan:
    """Return a plan from options.

    Raises:
        ConfigError: If there is no such option, or a value is not valid.
    """
    known = [item.name for item in fields(ComposerPlan)]
    for name in options:
        if name not in known:
            raise ConfigError(f"composer has no option '{name}'; it has {', '.join(known)}.")
    return ComposerPlan(**options)


Arrays = dict[str, np.ndarray[Any, Any]]


def _curriculum(plan: ComposerPlan) -> Any:
    return load("curriculum", "composer")(plan.seed)


def learn_words(plan: ComposerPlan) -> list[str]:
    """Return the words that occur without a capital letter often enough, and marks."""
    counts: Counter[str] = Counter()
    for index in range(min(_WORD_BLOCKS, 1 + plan.stories // 6000)):
        for lesson in _curriculum(plan).block(index)[: plan.stories]:
            counts.update(token for token in tokens_of(lesson.story) if not token[:1].isupper() and token != "\n")
    return sorted(word for word, count in counts.most_common(_MOST_WORDS) if count >= min(_LEAST_COUNT, plan.stories))


def _encode(plan: ComposerPlan, words: Mapping[str, int], index: int) -> Arrays:
    """Return the stories of a block as arrays, but long ones and those with people whose names are known words."""
    curriculum = _curriculum(plan)
    relations = {relation: number for number, relation in enumerate(curriculum.words)}
    tokens, facts, chains, answers = (
        list[list[int]](),
        list[list[tuple[int, int, int]]](),
        list[list[int]](),
        list[int](),
    )
    for lesson in curriculum.block(index)[: plan.stories]:
        names: dict[str, int] = {}
        for name in lesson.asked:
            names.setdefault(name, len(names))
        numbers = number_tokens(tokens_of(lesson.story), words, names)
        if len(numbers) > plan.tokens or any(one not in names or two not in names for one, _, two in lesson.facts):
            continue
        tokens.append(numbers + [0] * (plan.tokens - len(numbers)))
        stated = [(names[one], names[two], relations[relation]) for one, relation, two in lesson.facts]
        facts.append(stated + [(-1, -1, -1)] * (_FACTS - len(stated)))
        chains.append(
            [relations[relation] for relation in (*lesson.chain, *[lesson.chain[0]] * 3)[:3]] + [len(lesson.chain)]
        )
        answers.append(relations[lesson.answer])
    return {
        "tokens": np.array(tokens, np.int16),
        "facts": np.array(facts, np.int8),
        "chains": np.array(chains, np.int8),
        "answers": np.array(answers, np.int8),
    }


def _draw(plan: ComposerPlan, words: list[str], device: torch.device, *, held: bool = False) -> dict[str, Tensor]:
    numbers = {word: FIRST_WORD + number for number, word in enumerate(words)}
    count = 1 if held else max(1, plan.stories // 6144)
    indices = range(_HELD, _HELD + 1) if held else range(count)
    workers = plan.workers or os.cpu_count() or 1
    make = partial(_encode, plan, numbers)
    if workers == 1 or count < 8:
        parts = list(map(make, indices))
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            parts = list(pool.map(make, indices))
    return {name: torch.from_numpy(np.concatenate([each[name] for each in parts])).to(device) for name in parts[0]}


class ComposerRun:
    """One run: its network, and what it takes to go on.

    Args:
        plan: How it is trained.
        number: Which run it is.
        words: How many words are known.
        relations: How many relations there are.
        device: Where it is trained.
    """

    def __init__(self, plan: ComposerPlan, number: int, words: int, relations: int, device: torch.device) -> None:
        self.plan, self.device, self.step, self.steps = plan, device, 0, plan.steps
        self.seed = seed_for("composer", plan.seed, number) % 2**31
        torch.manual_seed(self.seed)
        self.size = ComposerSize(plan.width, plan.layers)
        self.network = ComposerNetwork(words, relations, self.size).to(device)
        others = [value for name, value in self.network.named_parameters() if name != "table"]
        self.optimizer = torch.optim.AdamW(
            [{"params": others, "weight_decay": 0.01}, {"params": [self.network.table], "weight_decay": 0.0}],
            lr=plan.rate,
            betas=(0.9, 0.98),
            fused=device.type == "cuda",
        )

    def learn(self, stories: Mapping[str, Tensor]) -> Tensor:
        """Take one step, and return the loss on its batch."""
        generator = torch.Generator(self.device).manual_seed(seed_for("batch", self.seed, self.step) % 2**63)
        rows = torch.randint(len(stories["answers"]), (self.plan.batch,), generator=generator, device=self.device)
        rise = min(1.0, (self.step + 1) / (0.02 * self.steps + 1))
        rate = self.plan.rate * rise * (0.5 + 0.5 * math.cos(math.pi * self.step / self.steps))
        for group, factor in zip(self.optimizer.param_groups, (1, 20), strict=True):
            group["lr"] = factor * rate
        loss = self.reading_loss(stories, rows, generator) + self.composing_loss(stories, rows)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def reading_loss(self, stories: Mapping[str, Tensor], rows: Tensor, generator: torch.Generator) -> Tensor:
        """Return how badly the stated facts are read; names are numbered anew."""
        tokens, facts = stories["tokens"][rows].long(), stories["facts"][rows].long()
        numbers = torch.rand(len(rows), NAMES, generator=generator, device=self.device).argsort(1)
        is_name = (tokens >= FIRST_NAME) & (tokens < FIRST_WORD)
        renamed = FIRST_NAME + numbers.gather(1, (tokens - FIRST_NAME).clamp(0, NAMES - 1))
        hidden = torch.rand(tokens.shape, generator=generator, device=self.device) < self.plan.dropout
        tokens = torch.where(is_name, renamed, torch.where(hidden & (tokens >= FIRST_WORD), UNKNOWN, tokens))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores = self.network.read(tokens, _MENTIONS)
        target = torch.zeros(len(rows), NAMES * NAMES + 1, dtype=torch.long, device=self.device)
        one, two = (numbers.gather(1, facts[..., side].clamp(min=0)) for side in (0, 1))
        spot = torch.where(facts[..., 0] < 0, NAMES * NAMES, one * NAMES + two)
        target.scatter_(1, spot, facts[..., 2] + 1)
        target = target[:, :-1]
        present = torch.zeros(len(rows), NAMES, dtype=torch.bool, device=self.device)
        present.scatter_(1, torch.where(is_name, renamed - FIRST_NAME, 0), is_name)
        pairs = (present[:, :, None] & present[:, None]).flatten(1)
        pairs &= ~torch.eye(NAMES, dtype=torch.bool, device=self.device).flatten()
        whole = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1).flatten(1, 2)
        each = functional.cross_entropy(whole.float().transpose(1, 2), target, reduction="none")
        weight = pairs.float() * torch.where(target > 0, 3.0, 1.0)
        return (each * weight).sum() / weight.sum()

    def composing_loss(self, stories: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Return how badly the facts of chains are composed."""
        chains, answers = stories["chains"][rows].long(), stories["answers"][rows].long()
        losses = []
        for length in (2, 3):
            some = chains[:, 3] == length
            known = functional.one_hot(chains[some, :length], self.network.relations).float()
            found = self.network.compose(known).gather(1, answers[some][:, None])
            losses.append(-torch.log(found + 1e-6).sum())
        return torch.stack(losses).sum() / len(rows)

    @torch.inference_mode()
    def score(self, stories: Mapping[str, Tensor]) -> float:
        """Return in which share of stories every fact is read and composed rightly."""
        right = 0
        count = min(2048, len(stories["answers"]))
        for start in range(0, count, 256):
            rows = torch.arange(start, min(start + 256, count), device=self.device)
            facts = stories["facts"][rows].long()
            scores = self.network.read(stories["tokens"][rows].long())
            whole = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1).argmax(-1).flatten(1)
            found = whole.gather(1, (facts[..., 0] * NAMES + facts[..., 1]).clamp(min=0))
            right += int(((found == facts[..., 2] + 1) | (facts[..., 0] < 0)).all(1).sum())
        return right / count


def train_composer(
    out: str | Path,
    options: Mapping[str, Any],
    *,
    device: str = "auto",
    force: bool = False,
    progress: Callable[[int, int, float], None] = lambda run, step, loss: None,
) -> dict[str, Any]:
    """Train composers, one run after the other.

    Args:
        out: The folder to write to.
        options: The fields of `ComposerPlan`.
        device: cpu, cuda or auto.
        force: Train again, and overwrite what is in the folder.
        progress: Called now and then with the run, the step and the loss.

    Returns:
        What `run.json` has.

    Raises:
        ConfigError: If an option is not valid, or the folder has something else.
    """
    plan, out, place = make_composer_plan(options), Path(out), choose_device(device)
    if (out / RUN).is_file() and not force:
        about: dict[str, Any] = json.loads((out / RUN).read_text(encoding="utf-8"))
        if about.get("plan") == asdict(plan) and about.get("model") == "composer":
            return about
        raise ConfigError(f"{out} contains another training; choose another --out, or use --force to train again.")
    if out.exists() and any(out.iterdir()) and not force:
        raise ConfigError(f"{out} contains something else already; choose another --out.")
    with writing_to(out), claimed(out):
        relations = list(_curriculum(plan).words)
        words = learn_words(plan)
        stories, held = _draw(plan, words, place), _draw(plan, words, place, held=True)
        weights: dict[str, Tensor] = {}
        scores, steps, seconds = list[float](), list[int](), list[float]()
        for number in range(plan.runs):
            run, begun = ComposerRun(plan, number, len(words), len(relations), place), time.monotonic()
            while run.step < run.steps:
                loss = run.learn(stories)
                if run.step == 20:
                    float(loss)
                    timed = time.monotonic()
                if plan.minutes and run.step == 100:
                    float(loss)
                    run.steps = max(100, min(run.steps, int(60 * plan.minutes / ((time.monotonic() - timed) / 80))))
                if plan.minutes and time.monotonic() - begun > 66 * plan.minutes:
                    run.steps = run.step  # slower than its first steps
                if run.step % 500 == 0 or run.step == run.steps:
                    if not math.isfinite(value := float(loss)):
                        raise ConfigError(
                            f"the loss of run {number} is not finite after {run.step} steps; lower the rate."
                        )
                    progress(number, run.step, value)
            scores.append(run.score(held))
            steps.append(run.steps)
            seconds.append(round(time.monotonic() - begun, 1))
            weights |= {
                f"{number}.{name}": each.half().cpu().contiguous() for name, each in run.network.state_dict().items()
            }
        about = {
            "model": "composer",
            "plan": asdict(plan),
            "storyproof": __version__,
            "relations": relations,
            "words": words,
            "size": asdict(ComposerSize(plan.width, plan.layers)),
            "scores": scores,
            "steps": steps,
            "seconds": seconds,
            "stories": len(stories["answers"]),
            "weights": sum(each.numel() for each in weights.values()) // plan.runs,
            "torch": torch.__version__,
            "hardware": hardware(place),
        }
        from safetensors.torch import save

        write_whole(out / WEIGHTS, save(weights))
        write_whole(out / RUN, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())
    return about
