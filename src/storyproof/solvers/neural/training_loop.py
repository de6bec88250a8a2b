"""The training loop, for all models and any number of runs at once.

All that is drawn depends only on a run's seed and the number of the epoch or step: a run has the same result resumed or
not (exactly on a CPU, up to the order of sums on a GPU), and alone or among other runs with as many examples. Runs with
fewer examples fill up their epochs to the batches of the largest.

On a GPU, launching kernels takes most of the time of small models, so steps are recorded and replayed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from storyproof.errors import ConfigError, quoted
from storyproof.generation.seeds import Draws, Indices
from storyproof.runtime.progress import beat
from storyproof.solvers.neural.counter_rng import mix, number_places, seed_for
from storyproof.solvers.neural.data.batches import ExampleTable, WordPermutation, order_of
from storyproof.solvers.neural.data.vocabulary import UNKNOWN
from storyproof.solvers.neural.recorded_steps import BEFORE_RECORDING, RecordedSteps, take_aside
from storyproof.solvers.neural.stacked_models import Stack, State
from storyproof.solvers.training_settings import Settings

_PREDICT_PLACES = 1_000_000  # words, or pairs of sentences, of all runs together; limited by memory
_ADAM = {"exp_avg", "exp_avg_sq", "step"}  # what the optimiser keeps of a weight


@dataclass(frozen=True, slots=True)
class RunSplit:
    """The numbers of the examples that one run trains on and holds back, and its seed."""

    train: Indices
    held: Indices
    seed: int


@dataclass(frozen=True, slots=True)
class Epoch:
    """Metrics of an epoch, one figure per run: mean loss, accuracy on the held-back stories, and the best so far."""

    number: int
    loss: list[float]
    held: list[float]
    best: list[float]


class DivergedError(ConfigError):
    """Raised for runs whose loss or weights became non-finite.

    Attributes:
        epoch: The metrics of the epoch in which they did.
    """

    def __init__(self, epoch: Epoch, broken: Sequence[int], rate: float) -> None:
        self.epoch = epoch
        which = f"{'run' if len(broken) == 1 else 'runs'} {', '.join(str(run + 1) for run in broken)}"
        super().__init__(
            f"training of {which} of {len(epoch.loss)} failed in epoch {epoch.number}: loss or weights are not finite; "
            f"train again with --force and a lower --learning-rate than {rate:g}."
        )


class TrainingStep:
    """Updates the weights of all runs by Adam, one batch each.

    Args:
        stack: The runs.
        table: The examples.
        settings: How to train.
        permutation: Permutes the words of every batch; None to leave them as they are.
    """

    def __init__(
        self, stack: Stack, table: ExampleTable, settings: Settings, permutation: WordPermutation | None = None
    ) -> None:
        self.stack, self.table, self.settings, self.permutation = stack, table, settings, permutation
        self.weights = list(stack.weights.values())
        self.on_gpu = table.device.type == "cuda"
        single = torch.float32  # the fused optimiser needs it, whatever type the weights have
        rate = settings.rate
        self.rate = torch.tensor(rate, dtype=single, device=table.device) if self.on_gpu else rate
        self.adam = torch.optim.AdamW(
            self.weights,
            lr=self.rate,
            weight_decay=settings.weight_decay,
            capturable=self.on_gpu,
            fused=self.on_gpu or None,
        )
        self._done = 0
        self._recorded = RecordedSteps(self.weights)

    def __call__(self, picked: Tensor, noise: Tensor, size: int) -> Tensor:
        """Take one step, and return the loss of each run before it.

        Args:
            picked: The numbers of the examples [runs, rows].
            noise: One number per run, which determines all that is drawn.
            size: The size of the longest example (see `ExampleTable.size_of`).
        """
        self._done += 1
        if not self.on_gpu:
            return self._step(picked, noise, size)
        if self._done <= BEFORE_RECORDING:
            return take_aside(partial(self._step, picked, noise, size))
        largest = len(self.table.caps) - 1
        for each in (largest, size):  # the largest first: its memory suffices for all others
            self._recorded.record(each, partial(self._step, size=each), picked, noise)
        return self._recorded.replay(size, picked, noise)

    def _step(self, picked: Tensor, noise: Tensor, size: int) -> Tensor:
        self.adam.zero_grad(set_to_none=True)
        batch, wanted = self.table.batch(picked, noise, size), self.table.answers[picked]
        if self.permutation is not None:
            batch, wanted = self.permutation(batch, wanted)
        if self.settings.word_dropout:
            batch = batch._replace(story=self._drop_words(batch.story, noise), flat=self._drop_words(batch.flat, noise))
        scores = self.stack(batch)
        each = torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none")
        loss = each.view(wanted.shape).mean(1)  # one per run; the gradients of their sum are those of each run
        loss.sum().backward()  # type: ignore[no-untyped-call]
        if self.settings.clip:
            self._clip()
        self.adam.step()
        return loss.detach()

    def _drop_words(self, numbers: Tensor, noise: Tensor) -> Tensor:
        """Replace some words, but no entities, by the unknown word."""
        rows, place = numbers.flatten(1), number_places(numbers.shape[1:], numbers.device).flatten()
        drawn = (mix(place + (noise.unsqueeze(1) + 77) * 0x9E3779B9) & 0xFFFFFF) / 0x1000000
        drop = (drawn < self.settings.word_dropout) & (rows > UNKNOWN) & (rows < self.table.first_entity)
        return torch.where(drop, UNKNOWN, rows).view(numbers.shape)

    def _clip(self) -> None:
        """Scale the gradient of every run down to the largest norm."""
        gradients = [weight.grad for weight in self.weights if weight.grad is not None]
        length = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients]).sum(0).sqrt()
        factor = (self.settings.clip / length.clamp(min=1e-12)).clamp(max=1)
        for gradient in gradients:
            gradient.mul_(factor.view(-1, *[1] * (gradient.dim() - 1)))

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        if isinstance(self.rate, Tensor):
            self.rate.fill_(rate)
        else:
            for group in self.adam.param_groups:
                group["lr"] = rate

    def state(self) -> State:
        """Return the state of the optimiser, on the CPU."""
        kept = {}
        for number, weight in enumerate(self.weights):
            for name, value in self.adam.state[weight].items():
                kept[f"{number}.{name}"] = value.detach().cpu().clone()
        return kept

    def load(self, state: State) -> None:
        """Restore what `state` returned.

        Raises:
            ValueError: If it is the state of another optimiser.
        """
        kept: dict[int, set[str]] = {}
        for key, value in state.items():
            number, _, name = key.partition(".")
            weight = self.weights[int(number)]
            _expect_shape(f"adam.{key}", value, torch.Size() if name == "step" else weight.shape)
            kept.setdefault(int(number), set()).add(name)
        if any(names != _ADAM for names in kept.values()):
            raise ValueError(f"the optimiser's state has {sorted(set().union(*kept.values()))}")
        for key, value in state.items():
            number, _, name = key.partition(".")
            place = torch.device("cpu") if name == "step" and not self.on_gpu else self.table.device
            self.adam.state[self.weights[int(number)]][name] = value.to(place)


@torch.no_grad()
def predict(stack: Stack, table: ExampleTable, rows: Indices) -> Tensor:
    """Answer examples, given by number [runs, examples]; return the numbers of the answers [runs, examples]."""
    stack.model.eval()
    words, sentences, _ = table.caps[-1]
    batch = max(1, _PREDICT_PLACES // (stack.runs * max(words, sentences**2)))
    order = np.argsort(table.size_of[rows], axis=1, kind="stable")
    by_size = np.take_along_axis(rows, order, axis=1)
    picked = torch.from_numpy(by_size).to(table.device)
    noise = torch.zeros(stack.runs, dtype=torch.int64, device=table.device)
    predicted = []
    for start in range(0, rows.shape[1], batch):
        places = slice(start, start + batch)
        longest = int(table.size_of[by_size[:, places]].max())
        predicted.append(stack(table.batch(picked[:, places], noise, longest)).argmax(-1))
        beat("questions", min(start + batch, rows.shape[1]), rows.shape[1])
    answers = torch.cat(predicted, dim=1)
    return torch.empty_like(answers).scatter_(1, torch.from_numpy(order).to(table.device), answers)


class Trainer:
    """Trains the runs of a stack together, and keeps the best state of each.

    Args:
        stack: The runs.
        table: The examples of all runs.
        parts: The examples of each run.
        settings: How to train.
        permutation: Permutes words within their roles; None to leave stories as they are.
        randomised: Whether to draw new vectors of people in every epoch.
    """

    def __init__(
        self,
        stack: Stack,
        table: ExampleTable,
        parts: Sequence[RunSplit],
        settings: Settings,
        permutation: WordPermutation | None = None,
        *,
        randomised: bool = False,
    ) -> None:
        self.stack, self.table, self.parts, self.settings = stack, table, list(parts), settings
        self.epoch, self.randomised = 0, randomised
        self.between_epochs = True  # within an epoch the state cannot be resumed from
        self.best = {name: value.detach().clone() for name, value in {**stack.weights, **stack.fixed}.items()}
        self.best_held = [-1.0] * len(self.parts)
        self.stale = [0] * len(self.parts)
        self.step = TrainingStep(stack, table, settings, permutation)
        most = max(len(part.held) for part in self.parts)
        self._held = np.stack([np.resize(part.held, most) for part in self.parts])

    @property
    def finished(self) -> bool:
        """Whether training is over."""
        return self.epoch >= self.settings.epochs or all(self.stopped)

    @property
    def stopped(self) -> list[bool]:
        """Whether the patience of each run is exhausted: it is trained with the others, but its state is not kept."""
        patience = self.settings.patience
        return [0 < patience <= count for count in self.stale]

    def train_epoch(self) -> Epoch:
        """Go through the data once, and keep the states of the runs that improved.

        Raises:
            DivergedError: If a run's loss or weights are not finite; the states kept before do not change.
        """
        self.between_epochs = False
        seeds = [part.seed for part in self.parts]
        self.stack.model.train()
        if self.randomised:
            self.stack.redraw_people([seed_for("people", seed, self.epoch) for seed in seeds])
        if self.settings.decay:
            share = self.epoch / self.settings.epochs
            self.step.set_rate(self.settings.rate * 0.5 * (1 + math.cos(math.pi * share)))
        parts = [part.train for part in self.parts]
        orders = self._draw_castings(order_of(parts, self.settings.batch, self.epoch, seeds, self.table.size_of))
        sizes = self.table.size_of[orders].max((1, 2))
        noise = [[seed_for("noise", seed, self.epoch) % 2**40] for seed in seeds]
        noises = torch.tensor(noise, device=self.table.device) + 64 * torch.arange(
            len(orders), device=self.table.device
        )
        picked = torch.from_numpy(np.ascontiguousarray(orders)).to(self.table.device)
        loss = torch.zeros(len(seeds), device=self.table.device)
        for number in range(len(orders)):
            loss += self.step(picked[number], noises[:, number], int(sizes[number]))
            beat("steps", number + 1, len(orders))
        held, losses = self.held_accuracy(), (loss / len(orders)).tolist()
        if broken := self._broken(losses):
            raise DivergedError(Epoch(self.epoch + 1, losses, held, list(self.best_held)), broken, self.settings.rate)
        self._keep_better(held)
        self.epoch += 1  # last: an interrupted epoch does not count
        self.between_epochs = True
        return Epoch(self.epoch, losses, held, list(self.best_held))

    def _draw_castings(self, orders: Indices) -> Indices:
        """Draw which reading of each example by a pretrained encoder is used; the readings follow each other."""
        castings = self.settings.castings
        if castings == 1:
            return orders
        size = orders[:, 0].shape
        drawn = [Draws("casting", part.seed, self.epoch).below(castings, math.prod(size)) for part in self.parts]
        return orders + len(self.table) // castings * np.stack([each.reshape(size) for each in drawn], axis=1)

    def held_accuracy(self) -> list[float]:
        """Return the accuracy of every run on its held-back examples."""
        given = predict(self.stack, self.table, self._held)
        right = given == self.table.answers[torch.from_numpy(self._held).to(given.device)]
        return [float(row[: len(part.held)].float().mean()) for row, part in zip(right, self.parts, strict=True)]

    def _broken(self, losses: list[float]) -> list[int]:
        """Return the runs whose loss or weights are not finite, except those that have stopped."""
        weights = torch.stack([value.detach().flatten(1).isfinite().all(1) for value in self.stack.weights.values()])
        states = zip(losses, weights.all(0).tolist(), self.stopped, strict=True)
        return [
            run for run, (loss, whole, over) in enumerate(states) if not over and not (whole and math.isfinite(loss))
        ]

    def _keep_better(self, held: list[float]) -> None:
        scores = zip(held, self.best_held, self.stopped, strict=True)
        better = [now > before and not over for now, before, over in scores]
        which = torch.tensor(better, device=self.table.device)
        self.best = {  # in one assignment, so that an interrupt leaves the previous best
            name: torch.where(which.view(-1, *[1] * (value.dim() - 1)), value.detach(), self.best[name])
            for name, value in {**self.stack.weights, **self.stack.fixed}.items()
        }
        self.best_held = [
            now if improved else before for now, before, improved in zip(held, self.best_held, better, strict=True)
        ]
        self.stale = [0 if improved else count + 1 for improved, count in zip(better, self.stale, strict=True)]

    def state(self) -> tuple[State, dict[str, Any]]:
        """Return all that is needed to resume: tensors, and plain values."""
        tensors = {f"now.{name}": value for name, value in self.stack.state().items()}
        tensors |= {f"best.{name}": value.cpu().clone() for name, value in self.best.items()}
        tensors |= {f"adam.{name}": value for name, value in self.step.state().items()}
        return tensors, {"epoch": self.epoch, "best_held": self.best_held, "stale": self.stale}

    def load(self, tensors: State, plain: dict[str, Any]) -> None:
        """Restore what `state` returned.

        Raises:
            KeyError: If something is missing.
            ValueError: If it is the state of another training, or damaged.
        """
        epoch, best_held, stale = plain["epoch"], plain["best_held"], plain["stale"]
        if type(epoch) is not int or not 0 <= epoch <= self.settings.epochs:
            raise ValueError(f"the epoch is {quoted(epoch)}")
        for name, values, kinds in (("best_held", best_held, (int, float)), ("stale", stale, (int,))):
            whole = isinstance(values, list) and len(values) == len(self.parts)
            if not whole or not all(type(each) in kinds and -1 <= each <= epoch + 1 for each in values):
                raise ValueError(f"{name} is {quoted(values)}")
        now, best = _under("now.", tensors), _under("best.", tensors)
        for start, state in (("now.", now), ("best.", best)):
            for name, value in self.best.items():
                _expect_shape(start + name, state[name], value.shape)
        self.step.load(_under("adam.", tensors))
        self.stack.load(now)
        for name, value in self.best.items():
            value.copy_(best[name])
        self.epoch, self.best_held, self.stale = epoch, best_held, stale


def _expect_shape(name: str, tensor: Tensor, expected: torch.Size) -> None:
    """Raise ValueError unless a tensor can be restored; one of another shape would be repeated to fit."""
    if tensor.shape != expected or not tensor.is_floating_point():
        raise ValueError(f"{name} is {tensor.dtype} of {tuple(tensor.shape)}, expected numbers of {tuple(expected)}")


def _under(start: str, tensors: State) -> State:
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
