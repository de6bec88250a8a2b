"""Steps that are recorded for each kind of batch: here with graphs that only note what would be recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from storyproof.solvers.neural.recorded_steps import RecordedSteps, take_aside


class Graph:
    """Does again what was done while it was recorded."""

    recorded: ClassVar[list[Graph]] = []

    def __init__(self) -> None:
        self.work: Callable[[], object] = lambda: None
        self.shared: object = None

    def pool(self) -> Graph:
        return self

    def replay(self) -> None:
        self.work()


@contextmanager
def recording(graph: Graph, pool: Graph | None) -> Iterator[None]:
    graph.shared = pool
    Graph.recorded.append(graph)
    yield


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", recording)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(Graph, "recorded", [])
    return Graph.recorded


def test_each_kind_is_recorded_once_and_reads_its_inputs_anew(graphs: list[Graph]) -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.ones(2)
    steps, calls = RecordedSteps([weight]), []

    def step(factor: int, values: Tensor) -> Tensor:
        assert weight.grad is None  # a gradient from before would not be in the memory of the graph
        calls.append(factor)
        result = torch.zeros(3)
        Graph.recorded[-1].work = lambda: result.copy_(factor * values)
        return result

    given = torch.tensor([1.0, 2.0, 3.0])
    for kind in (4, 2, 4):
        steps.record(kind, lambda values, kind=kind: step(kind, values), given)
    assert calls == [4, 2]
    assert graphs[1].shared is graphs[0]  # its memory is used again
    assert graphs[0].shared is None
    given.fill_(0)  # a batch that is overwritten changes nothing
    for kind, values in ((2, [1.0, 0.0, 5.0]), (4, [2.0, 2.0, 2.0]), (2, [0.0, 0.0, 1.0])):
        assert torch.equal(steps.replay(kind, torch.tensor(values)), kind * torch.tensor(values))
    assert calls == [4, 2]


@pytest.mark.gpu
def test_replays_on_a_gpu_train_as_plain_steps_do() -> None:
    def trained(*, recorded: bool) -> tuple[list[float], Tensor]:
        device = torch.device("cuda")
        weight = torch.nn.Parameter(torch.ones(4, device=device))
        optimizer = torch.optim.AdamW([weight], lr=0.1, capturable=True)
        steps, losses = RecordedSteps([weight]), []

        def step(values: Tensor) -> Tensor:
            weight.grad = None
            loss = (weight * values).square().sum()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            return loss.detach()

        for number in range(9):
            values = torch.arange(4 + number % 2, device=device)[-4:] / 4 + number
            if recorded and number > 2:
                steps.record(number % 2, step, values)
                loss = steps.replay(number % 2, values)
            else:
                loss = take_aside(lambda values=values: step(values))
            losses.append(float(loss))
        return losses, weight.detach().cpu()

    plain, recorded = trained(recorded=False), trained(recorded=True)
    assert recorded[0] == pytest.approx(plain[0], rel=1e-5)
    torch.testing.assert_close(recorded[1], plain[1])
