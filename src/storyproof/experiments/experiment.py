"""The verb `experiment`: reproduce a paper's table beside the paper's own figures."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from storyproof.errors import DataError, StoryproofError
from storyproof.evaluation.provenance import provenance
from storyproof.experiments.checks import (
    blanks,
    check_folder,
    check_kept,
    check_published,
    check_request,
    check_separate,
    keep_figures,
    make_folders,
)
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import Experiment, read
from storyproof.experiments.figures import FIGURES, draw
from storyproof.experiments.jobs import REMEDY, ExperimentPlan, Job, plan
from storyproof.experiments.table import ResultTable, tabulate
from storyproof.experiments.table_formats import TABLES, write_tables
from storyproof.experiments.worker import DONE, ELSEWHERE, STOPPED, TOO_LARGE, spent, work
from storyproof.io.atomic_files import read_json, write_json, writing_to
from storyproof.io.locks import Claim

OUT = "experiments/results"
_ABOUT, _RUNS, _LOCK = "about.json", "runs", ".table.lock"
_PACKAGES = ("numpy", "torch", "transformers", "altair", "vl-convert-python")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an experiment so far.

    Attributes:
        table: The table, with blanks where results are missing.
        folder: The folder of the table.
        done: How many trainings are done.
        jobs: How many trainings there are.
        remarks: Remarks for users.
        written: Whether the table was written; a table with figures whose results are missing is not overwritten.
    """

    table: ResultTable
    folder: Path
    done: int
    jobs: int
    remarks: tuple[str, ...]
    written: bool = True

    @property
    def finished(self) -> bool:
        """Whether all trainings are done."""
        return self.done == self.jobs


def experiment(
    name: str,
    *,
    out: str | Path = OUT,
    quick: bool = False,
    published: str | Path | None = None,
    device: str = "auto",
    runs: int | None = None,
    models: Sequence[str] | None = None,
    minutes: float | None = None,
    encoder: str | None = None,
    keep: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Train and test what a table needs, skip what is done, and write the table so far.

    Args:
        name: The name of the experiment, such as `tomi-table1`.
        out: The folder of all experiments: trained runs, which experiments share, are in its folder `runs`, and the
            table in a folder named after the experiment.
        quick: Use tiny data and models to test that it works; the figures mean nothing.
        published: The folder with published data, such as `tomi` and `clutrr`; without it, cells that need them are
            left out.
        device: cpu, cuda or auto.
        runs: The number of runs, instead of that of the experiment.
        models: Train only these of its models.
        minutes: The time limit; repeat the same call to resume.
        encoder: A pretrained encoder's folder, for BERT models; without it they are left out.
        keep: Keep figures of the written table that come from the same training and test, without repeating these.
        progress: Called with lines of progress.

    Raises:
        ConfigError: If there is no such experiment, an argument is not valid, or the table would lose figures.
        DataError: If kept results cannot be read, or nothing can be written.
        StoryproofError: If a training failed; the others are done, and the table is written as far as possible.

    Example:
        >>> import storyproof
        >>> found = storyproof.experiment("tomi-table3", quick=True, runs=1, models=["memnn"], minutes=0.001)
        >>> found.done < found.jobs, found.folder.name
        (True, 'tomi-table3-quick')
    """
    started = time.monotonic()
    declared = read(name, quick=quick)
    check_request(declared, runs, minutes, models, encoder)
    out = Path(out)
    folder = out / (f"{name}-quick" if quick else name)
    sets = Datasets(Path(published) if published is not None else None)
    check_published(declared, sets, published)
    check_separate(declared, published, folder, out / _RUNS)
    check_folder(folder, (*TABLES, *FIGURES, _ABOUT), _ABOUT)
    planned = plan(declared, sets, out / _RUNS, runs, encoder)
    check_kept(folder, declared, planned, runs, encoder)
    if keep:
        planned = keep_figures(folder, declared, planned)
    _commands(folder)  # raises at once if they cannot be read
    until = _alarm(started, minutes)
    wanted = [job for job in planned.jobs if models is None or job.model.name in models]
    wanted = [job for job in wanted if not planned.is_done(job)]
    if any(job.model.model for job in wanted):
        from storyproof.solvers.neural.training_job import choose_device

        choose_device(device)  # raises at once if there is no such device, or no PyTorch
    make_folders(out / _RUNS, folder)
    left, failed = [], []
    for job in wanted:
        try:
            how = work(job, planned.of(job), sets, device, until, progress)
            left += [f"{job.title}: {_LEFT[how]}"] if how != DONE else []
        except StoryproofError as error:  # continue with the others
            progress(f"{job.title}: {error}")
            failed.append((job, error))
    command = _command(name, out, quick, published, device, runs, models, minutes, encoder, keep)
    with Claim(folder / _LOCK).when_free():  # or a table could replace one that has more figures
        found = _write(declared, planned, folder, command, left)
    if failed:
        raise _named(failed, found)
    return found


_LEFT = {
    STOPPED: "time limit reached; rerun the same command to resume",
    ELSEWHERE: "another process is doing it",
    TOO_LARGE: "out of GPU memory; run fewer processes at once, or use fewer --runs and another --out",
}


def _named(failed: Sequence[tuple[Job, StoryproofError]], found: Outcome) -> StoryproofError:
    """Return the first error, with its job, the other jobs that failed, and where the table is."""
    (job, error), *others = failed
    more = f" These failed too: {'; '.join(each.title for each, _ in others)}." if others else ""
    table = f"so far is in {found.folder}" if found.written else f"in {found.folder} was not changed"
    error.args = (f"{job.title}: {error}{more} The table {table}.",)
    return error


def _write(declared: Experiment, planned: ExperimentPlan, folder: Path, command: str, left: list[str]) -> Outcome:
    table = tabulate(declared, planned)
    done = [job for job in planned.jobs if planned.is_done(job)]
    if blank := blanks(folder, declared, planned):
        remark = (
            f"the table in {folder} was not changed, because it has figures in {blank} without results in "
            f"{folder.parent / _RUNS}; finish or restore these, or use another --out"
        )
        return Outcome(table, folder, len(done), len(planned.jobs), (*left, remark), written=False)
    write_tables(folder, table)
    remark = draw(folder, table)
    with writing_to(folder / _ABOUT):
        write_json(folder / _ABOUT, _about(folder, table, planned, done, command))
    remarks = (*left, *([remark] if remark else []))
    return Outcome(table, folder, len(done), len(planned.jobs), remarks)


def _about(folder: Path, table: ResultTable, planned: ExperimentPlan, done: list[Job], command: str) -> dict[str, Any]:
    """Return the commands, packages and hardware behind the figures."""
    before = _read_about(folder).get("trainings", {}) if planned.kept else {}
    times = {}
    for job in planned.jobs:
        if found := spent(job) or before.get(job.folder.name):
            times[job.folder.name] = found
    return {
        "experiment": table.experiment.name,
        "commands": [*dict.fromkeys([*_commands(folder), command])],
        "done": len(done),
        "jobs": len(planned.jobs),
        "training_seconds": round(sum(each["seconds"] for each in times.values()), 3),
        "trained_on": sorted({each["hardware"] for each in times.values()}),
        "trainings": times,
        **({"encoder": asdict(table.encoder)} if table.encoder is not None else {}),
        "written": {"packages": {name: found for name in _PACKAGES if (found := _version(name))}, **provenance()},
    }


def _commands(folder: Path) -> list[str]:
    """Return the commands that wrote the table so far.

    Raises:
        DataError: If the file that records them is damaged.
    """
    found = _read_about(folder).get("commands", [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise DataError(f"{folder / _ABOUT} is damaged ('commands' is not a list of texts); {REMEDY}.")
    return found


def _read_about(folder: Path) -> dict[str, Any]:
    """Return what describes the written table; empty if there is none."""
    path = folder / _ABOUT
    found: dict[str, Any] = read_json(path, REMEDY) if path.is_file() else {}
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _alarm(started: float, minutes: float | None) -> Callable[[], bool]:
    return lambda: minutes is not None and time.monotonic() - started >= 60 * minutes


def _command(
    name: str,
    out: Path,
    quick: bool,
    published: str | Path | None,
    device: str,
    runs: int | None,
    models: Sequence[str] | None,
    minutes: float | None,
    encoder: str | None,
    keep: bool,
) -> str:
    """Return the command line that does the same."""
    options = {
        "--published": published,
        "--out": out,
        "--device": device,
        "--runs": runs,
        "--models": ",".join(models) if models else None,
        "--minutes": minutes,
        "--encoder": encoder,
    }
    words = ["storyproof", "experiment", name, *(["--quick"] if quick else []), *(["--keep"] if keep else [])]
    for option, value in options.items():
        if value is not None:
            words += [option, str(value)]
    return shlex.join(words)
