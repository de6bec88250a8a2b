"""How generating, verifying and auditing grow with the number of worker processes.

    python -m benchmarks.cores [--workers 1,2,16] [--only tomi,clutrr] [--scale 0.5] [--json FILE]

Each figure is that of a command in a process of its own, by the wall clock and with its start-up. A command with n
workers gets n times the work of one with one worker, some seconds for each, as with large datasets. Files that are
verified are ours; those that are audited are CSV files: of `clutrr` in the published form, of the others with three
columns, whose names are not ours. `one file` is the same with all stories in one file, which is divided
among the workers.

Efficiency with n workers is the rate divided by n times the rate with one worker (the first in the list). Where it is
below 100%, the columns after it say why: `busy` is the share of the time in which the cores work, so what is missing
there are waits and the ends of the work; `cost` is the CPU time per story compared with one worker, which grows
because cores share memory and caches, and because each worker starts. `tomi separate` is as many commands with one
worker each at the same time, which share nothing: no program can expect more. The last line compares the bytes that are
written per second with what a copy of the same files reaches. With 16 workers it takes some eight minutes and 3 GB in
the temporary folder (`TMPDIR`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.writing import write_dataset
from storyproof.engines import make_engine
from storyproof.engines.processes import available_cores
from storyproof.evaluation.provenance import hardware

SEED = 7
FILES = 8  # to verify or audit for each worker, so that the last one to finish keeps the others waiting for an eighth


@dataclass(frozen=True)
class Case:
    """A benchmark, and how many stories each worker gets: for each of the verbs about six seconds of work.

    Attributes:
        name: What the figures call it.
        generated: Stories to generate for each worker.
        verified: Stories to verify for each worker.
        audited: Stories to audit for each worker.
        settings: The settings of the benchmark.
        audited_as: The format of the files that are audited, which otherwise have three columns.
    """

    name: str
    generated: int
    verified: int
    audited: int
    audited_as: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self) -> Benchmark:
        """Return the benchmark."""
        return make_benchmark(self.name.split()[0], SEED, **self.settings)

    @property
    def options(self) -> list[str]:
        """The settings as options of `generate`."""
        return [text for name, value in self.settings.items() for text in (f"--{name}", str(value))]


CASES = (
    Case("tomi", 480_000, 84_000, 4_800),
    Case("tomi-matched", 420_000, 24_000, 3_600),
    Case("clutrr", 360_000, 90_000, 7_200, "csv"),
    Case("tom-k medium", 44_000, 7_200, 2_000, settings={"preset": "medium"}),
)


@dataclass
class Timing:
    """How long something took, by the clock and on all cores."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def timed() -> Iterator[Timing]:
    """Measure wall time, and the CPU time of processes that are started and end meanwhile."""
    timing, start, before = Timing(), time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    yield timing
    timing.wall_s = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    timing.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Runner:
    """Runs commands of this source tree, whose modules are compiled once."""

    def __init__(self, folder: Path) -> None:
        without = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        source = str(Path(storyproof.__file__).parents[1])
        self._environment = without | {"PYTHONPATH": source, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}

    def start(self, arguments: Sequence[str | Path]) -> subprocess.Popen[bytes]:
        """Start a command."""
        command = [sys.executable, "-m", "storyproof", *map(str, arguments), "--quiet"]
        return subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL)

    def run(self, *commands: Sequence[str | Path]) -> Timing:
        """Run commands at the same time, and return how long they take.

        Raises:
            SystemExit: If one of them fails.
        """
        with timed() as timing:
            codes = [process.wait() for process in [self.start(each) for each in commands]]
        if any(codes):
            raise SystemExit(f"storyproof {' '.join(map(str, commands[0][:2]))} … failed; its message is above.")
        return timing


class Bench:
    """Measures one case in a folder.

    Args:
        case: The case.
        folder: An empty folder.
        runner: Runs the commands.
        scale: A factor on the number of stories.
    """

    def __init__(self, case: Case, folder: Path, runner: Runner, scale: float) -> None:
        self.case, self._folder, self._runner, self._scale = case, folder, runner, scale

    def generate(self, workers: int) -> tuple[int, Timing]:
        """Return how many stories were generated, and how long that took; the files stay."""
        shutil.rmtree(self._folder / "data", ignore_errors=True)
        stories = workers * round(self.case.generated * self._scale)
        return stories, self._runner.run(self._generation("data", stories, workers))

    def warm_up(self) -> None:
        """Run each verb once, so that its modules are compiled and in memory."""
        self._runner.run(self._generation("warm", self.case.make().round, 1))
        self._runner.run(["verify", self._folder / "warm"])

    def separate(self, commands: int) -> tuple[int, Timing]:
        """The same with as many commands that have one worker each."""
        stories = round(self.case.generated * self._scale)
        timing = self._runner.run(*(self._generation(f"part-{each}", stories, 1) for each in range(commands)))
        for each in range(commands):
            shutil.rmtree(self._folder / f"part-{each}")
        return commands * stories, timing

    def _generation(self, out: str, stories: int, workers: int) -> list[str | Path]:
        name, *_ = self.case.name.split()
        counts = ["--train", str(stories), "--workers", str(workers), "--seed", str(SEED)]
        return ["generate", name, *self.case.options, *counts, "--out", self._folder / out]

    def prepare(self, workers: int) -> None:
        """Write the files that are verified and audited, for the largest number of workers."""
        audited_as = self.case.audited_as or "parquet"
        for verb, stories, form in (
            ("verify", self.case.verified, "parquet"),
            ("audit", self.case.audited, audited_as),
        ):
            made = self.case.make()
            size = -(-round(stories * self._scale) // FILES)
            if size < made.block_stories:
                made = made.with_blocks_of(size)
            count = workers * FILES * made.block_count(size) * made.block_stories
            with make_engine(workers=available_cores()) as engine:
                how: dict[str, Any] = {"engine": engine, "shard_stories": size, "format_name": form}
                write_dataset(made, {"train": count}, self._folder / verb, **how)
        with make_engine(workers=available_cores()) as engine:
            for _ in engine.run(as_csv, sorted((self._folder / "audit").glob("*.parquet"))):
                pass
        (self._folder / "audit" / "manifest.json").unlink()

    def verify(self, workers: int) -> tuple[int, Timing]:
        """Return how many stories were verified, and how long that took."""
        return self._judge("verify", "*.parquet", workers)

    def audit(self, workers: int) -> tuple[int, Timing]:
        """Return how many stories were audited, and how long that took."""
        return self._judge("audit", "*.csv", workers)

    def verify_one(self, workers: int) -> tuple[int, Timing]:
        """The same with all stories in one file."""
        return self._judge("verify", "*.parquet", workers, as_one=join_parquet)

    def audit_one(self, workers: int) -> tuple[int, Timing]:
        """The same with all stories in one file."""
        return self._judge("audit", "*.csv", workers, as_one=join_csv)

    def _judge(
        self, verb: str, pattern: str, workers: int, as_one: Callable[[Sequence[Path], Path], None] | None = None
    ) -> tuple[int, Timing]:
        files = sorted((self._folder / verb).glob(pattern))[: workers * FILES]
        if as_one is not None:
            one = self._folder / f"one{files[0].suffix}"
            as_one(files, one)
            files = [one]
        report = self._folder / "report.json"
        timing = self._runner.run([verb, *files, "--workers", str(workers), "--json", report])
        totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
        return totals["stories"], timing

    def copied_s(self) -> tuple[int, float]:
        """Return how large the generated files are, and how long it takes to copy them to the same disk."""
        files = [path for path in (self._folder / "data").iterdir() if path.is_file()]
        with timed() as timing:
            for path in files:
                shutil.copyfile(path, self._folder / f"copy of {path.name}")
        total = sum(path.stat().st_size for path in files)
        for copy in self._folder.glob("copy of *"):
            copy.unlink()
        return total, timing.wall_s


def as_csv(path: Path) -> None:
    """Write a file as somebody else's, and remove it."""
    table = pq.read_table(path, columns=["story", "question", "answer"])
    pyarrow.csv.write_csv(table.rename_columns(["passage", "query", "label"]), path.with_suffix(".csv"))
    path.unlink()


def join_parquet(files: Sequence[Path], path: Path) -> None:
    """Write the row groups of several files into one."""
    with pq.ParquetWriter(path, pq.read_schema(files[0])) as writer:
        for each in files:
            whole = pq.ParquetFile(each)
            for number in range(whole.num_row_groups):
                writer.write_table(whole.read_row_group(number))


def join_csv(files: Sequence[Path], path: Path) -> None:
    """Write the rows of several files into one; the rows of CLUTRR's files, each of one line, are numbered."""
    with path.open("wb") as joined:
        rows = 0
        for place, each in enumerate(files):
            header, content = each.read_bytes().split(b"\n", 1)
            if not place:
                joined.write(header + b"\n")
            if header.startswith(b","):
                lines = content.splitlines(keepends=True)
                content = b"".join(b"%d%b" % (rows + row, line[line.index(b",") :]) for row, line in enumerate(lines))
                rows += len(lines)
            joined.write(content)


class Figures:
    """Prints figures as they come, and keeps them."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self._first: dict[str, tuple[float, float]] = {}

    def add(self, what: str, workers: int, stories: int, timing: Timing, alone: str = "") -> None:
        """Print what was measured, beside what one worker reached, or that of another name."""
        rate, cost = stories / timing.wall_s, timing.cpu_s / stories
        first_rate, first_cost = self._first.setdefault(alone or what, (rate / workers, cost))
        shares = {
            "efficiency": rate / workers / first_rate,
            "busy": timing.cpu_s / timing.wall_s / workers,
            "cost": cost / first_cost,
        }
        name = f"{what} {workers}"
        self.values |= {name: rate} | {f"{name} {share}": value for share, value in shares.items()}
        shown = " ".join(f"{share} {100 * value:>4.0f}%" for share, value in shares.items())
        print(f"{what:<31}{workers:>3} workers {rate:>12,.0f} stories/s {timing.wall_s:>5.1f} s  {shown}", flush=True)


def main() -> None:
    """Measure and print."""
    cores = available_cores()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = ",".join(str(number) for number in sorted({1, min(2, cores), cores}))
    parser.add_argument("--workers", default=usual, help="numbers of workers, in increasing order")
    parser.add_argument("--only", default=",".join(case.name.split()[0] for case in CASES), help="some benchmarks")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of stories")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    chosen = parser.parse_args()
    numbers, names = [int(number) for number in chosen.workers.split(",")], chosen.only.split(",")
    about = {**hardware(), "available_cores": cores, "python": platform.python_version(), "load": os.getloadavg()[0]}
    print(json.dumps(about), flush=True)
    figures = Figures()
    with TemporaryDirectory() as scratch:
        runner = Runner(Path(scratch))
        for case in CASES:
            if case.name.split()[0] not in names:
                continue
            folder = Path(scratch, case.name)
            folder.mkdir()
            measure(Bench(case, folder, runner, chosen.scale), numbers, figures)
            shutil.rmtree(folder)
            if chosen.json:  # after each, so that a run that is cut off has its figures
                chosen.json.write_text(json.dumps({"machine": about, "figures": figures.values}, indent=1) + "\n")


def measure(bench: Bench, numbers: Sequence[int], figures: Figures) -> None:
    """Measure all verbs."""
    name = bench.case.name
    bench.prepare(numbers[-1])
    bench.warm_up()
    for number in numbers:
        stories, timing = bench.generate(number)
        figures.add(f"{name} generate", number, stories, timing)
    size, copied_s = bench.copied_s()
    written, copied = size / timing.wall_s, size / copied_s
    figures.values |= {f"{name} bytes/s": written, f"{name} copied bytes/s": copied}
    print(f"{name}: {written / 1e6:,.0f} MB/s written, {copied / 1e6:,.0f} MB/s copied", flush=True)
    if name == CASES[0].name:
        figures.add(f"{name} separate", numbers[-1], *bench.separate(numbers[-1]), alone=f"{name} generate")
    for number in numbers:
        figures.add(f"{name} verify", number, *bench.verify(number))
    for number in numbers:
        figures.add(f"{name} verify one file", number, *bench.verify_one(number))
    for number in numbers:
        figures.add(f"{name} audit", number, *bench.audit(number))
    for number in numbers:
        figures.add(f"{name} audit one file", number, *bench.audit_one(number))


if __name__ == "__main__":
    main()
