"""The table of an experiment: mean and deviation over the runs of every cell, beside the paper's figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from storyproof.errors import DataError
from storyproof.experiments.declaration import PERCENT, Experiment, Line, TableCell
from storyproof.experiments.jobs import REMEDY, ExperimentPlan, needs_encoder
from storyproof.io.atomic_files import read_json


@dataclass(frozen=True, slots=True)
class Entry:
    """The figures of a cell, as fractions.

    Attributes:
        cell: The cell.
        values: Those of every run; empty if there are none yet.
        paper: The paper's figure, if it has one.
        source: What identifies the training and the test behind them.
    """

    cell: TableCell
    values: tuple[float, ...]
    paper: float | None
    source: str = ""

    @property
    def mean(self) -> float | None:
        """The mean over the runs."""
        return fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over the runs."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """The mean minus the paper's figure."""
        return self.mean - self.paper if self.mean is not None and self.paper is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "model": self.cell.model,
            "data": self.cell.data,
            "test": self.cell.test,
            "measure": self.cell.measure,
            "mean": self.mean,
            "deviation": self.deviation,
            "runs": list(self.values),
            "paper": self.paper,
            "difference": self.difference,
            "source": self.source,
        }


Grid = Sequence[Sequence[Entry | None]]


@dataclass(frozen=True, slots=True)
class Encoder:
    """The pretrained encoder that some models of a table use.

    Attributes:
        name: The name of its folder, or its name on the hub.
        digest: That of its files; empty if it is not a folder.
        models: The labels of the models that use it.
    """

    name: str
    digest: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The rows and columns that are not left out, and their entries; `encoder` if a model with figures uses one."""

    experiment: Experiment
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    entries: tuple[tuple[Entry | None, ...], ...]
    notes: tuple[str, ...]
    encoder: Encoder | None = None

    @property
    def percent(self) -> bool:
        """Whether figures are shown as percentages."""
        return self.experiment.unit == PERCENT

    def shown(self, value: float | None, *, signed: bool = False) -> str:
        """Format a figure in the unit of the table."""
        if value is None:
            return ""
        value, places = (100 * value, 1) if self.percent else (value, 2)
        return f"{value:+z.{places}f}" if signed else f"{value:.{places}f}"

    def text(self, entry: Entry | None) -> str:
        """Format a cell: mean ± deviation, and in brackets the paper's figure and the difference."""
        if entry is None or (entry.mean is None and entry.paper is None):
            return ""
        mean = self.shown(entry.mean) or "–"
        deviation = f" ± {self.shown(entry.deviation)}" if entry.deviation is not None else ""
        if entry.paper is None:
            return f"{mean}{deviation}"
        difference = f", {self.shown(entry.difference, signed=True)}" if entry.difference is not None else ""
        return f"{mean}{deviation} ({self.shown(entry.paper)}{difference})"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        cells = [
            {"group": row.group, "row": row.label, "column": column.named(", "), **entry.as_dict()}
            for row, entries in zip(self.rows, self.entries, strict=True)
            for column, entry in zip(self.columns, entries, strict=True)
            if entry is not None
        ]
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "cells": cells,
            "notes": list(self.notes),
        }


def read_table(experiment: Experiment, path: Path) -> ResultTable:
    """Read a written table, to draw it again without its runs.

    Args:
        experiment: The experiment that it is the table of.
        path: Its `results.json`.

    Raises:
        DataError: If the file is damaged.
    """
    kept: dict[tuple[str, str, str], tuple[float, ...]] = {}
    plain = read_json(path, REMEDY)
    try:
        for each in plain["cells"]:
            kept[each["group"], each["row"], each["column"]] = tuple(float(value) for value in each["runs"])
        notes = tuple(map(str, plain["notes"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged ({error}); {REMEDY}.") from error
    grid = []
    for row in experiment.rows:
        found = [kept.get((row.group, row.label, column.named(", "))) for column in experiment.columns]
        grid.append(
            tuple(
                None if values is None else Entry(experiment.cell(row, column), values, experiment.paper(row, place))
                for place, (column, values) in enumerate(zip(experiment.columns, found, strict=True))
            )
        )
    return _without_blanks(experiment, grid, *_filled(grid), notes)


def tabulate(experiment: Experiment, plan: ExperimentPlan) -> ResultTable:
    """Build the table from the results so far.

    Raises:
        DataError: If a result is damaged.
    """
    grid = [
        [_entry(experiment, plan, row, place) for place in range(len(experiment.columns))] for row in experiment.rows
    ]
    rows, columns = _filled(grid)
    models = {entry.cell.model for entries in grid for entry in entries if entry and entry.values}
    notes = tuple(_left_out(experiment, plan, rows, columns))
    return _without_blanks(experiment, grid, rows, columns, notes, _encoder(experiment, plan, models))


def _filled(grid: Grid) -> tuple[list[int], list[int]]:
    """Return the rows and columns that are not left out as a whole."""
    rows = [number for number, entries in enumerate(grid) if any(entries)]
    columns = [place for place, entries in enumerate(zip(*grid, strict=True)) if any(entries)]
    return rows, columns


def _without_blanks(
    experiment: Experiment,
    grid: Grid,
    rows: list[int],
    columns: list[int],
    notes: tuple[str, ...],
    encoder: Encoder | None = None,
) -> ResultTable:
    """Return the table of some rows and columns."""
    return ResultTable(
        experiment,
        tuple(experiment.rows[number] for number in rows),
        tuple(experiment.columns[place] for place in columns),
        tuple(tuple(grid[number][place] for place in columns) for number in rows),
        notes,
        encoder,
    )


def _entry(experiment: Experiment, plan: ExperimentPlan, row: Line, place: int) -> Entry | None:
    """Return the entry of a cell; None if the cell is left out."""
    cell = experiment.cell(row, experiment.columns[place])
    result = plan.result(cell)
    if result is None:
        return None
    runs = result.read()
    if runs is None:
        values = plan.kept.get(cell, ())
    else:  # not all test sets have all kinds of questions
        values = tuple(right / of for right, of in (run[cell.measure] for run in runs if cell.measure in run))
    return Entry(cell, values, experiment.paper(row, place), result.source)


def _encoder(experiment: Experiment, plan: ExperimentPlan, shown: set[str]) -> Encoder | None:
    """Return the encoder that models with figures use, if some do."""
    models = [each for each in experiment.models.values() if each.name in shown and needs_encoder(each)]
    given = next((job.encoder for job in plan.jobs if job.model in models), None)
    if given is None or plan.encoder_identity is None:
        return None
    labels = tuple(dict.fromkeys(each.label for each in models))
    if not Path(given).is_dir():
        return Encoder(given, "", labels)
    return Encoder(Path(given).absolute().name, plan.encoder_identity, labels)


def _left_out(experiment: Experiment, plan: ExperimentPlan, rows: list[int], columns: list[int]) -> list[str]:
    """Describe which rows and columns are left out, and why."""
    found: dict[str, list[str]] = {}
    for number, row in enumerate(experiment.rows):
        if number not in rows:
            reason = next(plan.missing[experiment.cell(row, column)] for column in experiment.columns)
            found.setdefault(reason, []).append(row.named(": "))
    for place, column in enumerate(experiment.columns):
        if place not in columns:
            reason = next(plan.missing[experiment.cell(row, column)] for row in experiment.rows)
            name = column.named(": ")
            if reason not in found or name not in found[reason]:
                found.setdefault(reason, []).append(name)
    return [f"left out: {'; '.join(names)} ({reason})" for reason, names in found.items()]
