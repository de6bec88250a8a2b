"""One training loop for all models and any number of runs at once.

Everything that is drawn depends on a run's seed and the number of the epoch or step alone: a run comes out the same
resumed or not (on the CPU to the last bit, on a GPU up to the order of its sums), and alone or among others that have
as much to learn from. Runs that have less fill up their epochs to the batches of those that have most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from storyproof.errors import ConfigError
from storyproof.seeds import Draws, Indices
from storyproof.solvers.neural.batches import Table, order_of
from storyproof.solvers.neural.recasting import Recast
from storyproof.solvers.neural.settings import Settings
from storyproof.solvers.neural.stack import Stack, State, number_for
from storyproof.solvers.neural.steps import Step, predict


@dataclass(frozen=True, slots=True)
class Part:
    """What one run trains on and what is held back, as numbers of examples, and its seed."""

    train: Indices
    held: Indices
    seed: int


@dataclass(frozen=True, slots=True)
class Epoch:
    """How an epoch went, a figure a run: mean loss, accuracy on what is held back, and the best so far."""

    number: int
    loss: list[float]
    held: list[float]
    best: list[float]


class DivergedError(ConfigError):
    """Runs that came to no number any more.

    Attributes:
        epoch: How the epoch went in which they did.
    """

    def __init__(self, epoch: Epoch, broken: Sequence[int], rate: float) -> None:
        self.epoch = epoch
        which = f"{'run' if len(broken) == 1 else 'runs'} {', '.join(str(run + 1) for run in broken)}"
        super().__init__(
            f"training of {which} of {len(epoch.loss)} broke down in epoch {epoch.number}, in which loss or weights "
            f"are not finite; train anew with --force and a lower --rate than {rate:g}."
        )


class Trainer:
    """Trains the runs of a stack together, keeping each one's best state.

    Args:
        stack: The runs.
        table: The examples of all.
        parts: What each run trains on.
        settings: How to train.
        recast: Draws who plays whom; None to leave stories as they are.
        randomised: Whether to draw the vectors of people anew every epoch.
    """

    def __init__(
        self,
        stack: Stack,
        table: Table,
        parts: Sequence[Part],
        settings: Settings,
        recast: Recast | None = None,
        *,
        randomised: bool = False,
    ) -> None:
        self.stack, self.table, self.parts, self.settings = stack, table, list(parts), settings
        self.epoch, self.randomised = 0, randomised
        self.between_epochs = True  # in the midst of one the state is nothing to go on from
        self.best = {name: value.detach().clone() for name, value in {**stack.weights, **stack.fixed}.items()}
        self.best_held = [-1.0] * len(self.parts)
        self.stale = [0] * len(self.parts)
        self.step = Step(
            stack,
            table,
            rate=settings.rate,
            clip=settings.clip,
            weight_decay=settings.weight_decay,
            word_dropout=settings.word_dropout,
            recast=recast,
        )
        most = max(len(part.held) for part in self.parts)
        self._held = np.stack([np.resize(part.held, most) for part in self.parts])

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self.epoch >= self.settings.epochs or all(self.stopped)

    @property
    def stopped(self) -> list[bool]:
        """Whether each run's own patience is at its end: it is trained along with others, but nothing comes of it."""
        patience = self.settings.patience
        return [0 < patience <= count for count in self.stale]

    def train_epoch(self) -> Epoch:
        """Go through the data once, and keep the state of those runs that have come out better than before.

        Raises:
            DivergedError: If a run's loss or weights are not finite; what was kept before stays as it is.
        """
        self.between_epochs = False
        seeds = [part.seed for part in self.parts]
        self.stack.model.train()
        if self.randomised:
            self.stack.redraw_people([number_for("people", seed, self.epoch) for seed in seeds])
        if self.settings.decay:
            share = self.epoch / self.settings.epochs
            self.step.set_rate(self.settings.rate * 0.5 * (1 + math.cos(math.pi * share)))
        parts = [part.train for part in self.parts]
        orders = self._cast(order_of(parts, self.settings.batch, self.epoch, seeds, self.table.size_of))
        sizes = self.table.size_of[orders].max((1, 2))
        noise = [[number_for("noise", seed, self.epoch) % 2**40] for seed in seeds]
        noises = torch.tensor(noise, device=self.table.device) + 64 * torch.arange(
            len(orders), device=self.table.device
        )
        picked = torch.from_numpy(np.ascontiguousarray(orders)).to(self.table.device)
        loss = torch.zeros(len(seeds), device=self.table.device)
        for number in range(len(orders)):
            loss += self.step(picked[number], noises[:, number], int(sizes[number]))
        held, losses = self.held_accuracy(), (loss / len(orders)).tolist()
        if broken := self._broken(losses):
            raise DivergedError(Epoch(self.epoch + 1, losses, held, list(self.best_held)), broken, self.settings.rate)
        self._keep_better(held)
        self.epoch += 1  # last: an epoch that is not scored does not count
        self.between_epochs = True
        return Epoch(self.epoch, losses, held, list(self.best_held))

    def _cast(self, orders: Indices) -> Indices:
        """Draw which casting of each example is read; they lie one below the other."""
        castings = self.settings.castings
        if castings == 1:
            return orders
        size = orders[:, 0].shape
        drawn = [Draws("casting", part.seed, self.epoch).below(castings, math.prod(size)) for part in self.parts]
        return orders + len(self.table) // castings * np.stack([each.reshape(size) for each in drawn], axis=1)

    def held_accuracy(self) -> list[float]:
        """Score every run on what it holds back."""
        given = predict(self.stack, self.table, self._held)
        right = given == self.table.answers[torch.from_numpy(self._held).to(given.device)]
        return [float(row[: len(part.held)].float().mean()) for row, part in zip(right, self.parts, strict=True)]

    def _broken(self, losses: list[float]) -> list[int]:
        """Say which runs came to no number; what has stopped may."""
        weights = torch.stack([value.detach().flatten(1).isfinite().all(1) for value in self.stack.weights.values()])
        states = zip(losses, weights.all(0).tolist(), self.stopped, strict=True)
        return [
            run for run, (loss, whole, over) in enumerate(states) if not over and not (whole and math.isfinite(loss))
        ]

    def _keep_better(self, held: list[float]) -> None:
        scores = zip(held, self.best_held, self.stopped, strict=True)
        better = [now > before and not over for now, before, over in scores]
        which = torch.tensor(better, device=self.table.device)
        self.best = {  # all at once: whoever is interrupted here has the best of before
            name: torch.where(which.view(-1, *[1] * (value.dim() - 1)), value.detach(), self.best[name])
            for name, value in {**self.stack.weights, **self.stack.fixed}.items()
        }
        self.best_held = [
            now if improved else before for now, before, improved in zip(held, self.best_held, better, strict=True)
        ]
        self.stale = [0 if improved else count + 1 for improved, count in zip(better, self.stale, strict=True)]

    def state(self) -> tuple[State, dict[str, Any]]:
        """Give all that is needed to go on from here: tensors, and plain values."""
        tensors = {f"now.{name}": value for name, value in self.stack.state().items()}
        tensors |= {f"best.{name}": value.cpu().clone() for name, value in self.best.items()}
        tensors |= {f"adam.{name}": value for name, value in self.step.state().items()}
        return tensors, {"epoch": self.epoch, "best_held": self.best_held, "stale": self.stale}

    def load(self, tensors: State, plain: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.stack.load(_under("now.", tensors))
        for name, value in _under("best.", tensors).items():
            self.best[name].copy_(value)
        self.step.load(_under("adam.", tensors))
        self.epoch, self.best_held, self.stale = plain["epoch"], plain["best_held"], plain["stale"]


def _under(start: str, tensors: State) -> State:
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
