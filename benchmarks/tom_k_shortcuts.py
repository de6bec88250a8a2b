"""How often cheap readers are right on `tom-k`, by preset and order: `python -m benchmarks.tom_k_shortcuts`.

Prints the mean over one block of each seed, in percent, and how far a mean may be off (half of the 95% interval).
`--json` keeps the figures. `--before` prints those of such a file in front, for example from an earlier version, and
marks with * what is higher now by more than the interval of the difference.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from math import hypot, sqrt
from pathlib import Path

import numpy as np

from storyproof.datasets.generate import make_benchmark

SEEDS = (77001, 77002, 77003)  # not used to choose any setting
PRESETS = ("easy", "medium", "hard", "extreme")
READERS = (
    "guess",
    "reality",
    "not_reality",  # who guesses among the other places
    "first_mention",
    "last_mention",
    "algorithm_1",
    "last_announced",
    "first_alone",
    "last_alone",
    "without_first",
    "without_last",
)
Shares = dict[str, dict[str, dict[str, list[float]]]]  # mean and standard error, by preset, order and reader


def measure_shares(presets: Sequence[str], seeds: Sequence[int]) -> Shares:
    """Return the share of right answers and its standard error over stories, by preset, order and reader."""
    shares: Shares = {}
    for preset in presets:
        blocks = [make_benchmark("tom-k", seed, preset=preset).plots("test", 0).beliefs for seed in seeds]
        shares[preset] = {}
        for order, choices in enumerate(zip(*blocks, strict=True), start=1):
            guess = np.concatenate([each.guess for each in choices])
            right = {name: np.concatenate([each.right[name] for each in choices]) for name in choices[0].right}
            right |= {"guess": guess, "not_reality": ~right["reality"] / (1 / guess - 1)}
            shares[preset][str(order)] = {
                reader: [float(right[reader].mean()), float(right[reader].std() / sqrt(len(guess)))]
                for reader in READERS
                if reader in right
            }
    return shares


def print_table(shares: Shares, before: Shares) -> None:
    """Print one line per preset and order."""
    print(f"| preset | order | {' | '.join(f'`{reader}`' for reader in READERS)} |")
    print("|---" * (len(READERS) + 2) + "|")
    for preset, orders in shares.items():
        for order, readers in orders.items():
            earlier = before.get(preset, {}).get(order, {})
            cells = [_cell(readers.get(reader), earlier.get(reader)) for reader in READERS]
            print(f"| `{preset}` | {order} | {' | '.join(cells)} |")
    widest = max(error for orders in shares.values() for each in orders.values() for _, error in each.values())
    print(f"\nEach mean is off by at most {196 * widest:.1f} points (95%).")


def _cell(now: list[float] | None, earlier: list[float] | None) -> str:
    if now is None:
        return "–"
    if earlier is None:
        return f"{100 * now[0]:.1f}"
    is_higher = now[0] - earlier[0] > 1.96 * hypot(now[1], earlier[1])
    return f"{100 * earlier[0]:.1f} → {100 * now[0]:.1f}{' *' if is_higher else ''}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presets", nargs="+", default=PRESETS, choices=PRESETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--before", type=Path, help="a file written by --json, to compare with")
    chosen = parser.parse_args()
    shares = measure_shares(chosen.presets, chosen.seeds)
    before: Shares = json.loads(chosen.before.read_text("utf-8")) if chosen.before else {}
    print_table(shares, before)
    if chosen.json:
        chosen.json.write_text(json.dumps(shares, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
