"""Checks before anything is trained: of the arguments, of kept results, and of the folders to write to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from storyproof.datasets.path_conflicts import refuse_overlap
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.declaration import Experiment, TableCell
from storyproof.experiments.jobs import REMEDY, ExperimentPlan, needs_encoder
from storyproof.experiments.table_formats import RESULTS
from storyproof.experiments.worker import spent
from storyproof.io.atomic_files import read_json, writing_to
from storyproof.solvers.neural.data.encoder_identity import check_encoder


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
    folder: Path, experiment: Experiment, planned: ExperimentPlan, runs: int | None, encoder: str | None
) -> None:
    """Check that all kept results can be read, and that no figures of the written table would be lost.

    Args:
        folder: The folder of the table.
        experiment: The experiment.
        planned: Its jobs.
        runs: The number of runs; None for that of the experiment.
        encoder: The given encoder.

    Raises:
        ConfigError: If figures would be lost.
        DataError: If a file is damaged.
    """
    for result in planned.results.values():
        result.read()
    for job in planned.jobs:
        spent(job)
    path, number = folder / RESULTS, runs or experiment.runs
    kept = _figures(path, experiment)
    lost = [experiment.models[cell.model] for cell, _ in kept if cell in planned.missing]
    if lost:
        options = {"--encoder" if encoder is None and needs_encoder(model) else "--published" for model in lost}
        raise ConfigError(
            f"{path} has figures in {_cells(len(lost))} that would be left out now; give "
            f"{' and '.join(sorted(options))} as before, or another --out."
        )
    other = [count for cell, count in kept if not experiment.models[cell.model].solver and count != number]
    if other:
        counts = " or ".join(map(str, sorted(set(other))))
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
    found = [name for name in names if (folder / name).exists()]
    if not found or (folder / RESULTS).is_file():
        return
    if not (folder / about).is_file() or "experiment" not in read_json(folder / about, REMEDY):
        raise DataError(
            f"{folder} has files that are not an experiment's (there is no {RESULTS}): {', '.join(found)}; move them "
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
    found = {cell: result.read() or [] for cell, _ in kept if (result := planned.result(cell)) is not None}
    gone = [
        cell
        for cell, count in kept
        if cell not in planned.kept and sum(cell.measure in run for run in found.get(cell, ())) < count
    ]
    return _cells(len(gone)) if gone else ""


def keep_figures(folder: Path, experiment: Experiment, planned: ExperimentPlan) -> ExperimentPlan:
    """Return a plan with the figures of a written table that come from the same training and test as they would now.

    Raises:
        DataError: If a file is damaged.
    """
    path, known = folder / RESULTS, {*experiment.cells()}
    kept = {}
    for cell, plain in _cells_of(path) if path.is_file() else ():
        result = planned.result(cell) if cell in known else None
        if plain["runs"] and result is not None and result.read() is None and plain.get("source") == result.source:
            kept[cell] = tuple(map(float, plain["runs"]))
    return replace(planned, kept=kept)


def _figures(path: Path, experiment: Experiment) -> list[tuple[TableCell, int]]:
    """Return the cells of an experiment that have figures in a written table, if there is one, and how many runs."""
    known = {*experiment.cells()}
    return [(cell, count) for cell, count in _kept(path) if cell in known] if path.is_file() else []


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
