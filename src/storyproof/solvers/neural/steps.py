"""One step of training, and prediction, for all runs at once.

On a GPU small models spend their time in being launched, so a step is recorded once as a CUDA graph and then replayed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from storyproof.seeds import Indices
from storyproof.solvers.neural.batches import Table
from storyproof.solvers.neural.encoding import UNKNOWN
from storyproof.solvers.neural.layers import Batch, mixed, places
from storyproof.solvers.neural.recasting import Recast
from storyproof.solvers.neural.stack import Stack, State

_BEFORE_RECORDING = 3  # steps that let PyTorch set up what it sets up once
_PREDICT_PLACES = 1_000_000  # words, or pairs of sentences, of all runs together: memory is the limit


class Step:
    """Takes batches of all runs and moves their weights by Adam.

    Args:
        stack: The runs.
        table: The examples.
        rate: Adam's learning rate.
        clip: The longest gradient; 0 for any.
        recast: Retells every batch with other words in the same parts; None to leave it as it is.
    """

    def __init__(
        self,
        stack: Stack,
        table: Table,
        *,
        rate: float,
        clip: float,
        weight_decay: float = 0.0,
        word_dropout: float = 0.0,
        recast: Recast | None = None,
    ) -> None:
        self.stack, self.table, self.clip, self.recast = stack, table, clip, recast
        self.word_dropout = word_dropout
        self.weights = list(stack.weights.values())
        self.on_gpu = table.device.type == "cuda"
        single = torch.float32  # whatever the weights are, the fused optimiser wants its rate so
        self.rate = torch.tensor(rate, dtype=single, device=table.device) if self.on_gpu else rate
        self.adam = torch.optim.AdamW(
            self.weights, lr=self.rate, weight_decay=weight_decay, capturable=self.on_gpu, fused=self.on_gpu or None
        )
        self._done = 0
        self._recorded: dict[int, tuple[torch.cuda.CUDAGraph, Tensor, Tensor, Tensor]] = {}

    def __call__(self, picked: Tensor, noise: Tensor, size: int) -> Tensor:
        """Take one step; gives each run's loss before it.

        Args:
            picked: The numbers of the examples [runs, rows].
            noise: A number a run, for all that is drawn.
            size: The size of the longest example (see `Table.size_of`).
        """
        self._done += 1
        if not self.on_gpu:
            return self._step(picked, noise, size)
        if self._done <= _BEFORE_RECORDING:
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                loss = self._step(picked, noise, size)
            torch.cuda.current_stream().wait_stream(stream)
            return loss
        largest = len(self.table.caps) - 1
        for wanted in (largest, size):  # the largest first: the memory it leaves is enough for all others
            if wanted not in self._recorded:
                self._recorded[wanted] = self._record(picked.clone(), noise.clone(), wanted)
        graph, its_picked, its_noise, its_loss = self._recorded[size]
        its_picked.copy_(picked)
        its_noise.copy_(noise)
        graph.replay()
        return its_loss

    def _record(self, picked: Tensor, noise: Tensor, size: int) -> tuple[torch.cuda.CUDAGraph, Tensor, Tensor, Tensor]:
        self.adam.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # a graph has memory of its own, and what steps before it took is idle
        graph = torch.cuda.CUDAGraph()
        shared = next(iter(self._recorded.values()))[0].pool() if self._recorded else None
        with torch.cuda.graph(graph, pool=shared):
            loss = self._step(picked, noise, size, clear=False)
        return graph, picked, noise, loss

    def _step(self, picked: Tensor, noise: Tensor, size: int, *, clear: bool = True) -> Tensor:
        if clear:
            self.adam.zero_grad(set_to_none=True)
        batch, wanted = self.table.batch(picked, noise, size), self.table.answers[picked]
        if self.recast is not None:
            batch, wanted = self._retold(batch, wanted, self.recast)
        if self.word_dropout:
            batch = batch._replace(story=self._forgotten(batch.story, noise), flat=self._forgotten(batch.flat, noise))
        scores = self.stack(batch)
        each = torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none")
        loss = each.view(wanted.shape).mean(1)  # of every run; their sum keeps the runs' gradients apart
        loss.sum().backward()  # type: ignore[no-untyped-call]
        if self.clip:
            self._shorten()
        self.adam.step()
        return loss.detach()

    def _forgotten(self, numbers: Tensor, noise: Tensor) -> Tensor:
        """Make some words unknown, but nobody."""
        rows, place = numbers.flatten(1), places(numbers.shape[1:], numbers.device).flatten()
        drawn = (mixed(place + (noise.unsqueeze(1) + 77) * 0x9E3779B9) & 0xFFFFFF) / 0x1000000
        drop = (drawn < self.word_dropout) & (rows > UNKNOWN) & (rows < self.table.first_entity)
        return torch.where(drop, UNKNOWN, rows).view(numbers.shape)

    def _retold(self, batch: Batch, wanted: Tensor, recast: Recast) -> tuple[Batch, Tensor]:
        exchange = recast.draw(batch.noise)

        def other(numbers: Tensor) -> Tensor:
            return exchange.gather(1, numbers.flatten(1).long()).view(numbers.shape)

        told = {name: other(getattr(batch, name)) for name in ("story", "flat", "question", "nodes")}
        return batch._replace(**told), recast.answers(exchange, wanted)

    def _shorten(self) -> None:
        """Scale every run's gradient down to the longest allowed."""
        gradients = [weight.grad for weight in self.weights if weight.grad is not None]
        length = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients]).sum(0).sqrt()
        factor = (self.clip / length.clamp(min=1e-12)).clamp(max=1)
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
        """Give Adam's averages, on the CPU."""
        kept = {}
        for number, weight in enumerate(self.weights):
            for name, value in self.adam.state[weight].items():
                kept[f"{number}.{name}"] = value.detach().cpu().clone()
        return kept

    def load(self, state: State) -> None:
        """Take over what `state` gave."""
        for key, value in state.items():
            number, _, name = key.partition(".")
            place = torch.device("cpu") if name == "step" and not self.on_gpu else self.table.device
            self.adam.state[self.weights[int(number)]][name] = value.to(place)


@torch.no_grad()
def predict(stack: Stack, table: Table, rows: Indices) -> Tensor:
    """Answer examples by number [runs, examples]; gives the numbers of the answers."""
    stack.model.eval()
    words, sentences, _ = table.caps[-1]
    batch = max(1, _PREDICT_PLACES // (stack.runs * max(words, sentences**2)))
    order = np.argsort(table.size_of[rows], axis=1, kind="stable")
    by_size = np.take_along_axis(rows, order, axis=1)
    picked = torch.from_numpy(by_size).to(table.device)
    noise = torch.zeros(stack.runs, dtype=torch.int64, device=table.device)
    found = []
    for start in range(0, rows.shape[1], batch):
        some = slice(start, start + batch)
        longest = int(table.size_of[by_size[:, some]].max())
        found.append(stack(table.batch(picked[:, some], noise, longest)).argmax(-1))
    answers = torch.cat(found, dim=1)
    return torch.empty_like(answers).scatter_(1, torch.from_numpy(order).to(table.device), answers)
