"""The verb `experiment`: a paper's table anew, beside the paper's own figures."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.experiments.declaring import Experiment, read
from storyproof.experiments.drawing import draw
from storyproof.experiments.files import read_json, write_json
from storyproof.experiments.jobs import Job, Plan, plan
from storyproof.experiments.sets import Sets
from storyproof.experiments.tabulating import Table, tabulate
from storyproof.experiments.working import DONE, ELSEWHERE, STOPPED, TOO_LARGE, is_done, spent, work
from storyproof.experiments.writing import write_tables
from storyproof.scoring.runs.provenance import provenance

OUT = "experiments/results"
_ABOUT = "about.json"
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
    """

    table: Table
    folder: Path
    done: int
    jobs: int
    remarks: tuple[str, ...]

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
    """Train and test what a table needs, skip what is done, and write the table so far.

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
        ConfigError: If there is no such experiment, or it cannot be run as asked.
        DataError: If published data or kept results cannot be read.
    """
    started = time.monotonic()
    declared = read(name, quick=quick)
    for number, what in ((runs, "--runs"), (minutes, "--minutes")):
        if number is not None and number <= 0:
            raise ConfigError(f"{what} is {number}; use a number above 0.")
    for each in models or ():
        if each not in declared.models:
            raise UnknownNameError(f"model of {name}", each, declared.models)
    out = Path(out)
    sets = Sets(Path(published) if published is not None else None)
    planned = plan(declared, sets, out / "runs", runs, encoder)
    until = _alarm(started, minutes)
    wanted = [job for job in planned.jobs if models is None or job.model.name in models]
    if any(job.model.model and not is_done(planned.of(job)) for job in wanted):
        from storyproof.solvers.neural.fitting import choose_device

        choose_device(device)  # says at once if that, or PyTorch, is not there
    left = []
    for job in wanted:
        how = work(job, planned.of(job), sets, device, until, progress)
        if how != DONE:
            left.append(f"{job.title}: {_LEFT[how]}")
    command = _command(name, out, quick, published, device, runs, models, minutes, encoder)
    return _write(declared, planned, out, quick, command, left)


_LEFT = {
    STOPPED: "not finished, for time was up; the same command goes on",
    ELSEWHERE: "another process is at it",
    TOO_LARGE: "the GPU's memory does not hold it; run fewer processes at once, or give fewer --runs",
}


def _write(declared: Experiment, planned: Plan, out: Path, quick: bool, command: str, left: list[str]) -> Outcome:
    folder = out / (f"{declared.name}-quick" if quick else declared.name)
    table = tabulate(declared, planned)
    done = [job for job in planned.jobs if is_done(planned.of(job))]
    write_tables(folder, table)
    remark = draw(folder, table)
    write_json(folder / _ABOUT, _about(folder, declared, planned, done, command))
    remarks = (*left, *([remark] if remark else []))
    return Outcome(table, folder, len(done), len(planned.jobs), remarks)


def _about(folder: Path, declared: Experiment, planned: Plan, done: list[Job], command: str) -> dict[str, Any]:
    """Say by what commands, when, with what and on what the figures were made."""
    before = read_json(folder / _ABOUT).get("commands", []) if (folder / _ABOUT).is_file() else []
    times = {job.folder.name: spent(job) for job in planned.jobs if spent(job)}
    return {
        "experiment": declared.name,
        "commands": [*dict.fromkeys([*before, command])],
        "done": len(done),
        "jobs": len(planned.jobs),
        "training_seconds": round(sum(each["seconds"] for each in times.values()), 1),
        "trained_on": sorted({each["hardware"] for each in times.values()}),
        "trainings": times,
        "written": {"packages": {name: found for name in _PACKAGES if (found := _version(name))}, **provenance()},
    }


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
