"""Training steps on a GPU, recorded as CUDA graphs and replayed: launching their kernels takes much longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

BEFORE_RECORDING = 3  # steps in which PyTorch does its one-time setup


def take_aside(step: Callable[[], Tensor]) -> Tensor:
    """Take a step that comes before recording, on a stream of its own, and return what it returns."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = step()
    torch.cuda.current_stream().wait_stream(stream)
    return result


class RecordedSteps:
    """Steps that were recorded, one for each kind of batch; all of a kind have the same shapes.

    Args:
        weights: What the steps update.
    """

    def __init__(self, weights: Iterable[Tensor]) -> None:
        self._weights = list(weights)
        self._recorded: dict[int, tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], Tensor]] = {}

    def record(self, kind: int, step: Callable[..., Tensor], *inputs: Tensor) -> None:
        """Record a step with a kind of batch, unless it is recorded already; it is not taken.

        Args:
            kind: The kind of batch.
            step: Takes the step. Whatever changes from step to step is read from tensors that stay in their places, or
                from `inputs`.
            inputs: What the step is called with, as in a replay.
        """
        if kind in self._recorded:
            return
        own = tuple(each.clone() for each in inputs)
        for weight in self._weights:
            weight.grad = None
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # a graph has memory of its own; that of earlier steps is unused
        graph = torch.cuda.CUDAGraph()
        shared = next(iter(self._recorded.values()))[0].pool() if self._recorded else None
        with torch.cuda.graph(graph, pool=shared):
            result = step(*own)
        self._recorded[kind] = graph, own, result

    def replay(self, kind: int, *inputs: Tensor) -> Tensor:
        """Take a recorded step, and return what it returns; the next step may overwrite that."""
        graph, own, result = self._recorded[kind]
        for place, value in zip(own, inputs, strict=True):
            place.copy_(value)
        graph.replay()
        return result
