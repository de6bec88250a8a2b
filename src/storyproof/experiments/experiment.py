"""The verb `experiment`: reproduce a paper's table beside the paper's own figures."""

from __future__ import annotations

import errno
import os
import shlex
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from storyproof.datasets.path_conflicts import refuse_overlap
from storyproof.errors import ConfigError, DataError, StoryproofError, UnknownNameError
from storyproof.evaluation.provenance import provenance
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import Experiment, TableCell, read
from storyproof.experiments.jobs import REMEDY, ExperimentPlan, Job, KeptFigures, needs_encoder, plan
from storyproof.experiments.table import FIGURES, RESULTS, TABLES, Encoder, ResultTable, draw, tabulate, write_tables
from storyproof.experiments.worker import DONE, ELSEWHERE, STOPPED, TOO_LARGE, is_done, spent, work
from storyproof.io.atomic_files import read_json, write_json, writing_to
from storyproof.io.locks import Claim
from storyproof.solvers.neural.data.encoder_identity import check_encoder

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
    only: Sequence[str] | None = None,
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
        only: Train and test only what these rows need, each given by its label, its group, or `GROUP: LABEL`; all other
            figures of the written table stay as they are. With `keep`, so do those of the rows that are up to date.
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
    chosen = choose_cells(declared, only, models)
    out = Path(out)
    folder = out / (f"{name}-quick" if quick else name)
    sets = Datasets(Path(published) if published is not None else None)
    check_published(declared, sets, published)
    check_separate(declared, published, folder, out / _RUNS)
    check_folder(folder, (*TABLES, *FIGURES, _ABOUT), _ABOUT)
    planned = plan(declared, sets, out / _RUNS, runs, encoder)
    check_kept(folder, declared, planned, runs, encoder, chosen if only is not None else None)
    if keep or only is not None:
        planned = keep_figures(folder, declared, planned, whatever=only is not None)
    _commands(folder)  # raises at once if they cannot be read
    until = _alarm(started, minutes)
    trained = {(cell.model, cell.data) for cell in chosen}
    wanted = [
        job
        for job in planned.jobs
        if any((job.model.name, data.name) in trained for data in job.training_sets)
        and not (planned.is_done(job) if keep or only is None else is_done(planned.of(job)))
    ]
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
    command = _command(name, out, quick, published, device, runs, models, minutes, encoder, keep, only)
    with Claim(folder / _LOCK).when_free():  # or a table could replace one that has more figures
        outcome = _write(declared, planned, folder, command, left)
    if failed:
        raise _named(failed, outcome)
    return outcome


_LEFT = {
    STOPPED: "time limit reached; rerun the same command to resume",
    ELSEWHERE: "another process is doing it",
    TOO_LARGE: "out of GPU memory; run fewer processes at once, or use fewer --runs and another --out",
}


def _named(failed: Sequence[tuple[Job, StoryproofError]], outcome: Outcome) -> StoryproofError:
    """Return the first error, with its job, the other jobs that failed, and where the table is."""
    (job, error), *others = failed
    more = f" These failed too: {'; '.join(each.title for each, _ in others)}." if others else ""
    table = f"so far is in {outcome.folder}" if outcome.written else f"in {outcome.folder} was not changed"
    error.args = (f"{job.title}: {error}{more} The table {table}.",)
    return error


def _write(declared: Experiment, planned: ExperimentPlan, folder: Path, command: str, left: list[str]) -> Outcome:
    table = tabulate(declared, planned)
    if table.encoder is None and any(needs_encoder(declared.models[cell.model]) for cell in planned.kept):
        table = replace(table, encoder=_kept_encoder(folder))
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
    before = _read_about(folder).get("trainings", {})
    kept = dict.fromkeys(figures.source.partition("/")[0] for figures in planned.kept.values())
    times = {name: before[name] for name in kept if name in before}
    times |= {job.folder.name: spent_on for job in planned.jobs if (spent_on := spent(job))}
    return {
        "experiment": table.experiment.name,
        "commands": [*dict.fromkeys([*_commands(folder), command])],
        "done": len(done),
        "jobs": len(planned.jobs),
        "training_seconds": round(sum(each["seconds"] for each in times.values()), 3),
        "trained_on": sorted({each["hardware"] for each in times.values()}),
        "trainings": times,
        **({"encoder": asdict(table.encoder)} if table.encoder is not None else {}),
        "written": {"packages": {name: seconds for name in _PACKAGES if (seconds := _version(name))}, **provenance()},
    }


def _commands(folder: Path) -> list[str]:
    """Return the commands that wrote the table so far.

    Raises:
        DataError: If the file that records them is damaged.
    """
    commands = _read_about(folder).get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(each, str) for each in commands):
        raise DataError(f"{folder / _ABOUT} is damaged ('commands' is not a list of texts); {REMEDY}.")
    return commands


def _read_about(folder: Path) -> dict[str, Any]:
    """Return what describes the written table; empty if there is none."""
    path = folder / _ABOUT
    about: dict[str, Any] = read_json(path, REMEDY) if path.is_file() else {}
    return about


def _kept_encoder(folder: Path) -> Encoder | None:
    """Return the encoder behind kept figures, as the written table describes it."""
    described = _read_about(folder).get("encoder")
    try:
        return Encoder(described["name"], described["digest"], tuple(described["models"])) if described else None
    except (KeyError, TypeError) as error:
        raise DataError(f"{folder / _ABOUT} is damaged ({error}); {REMEDY}.") from error


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
    only: Sequence[str] | None,
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
    words += [word for row in only or () for word in ("--only", row)]
    for option, value in options.items():
        if value is not None:
            words += [option, str(value)]
    return shlex.join(words)


def check_request(
    experiment: Experiment,
    runs: int | None,
    minutes: float | None,
    models: Sequence[str] | None,
    encoder: str | None,
) -> None:
    """Check the arguments of an experiment.

    Raises:
        ConfigError: If one is not valid.
    """
    for number, what in ((runs, "--runs"), (minutes, "--minutes")):
        if number is not None and not number > 0:  # also true of nan
            raise ConfigError(f"{what} is {number}; use a number above 0.")
    for each in models or ():
        if each not in experiment.models:
            raise UnknownNameError(f"model of {experiment.name}", each, experiment.models)
    if encoder is not None:
        if not any(map(needs_encoder, experiment.models.values())):
            raise ConfigError(f"--encoder is {encoder}, but no model of {experiment.name} uses one; leave it out.")
        check_encoder(encoder)


def choose_cells(
    experiment: Experiment, only: Sequence[str] | None, models: Sequence[str] | None
) -> frozenset[TableCell]:
    """Return the cells whose figures are asked for: those of some rows and models, by default all.

    Args:
        experiment: The experiment.
        only: The rows, each given by its label, its group, or `GROUP: LABEL`.
        models: The names of the models.

    Raises:
        UnknownNameError: If there is no such row.
    """
    names = {row.named(": "): {row.named(": "), row.label, row.group} for row in experiment.rows}
    for each in only or ():
        if not each or not any(each in spelt for spelt in names.values()):
            raise UnknownNameError(f"row of {experiment.name}", each, names)
    rows = [row for row in experiment.rows if only is None or names[row.named(": ")].intersection(only)]
    cells = (experiment.cell(row, column) for row in rows for column in experiment.columns)
    return frozenset(cell for cell in cells if models is None or cell.model in models)


def check_published(experiment: Experiment, sets: Datasets, published: str | Path | None) -> None:
    """Check that published data, if given, contain something that an experiment needs.

    Raises:
        ConfigError: If they do not.
    """
    wanted = [data for data in experiment.data.values() if data.published]
    if published is not None and wanted and all(map(sets.lacks, wanted)):
        names = ", ".join(dict.fromkeys(data.published for data in wanted))
        raise ConfigError(
            f"--published is {published}, which contains no readable {names} for {experiment.name} "
            f"({sets.lacks(wanted[0])}); give the folder that contains them, or leave it out."
        )


def check_kept(
    folder: Path,
    experiment: Experiment,
    planned: ExperimentPlan,
    runs: int | None,
    encoder: str | None,
    only: Set[TableCell] | None = None,
) -> None:
    """Check that all kept results can be read, and that no figures of the written table would be lost.

    Args:
        folder: The folder of the table.
        experiment: The experiment.
        planned: Its jobs.
        runs: The number of runs; None for that of the experiment.
        encoder: The given encoder.
        only: The cells that are repeated, if all others keep their figures.

    Raises:
        ConfigError: If figures would be lost.
        DataError: If a file is damaged.
    """
    for result in planned.results.values():
        result.read()
    for job in planned.jobs:
        spent(job)
    path = folder / RESULTS
    kept = [(cell, count) for cell, count in _figures(path, experiment) if only is None or cell in only]
    lost = [experiment.models[cell.model] for cell, _ in kept if cell in planned.missing]
    if lost:
        options = {"--encoder" if encoder is None and needs_encoder(model) else "--published" for model in lost}
        raise ConfigError(
            f"{path} has figures in {_cells(len(lost))} that would be left out now; give "
            f"{' and '.join(sorted(options))} as before, or another --out."
        )
    other = [
        (count, number)
        for cell, count in kept
        if not (model := experiment.models[cell.model]).solver
        and count != (number := runs or model.runs or experiment.runs)
    ]
    if other:
        counts = " or ".join(map(str, sorted({count for count, _ in other})))
        number = other[0][1]
        raise ConfigError(
            f"{path} has figures of {counts} runs in {_cells(len(other))}, which {number} runs would replace; give "
            f"--runs {counts}, or another --out."
        )


def check_folder(folder: Path, names: Sequence[str], about: str) -> None:
    """Check that files that a table would overwrite are a table's.

    Args:
        folder: The folder of the table.
        names: The files that it would overwrite.
        about: The file that describes the table, if one was written.

    Raises:
        DataError: If there are some, but neither results, which are written first, nor a description of a table.
    """
    files = [name for name in names if (folder / name).exists()]
    if not files or (folder / RESULTS).is_file():
        return
    if not (folder / about).is_file() or "experiment" not in read_json(folder / about, REMEDY):
        raise DataError(
            f"{folder} has files that are not an experiment's (there is no {RESULTS}): {', '.join(files)}; move them "
            "away, or choose another --out."
        )


def check_separate(experiment: Experiment, published: str | Path | None, *folders: Path) -> None:
    """Check that folders to write to and the published data that an experiment reads do not overlap.

    Raises:
        DataError: If they do.
    """
    if published is not None:
        read = {Path(published) / data.published for data in experiment.data.values() if data.published}
        for folder in folders:
            refuse_overlap(sorted(read), folder)


def blanks(folder: Path, experiment: Experiment, planned: ExperimentPlan) -> str:
    """Describe in how many cells a written table has figures without results now; empty if in none.

    Raises:
        DataError: If a file is damaged.
    """
    kept = _figures(folder / RESULTS, experiment)
    entries = {cell: result.read() or [] for cell, _ in kept if (result := planned.result(cell)) is not None}
    gone = [
        cell
        for cell, count in kept
        if cell not in planned.kept and sum(cell.measure in run for run in entries.get(cell, ())) < count
    ]
    return _cells(len(gone)) if gone else ""


def keep_figures(
    folder: Path, experiment: Experiment, planned: ExperimentPlan, *, whatever: bool = False
) -> ExperimentPlan:
    """Return a plan with the figures of a written table that come from the same training and test as they would now.

    Args:
        folder: The folder of the table.
        experiment: The experiment.
        planned: Its jobs.
        whatever: Keep figures from other trainings and tests too, such as those of an earlier version.

    Raises:
        DataError: If a file is damaged.
    """
    path, cells = folder / RESULTS, {*experiment.cells()}
    kept = {}
    for cell, plain in _cells_of(path) if path.is_file() else ():
        result = planned.result(cell) if cell in cells else None
        source = plain.get("source")
        same = result is not None and source == result.source
        if plain["runs"] and cell in cells and (same or whatever) and (result is None or result.read() is None):
            kept[cell] = KeptFigures(tuple(map(float, plain["runs"])), str(source or ""))
    return replace(planned, kept=kept)


def _figures(path: Path, experiment: Experiment) -> list[tuple[TableCell, int]]:
    """Return the cells of an experiment that have figures in a written table, if there is one, and how many runs."""
    cells = {*experiment.cells()}
    return [(cell, count) for cell, count in _kept(path) if cell in cells] if path.is_file() else []


def _kept(path: Path) -> Iterator[tuple[TableCell, int]]:
    """Yield the cells of a written table that have figures, and how many runs."""
    return ((cell, len(plain["runs"])) for cell, plain in _cells_of(path) if plain["runs"])


def _cells_of(path: Path) -> Iterator[tuple[TableCell, dict[str, Any]]]:
    """Yield the cells of a written table, as they are in its file."""
    try:
        for plain in read_json(path, REMEDY)["cells"]:
            named = (str(plain[name]) for name in ("model", "data", "test", "measure"))
            if not all(isinstance(value, int | float) for value in plain["runs"]):
                raise TypeError("'runs' is not a list of numbers")
            yield TableCell(*named), plain
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is damaged ({error}); {REMEDY}.") from error


def _cells(count: int) -> str:
    return f"{count} {'cell' if count == 1 else 'cells'}"


def make_folders(*folders: Path) -> None:
    """Create the folders to write to.

    Raises:
        DataError: If they cannot be created, or nothing can be written there.
    """
    for folder in folders:
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
