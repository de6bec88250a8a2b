"""How generating and verifying grow with the number of worker processes.

    python -m benchmarks.cores [--workers 1,2,4,8,16] [--only tomi,clutrr] [--scale 0.5] [--json FILE]

Every number of workers gets the same amount of work per worker, so that a run takes some seconds for each of them, as
with large datasets. The rate is that of the wall clock, with starting the workers; the efficiency with n workers is
that rate divided by n times the rate with one (the first in the list). The last lines compare what was written per
second with what a copy of the same files reaches, which says whether the disk is the limit. With 16 workers it takes
some five minutes and 2 GB in the temporary folder (`TMPDIR`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.writing import write_dataset
from storyproof.engines import make_engine
from storyproof.engines.processes import available_cores
from storyproof.evaluation.provenance import hardware

SEED = 7
PARTS = 4  # shards for each worker, so that the last one to finish keeps the others waiting for a quarter at most


@dataclass(frozen=True)
class Case:
    """A benchmark, and how many stories a worker gets: for each of the verbs about four seconds of work on one core.

    Attributes:
        name: What the figures call it.
        generated: Stories to generate for each worker.
        verified: Stories to verify for each worker.
        settings: The settings of the benchmark.
    """

    name: str
    generated: int
    verified: int
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Benchmark:
        """Return the benchmark."""
        return make_benchmark(self.name.split()[0], SEED, **self.settings)


CASES = (
    Case("tomi", 64 * 6144, 24 * 6144),
    Case("tomi-matched", 48 * 6144, 6 * 6144),
    Case("clutrr", 32 * 6144, 12 * 6144),
    Case("tom-k medium", 6 * 6144, 4 * 1152, {"preset": "medium"}),
)


@dataclass
class Timing:
    """How long something took."""

    wall_s: float = 0.0


@contextmanager
def timed() -> Iterator[Timing]:
    """Measure the wall time of a block."""
    timing, start = Timing(), time.perf_counter()
    yield timing
    timing.wall_s = time.perf_counter() - start


def write(case: Case, out: Path, stories: int, workers: int) -> dict[str, Any]:
    """Write a training split in PARTS shards for each worker, with blocks that divide into them evenly."""
    made = case.make()
    size = -(-stories // (workers * PARTS))
    if size < made.block_stories:
        made = made.with_blocks_of(size)
    count = workers * PARTS * made.block_count(size) * made.block_stories
    with make_engine(workers=workers) as engine:
        return write_dataset(made, {"train": count}, out, engine=engine, shard_stories=size)


def generate(case: Case, folder: Path, workers: int, scale: float) -> tuple[int, float]:
    """Return how many stories were generated, and in how many seconds."""
    with timed() as timing:
        manifest = write(case, folder / "data", round(case.generated * scale) * workers, workers)
    return manifest["splits"]["train"]["stories"], timing.wall_s


def verify(case: Case, folder: Path, workers: int, scale: float) -> tuple[int, float]:
    """Return how many stories were verified, and in how many seconds; generating them is not counted."""
    manifest = write(case, folder / "data", round(case.verified * scale) * workers, workers)
    with make_engine(workers=workers) as engine, timed() as timing:
        result = storyproof.verify(folder / "data", engine=engine)
    assert result.ok, result.findings[:3]
    assert result.stories == manifest["splits"]["train"]["stories"]
    return result.stories, timing.wall_s


VERBS: dict[str, Callable[[Case, Path, int, float], tuple[int, float]]] = {"generate": generate, "verify": verify}


def measure(case: Case, verb: str, numbers: list[int], scale: float, figures: dict[str, float]) -> None:
    """Measure a verb with some numbers of workers, print a line for each, and add the figures."""
    first = 0.0
    for workers in numbers:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            stories, wall_s = VERBS[verb](case, folder, workers, scale)
            rate = stories / wall_s
            first = first or rate / workers
            efficiency = rate / (workers * first)
            figures |= {f"{case.name} {verb} {workers}": rate, f"{case.name} {verb} {workers} efficiency": efficiency}
            line = f"{case.name:<14}{verb:<10}{workers:>3} workers {rate:>12,.0f} stories/s {100 * efficiency:>5.0f}%"
            if verb == "generate" and workers == numbers[-1]:
                files = sorted(path for path in (folder / "data").iterdir() if path.is_file())
                size = sum(path.stat().st_size for path in files)
                figures |= {
                    f"{case.name} bytes/s": size / wall_s,
                    f"{case.name} copied bytes/s": size / copied_s(files),
                }
                line += "   {:,.0f} MB/s written, {:,.0f} MB/s copied".format(
                    figures[f"{case.name} bytes/s"] / 1e6, figures[f"{case.name} copied bytes/s"] / 1e6
                )
            print(line, flush=True)


def copied_s(files: list[Path]) -> float:
    """Return how long it takes to copy files to the same disk."""
    with TemporaryDirectory(dir=files[0].parent) as scratch, timed() as timing:
        for path in files:
            shutil.copyfile(path, Path(scratch, path.name))
    return timing.wall_s


def main() -> None:
    """Measure and print."""
    cores = available_cores()
    usual = [number for number in (1, 2, 4, 8, 16, 32, 64) if number < cores] + [cores]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default=",".join(map(str, usual)), help="numbers of workers, in increasing order")
    parser.add_argument("--only", default=",".join(case.name.split()[0] for case in CASES), help="some benchmarks")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of stories")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    chosen = parser.parse_args()
    numbers, names = [int(number) for number in chosen.workers.split(",")], chosen.only.split(",")
    about = {**hardware(), "available_cores": cores, "python": platform.python_version(), "load": os.getloadavg()[0]}
    print(json.dumps(about), flush=True)
    figures: dict[str, float] = {}
    for case in CASES:
        for verb in VERBS if case.name.split()[0] in names else ():
            measure(case, verb, numbers, chosen.scale, figures)
            if chosen.json:  # after each, so that a run that is cut off has its figures
                chosen.json.write_text(json.dumps({"machine": about, "figures": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
