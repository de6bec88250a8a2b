"""The charts of a report on runs: scores, curves, groups and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.language.display_names import display_name
from storyproof.reports.charts import Cell, Level, Value, draw_bars, draw_curves, draw_matrix, render
from storyproof.reports.run_groups import Breakdown, Curve
from storyproof.reports.run_mistakes import Mistakes
from storyproof.reports.run_numbers import BoardNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair import TopLevelMixin

    from storyproof.reports.charts import Format

FORMS: tuple[Format, ...] = ("svg", "png", "pdf")
_SERIES = "score"


def score_charts(board: BoardNumbers) -> dict[str, TopLevelMixin]:
    """Draw accuracy with its intervals, chance and the structural floor: on average and, if it differs, of stories."""
    panels = {"average": [(row.solver, row.accuracy) for row in board.rows]}
    if any(row.joint is not None and row.joint.of != row.accuracy.of for row in board.rows):
        panels["joint"] = [(row.solver, row.joint) for row in board.rows if row.joint is not None]
    baselines = {"chance": board.chance, "structural floor": board.floor}
    found: dict[str, TopLevelMixin] = {}
    for name, scores in panels.items():
        values = [Value(_SERIES, solver, score.value, score.low, score.high, panel=name) for solver, score in scores]
        levels = [
            Level(label, baseline.joint if name == "joint" else baseline.accuracy)
            for label, baseline in baselines.items()
            if baseline is not None
        ]
        found[name] = draw_bars(values, levels=levels, width=320)
    return found


def curve_chart(curve: Curve) -> TopLevelMixin:
    """Draw accuracy along the scale of difficulty, with chance and published figures."""
    values = [
        Value(solver, point, score.value, score.low, score.high)
        for solver, scores in curve.scores.items()
        for point, score in sorted(scores.items())
    ]
    levels = [Level(each.title, _places(each.values)) for each in curve.references]
    if curve.chance:
        levels.append(Level("chance", _places(curve.chance)))
    return draw_curves(values, levels=levels, x_title=curve.scale, width=640, height=280)


def _places(values: Mapping[int, float]) -> dict[str | float, float]:
    return {float(place): value for place, value in values.items()}


def _group_chart(found: Breakdown) -> TopLevelMixin:
    cells = [
        Cell(display_name(group), solver, scores[group].value)
        for group in found.groups
        for solver, scores in found.scores.items()
        if group in scores
    ]
    return draw_matrix(cells, cell_width=84)


def _mistake_chart(found: Mistakes) -> TopLevelMixin:
    cells = [
        Cell(display_name(name), solver, found.first[solver].get(name, 0) / wrong)
        for name in found.descriptions
        for solver, wrong in found.wrong.items()
        if wrong
    ]
    return draw_matrix(cells, cell_width=84)


def write_figures(folder: Path, boards: Sequence[BoardNumbers]) -> list[Path]:
    """Write all charts at print quality, as SVG, PNG and PDF; return the files.

    Raises:
        DataError: If a file cannot be written.
    """
    found: list[Path] = []
    for number, board in enumerate(boards):
        for name, chart in _charts(board):
            for form in FORMS:
                path = folder / f"{number + 1}-{name}.{form}"
                drawn = render(chart, form, "print")
                with writing_to(path, "--figures"):
                    folder.mkdir(parents=True, exist_ok=True)
                    write_whole(path, drawn.encode() if isinstance(drawn, str) else drawn)
                found.append(path)
    return found


def _charts(board: BoardNumbers) -> list[tuple[str, TopLevelMixin]]:
    found = list(score_charts(board).items())
    if board.curve is not None:
        found.append(("curve", curve_chart(board.curve)))
    found += [(f"by-{each.facet.replace(' ', '-')}", _group_chart(each)) for each in board.breakdowns]
    if board.mistakes is not None:
        found.append(("mistakes", _mistake_chart(board.mistakes)))
    return found
