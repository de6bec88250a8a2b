"""Training examples a second: ten runs as one, and one run at a time the plain way.

`python -m benchmarks.neural` measures one core, with small batches, and the GPU where there is one; `--gpu` the GPU
alone (from a checkout, without installing: `PYTHONPATH=src python3 -m benchmarks.neural --gpu`). Both ways train on the
same batches from the same weights, and every run's losses must agree.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.plain_training import PlainTraining
from storyproof.datasets.generate import generate
from storyproof.example import Example
from storyproof.solvers.neural.data.batches import ExampleTable, Shape, order_of, shape_of
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.data.vocabulary import learn_vocabulary
from storyproof.solvers.neural.models.registry import MODELS, build
from storyproof.solvers.neural.stacked_models import Stack
from storyproof.solvers.neural.training_job import choose_device, hardware
from storyproof.solvers.neural.training_loop import TrainingStep
from storyproof.solvers.training_settings import Settings

RATE = 2**-10  # exact in single precision too, in which the fused optimiser of a GPU keeps it
ENCODER_WIDTH = 384  # of the encoder that stands in for BERT
TOM = ("memnn", "relnet", "entnet")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: the plain way is given fewer runs and steps, which are all alike."""

    runs: int
    batch: int
    warm: int
    steps: int
    plain_runs: int
    plain_steps: int
    checked: int = 8  # steps whose losses are compared: a GPU records the fourth and replays the rest
    tolerance: float = 1e-6


CPU = Effort(runs=10, batch=8, warm=1, steps=4, plain_runs=2, plain_steps=4)
CPU_LARGE = Effort(runs=10, batch=4, warm=1, steps=1, plain_runs=2, plain_steps=1)  # for rmc
GPU = Effort(runs=10, batch=100, warm=6, steps=40, plain_runs=2, plain_steps=15)


class Data:
    """Examples of a family as a table, and the sizes of models for it."""

    def __init__(self, benchmark: str, stories: int, device: torch.device) -> None:
        rows = [Example.from_row(row) for row in generate(benchmark, train=stories, seed=1).to_pylist()]
        vocabulary = learn_vocabulary(rows)
        self.encoded, self.device = encode(rows, vocabulary), device
        self.vocabulary = vocabulary

    def table(self, vectors: str) -> tuple[ExampleTable, Shape]:
        """Give the table for a model, with random vectors where it takes an encoder's."""
        sizes = {"pooled": (len(self.encoded), 3), "pieces": self.encoded.flat.shape}
        found = torch.randn(*sizes[vectors], ENCODER_WIDTH).half() if vectors else None
        pieces = found.shape[1:] if found is not None else ()
        return ExampleTable(self.encoded, self.device, found), shape_of(self.encoded, self.vocabulary, *pieces)


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Wall seconds on a GPU; on one core CPU seconds, because the machine may be shared."""
    if device.type != "cuda":
        start = time.process_time()
        work()
        return time.process_time() - start
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


class Pair:
    """The same runs both ways, from the same weights on the same batches: as one stack, and some the plain way."""

    def __init__(self, name: str, data: Data, effort: Effort) -> None:
        table, shape = data.table(MODELS[name].vectors)
        seeds = list(range(effort.runs))
        rows = [np.arange(len(table))] * effort.runs
        orders = np.concatenate([order_of(rows, effort.batch, epoch, seeds, table.size_of) for epoch in range(4)])
        self.size = len(table.caps) - 1  # as long as any, so that both ways do the same
        self.picked = torch.from_numpy(np.ascontiguousarray(orders)).to(data.device)
        self.noise = torch.arange(effort.runs, device=data.device) * 1_000_003
        stack = Stack(lambda: build(name, shape, {}), seeds, data.device)
        stack.model.train()
        self.plain = []
        for run in range(effort.plain_runs):
            model = build(name, shape, {})
            model.load_state_dict({part: value[run] for part, value in stack.state().items()})
            self.plain.append(PlainTraining(model, table, RATE))
        self.step = TrainingStep(stack, table, Settings(rate=RATE))

    def take(self, start: int, count: int) -> Tensor:
        """Take steps as one; gives the losses [steps, runs]."""
        places = range(start, start + count)
        return torch.stack([self.step(self.picked[at], self.noise + 64 * at, self.size).clone() for at in places])

    def take_plainly(self, run: int, start: int, count: int) -> Tensor:
        """Take steps of one run the plain way; gives the losses [steps]."""
        places, training = range(start, start + count), self.plain[run]
        return torch.stack([training.step(self.picked[at, run], self.noise[run] + 64 * at, self.size) for at in places])


def difference(name: str, data: Data, effort: Effort) -> float:
    """Give the largest relative difference of a run's losses, in double precision.

    In single precision rounding alone grows tenfold a step in `rmc`, to percents: it would hide a mistake.
    """
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        pair = Pair(name, data, effort)
        steps = min(effort.warm + effort.steps, effort.checked)
        ours = pair.take(0, steps)[:, : effort.plain_runs]
        plain = torch.stack([pair.take_plainly(run, 0, steps) for run in range(effort.plain_runs)], dim=1)
    finally:
        torch.set_default_dtype(usual)
    return float(((ours - plain).abs() / plain.abs()).max())


def pace(name: str, data: Data, effort: Effort) -> tuple[float, float]:
    """Give examples a second stacked and plain."""
    choose_device(data.device.type)  # with the precision that training has there
    pair = Pair(name, data, effort)
    pair.take(0, effort.warm)
    fast = seconds(lambda: pair.take(effort.warm, effort.steps), data.device)
    slow = 0.0
    for run in range(effort.plain_runs):
        pair.take_plainly(run, 0, effort.warm)
        slow += seconds(lambda run=run: pair.take_plainly(run, effort.warm, effort.plain_steps), data.device)
    together, alone = effort.runs * effort.steps, effort.plain_runs * effort.plain_steps
    return together * effort.batch / fast, alone * effort.batch / slow


def measure(device: torch.device) -> None:
    """Print a table, a model a line."""
    gpu = device.type == "cuda"
    families = {
        "tomi": Data("tomi", 999 if gpu else 60, device),
        "clutrr": Data("clutrr", 6000 if gpu else 120, device),
    }
    where = hardware(device) if gpu else f"one core of {platform.machine()}"
    unit = "second" if gpu else "CPU second"
    print(f"Training on {where}, PyTorch {torch.__version__}: examples a {unit}, ten runs as one and one at a time")
    columns = (
        ("data", 8),
        ("batch", -6),
        ("ten as one", -14),
        ("one at a time", -16),
        ("ratio", -8),
        ("losses differ by", -19),
    )
    print("model".ljust(18) + "".join(text.ljust(size) if size > 0 else text.rjust(-size) for text, size in columns))
    for name in MODELS:
        family = "tomi" if name in TOM else "clutrr"
        effort = GPU if gpu else CPU_LARGE if name == "rmc" else CPU
        furthest = difference(name, families[family], effort)
        fast, slow = pace(name, families[family], effort)
        line = f"{name:<18}{family:<8}{effort.batch:>6}{fast:>14,.0f}{slow:>16,.0f}{fast / slow:>8.1f}{furthest:>19.1e}"
        print(line, flush=True)
        if not furthest < effort.tolerance:
            raise SystemExit(f"{name}: losses differ by {furthest:.1e}, more than {effort.tolerance}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", action="store_true", help="on the GPU alone, at the usual sizes")
    only_gpu = parser.parse_args().gpu
    if not only_gpu:
        torch.set_num_threads(1)
        measure(torch.device("cpu"))
    if only_gpu or torch.cuda.is_available():
        measure(choose_device("cuda"))


if __name__ == "__main__":
    main()
