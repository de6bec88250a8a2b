"""The training of models that draw their own stories (`tracker` and `composer`): steps, and runs one after the other.

What a step draws depends on its number alone, so that a run that was stopped goes on as if it had not been. On a GPU a
step is recorded once for each kind of batch and then replayed.
"""

from __future__ import annotations

import json
import math
import os
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from storyproof import __version__
from storyproof.errors import ConfigError, DataError
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.solvers.neural.checkpoint import LOCK, claimed
from storyproof.solvers.neural.counter_rng import mix, seed_for
from storyproof.solvers.neural.recorded_steps import BEFORE_RECORDING, RecordedSteps, take_aside
from storyproof.solvers.neural.tracker import RUN, WEIGHTS
from storyproof.solvers.neural.training_job import choose_device, hardware

CHECKPOINT, METRICS = "checkpoint.pt", "metrics.jsonl"
_FILES = (CHECKPOINT, METRICS, RUN, WEIGHTS, LOCK)
_WARMING, _TIMED = 60, 200  # steps that are not timed, and that are
_RISING = 300  # steps in which the learning rate rises
_NOTED = 500  # steps between two lines of the metrics
_FITTED = 0.8  # the share of the steps in which their number is fitted to the time
_SAVED_S = 60
_TURNED = ("mix.weight", "join.weight", "widen.weight", "narrow.weight")  # matrices that get orthogonal steps
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class DrawnPlan(ABC):
    """What the plans of all such trainings have.

    Attributes:
        stories: How many random stories are drawn.
        steps: Steps of training.
        batch: Questions in a step.
        rate: The highest learning rate.
        minutes: The most time that one run may take; the number of steps is lowered to what fits. 0 for no limit.
        runs: How many runs, with their own weights and batches.
        seed: The seed.
        workers: Processes that draw stories; 0 for all cores.
        width: The width of the network.
        layers: Its layers.
        compiled: Whether the network is compiled, on a GPU (1 or 0).
    """

    model: ClassVar[str]
    least: ClassVar[dict[str, int]] = {"stories": 1, "steps": 1, "batch": 1, "runs": 1, "layers": 1}

    stories: int = 1_000_000
    steps: int = 20_000
    batch: int = 1024
    rate: float = 2e-3
    minutes: float = 0.0
    runs: int = 1
    seed: int = 0
    workers: int = 0
    width: int = 128
    layers: int = 6
    compiled: int = 1

    def __post_init__(self) -> None:
        for item in fields(self):
            value, least = getattr(self, item.name), self.least.get(item.name, 0)
            if isinstance(item.default, str):
                if not isinstance(value, str):
                    raise ConfigError(f"{item.name} is {value!r}; use a text.")
            elif not isinstance(value, int | float) or value < least:
                raise ConfigError(f"{item.name} is {value!r}; use a number from {least} on.")
        if self.width % 8:
            raise ConfigError(f"width is {self.width}; use a multiple of 8.")

    @classmethod
    def of(cls: type[_Plan], options: Mapping[str, Any]) -> _Plan:
        """Return a plan from options.

        Raises:
            ConfigError: If there is no such option, or a value is not valid.
        """
        known = [item.name for item in fields(cls)]
        for name in options:
            if name not in known:
                raise ConfigError(f"{cls.model} has no option '{name}'; it has {', '.join(known)}.")
        return cls(**options)

    @abstractmethod
    def prepare(self, device: torch.device) -> tuple[Callable[[int], DrawnRun], dict[str, Any]]:
        """Draw stories; return what makes a run of its number, and what `run.json` says besides."""


_Plan = TypeVar("_Plan", bound=DrawnPlan)


def draw_blocks(make: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> list[_Result]:
    """Return what is made of each item, in order, by several processes if that is worth it."""
    count = workers or os.cpu_count() or 1
    if count == 1 or len(items) < 8:
        return list(map(make, items))
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        return list(pool.map(make, items))


class Noise:
    """Random numbers of a step: they depend on the step's own number and on what they are for.

    Args:
        number: One integer that is different in every step.
    """

    def __init__(self, number: Tensor) -> None:
        self.number = number
        self._drawn = 0

    def below(self, most: int, *shape: int) -> Tensor:
        """Return random integers from 0 to less than a number that is small against 2 ** 31."""
        place = torch.arange(math.prod(shape), device=self.number.device)
        self._drawn += 1
        return (mix(mix(self.number + self._drawn * 0x9E3779B9) + place) % most).view(shape)

    def uniform(self, *shape: int) -> Tensor:
        """Return random numbers from 0 to less than 1."""
        return self.below(1 << 24, *shape) / float(1 << 24)

    def orders(self, rows: int, length: int) -> Tensor:
        """Return random orders of the first numbers."""
        return self.below(1 << 30, rows, length).argsort(1)


class OrthogonalMomentum:
    """Muon (Jordan et al. 2024): steps along the momentum of matrices, made orthogonal.

    Matrices of one shape are handled together. The size of steps is that of AdamW (Liu et al. 2025).

    Args:
        matrices: What is trained.
    """

    _PARTS = 3.4445, -4.7750, 2.0315  # of the Newton-Schulz iteration

    def __init__(self, matrices: Sequence[nn.Parameter]) -> None:
        shapes = dict.fromkeys(tuple(each.shape) for each in matrices)
        self._groups: list[list[Tensor]] = [[each for each in matrices if tuple(each.shape) == it] for it in shapes]
        self.momentum = [torch.zeros(len(group), *group[0].shape, device=group[0].device) for group in self._groups]

    @torch.no_grad()
    def step(self, rate: Tensor) -> None:
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


class DrawnRun(ABC):
    """One run: its network, and what it takes to go on.

    Args:
        plan: How it is trained.
        number: Which run it is.
        device: Where it is trained.
    """

    network: nn.Module

    def __init__(self, plan: DrawnPlan, number: int, device: torch.device) -> None:
        self.plan, self.device, self.step, self.steps = plan, device, 0, plan.steps
        self.on_gpu = device.type == "cuda"
        self.seed = seed_for(plan.model, plan.seed, number) % 2**31
        torch.manual_seed(self.seed)
        self._number = torch.zeros((), dtype=torch.int64, device=device)
        self._rate = torch.zeros((), device=device)
        self._taken: Counter[int] = Counter()

    def optimize(self, factors: Mapping[str, float] | None = None) -> None:
        """Choose what is trained: the matrices of blocks by orthogonal momentum, all else by AdamW.

        Args:
            factors: Weights whose learning rate is a multiple of the usual one, by name.
        """
        named = dict(self.network.named_parameters())
        special = [(factor, [named.pop(name)]) for name, factor in (factors or {}).items()]
        turned = [value for name, value in named.items() if name.endswith(_TURNED)]
        others = [value for name, value in named.items() if not name.endswith(_TURNED)]
        groups = [(1.0, [value for value in others if (value.ndim > 1) == many]) for many in (True, False)] + special
        self._factors = [factor for factor, _ in groups]
        self._rates = [torch.zeros((), device=self.device) for _ in groups]
        self._adam = torch.optim.AdamW(
            [
                {"params": some, "weight_decay": 0.01 if factor == 1 and some[0].ndim > 1 else 0.0}
                for factor, some in groups
            ],
            betas=(0.9, 0.98),
            capturable=self.on_gpu,
            fused=self.on_gpu or None,
        )
        self._orthogonal = OrthogonalMomentum(turned)
        self._recorded = RecordedSteps(self.network.parameters())
        self._point_at_rates()

    def _point_at_rates(self) -> None:
        if self.on_gpu:
            for group, rate in zip(self._adam.param_groups, self._rates, strict=True):
                group["lr"] = rate

    @abstractmethod
    def kind_of(self, step: int) -> int:
        """Return the kind of batch of a step; all of a kind have the same shapes."""

    @abstractmethod
    def loss(self, kind: int, noise: Noise) -> Tensor:
        """Return the loss on a batch of a kind."""

    @abstractmethod
    def score(self) -> float:
        """Return the share of held-back questions that are answered correctly."""

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        share = self.step / self.steps
        return self.plan.rate * min(1.0, (self.step + 1) / _RISING) * (0.5 + 0.5 * math.cos(math.pi * share))

    def learn(self) -> Tensor:
        """Take one step, and return the loss on its batch, which the next step may overwrite."""
        self._number.fill_(seed_for("batch", self.seed, self.step) % 2**40)
        rate, kind = self.rate, self.kind_of(self.step)
        self._rate.fill_(rate)
        for tensor, factor, group in zip(self._rates, self._factors, self._adam.param_groups, strict=True):
            if self.on_gpu:
                tensor.fill_(factor * rate)
            else:
                group["lr"] = factor * rate
        loss = self._replay(kind) if self.on_gpu else self._take(kind)
        self.step += 1
        return loss

    def _replay(self, kind: int) -> Tensor:
        self._taken[kind] += 1
        if self._taken[kind] <= BEFORE_RECORDING:
            return take_aside(partial(self._take, kind))
        self._recorded.record(kind, partial(self._take, kind))
        return self._recorded.replay(kind)

    def _take(self, kind: int) -> Tensor:
        self.network.zero_grad(set_to_none=True)
        loss = self.loss(kind, Noise(self._number))
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0, foreach=True)
        self._adam.step()
        self._orthogonal.step(self._rate)
        return loss.detach()

    def state(self) -> dict[str, Any]:
        """Return what it takes to go on."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self._adam.state_dict(),
            "momentum": self._orthogonal.momentum,
            "step": self.step,
            "steps": self.steps,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self._adam.load_state_dict(state["optimizer"])
        self._point_at_rates()
        for own, kept in zip(self._orthogonal.momentum, state["momentum"], strict=True):
            own.copy_(kept)
        self.step, self.steps = state["step"], state["steps"]


Progress = Callable[[int, int, float], None]


def train_drawn(
    kind: type[DrawnPlan],
    out: str | Path,
    options: Mapping[str, Any],
    *,
    device: str = "auto",
    force: bool = False,
    progress: Progress = lambda run, step, loss: None,
) -> dict[str, Any]:
    """Train runs one after the other; repeat the call to go on with a training that was stopped.

    Args:
        kind: The plans of the model.
        out: The folder to write to.
        options: The fields of the plan.
        device: cpu, cuda or auto.
        force: Train again, and overwrite what is in the folder.
        progress: Called now and then with the run, the step and the loss.

    Returns:
        What `run.json` has.

    Raises:
        ConfigError: If an option is not valid, the folder has something else, or a loss is not finite.
        DataError: If a checkpoint is damaged.
    """
    plan, out = kind.of(options), Path(out)
    place, wanted = choose_device(device), {"model": plan.model, "plan": asdict(plan), "storyproof": __version__}
    if (out / RUN).is_file() and not force:
        about: dict[str, Any] = json.loads((out / RUN).read_text(encoding="utf-8"))
        if about.get("plan") == wanted["plan"] and about.get("model") == plan.model:
            return about
        raise ConfigError(f"{out} contains another training; choose another --out, or use --force to train again.")
    if out.exists() and any(each.name.partition(".draft")[0] not in _FILES for each in out.iterdir()):
        raise ConfigError(f"{out} contains something else already; choose another --out.")
    with writing_to(out), claimed(out):
        out.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        make, about = plan.prepare(place)
        about["seconds_of_drawing"] = round(time.monotonic() - started, 1)
        done = {} if force else _checkpoint(out, plan)
        weights: dict[str, Tensor] = dict(done.get("weights", {}))
        runs: dict[str, list[Any]] = done.get("runs", {"scores": [], "steps": [], "seconds": []})
        first = len(runs["scores"])
        for number in range(first, plan.runs):
            run, begun = make(number), time.monotonic()
            if done.get("current") is not None and number == first:
                run.load(done["current"])
            _train(run, number, out, progress, partial(_save, out, plan, weights, runs, run))
            runs["scores"].append(run.score())
            runs["steps"].append(run.steps)
            runs["seconds"].append(round(time.monotonic() - begun, 1))
            note(out, {"run": number, "held": runs["scores"][-1]})
            weights |= {
                f"{number}.{name}": value.half().cpu().contiguous() for name, value in run.network.state_dict().items()
            }
            _save(out, plan, weights, runs, None)
        figures = {"weights": sum(value.numel() for value in weights.values()) // plan.runs}
        versions = {"torch": torch.__version__, "hardware": hardware(place)}
        about = {**wanted, **about, **runs, **figures, **versions}
        from safetensors.torch import save

        write_whole(out / WEIGHTS, save(weights))
        write_whole(out / RUN, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())
        (out / CHECKPOINT).unlink(missing_ok=True)
    return about


def _train(run: DrawnRun, number: int, out: Path, progress: Progress, save: Callable[[], None]) -> None:
    """Take all steps of a run; if its time is limited, as many as fit, by the time of its steps so far."""
    begun = saved = timed = time.monotonic()
    limit, first, since = 60 * run.plan.minutes, run.step, run.step
    while run.step < run.steps:
        loss, taken = run.learn(), run.step - first
        is_noted = run.step % _NOTED == 0 or run.step == run.steps
        if is_noted or taken in (_WARMING, _WARMING + _TIMED):
            value = float(loss)  # waits for the GPU
            now = time.monotonic()
            each, timed, since = (now - timed) / (run.step - since), now, run.step
            if limit and taken > _WARMING and run.step < _FITTED * run.steps:
                run.steps = max(run.step, min(run.plan.steps, run.step + int((limit - (now - begun)) / each)))
        if is_noted:
            if not math.isfinite(value):
                raise ConfigError(f"the loss of run {number} is not finite after {run.step} steps; lower the rate.")
            figures = {"run": number, "step": run.step, "loss": value, "seconds": round(now - begun, 1)}
            note(out, {**figures, "ms": round(1000 * each, 2), "steps": run.steps})
            progress(number, run.step, value)
            if now - saved > _SAVED_S:
                save()
                saved = now
        if limit and time.monotonic() - begun > 1.1 * limit:
            run.steps = run.step  # slower than its first steps


def note(out: Path, figures: Mapping[str, Any]) -> None:
    """Add a line to the metrics."""
    with (out / METRICS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(figures) + "\n")


def _save(
    out: Path, plan: DrawnPlan, weights: dict[str, Tensor], runs: dict[str, list[Any]], run: DrawnRun | None
) -> None:
    kept = {"plan": asdict(plan), "weights": weights, "runs": runs}
    draft = out / f"{CHECKPOINT}.draft"
    torch.save({**kept, "current": run.state() if run is not None else None}, draft)
    draft.replace(out / CHECKPOINT)


def _checkpoint(out: Path, plan: DrawnPlan) -> dict[str, Any]:
    if not (out / CHECKPOINT).is_file():
        return {}
    try:
        kept: dict[str, Any] = torch.load(out / CHECKPOINT, map_location="cpu", weights_only=True)
    except Exception as error:
        raise DataError(f"{out / CHECKPOINT} is damaged: {error}; use --force to train again.") from error
    if kept.get("plan") != asdict(plan):
        raise ConfigError(f"{out} contains another training; choose another --out, or use --force to train again.")
    return kept
