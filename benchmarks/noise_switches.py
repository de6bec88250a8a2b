"""Two differences from the CLUTRR paper's puzzles with noise, switched: types of noise edges, and where noise stands.

Run as `python -m benchmarks.noise_switches`: small networks on one core, some five minutes. The published files give
types for the edges of the chain only, so GAT can tell noise by its edges alone; `typed` has types for all edges, as our
puzzles have. Our sentences come in random order; `noise last` has those of the proof first, and a network can learn to
ignore the last sentences, whatever they say. The rows "noise at the end" of clutrr-robust-synthetic do the same with
the networks of the tables.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.measure import Record, cpu_seconds, say
from storyproof.example import Example
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import read
from storyproof.experiments.jobs import count
from storyproof.solvers.neural.saved_runs import save_runs
from storyproof.solvers.neural.solver import NeuralSolver
from storyproof.solvers.neural.train import make_settings
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet

TASKS = ("clean", "supporting", "irrelevant", "disconnected")
STORIES, RUNS = 6000, 2
GAT = ("gat", {}, {"rate": 0.002, "epochs": 12})
READER = ("bilstm-mean", {"width": 64, "hidden": 64, "layers": 1}, {"rate": 0.001, "epochs": 8})


def accuracy(
    model: str, options: dict[str, Any], training: dict[str, Any], stories: Sequence[Example], tests: Sequence[Example]
) -> dict[str, float]:
    """Train, and return the mean accuracy by the noise of the test."""
    settings = make_settings(model, {"batch": 100, "patience": 0, **training})
    plan = TrainingPlan(model, RUNS, settings=settings, options=options, device="cpu")
    done = Training(plan, [TrainingSet(list(stories))])
    while not done.trainer.finished:
        done.trainer.train_epoch()
    with tempfile.TemporaryDirectory() as folder:
        save_runs(Path(folder) / "run", done.results()[0])
        answers = NeuralSolver(Path(folder) / "run", device="cpu").predict_all(tests)
    counts = [count(tests, each) for each in answers]
    return {task: fmean(run[f"task={task}"][0] / run[f"task={task}"][1] for run in counts) for task in TASKS}


def without_types(examples: Sequence[Example]) -> list[Example]:
    """Return puzzles whose noise edges have no types."""
    return [
        replace(each, extra={**each.extra, "edge_types": each.extra["edge_types"][: each.extra["k"]]})
        for each in examples
    ]


def puzzles(data: str) -> tuple[list[Example], list[Example]]:
    """Return training and test puzzles of a data set of clutrr-robust-synthetic."""
    declared, sets = replace(read("clutrr-robust-synthetic").data[data], train=STORIES), Datasets(None)
    return sets.training([declared])[0], sets.tests(declared)


def main() -> None:
    """Print the accuracy with both switches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()

    def note(name: str, shares: dict[str, float]) -> None:
        for task, share in shares.items():
            record.note(f"{name} {task}", share)
        say(name, " ".join(f"{share:.2f}" for share in shares.values()), " ".join(shares))

    def measure() -> None:
        stories, tests = puzzles("synthetic-supporting")
        note("GAT supporting typed", accuracy(*GAT, stories, tests))
        note("GAT supporting untyped", accuracy(*GAT, without_types(stories), without_types(tests)))
        for task in ("supporting", "irrelevant"):
            note(f"BiLSTM {task} random", accuracy(*READER, *puzzles(f"synthetic-{task}")))
            note(f"BiLSTM {task} last", accuracy(*READER, *puzzles(f"synthetic-{task}-ordered")))

    say("CPU seconds", f"{cpu_seconds(measure):.0f}")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
