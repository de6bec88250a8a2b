"""Figures of tables: bars, curves or shades, as PNG and SVG; equal tables give equal bytes."""

from __future__ import annotations

import io
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.experiments.declaration import Line
from storyproof.experiments.table import Entry, ResultTable
from storyproof.files import write_whole, writing_to

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = ("figure.png", "figure.svg")
_MARKS = "os^vDPX*"
_TITLE = 52  # characters that fit above a panel


def draw(folder: Path, table: ResultTable) -> str:
    """Draw a table to `figure.png` and `figure.svg`; return why there is no figure, or an empty text.

    Raises:
        DataError: If a file cannot be written.
    """
    if find_spec("matplotlib") is None:
        return "no figure: it needs the package 'matplotlib'; install it with: pip install 'storyproof[models]'"
    if not any(entry and entry.values for entries in table.entries for entry in entries):
        return ""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "storyproof", "svg.fonttype": "none", "font.size": 8.0}):
        figure = _DRAWN[table.experiment.figure](table)
        figure.suptitle(table.experiment.title, fontsize=10)
        for form, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            content = io.BytesIO()
            figure.savefig(content, format=form, dpi=150, metadata=metadata)
            path = folder / f"figure.{form}"
            with writing_to(path):
                write_whole(path, content.getvalue())
    return ""


def _panels(count: int, width: float, height: float, across: int = 2) -> tuple[Figure, list[Axes]]:
    """Create a figure with panels, without a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(across, count)
    down = -(-count // across)
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    FigureCanvasAgg(figure)
    made = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for spare in made[count:]:
        spare.set_axis_off()
    return figure, made[:count]


def _grouped(table: ResultTable) -> dict[str, list[tuple[Line, tuple[Entry | None, ...]]]]:
    """Return the rows that have figures, by group."""
    groups: dict[str, list[tuple[Line, tuple[Entry | None, ...]]]] = {}
    for row, entries in zip(table.rows, table.entries, strict=True):
        if any(entry and entry.values for entry in entries):
            groups.setdefault(row.group, []).append((row, entries))
    return groups


def _styles(table: ResultTable) -> dict[str, int]:
    """Number the labels, so that equal labels have the same style in all panels."""
    return {label: number for number, label in enumerate(dict.fromkeys(row.label for row in table.rows))}


def _legend(figure: Figure, panels: list[Axes]) -> None:
    """Add one legend for all panels."""
    found: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=4, fontsize=7)


def _scale(table: ResultTable, value: float | None) -> float:
    return float("nan") if value is None else value * (100 if table.percent else 1)


def _curves(table: ResultTable) -> Figure:
    """Draw one curve per row, one panel per group."""
    groups, styles = _grouped(table), _styles(table)
    figure, panels = _panels(len(groups), 4.2, 3.2)
    places = [column.x if column.x is not None else float(number) for number, column in enumerate(table.columns)]
    for panel, (group, lines) in zip(panels, groups.items(), strict=True):
        for row, entries in lines:
            colour, mark = f"C{styles[row.label] % 10}", _MARKS[styles[row.label] % len(_MARKS)]
            means = [_scale(table, entry.mean if entry else None) for entry in entries]
            spread = [_scale(table, (entry.deviation if entry else None) or 0.0) for entry in entries]
            panel.errorbar(places, means, spread, label=row.label, color=colour, marker=mark, markersize=4, capsize=2)
            paper = [_scale(table, entry.paper if entry else None) for entry in entries]
            if any(each == each for each in paper):
                panel.plot(places, paper, linestyle=":", color=colour, label=f"{row.label}, paper")
        if max(places) > 20 * max(min(places), 1):
            panel.set_xscale("log")
            panel.minorticks_off()
        panel.set_xticks(places, [column.label for column in table.columns])
        panel.set_xlabel(table.experiment.axis)
        panel.set_ylabel("percent right" if table.percent else "fraction right")
        panel.set_ylim(0, _scale(table, 1.05))
        panel.set_title(textwrap.fill(group, _TITLE), fontsize=9)
        panel.grid(alpha=0.3)
    _legend(figure, panels)
    return figure


def _bars(table: ResultTable) -> Figure:
    """Draw one panel per group, with one cluster of bars per column; marks are the paper's figures."""
    groups, styles = _grouped(table), _styles(table)
    widest = max(len(lines) for lines in groups.values()) * len(table.columns)
    figure, panels = _panels(len(groups), max(3.6, 0.16 * widest + 1.2), 2.8)
    heads = [f"{column.label}\n{column.group}" if column.group else column.label for column in table.columns]
    for panel, (group, lines) in zip(panels, groups.items(), strict=True):
        width = 0.84 / len(lines)
        for number, (row, entries) in enumerate(lines):
            places = [place + (number + 0.5) * width - 0.42 for place in range(len(table.columns))]
            means = [_scale(table, entry.mean if entry else None) for entry in entries]
            spread = [_scale(table, (entry.deviation if entry else None) or 0.0) for entry in entries]
            colour = f"C{styles[row.label] % 10}"
            panel.bar(
                places, means, width * 0.92, yerr=spread, label=row.label, color=colour, error_kw={"linewidth": 0.8}
            )
            paper = [_scale(table, entry.paper if entry else None) for entry in entries]
            panel.plot(places, paper, linestyle="", marker="_", markersize=7, color="black")
        panel.plot([], [], linestyle="", marker="_", markersize=7, color="black", label="paper")
        panel.set_xticks(range(len(table.columns)), heads)
        panel.set_ylabel("percent right" if table.percent else "fraction right")
        panel.set_ylim(0, _scale(table, 1.05))
        panel.set_title(textwrap.fill(group, _TITLE), fontsize=9)
        panel.grid(axis="y", alpha=0.3)
    _legend(figure, panels)
    return figure


def _shades(table: ResultTable) -> Figure:
    """Draw a matrix with the mean in every field and the paper's figure below it."""
    figure, (panel,) = _panels(1, 1.0 * len(table.columns) + 2.6, 0.42 * len(table.rows) + 1.2)
    means = [[_scale(table, entry.mean if entry else None) for entry in entries] for entries in table.entries]
    top = 100 if table.percent else 1
    panel.imshow(means, aspect="auto", cmap="Blues", vmin=0, vmax=top)
    for line, entries in enumerate(table.entries):
        for place, entry in enumerate(entries):
            if entry is None:
                continue
            paper = f"\n({table.shown(entry.paper)})" if entry.paper is not None else ""
            colour = "white" if (entry.mean or 0) > 0.6 else "black"
            panel.text(
                place, line, f"{table.shown(entry.mean)}{paper}", ha="center", va="center", fontsize=6, color=colour
            )
    panel.set_xticks(range(len(table.columns)), [column.label for column in table.columns], rotation=20, ha="right")
    names = [row.named(" → ") for row in table.rows]
    panel.set_yticks(range(len(table.rows)), names)
    return figure


_DRAWN = {"curves": _curves, "bars": _bars, "shades": _shades}
