"""Figures of tables: bars, curves or shades, as PNG and SVG; equal tables give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.experiments.declaration import Line
from storyproof.experiments.table import Entry, ResultTable
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.reports.charts import Cell, Level, Value, draw_bars, draw_curves, draw_matrix, render
from storyproof.runtime.optional_packages import installed

if TYPE_CHECKING:
    from altair import ConcatChart

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
    found: dict[str, dict[str | float, float]] = {}
    for row, column, entry, _ in _entries(table):
        found.setdefault(row.group, {})[places[column.named(", ")]] = chance.of(entry.cell)
    return [Level("chance", values, group) for group, values in found.items()]


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
