"""How generating, verifying and auditing grow with the number of worker processes.

    python -m benchmarks.cores [--workers 1,2,16] [--only tomi,clutrr] [--verbs generate,verify] [--scale 0.5]
        [--json FILE]

Each figure is that of a command in a process of its own, by the wall clock and with its start-up. A command with n
workers gets n times the work of one with one worker, some ten seconds for each, as with large datasets. Files that are
verified are ours; those that are audited are CSV files: of `clutrr` in the published form, of the others with three
columns, whose names are not ours. `one file` is the same with all stories in one file, which is divided
among the workers; it is measured with several workers only, and compared with one worker that gets many files.

Efficiency with n workers is the rate divided by n times the rate with one worker (the first in the list). Where it is
below 100%, the columns after it say why: `busy` is the share of the time in which the cores work, so what is missing
there are waits and the ends of the work; `cost` is the CPU time per story compared with one worker, which grows
because cores share memory and caches, and because each worker starts. `parent` is the share of the CPU time that the
command itself takes, beside its workers, to give out the work and to put the results together (Linux): n workers wait
for it once it reaches one part in n + 1, so it must stay well below that. `tomi separate` is as many commands with one
worker each at the same time, which share nothing: no program can expect more. One more line compares the bytes that are
written per second with what a copy of the same files reaches. Each verb of each benchmark takes about half a minute,
and all of them, with 1 and 16 workers, some eight minutes and 10 GB in the temporary folder (`TMPDIR`).
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
from collections.abc import Iterator, Sequence
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
VERBS = ("generate", "separate", "verify", "audit")
FILES = 8  # to verify or audit for each worker, so that the last one to finish keeps the others waiting for an eighth


@dataclass(frozen=True)
class Case:
    """A benchmark, and how many stories each worker gets: about ten seconds of work for each of the verbs.

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
    Case("tomi", 800_000, 240_000, 15_000),
    Case("tomi-matched", 760_000, 66_000, 12_000),
    Case("clutrr", 700_000, 180_000, 9_000, "csv"),
    Case("tom-k medium", 64_000, 18_000, 5_000, settings={"preset": "medium"}),
)


@dataclass
class Timing:
    """How long something took, by the clock, on all cores, and in the commands themselves, without their workers."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    own_s: float = 0.0


@contextmanager
def timed() -> Iterator[Timing]:
    """Measure wall time, and the CPU time of processes that are started and end meanwhile."""
    timing, start, before = Timing(), time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    yield timing
    timing.wall_s = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    timing.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def end_of(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process, and return its exit code and its own CPU time, without its children (Linux; else 0)."""
    own_s = 0.0
    if Path("/proc/self/stat").exists():
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # while it is waited for, its times are there
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        own_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return process.wait(), own_s


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
            ends = [end_of(process) for process in [self.start(each) for each in commands]]
        timing.own_s = sum(own_s for _, own_s in ends)
        if any(code for code, _ in ends):
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
        self.case, self.folder, self._runner, self._scale = case, folder, runner, scale

    def generate(self, workers: int) -> tuple[int, Timing]:
        """Return how many stories were generated, and how long that took; the files stay."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        stories = workers * round(self.case.generated * self._scale)
        return stories, self._runner.run(self._generation("data", stories, workers))

    def warm_up(self) -> None:
        """Run each verb once, so that its modules are compiled and in memory."""
        self._runner.run(self._generation("warm", self.case.make().round, 1))
        self._runner.run(["verify", self.folder / "warm"])

    def separate(self, commands: int) -> tuple[int, Timing]:
        """The same with as many commands that have one worker each."""
        stories = round(self.case.generated * self._scale)
        timing = self._runner.run(*(self._generation(f"part-{each}", stories, 1) for each in range(commands)))
        for each in range(commands):
            shutil.rmtree(self.folder / f"part-{each}")
        return commands * stories, timing

    def _generation(self, out: str, stories: int, workers: int) -> list[str | Path]:
        name, *_ = self.case.name.split()
        counts = ["--train", str(stories), "--workers", str(workers), "--seed", str(SEED)]
        return ["generate", name, *self.case.options, *counts, "--out", self.folder / out]

    def prepare(self, workers: int, verbs: Sequence[str] = VERBS) -> None:
        """Write the files that are verified and audited, for the largest number of workers."""
        audited_as = self.case.audited_as or "parquet"
        for verb, stories, form in (
            ("verify", self.case.verified, "parquet"),
            ("audit", self.case.audited, audited_as),
        ):
            if verb not in verbs:
                continue
            made = self.case.make()
            size = -(-round(stories * self._scale) // FILES)
            if size < made.block_stories:
                made = made.with_blocks_of(size)
            count = workers * FILES * made.block_count(size) * made.block_stories
            with make_engine(workers=available_cores()) as engine:
                how: dict[str, Any] = {"engine": engine, "shard_stories": size, "format_name": form}
                write_dataset(made, {"train": count}, self.folder / verb, **how)
        if "audit" not in verbs:
            return
        with make_engine(workers=available_cores()) as engine:
            for _ in engine.run(as_csv, sorted((self.folder / "audit").glob("*.parquet"))):
                pass
        (self.folder / "audit" / "manifest.json").unlink()

    def judge(self, verb: str, workers: int, *, in_one: bool = False) -> tuple[int, Timing]:
        """Return how many stories were verified or audited, in many files or in one, and how long that took."""
        pattern, join = ("*.parquet", join_parquet) if verb == "verify" else ("*.csv", join_csv)
        files = sorted((self.folder / verb).glob(pattern))[: workers * FILES]
        if in_one:
            one = self.folder / f"one{files[0].suffix}"
            join(files, one)
            files = [one]
        report = self.folder / "report.json"
        timing = self._runner.run([verb, *files, "--workers", str(workers), "--json", report])
        totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
        return totals["stories"], timing

    def copied_s(self) -> tuple[int, float]:
        """Return how large the generated files are, and how long it takes to copy them to the same disk."""
        files = [path for path in (self.folder / "data").iterdir() if path.is_file()]
        with timed() as timing:
            for path in files:
                shutil.copyfile(path, self.folder / f"copy of {path.name}")
        total = sum(path.stat().st_size for path in files)
        for copy in self.folder.glob("copy of *"):
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
    """Prints figures as they come, and keeps them.

    Args:
        machine: Where they are measured.
        path: A file in which all are written again after each, so that a run that is cut off has its figures.
    """

    def __init__(self, machine: dict[str, Any], path: Path | None = None) -> None:
        self.values: dict[str, float] = {}
        self._machine, self._path = machine, path
        self._first: dict[str, tuple[float, float]] = {}

    def add(self, what: str, workers: int, stories: int, timing: Timing, beside: str = "") -> None:
        """Print what was measured, beside what one worker reached, or that of another name."""
        rate, cost = stories / timing.wall_s, timing.cpu_s / stories
        first_rate, first_cost = self._first.setdefault(beside or what, (rate / workers, cost))
        shares = {
            "efficiency": rate / workers / first_rate,
            "busy": timing.cpu_s / timing.wall_s / workers,
            "cost": cost / first_cost,
            "parent": timing.own_s / timing.cpu_s,
        }
        name = f"{what} {workers}"
        self.values |= {name: rate} | {f"{name} {share}": value for share, value in shares.items()}
        shown = " ".join(f"{share} {100 * value:>5.1f}%" for share, value in shares.items())
        print(f"{what:<31}{workers:>3} workers {rate:>12,.0f} stories/s {timing.wall_s:>5.1f} s  {shown}", flush=True)
        if self._path is not None:
            self._path.write_text(json.dumps({"machine": self._machine, "figures": self.values}, indent=1) + "\n")


def main() -> None:
    """Measure and print."""
    cores = available_cores()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = ",".join(str(number) for number in sorted({1, min(2, cores), cores}))
    parser.add_argument("--workers", default=usual, help="numbers of workers, in increasing order")
    parser.add_argument("--only", default=",".join(case.name.split()[0] for case in CASES), help="some benchmarks")
    parser.add_argument("--verbs", default=",".join(VERBS), help="some verbs")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of stories")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    chosen = parser.parse_args()
    numbers, names = [int(number) for number in chosen.workers.split(",")], chosen.only.split(",")
    about = {**hardware(), "available_cores": cores, "python": platform.python_version(), "load": os.getloadavg()[0]}
    print(json.dumps(about), flush=True)
    figures = Figures(about, chosen.json)
    with TemporaryDirectory() as scratch:
        runner = Runner(Path(scratch))
        for case in CASES:
            if case.name.split()[0] not in names:
                continue
            folder = Path(scratch, case.name)
            folder.mkdir()
            measure(Bench(case, folder, runner, chosen.scale), numbers, figures, chosen.verbs.split(","))
            shutil.rmtree(folder)


def measure(bench: Bench, numbers: Sequence[int], figures: Figures, verbs: Sequence[str]) -> None:
    """Measure some verbs."""
    name = bench.case.name
    bench.prepare(numbers[-1], verbs)
    bench.warm_up()
    if "generate" in verbs:
        measure_generation(bench, numbers, figures, verbs)
    for verb in (each for each in ("verify", "audit") if each in verbs):
        for number in numbers:
            figures.add(f"{name} {verb}", number, *bench.judge(verb, number))
        for number in numbers[1:]:
            figures.add(f"{name} {verb} one file", number, *bench.judge(verb, number, in_one=True), f"{name} {verb}")


def measure_generation(bench: Bench, numbers: Sequence[int], figures: Figures, verbs: Sequence[str]) -> None:
    """Measure how fast stories are generated, and what the disk would take."""
    name = bench.case.name
    for number in numbers:
        stories, timing = bench.generate(number)
        figures.add(f"{name} generate", number, stories, timing)
    size, copied_s = bench.copied_s()
    written, copied = size / timing.wall_s, size / copied_s
    figures.values |= {f"{name} bytes/s": written, f"{name} copied bytes/s": copied}
    print(f"{name}: {written / 1e6:,.0f} MB/s written, {copied / 1e6:,.0f} MB/s copied", flush=True)
    if name == CASES[0].name and "separate" in verbs:
        figures.add(f"{name} separate", numbers[-1], *bench.separate(numbers[-1]), f"{name} generate")
    shutil.rmtree(bench.folder / "data")


if __name__ == "__main__":
    main()
