"""Small models and cheap readers on `tom-k` by order of belief: `python -m benchmarks.tom_k_orders`, for docs/tom-k.md.

What the models answered is in experiments/results/tom-k-orders, from `storyproof experiment tom-k-orders`. The cheap
readers, which nobody trains, answer the same test stories here. Intervals are Wilson's over the questions of an order,
of which each story has one; they say nothing about how much another training would differ.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from benchmarks.measure import Record
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import read
from storyproof.families import family_of
from storyproof.stats import wilson_interval

NAME = "tom-k-orders"
RESULTS = Path(__file__).parents[1] / "experiments" / "results" / NAME / "results.json"
READERS = ("reality", "last_mentioned", "without_last_agent", "last_announced")


def main() -> None:
    """Print a table of each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record, declared, sets = Record(), read(NAME), Datasets(None)
    measures = [str(column.fixes["measure"]) for column in declared.columns if column.label != "average"]
    cells = json.loads(RESULTS.read_text("utf-8"))["cells"]
    for name, data in declared.data.items():
        tests = sets.tests(data)
        family = family_of(tests[0])
        kinds = defaultdict(list)
        for each in tests:
            kinds[family.kind(each)].append(1 / len(family.candidates(each)))
        print(f"\n{name}\n| | {' | '.join(measures)} |")
        guess = {kind: sum(shares) / len(shares) for kind, shares in kinds.items()}
        shown = []
        for measure in measures:
            record.note(f"guess {name} {measure}", guess[measure])
            shown.append(f"{100 * guess[measure]:.0f}")
        print(f"| guess | {' | '.join(shown)} |")
        for row in family.shortcuts(None, tests, seed=0, learned=False).rows:
            if row.name in READERS:
                values = [row.by_kind[measure].value for measure in measures]
                for measure, value in zip(measures, values, strict=True):
                    record.note(f"{row.name} {name} {measure}", value)
                print(f"| {row.name} | {' | '.join(f'{100 * value:.0f}' for value in values)} |")
        for model in declared.models:
            found = {
                cell["measure"]: cell["runs"]
                for cell in cells
                if (cell["model"], cell["data"]) == (model, name) and cell["runs"]
            }
            if not found or model == "random":
                continue
            shown = []
            for measure in measures:
                [share] = found[measure]
                count = len(kinds[measure])
                interval = wilson_interval(round(share * count), count)
                record.note(f"{model} {name} {measure}", share)
                record.note(f"{model} {name} {measure} low", interval.low)
                record.note(f"{model} {name} {measure} high", interval.high)
                shown.append(f"{100 * share:.0f} ({100 * interval.low:.0f} to {100 * interval.high:.0f})")
            print(f"| {model} | {' | '.join(shown)} |")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
