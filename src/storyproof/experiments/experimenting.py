"""The verb `experiment`: a paper's table anew, beside the paper's own figures."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from storyproof.errors import DataError, StoryproofError
from storyproof.evaluation.runs.provenance import provenance
from storyproof.experiments.checking import (
    blanks,
    check_folder,
    check_kept,
    check_published,
    check_request,
    check_separate,
    make_folders,
)
from storyproof.experiments.declaring import Experiment, read
from storyproof.experiments.drawing import FIGURES, draw
from storyproof.experiments.files import read_json, write_json
from storyproof.experiments.jobs import Job, Plan, plan
from storyproof.experiments.sets import Sets
from storyproof.experiments.tabulating import Table, tabulate
from storyproof.experiments.working import DONE, ELSEWHERE, STOPPED, TOO_LARGE, is_done, spent, work
from storyproof.experiments.writing import TABLES, write_tables

OUT = "experiments/results"
_ABOUT, _RUNS = "about.json", "runs"
_PACKAGES = ("numpy", "torch", "transformers", "matplotlib")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out so far.

    Attributes:
        table: The table, with blanks where something is not done yet.
        folder: Where it was written.
        done: How many trainings are done.
        jobs: Of how many.
        remarks: What a user should know.
        written: Whether the table was; one that has figures of which there are no results is left as it is.
    """

    table: Table
    folder: Path
    done: int
    jobs: int
    remarks: tuple[str, ...]
    written: bool = True

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
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
    progress: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Train and test what a table needs, skip what is done, and write the table so far, unless it would lose figures.

    Args:
        name: The experiment's, such as `tomi-table1`.
        out: The folder for all experiments: trained runs go to `runs` in it, where experiments share them, and the
            table to a folder of the experiment's name.
        quick: Everything tiny, to see that it works; the figures mean nothing.
        published: The folder that holds published data, such as `tomi` and `clutrr`; without it what needs them is
            left out.
        device: cpu, cuda or auto.
        runs: How many runs, instead of what the experiment says.
        models: Train only these of its models.
        minutes: Stop after about so long; the same call goes on from there.
        encoder: A pretrained encoder's folder, for BERT models; without it they are left out.
        progress: Told in a line how it goes.

    Raises:
        ConfigError: If there is no such experiment, it cannot be run as asked, or its table would lose figures.
        DataError: If kept results cannot be read, or nothing can be written.
        StoryproofError: If a training could not be done; the others are, and the table is written as far as it can be.
    """
    started = time.monotonic()
    declared = read(name, quick=quick)
    check_request(declared, runs, minutes, models, encoder)
    out = Path(out)
    folder = out / (f"{name}-quick" if quick else name)
    sets = Sets(Path(published) if published is not None else None)
    check_published(declared, sets, published)
    check_separate(declared, published, folder, out / _RUNS)
    check_folder(folder, (*TABLES, *FIGURES, _ABOUT))
    planned = plan(declared, sets, out / _RUNS, runs, encoder)
    check_kept(folder, declared, planned, runs, encoder)
    _commands(folder)  # says at once if they cannot be read
    until = _alarm(started, minutes)
    wanted = [job for job in planned.jobs if models is None or job.model.name in models]
    if any(job.model.model and not is_done(planned.of(job)) for job in wanted):
        from storyproof.solvers.neural.fitting import choose_device

        choose_device(device)  # says at once if that, or PyTorch, is not there
    make_folders(out / _RUNS, folder)
    left, failed = [], []
    for job in wanted:
        try:
            how = work(job, planned.of(job), sets, device, until, progress)
            left += [f"{job.title}: {_LEFT[how]}"] if how != DONE else []
        except StoryproofError as error:  # the others can be done all the same
            progress(f"{job.title}: {error}")
            failed.append((job, error))
    command = _command(name, out, quick, published, device, runs, models, minutes, encoder)
    found = _write(declared, planned, folder, command, left)
    if failed:
        raise _named(failed, found)
    return found


_LEFT = {
    STOPPED: "not finished, for time was up; the same command goes on",
    ELSEWHERE: "another process is at it",
    TOO_LARGE: "the GPU's memory does not hold it; run fewer processes at once, or give fewer --runs and another --out",
}


def _named(failed: Sequence[tuple[Job, StoryproofError]], found: Outcome) -> StoryproofError:
    """Give the first error, with what it befell, what else could not be done, and what was written all the same."""
    (job, error), *others = failed
    more = f" Nor could these be done: {'; '.join(each.title for each, _ in others)}." if others else ""
    table = f"so far is in {found.folder}" if found.written else f"in {found.folder} is left as it is"
    error.args = (f"{job.title}: {error}{more} The table {table}.",)
    return error


def _write(declared: Experiment, planned: Plan, folder: Path, command: str, left: list[str]) -> Outcome:
    table = tabulate(declared, planned)
    done = [job for job in planned.jobs if is_done(planned.of(job))]
    if blank := blanks(folder, declared, planned):
        remark = (
            f"the table in {folder} is left as it is, for it has figures in {blank} without results in "
            f"{folder.parent / _RUNS}; finish or bring these, or give another --out"
        )
        return Outcome(table, folder, len(done), len(planned.jobs), (*left, remark), written=False)
    write_tables(folder, table)
    remark = draw(folder, table)
    write_json(folder / _ABOUT, _about(folder, table, planned, done, command))
    remarks = (*left, *([remark] if remark else []))
    return Outcome(table, folder, len(done), len(planned.jobs), remarks)


def _about(folder: Path, table: Table, planned: Plan, done: list[Job], command: str) -> dict[str, Any]:
    """Say by what commands, when, with what and on what the figures were made."""
    times = {job.folder.name: spent(job) for job in planned.jobs if spent(job)}
    return {
        "experiment": table.experiment.name,
        "commands": [*dict.fromkeys([*_commands(folder), command])],
        "done": len(done),
        "jobs": len(planned.jobs),
        "training_seconds": round(sum(each["seconds"] for each in times.values()), 1),
        "trained_on": sorted({each["hardware"] for each in times.values()}),
        "trainings": times,
        **({"encoder": asdict(table.encoder)} if table.encoder is not None else {}),
        "written": {"packages": {name: found for name in _PACKAGES if (found := _version(name))}, **provenance()},
    }


def _commands(folder: Path) -> list[str]:
    """List the commands that made the table so far.

    Raises:
        DataError: If the file that says so is damaged.
    """
    path = folder / _ABOUT
    found = read_json(path).get("commands", []) if path.is_file() else []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise DataError(f"{path} is damaged ('commands' is no list of texts); delete it, and run the experiment again.")
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
) -> str:
    """Write the command that does the same."""
    options = {
        "--published": published,
        "--out": out,
        "--device": device,
        "--runs": runs,
        "--models": ",".join(models) if models else None,
        "--minutes": minutes,
        "--encoder": encoder,
    }
    words = ["storyproof", "experiment", name, *(["--quick"] if quick else [])]
    for option, value in options.items():
        if value is not None:
            words += [option, str(value)]
    return shlex.join(words)
