"""The table of an experiment: mean and deviation over the runs of every cell, beside the paper's figure.

It is shown in the terminal, written as CSV (one line per cell), Markdown, LaTeX and JSON, and drawn as bars, curves or
shades. Equal tables give equal bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.errors import DataError
from storyproof.experiments.declaration import PERCENT, Experiment, Line, TableCell
from storyproof.experiments.jobs import REMEDY, ExperimentPlan, needs_encoder
from storyproof.io.atomic_files import read_json, write_json, write_whole, writing_to
from storyproof.reports.charts import Cell, Level, Value, draw_bars, draw_curves, draw_matrix, render
from storyproof.reports.table_text import latex_table
from storyproof.runtime.optional_packages import installed

if TYPE_CHECKING:
    from altair import ConcatChart


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
        cells = [kept.get((row.group, row.label, column.named(", "))) for column in experiment.columns]
        grid.append(
            tuple(
                None if values is None else Entry(experiment.cell(row, column), values, experiment.paper(row, place))
                for place, (column, values) in enumerate(zip(experiment.columns, cells, strict=True))
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
    notes = (*_left_out(experiment, plan, rows, columns), *_earlier(experiment, plan, grid))
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
    result, kept, paper = plan.result(cell), plan.kept.get(cell), experiment.paper(row, place)
    if result is not None and (runs := result.read()) is not None:  # not all test sets have all kinds of questions
        values = tuple(right / of for right, of in (run[cell.measure] for run in runs if cell.measure in run))
        return Entry(cell, values, paper, result.source)
    if kept is not None:
        return Entry(cell, kept.runs, paper, kept.source)
    return Entry(cell, (), paper, result.source) if result is not None else None


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
    left_out: dict[str, list[Line]] = {}
    for number, row in enumerate(experiment.rows):
        if number not in rows:
            reason = next(plan.missing[experiment.cell(row, column)] for column in experiment.columns)
            left_out.setdefault(reason, []).append(row)
    reasons = {reason: _row_names(lines, experiment.rows) for reason, lines in left_out.items()}
    for place, column in enumerate(experiment.columns):
        if place not in columns:
            reason = next(plan.missing[experiment.cell(row, column)] for row in experiment.rows)
            name = column.named(": ")
            if reason not in reasons or name not in reasons[reason]:
                reasons.setdefault(reason, []).append(name)
    return [f"left out: {'; '.join(names)} ({reason})" for reason, names in reasons.items()]


def _row_names(lines: Sequence[Line], among: Sequence[Line]) -> list[str]:
    """Return the names of some rows, or the name of their group where they are all of the group."""
    rest = {row.group for row in among if row not in lines}
    return list(dict.fromkeys(row.named(": ") if not row.group or row.group in rest else row.group for row in lines))


def _earlier(experiment: Experiment, plan: ExperimentPlan, grid: Grid) -> list[str]:
    """Describe which rows have figures of other stories or settings than would be trained and tested on now."""
    judged, earlier = [], []
    for row, entries in zip(experiment.rows, grid, strict=True):
        pairs = [(entry.source, plan.result(entry.cell)) for entry in entries if entry is not None and entry.values]
        if any(result is not None for _, result in pairs):
            judged.append(row)
        if any(result is not None and source != result.source for source, result in pairs):
            earlier.append(row)
    names = _row_names(earlier, judged)
    return [f"measured on stories or settings of an earlier version: {'; '.join(names)}"] if names else []


RESULTS = "results.json"
_PAPERS, _SHOWN = "bert-base-uncased", 12  # the paper's encoder, and how many characters of a digest are shown
_CSV = (
    "group",
    "row",
    "column",
    "model",
    "data",
    "test",
    "measure",
    "mean",
    "deviation",
    "runs",
    "paper",
    "difference",
)


def write_tables(folder: Path, table: ResultTable) -> None:
    """Write a table in all formats, and its cells as JSON.

    Raises:
        DataError: If a file cannot be written.
    """
    with writing_to(folder / RESULTS):
        write_json(folder / RESULTS, table.as_dict())
    for name, make in _FORMATS.items():
        with writing_to(folder / name):
            write_whole(folder / name, make(table).encode())


def as_csv(table: ResultTable) -> str:
    """Format every cell as one line, in fractions."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for cell in table.as_dict()["cells"]:
        values = {**cell, "runs": len(cell["runs"])}
        writer.writerow([_round(values[name]) for name in _CSV])
    return out.getvalue()


def _round(value: object) -> object:
    return f"{value:.4f}" if isinstance(value, float) else value


def as_markdown(table: ResultTable) -> str:
    """Format the table as Markdown."""
    heads, body = cells_of(table)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in body)]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([f"# {table.experiment.title}", "", *lines, "", caption_of(table), "", *notes]).rstrip() + "\n"


def as_latex(table: ResultTable) -> str:
    """Format the table for LaTeX, with the rules of booktabs."""
    heads, body = cells_of(table)
    about = f"% {table.experiment.title}. {caption_of(table)}"
    shown = latex_table(heads, body, labels=len(heads) - len(table.columns))
    return "\n".join([about, "% needs \\usepackage{booktabs}", shown, ""])


def cells_of(table: ResultTable) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows; a group is named in its first row."""
    grouped = any(row.group for row in table.rows)
    heads = [column.named(", ") for column in table.columns]
    body, before = [], ""
    for row, entries in zip(table.rows, table.entries, strict=True):
        group = [row.group if row.group != before else ""] if grouped else []
        body.append([*group, row.label, *map(table.text, entries)])
        before = row.group
    return [*([""] * grouped), "", *heads], body


def caption_of(table: ResultTable) -> str:
    """Describe the figures of a table."""
    unit = "Percent" if table.percent else "Fraction"
    counts = sorted({len(entry.values) for entries in table.entries for entry in entries if entry and entry.values})
    runs = f" of {' or '.join(map(str, counts))} {'run' if counts == [1] else 'runs'}" if counts else ""
    encoder = f" {_describe(table.encoder)}" if table.encoder is not None else ""
    if not table.experiment.source:
        return f"{unit} right: mean ± deviation{runs}.{encoder}"
    paper = f"(the paper's figure, difference). Paper: {table.experiment.source}."
    return f"{unit} right: mean ± deviation{runs} {paper}{encoder}"


def _describe(encoder: Encoder) -> str:
    """Describe which encoder models use, and which the paper's models use."""
    files = f" (digest of its files {encoder.digest[:_SHOWN]}…)" if encoder.digest else ""
    stand = "stands" if len(encoder.models) == 1 else "stand"
    return f"{' and '.join(encoder.models)} {stand} on the encoder '{encoder.name}'{files}; the paper's is {_PAPERS}."


def view(table: ResultTable) -> RenderableType:
    """Lay the table out for the terminal."""
    heads, body = cells_of(table)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(table.experiment.title), title_justify="left")
    for number, head in enumerate(heads):
        is_label = number < len(heads) - len(table.columns)
        shown.add_column(Text(head), justify="left" if is_label else "right")
    for row in body:
        shown.add_row(*(Text(cell.replace(" (", "\n(")) for cell in row))  # narrow enough for a terminal
    return Group(shown, *(Text(line, style="dim") for line in (caption_of(table), *table.notes)))


_FORMATS = {"table.csv": as_csv, "table.md": as_markdown, "table.tex": as_latex}
TABLES = tuple(_FORMATS)


FIGURES = ("figure.png", "figure.svg")
_PACKAGES = ("altair", "vl_convert")
_WIDE = 3  # panels side by side, if that fills the rows


def draw(folder: Path, table: ResultTable) -> str:
    """Draw a table to `figure.png` and `figure.svg`; return why there is no figure, or an empty text.

    Raises:
        DataError: If a file cannot be written.
    """
    missing = next((package for package in _PACKAGES if not installed(package)), "")
    if missing:
        return f"no figure: it needs the package '{missing}'; install it with: pip install 'storyproof[pages]'"
    if not any(entry and entry.values for entries in table.entries for entry in entries):
        return ""
    chart = _DRAWN[table.experiment.figure](table)
    for name in FIGURES:
        content = render(chart, "png" if name.endswith(".png") else "svg", "print")
        with writing_to(folder / name):
            write_whole(folder / name, content.encode() if isinstance(content, str) else content)
    return ""


def _entries(table: ResultTable) -> Iterator[tuple[Line, Line, Entry, float]]:
    """Yield what has a mean: its row, its column, the entry and the mean."""
    for row, entries in zip(table.rows, table.entries, strict=True):
        for column, entry in zip(table.columns, entries, strict=True):
            if entry is not None and entry.mean is not None:
                yield row, column, entry, entry.mean


def _value(row: Line, x: str | float, entry: Entry, mean: float) -> Value:
    spread = entry.deviation
    low = None if spread is None else max(mean - spread, 0.0)
    high = None if spread is None else min(mean + spread, 1.0)
    return Value(row.label, x, mean, low, high, row.group, entry.paper)


def _levels(table: ResultTable, places: dict[str, str | float]) -> list[Level]:
    """Return what guessing gets right, by panel and place."""
    chance = table.experiment.chance
    if chance is None:
        return []
    levels: dict[str, dict[str | float, float]] = {}
    for row, column, entry, _ in _entries(table):
        levels.setdefault(row.group, {})[places[column.named(", ")]] = chance.of(entry.cell)
    return [Level("chance", values, group) for group, values in levels.items()]


def _columns(table: ResultTable) -> int:
    """Return how many panels stand side by side: three if that leaves no gap, else two."""
    panels = len({row.group for row, *_ in _entries(table)})
    return _WIDE if panels % _WIDE == 0 else 2


def _note(table: ResultTable) -> str:
    runs = max(len(entry.values) for _, _, entry, _ in _entries(table))
    return f"mean ± standard deviation over {runs} runs" if runs > 1 else ""


def _bars(table: ResultTable) -> ConcatChart:
    """Draw one panel per group, with one cluster of bars per column; marks are the paper's figures."""
    places: dict[str, str | float] = {column.named(", "): column.named(", ") for column in table.columns}
    values = [_value(row, places[column.named(", ")], entry, mean) for row, column, entry, mean in _entries(table)]
    return draw_bars(
        values,
        levels=_levels(table, places),
        title=table.experiment.title,
        note=_note(table),
        columns=_columns(table),
        width=210,
    )


def _curves(table: ResultTable) -> ConcatChart:
    """Draw one curve per row, one panel per group."""
    places: dict[str, str | float] = {
        column.named(", "): float(number) if column.x is None else column.x
        for number, column in enumerate(table.columns)
    }
    values = [_value(row, places[column.named(", ")], entry, mean) for row, column, entry, mean in _entries(table)]
    columns = _columns(table)
    return draw_curves(
        values,
        levels=_levels(table, places),
        title=table.experiment.title,
        note=_note(table),
        x_title=table.experiment.axis,
        columns=columns,
        width=250 if columns == _WIDE else 330,
        height=200,
    )


def _shades(table: ResultTable) -> ConcatChart:
    """Draw a matrix per group, with the mean in every field and the paper's figure below it."""
    cells = [
        Cell(row.label, column.label.replace("-", "-\n"), mean, entry.paper, f"trained on {row.group}")
        for row, column, entry, mean in _entries(table)
    ]
    chance = table.experiment.chance
    note = f"chance {100 * chance.question:.0f}" if chance is not None else ""
    return draw_matrix(cells, title=table.experiment.title, columns=2, cell_width=50, note=note)


_DRAWN = {"curves": _curves, "bars": _bars, "shades": _shades}
