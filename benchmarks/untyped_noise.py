"""GAT on kinship graphs whose noise edges have types, as in our puzzles, and have none, as in the published files.

Run as `python -m benchmarks.untyped_noise`: trained on supporting facts, tested on all four kinds of noise, about two
minutes of one core. The published files give the types of the chain only, so a network can tell noise from the chain by
its edges alone.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.measure import Record, cpu_seconds, say
from storyproof import generate
from storyproof.example import Example
from storyproof.experiments.jobs import count
from storyproof.solvers.neural.saved_runs import save_runs
from storyproof.solvers.neural.solver import NeuralSolver
from storyproof.solvers.neural.train import make_settings
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet

TASKS = ("clean", "supporting", "irrelevant", "disconnected")
RUNS, EPOCHS = 3, 12


def puzzles(typed: bool, **counts: int) -> list[Example]:
    """Return puzzles with supporting facts in training; without types the edges of noise have none."""
    table = generate("clutrr", preset="robust-supporting", text="synthetic", seed=1, **counts)
    examples = [Example.from_row(row) for row in table.to_pylist()]
    if typed:
        return examples
    return [
        replace(each, extra={**each.extra, "edge_types": each.extra["edge_types"][: each.extra["k"]]})
        for each in examples
    ]


def accuracy(typed: bool) -> dict[str, float]:
    """Train, and return the mean accuracy by the noise of the test."""
    settings = make_settings("gat", {"batch": 100, "rate": 0.002, "epochs": EPOCHS, "patience": 0})
    training = Training(
        TrainingPlan("gat", RUNS, settings=settings, device="cpu"), [TrainingSet(puzzles(typed, train=6000))]
    )
    while not training.trainer.finished:
        training.trainer.train_epoch()
    tests = puzzles(typed, test=200)
    with tempfile.TemporaryDirectory() as folder:
        save_runs(Path(folder) / "gat", training.results()[0])
        answers = NeuralSolver(Path(folder) / "gat", device="cpu").predict_all(tests)
    counts = [count(tests, each) for each in answers]
    return {task: fmean(run[f"task={task}"][0] / run[f"task={task}"][1] for run in counts) for task in TASKS}


def main() -> None:
    """Print the accuracy with and without types."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    record = Record()

    def measure() -> None:
        for name, typed in (("typed", True), ("untyped", False)):
            for task, share in accuracy(typed).items():
                record.note(f"{name} {task}", share)
                say(f"noise edges {name}, tested on {task}", f"{share:.2f}")

    chosen = parser.parse_args()
    say("CPU seconds", f"{cpu_seconds(measure):.0f}")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
