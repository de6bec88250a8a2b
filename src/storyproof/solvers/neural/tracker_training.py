"""The training of `tracker`, on stories that its family draws without words."""

from __future__ import annotations

import json
import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from storyproof import __version__
from storyproof.catalog import load
from storyproof.errors import ConfigError, DataError
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.solvers.neural.checkpoint import LOCK, claimed
from storyproof.solvers.neural.counter_rng import seed_for
from storyproof.solvers.neural.tracker import (
    RUN,
    SLOTS,
    WEIGHTS,
    TrackerNetwork,
    TrackerSize,
    encode_forms,
    number_words,
)
from storyproof.solvers.neural.training_job import choose_device, hardware

CHECKPOINT, METRICS = "checkpoint.pt", "metrics.jsonl"
_FILES = (CHECKPOINT, METRICS, RUN, WEIGHTS, LOCK)
_BLOCK = 4096  # stories that are drawn at once
_HELD = 1 << 20  # the number of the first block of held-back stories
_HELD_STORIES = 2048
_WARMING = 20  # steps that are not timed, and steps that are
_POSITIONS = 256
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrackerPlan:
    """How trackers are trained.

    Attributes:
        stories: How many random stories are drawn.
        steps: Steps of training.
        batch: Questions in a step.
        rate: The highest learning rate.
        minutes: The most time that one run may take; the number of steps is lowered to what fits. 0 for no limit.
        runs: How many runs, with their own weights and batches.
        seed: The seed.
        workers: Processes that draw stories; 0 for all cores.
        restatements: Whether stories say again where objects are (1 or 0).
        order: The highest order of the questions.
        hi_tom: Whether a part of the stories has the words and the rule of Hi-ToM (1 or 0).
        width: The width of the network.
        layers: Its layers.
    """

    stories: int = 1_000_000
    steps: int = 20_000
    batch: int = 1024
    rate: float = 2e-3
    minutes: float = 0.0
    runs: int = 1
    seed: int = 0
    workers: int = 0
    restatements: int = 1
    order: int = 4
    hi_tom: int = 1
    width: int = 128
    layers: int = 6

    def __post_init__(self) -> None:
        least = {"stories": 1, "steps": 1, "batch": 1, "runs": 1, "layers": 1, "order": 1}
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float) or value < least.get(item.name, 0):
                raise ConfigError(f"{item.name} is {value!r}; use a number from {least.get(item.name, 0)} on.")
        if self.order > 4:
            raise ConfigError(f"order is {self.order}; a tracker learns questions of order 4 at most.")
        if self.width % 8:
            raise ConfigError(f"width is {self.width}; use a multiple of 8.")


def make_plan(options: Mapping[str, Any]) -> TrackerPlan:
    """Return a plan from options.

    Raises:
        ConfigError: If there is no such option, or a value is not valid.
    """
    known = [item.name for item in fields(TrackerPlan)]
    for name in options:
        if name not in known:
            raise ConfigError(f"tracker has no option '{name}'; it has {', '.join(known)}.")
    return TrackerPlan(**options)


@dataclass(frozen=True)
class _Stories:
    """Stories of one length on a device: the fields of the family's lessons as tensors."""

    form: Tensor
    names: Tensor
    question: Tensor
    asked: Tensor
    answer: Tensor
    is_set: Tensor

    def questions(self) -> int:
        """Return how many questions there are."""
        return int(self.question.numel())


def _curriculum(plan: TrackerPlan) -> Any:
    make = load("curriculum", "tracker")
    return make(plan.seed, restatements=bool(plan.restatements), order=plan.order, hi_tom=bool(plan.hi_tom))


def _draw(plan: TrackerPlan, index: int) -> tuple[int, dict[str, np.ndarray[Any, Any]]]:
    length, lessons = _curriculum(plan).block(index, _BLOCK if plan.stories >= _BLOCK else plan.stories)
    return length, {item.name: getattr(lessons, item.name) for item in fields(_Stories)}


def draw_stories(plan: TrackerPlan, device: torch.device, *, held: bool = False) -> list[_Stories]:
    """Return stories of every length; they do not depend on the number of workers.

    Args:
        plan: How many, and which.
        device: Where to.
        held: Whether to draw those that are held back.
    """
    count = -(-(_HELD_STORIES if held else plan.stories) // _BLOCK)
    count = max(count, 12 if held else 6)  # every wording and size
    indices = range(_HELD, _HELD + count) if held else range(count)
    workers = plan.workers or os.cpu_count() or 1
    make = partial(_draw, plan)
    parts: dict[int, list[dict[str, Any]]] = {}
    if workers == 1 or held or count < 8:
        drawn = map(make, indices)
        for length, part in drawn:
            parts.setdefault(length, []).append(part)
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            for length, part in pool.map(make, indices):
                parts.setdefault(length, []).append(part)
    return [
        _Stories(
            **{name: torch.from_numpy(np.concatenate([each[name] for each in some])).to(device) for name in some[0]}
        )
        for _, some in sorted(parts.items())
    ]


class _Batch(NamedTuple):
    form: Tensor
    names: Tensor
    positions: Tensor
    target: Tensor
    members: Tensor
    is_set: Tensor
    weight: Tensor


def _batch(stories: _Stories, count: int, generator: torch.Generator) -> _Batch:
    """Draw questions; names are numbered anew, and the positions of sentences are drawn in order."""
    device = stories.form.device
    total, per_story = len(stories.form), stories.question.shape[1]

    def random(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device=device)

    story = torch.randint(total, (count,), generator=generator, device=device)
    which = torch.randint(per_story, (count,), generator=generator, device=device)
    numbers = random(count, SLOTS).argsort(1)
    form = torch.cat([stories.question[story, which][:, None], stories.form[story]], dim=1).long()
    names = torch.cat([stories.asked[story, which][:, None], stories.names[story]], dim=1).long()
    renamed = numbers.gather(1, names.clamp(min=0).flatten(1)).view_as(names)
    answer, is_set = stories.answer[story, which].long(), stories.is_set[story, which]
    target = torch.where(answer < SLOTS, numbers.gather(1, answer.clamp(max=SLOTS - 1)), answer)
    agents = (answer.unsqueeze(-1) >> torch.arange(8, device=device)) & 1
    members = torch.zeros(count, answer.shape[1], SLOTS, device=device)
    members.scatter_(2, numbers[:, None, :8].expand(-1, answer.shape[1], -1), agents.float())
    used = form[:, 1:] > 0
    last = used.sum(1, keepdim=True) - 1
    weight = used.float() + 4 * (torch.arange(answer.shape[1], device=device) == last)
    # Half of the batch has positions one after the other, the other half with gaps, as in longer stories.
    length = form.shape[1]
    gaps = random(count, _POSITIONS).argsort(1)[:, :length].sort(1).values
    even = torch.arange(length, device=device) + (random(count, 1) * (_POSITIONS - length)).long()
    positions = torch.where(random(count, 1) < 0.5, even, gaps)
    return _Batch(form, torch.where(names < 0, names, renamed), positions, target, members, is_set, weight)


def _loss(scores: Tensor, chosen: Tensor, target: Tensor, members: Tensor, is_set: Tensor, weight: Tensor) -> Tensor:
    logs = scores.float().log_softmax(-1)
    single = -logs.gather(2, torch.where(is_set[:, None], 0, target).unsqueeze(-1)).squeeze(-1)
    several = functional.binary_cross_entropy_with_logits(chosen.float(), members, reduction="none").sum(-1)
    each = torch.where(is_set[:, None], several, single)
    return (each * weight).sum() / weight.sum()


class OrthogonalMomentum:
    """Muon (Jordan et al. 2024): steps along the momentum of matrices, made orthogonal.

    Matrices of one shape are handled together. The size of steps is that of AdamW (Liu et al. 2025).

    Args:
        matrices: What is trained.
    """

    _PARTS = 3.4445, -4.7750, 2.0315  # of the Newton-Schulz iteration

    def __init__(self, matrices: Sequence[torch.nn.Parameter]) -> None:
        shapes = dict.fromkeys(tuple(each.shape) for each in matrices)
        self._groups: list[list[Tensor]] = [[each for each in matrices if tuple(each.shape) == it] for it in shapes]
        self.momentum = [torch.zeros(len(group), *group[0].shape, device=group[0].device) for group in self._groups]

    def clear(self) -> None:
        """Forget the gradients."""
        for group in self._groups:
            for each in group:
                each.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Take a step."""
        for group, momentum in zip(self._groups, self.momentum, strict=True):
            slope = torch.stack([each.grad for each in group if each.grad is not None])
            momentum.lerp_(slope, 0.05)
            update = self._orthogonal(slope.lerp(momentum, 0.95)) * (0.2 * max(group[0].shape) ** 0.5 * rate)
            torch._foreach_mul_(group, 1 - 0.05 * rate)
            torch._foreach_sub_(group, list(update.to(group[0].dtype).unbind(0)))

    def _orthogonal(self, matrices: Tensor) -> Tensor:
        is_tall = matrices.shape[1] > matrices.shape[2]
        values = matrices.bfloat16() if matrices.is_cuda else matrices
        values = values.transpose(1, 2) if is_tall else values
        values = values / (values.norm(dim=(1, 2), keepdim=True) + 1e-7)
        one, two, three = self._PARTS
        for _ in range(5):
            square = values @ values.transpose(1, 2)
            values = one * values + (two * square + three * square @ square) @ values
        turned: Tensor = (values.transpose(1, 2) if is_tall else values).float()
        return turned


class TrackerRun:
    """One run: its network, and what it takes to go on.

    Args:
        plan: How it is trained.
        number: Which run it is.
        forms: The words of every form.
        words: The known words.
        device: Where it is trained.
    """

    def __init__(
        self, plan: TrackerPlan, number: int, forms: list[tuple[str, ...]], words: list[str], device: torch.device
    ) -> None:
        self.plan, self.device = plan, device
        self.seed = seed_for("tracker", plan.seed, number) % 2**31
        torch.manual_seed(self.seed)
        numbers = number_words(words)
        self.size = TrackerSize(plan.width, plan.layers, hidden=2 * plan.width)
        self.network = TrackerNetwork(len(numbers) + 1, self.size).to(device)
        self.forms = encode_forms(forms, numbers).to(device)
        self.step, self.steps = 0, plan.steps
        inner = ("mix.weight", "join.weight", "widen.weight", "narrow.weight")
        turned = [value for name, value in self.network.named_parameters() if name.endswith(inner)]
        named = [value for name, value in self.network.named_parameters() if not name.endswith(inner)]
        decayed, others = ([value for value in named if (value.ndim > 1) == many] for many in (True, False))
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98), fused=device.type == "cuda")
        self.orthogonal = OrthogonalMomentum(turned)
        self._read: Any = self.network.read_forms
        self._judge: Any = self._loss_of
        if device.type == "cuda":
            self._read = torch.compile(self.network.read_forms, dynamic=False)
            self._judge = torch.compile(self._loss_of, dynamic=False)

    def learn(self, stories: list[_Stories]) -> float:
        """Take one step, and return the loss on its batch as a tensor's value when asked."""
        # What is drawn depends on the step alone, so that a run that was stopped goes on as if it had not been.
        generator = torch.Generator(self.device).manual_seed(seed_for("batch", self.seed, self.step) % 2**63)
        parts = [each.questions() for each in stories]
        place = int(np.searchsorted(np.cumsum(parts) / sum(parts), _fraction(self.seed, self.step), side="right"))
        chosen = stories[min(place, len(stories) - 1)]
        batch = _batch(chosen, self.plan.batch, generator)
        share = self.step / self.steps
        rate = (
            self.plan.rate
            * min(1.0, (self.step + 1) / (0.02 * self.steps + 1))
            * (0.5 + 0.5 * math.cos(math.pi * share))
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self.loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        self.orthogonal.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.orthogonal.step(rate)
        self.step += 1
        return loss.detach()  # type: ignore[return-value]

    def warm(self, stories: list[_Stories]) -> None:
        """Compile for stories of every length, so that the time of steps can be measured."""
        for each in stories:
            batch = _batch(each, self.plan.batch, torch.Generator(self.device).manual_seed(0))
            self.loss(batch).backward()  # type: ignore[no-untyped-call]
        self.optimizer.zero_grad(set_to_none=True)
        self.orthogonal.clear()

    def loss(self, batch: _Batch) -> Tensor:
        """Return the loss on a batch."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            whole, table = self._read(self.forms)
            states = self.network.fill_forms(whole, table, batch.form, batch.names)
            loss: Tensor = self._judge(states, *batch[2:])
        return loss

    def _loss_of(self, states: Tensor, positions: Tensor, *rest: Tensor) -> Tensor:
        scores, members = self.network(states, positions)
        return _loss(scores[:, 1:], members[:, 1:], *rest)

    @torch.inference_mode()
    def score(self, stories: list[_Stories]) -> float:
        """Return how many of the questions about held-back stories are answered correctly at the end."""
        right = total = 0
        generator = torch.Generator(self.device).manual_seed(1)
        for each in stories:
            batch = _batch(each, min(4096, each.questions()), generator)
            scores, members = self.network(self.network.embed(self.forms, batch.form, batch.names), batch.positions)
            ends = (batch.form > 0).sum(1) - 1
            rows = torch.arange(len(ends), device=self.device)
            pointed = scores[rows, ends].argmax(1) == batch.target[rows, ends - 1]
            listed = ((members[rows, ends] > 0) == (batch.members[rows, ends - 1] > 0)).all(1)
            right += int(torch.where(batch.is_set, listed, pointed).sum())
            total += len(ends)
        return right / total

    def state(self) -> dict[str, Any]:
        """Return what it takes to go on."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "momentum": self.orthogonal.momentum,
            "step": self.step,
            "steps": self.steps,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.orthogonal.momentum = [each.to(self.device) for each in state["momentum"]]
        self.step, self.steps = state["step"], state["steps"]


def _fraction(seed: int, step: int) -> float:
    return float(seed_for("length", seed, step) % 2**32) / 2.0**32


def train_tracker(
    out: str | Path,
    options: Mapping[str, Any],
    *,
    device: str = "auto",
    force: bool = False,
    progress: Callable[[int, int, float], None] = lambda run, step, loss: None,
) -> dict[str, Any]:
    """Train trackers, one run after the other; repeat the call to go on with a training that was stopped.

    Args:
        out: The folder to write to.
        options: The fields of `TrackerPlan`.
        device: cpu, cuda or auto.
        force: Train again, and overwrite what is in the folder.
        progress: Called now and then with the run, the step and the loss.

    Returns:
        What `run.json` has.

    Raises:
        ConfigError: If an option is not valid, or the folder has something else.
        DataError: If a checkpoint is damaged.
    """
    plan, out, place = make_plan(options), Path(out), choose_device(device)
    wanted = {"model": "tracker", "plan": asdict(plan), "storyproof": __version__}
    if (out / RUN).is_file() and not force:
        about: dict[str, Any] = json.loads((out / RUN).read_text(encoding="utf-8"))
        if about.get("plan") == wanted["plan"] and about.get("model") == "tracker":
            return about
        raise ConfigError(f"{out} contains another training; choose another --out, or use --force to train again.")
    if out.exists() and any(each.name.partition(".draft")[0] not in _FILES for each in out.iterdir()):
        raise ConfigError(f"{out} contains something else already; choose another --out.")
    with writing_to(out), claimed(out):
        out.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        curriculum = _curriculum(plan)
        stories, held = draw_stories(plan, place), draw_stories(plan, place, held=True)
        drawn = time.monotonic() - started
        _log.warning("drew %d stories in %.0f s", sum(len(each.form) for each in stories), drawn)
        done = {} if force else _checkpoint(out, plan)
        weights, scores, times = (
            dict(done.get("weights", {})),
            list(done.get("scores", [])),
            list(done.get("times", [])),
        )
        steps: list[int] = list(done.get("steps", []))
        for number in range(len(scores), plan.runs):
            run = TrackerRun(plan, number, curriculum.forms, curriculum.words, place)
            if done.get("current") is not None and number == len(done.get("scores", [])):
                run.load(done["current"])
            begun = saved = time.monotonic()
            if place.type == "cuda":
                run.warm(stories)
            first = run.step
            while run.step < run.steps:
                loss = run.learn(stories)
                if run.step == first + _WARMING:
                    float(loss)
                    timed = time.monotonic()
                if plan.minutes and first == 0 and run.step == 5 * _WARMING:
                    float(loss)
                    each = (time.monotonic() - timed) / (4 * _WARMING)
                    run.steps = max(run.step, min(run.steps, int((60 * plan.minutes - (timed - begun)) / each)))
                    _log.warning("%.1f ms a step, %d steps", 1000 * each, run.steps)
                if plan.minutes and first == 0 and time.monotonic() - begun > 60 * plan.minutes * 1.1:
                    run.steps = run.step  # slower than its first steps
                if run.step % 500 == 0 or run.step == run.steps:
                    value = float(loss)
                    if not math.isfinite(value):
                        raise ConfigError(
                            f"the loss of run {number} is not finite after {run.step} steps; lower the rate."
                        )
                    _note(out, {"run": number, "step": run.step, "loss": value})
                    progress(number, run.step, value)
                    if time.monotonic() - saved > 60:
                        _save(out, plan, weights, scores, times, steps, run)
                        saved = time.monotonic()
            scores.append(run.score(held))
            steps.append(run.steps)
            times.append(round(time.monotonic() - begun, 1))
            _note(out, {"run": number, "held": scores[-1]})
            weights |= {
                f"{number}.{name}": value.half().cpu().contiguous() for name, value in run.network.state_dict().items()
            }
            _save(out, plan, weights, scores, times, steps, None)
        about = {
            **wanted,
            "words": curriculum.words,
            "size": asdict(TrackerSize(plan.width, plan.layers, hidden=2 * plan.width)),
            "scores": scores,
            "steps": steps,
            "seconds": times,
            "seconds_of_drawing": round(drawn, 1),
            "stories": sum(len(each.form) for each in stories),
            "questions": sum(each.questions() for each in stories),
            "weights": sum(value.numel() for value in weights.values()) // max(1, plan.runs),
            "torch": torch.__version__,
            "hardware": hardware(place),
        }
        from safetensors.torch import save

        write_whole(out / WEIGHTS, save(weights))
        write_whole(out / RUN, (json.dumps(about, indent=1) + "\n").encode())
        (out / CHECKPOINT).unlink(missing_ok=True)
    return about


def _note(out: Path, figures: Mapping[str, Any]) -> None:
    with (out / METRICS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(figures) + "\n")


def _save(
    out: Path,
    plan: TrackerPlan,
    weights: dict[str, Tensor],
    scores: list[float],
    times: list[float],
    steps: list[int],
    run: TrackerRun | None,
) -> None:
    kept = {"plan": asdict(plan), "weights": weights, "scores": scores, "times": times, "steps": steps}
    draft = out / f"{CHECKPOINT}.draft"
    torch.save({**kept, "current": run.state() if run is not None else None}, draft)
    draft.replace(out / CHECKPOINT)


def _checkpoint(out: Path, plan: TrackerPlan) -> dict[str, Any]:
    if not (out / CHECKPOINT).is_file():
        return {}
    try:
        kept: dict[str, Any] = torch.load(out / CHECKPOINT, map_location="cpu", weights_only=True)
    except Exception as error:
        raise DataError(f"{out / CHECKPOINT} is damaged: {error}; use --force to train again.") from error
    if kept.get("plan") != asdict(plan):
        raise ConfigError(f"{out} contains another training; choose another --out, or use --force to train again.")
    return kept
