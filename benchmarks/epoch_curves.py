"""Accuracy on held-back stories by epoch, from the metrics of trainings: how many epochs suffice.

Run as `python -m benchmarks.epoch_curves RUNS`, with the folder `runs` of experiments. Writes the curves of all
trainings, mean over the runs of each, to experiments/results/epochs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean

from storyproof.reports.charts import Value, draw_curves, render

OUT = Path(__file__).parents[1] / "experiments" / "results" / "epochs"
BELIEF = {"memnn", "relnet", "entnet"}
SHOWN = {*BELIEF, "bilstm-mean-long", "mac-paper", "lstm", "rmc"}


def read_curve(path: Path) -> list[float]:
    """Return the best accuracy on held-back stories so far, after each epoch."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [fmean(line["best"]) for line in lines]


def epochs_within(curve: list[float], points: float) -> int:
    """Return after how many epochs a curve is within some points of its end."""
    return next(number for number, share in enumerate(curve, start=1) if share >= curve[-1] - points / 100)


def main() -> None:
    """Write the curves, and print after how many epochs each is near its end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="the folder of the trained runs")
    chosen = parser.parse_args()
    curves = {}
    for path in sorted(chosen.runs.glob("*/training/metrics.jsonl")):
        name = path.parts[-3].rpartition(".")[0]
        is_done = len([*path.parents[1].glob("*.json")]) > 1  # with results beside the time
        if is_done and (curve := read_curve(path)):
            curves[name] = [round(share, 5) for share in curve]
            ends = ", ".join(f"{epochs_within(curve, points)} ({points})" for points in (2, 1, 0.5))
            print(f"{name:<60} {len(curve):>4} epochs, {100 * curve[-1]:.1f}%; within points of it after {ends}")
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "curves.json").write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")
    values = [
        Value(
            f"{model} on {data}",
            float(epoch),
            share,
            panel="theory of mind" if model in BELIEF else "kinship",
        )
        for name, curve in curves.items()
        for model, data in [name.split(".")]
        if model in SHOWN
        for epoch, share in enumerate(curve, start=1)
    ]
    title = "Accuracy on held-back stories, the best state so far"
    drawn = render(draw_curves(values, title=title, x_title="epoch"), "svg", "print")
    (OUT / "figure.svg").write_text(drawn if isinstance(drawn, str) else drawn.decode(), encoding="utf-8")


if __name__ == "__main__":
    main()
