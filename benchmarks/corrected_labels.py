"""CLUTRR with given and corrected labels, and with our text: accuracy with intervals.

Run as `python -m benchmarks.corrected_labels PUBLISHED`, with the folder that contains `clutrr` as published. The
accuracy of every run is in experiments/results; the numbers of questions are counted in the files. An interval adds the
variance between runs (Student's t) and that of the questions (normal).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from math import hypot, sqrt
from pathlib import Path
from statistics import fmean, stdev

from scipy.stats import norm, t

from benchmarks.measure import Record
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import read
from storyproof.families import family_of

RESULTS = Path(__file__).parents[1] / "experiments" / "results"
ROBUST = ("clean", "supporting", "disconnected")
OURS = ("clean", "supporting", "irrelevant", "disconnected")
READERS = ("rn", "bilstm-attention", "mac", "bert-lstm", "gat")
LENGTHS = (2, 3, 4, 6, 10)
LEVEL = 0.975


def interval(runs: list[float], questions: int) -> tuple[float, float]:
    """Return mean and half width of the 95% interval."""
    mean = fmean(runs)
    between = t.ppf(LEVEL, len(runs) - 1) * stdev(runs) / sqrt(len(runs))
    within = norm.ppf(LEVEL) * sqrt(mean * (1 - mean) / questions)
    return mean, float(hypot(between, within))


def print_rows(
    name: str,
    rows: list[tuple[str, str]],
    measures: list[str],
    published: Path,
    record: Record,
    *,
    models: tuple[str, ...] = (),
) -> None:
    """Print a table: one row per data set with a column per model, or for these models a column per measure."""
    declared, sets = read(name), Datasets(published)
    cells = json.loads((RESULTS / name / "results.json").read_text("utf-8"))["cells"]
    runs = {(cell["model"], cell["data"], cell["measure"]): cell["runs"] for cell in cells}

    def show(model: str, data: str, measure: str) -> str:
        mean, half = interval(runs[model, data, measure], counts[measure])
        record.note(f"{model} {data} {measure}", mean)
        record.note(f"{model} {data} {measure} ±", half)
        return f"{mean:.2f} ± {half:.2f}"

    for data, measure in rows:
        tests = sets.tests(declared.data[data])
        counts = Counter(group for each in tests for group in family_of(each).measures(each))
        if not models:
            trained = [model for model in declared.models if runs.get((model, data, measure))]
            print(f"| {data}: {', '.join(trained)} | {' | '.join(show(model, data, measure) for model in trained)} |")
        else:
            for model in models:
                print(f"| {model}, {data} | {' | '.join(show(model, data, each) for each in measures)} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("published", type=Path, help="the folder that contains clutrr as published")
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    labels, lengths = ("", "-proved"), [f"k={k}" for k in LENGTHS]
    tables: list[tuple[str, list[tuple[str, str]], tuple[str, ...]]] = [
        ("clutrr-robust", [(f"published-{task}{kind}", f"task={task}") for task in ROBUST for kind in labels], ()),
        ("clutrr-generalization", [(f"published-23{kind}", "") for kind in labels], ("mac", "gat")),
        ("clutrr-robust", [(task, f"task={task}") for task in OURS], ()),
        ("clutrr-generalization", [("generalization-23", "")], READERS),
    ]
    for name, rows, models in tables:
        print_rows(name, rows, lengths, chosen.published, record, models=models)
    record.write(chosen.json)


if __name__ == "__main__":
    main()
