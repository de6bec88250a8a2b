"""How soon a stream's first story comes, and how many follow per second: `python -m benchmarks.streams`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from statistics import median

import storyproof
from benchmarks.measure import Record
from storyproof.catalog import BENCHMARKS

PLAIN = {"preset": "plain"}  # of tom-k, for training
SEEDS = 11
SECONDS = 2.0
COLD = (
    "import time; start = time.process_time(); import storyproof\n"
    "next(storyproof.stream({name!r})); print(time.process_time() - start)"
)


def first_ms(name: str, split: str) -> float:
    """Return the median CPU time from the call to the first story, in a warm process."""
    next(storyproof.stream(name, split=split))
    taken = []
    for seed in range(1, SEEDS + 1):
        before = time.process_time()
        next(storyproof.stream(name, seed=seed, split=split))
        taken.append(time.process_time() - before)
    return 1000 * median(taken)


def per_second(name: str, split: str, **dials: str) -> float:
    """Return how many stories a stream makes per second of CPU time."""
    stream, count = storyproof.stream(name, split=split, **dials), 0
    before = time.process_time()
    while time.process_time() - before < SECONDS:
        for _ in range(24):
            next(stream)
        count += 24
    return count / (time.process_time() - before)


def cold_ms(name: str) -> float:
    """Return the CPU time of the first story in a new process, imports included; the best of three."""
    command = [sys.executable, "-c", COLD.format(name=name)]
    return 1000 * min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    record = Record()
    print("| benchmark | split | first story, warm | first story, new process | stories per second |")
    print("|---|---|---|---|---|")
    for name in BENCHMARKS:
        cold = cold_ms(name)
        record.note(f"{name} cold", cold)
        for split in ("train", "test"):
            warm, speed = first_ms(name, split), per_second(name, split)
            record.note(f"{name} {split} warm", warm)
            record.note(f"{name} {split} speed", speed)
            print(f"| `{name}` | {split} | {warm:.0f} ms | {cold:.0f} ms | {speed:,.0f} |")
    speed = per_second("tom-k", "train", **PLAIN)
    record.note("tom-k plain speed", speed)
    print(f"tom-k, preset plain: {speed:,.0f} stories per second")
    record.write(chosen.json)


if __name__ == "__main__":
    main()
