"""The charts of a report on runs as files for print: scores, curves, groups and mistakes, each with its own caption.

Labels are measured, so that none covers another however long the names of models are. Solvers are rows, models have
colours, and what they are compared with is grey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.language.display_names import display_name
from storyproof.pictures.colours import HEAT, colour
from storyproof.pictures.svg import SIZE, element, safe, text_width, wrap
from storyproof.reports.charts import shrink_png
from storyproof.reports.numbers import counted
from storyproof.reports.run_groups import Breakdown, Curve
from storyproof.reports.run_mistakes import Mistakes
from storyproof.reports.run_numbers import BoardNumbers
from storyproof.reports.run_overview import Series, find_series
from storyproof.reports.run_scores import BASELINE, MODEL, PEOPLE, Score
from storyproof.runtime.optional_packages import need

FORMS = ("svg", "png", "pdf")
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_PRINT_SCALE = 2.5  # pixels of a PNG per pixel of the chart
_MARGIN, _PLOT, _ROW = 14.0, 420.0, 22.0
_TEXT, _SMALL, _LINE = 12.0, 11.0, 15.0
_CELL, _CELL_HEIGHT = 58.0, 24.0
_HEAD = 84.0  # pixels of a column's heading
_DARK_SHADE = 7  # of a heat map, on which letters are light
_NEXT = 14.0  # pixels between the labels of curves


def score_charts(board: BoardNumbers, series: Mapping[str, Series] | None = None) -> dict[str, str]:
    """Draw accuracy with its intervals, chance and the structural floor: on average and, if it differs, of stories."""
    series = series or find_series([board])
    panels = {"average": {row.solver: row.accuracy for row in board.rows}}
    if any(row.joint is not None and row.joint.of != row.accuracy.of for row in board.rows):
        panels["joint"] = {row.solver: row.joint for row in board.rows if row.joint is not None}
    found = {}
    for name, scores in panels.items():
        levels = {
            label: baseline.joint if name == "joint" else baseline.accuracy
            for label, baseline in (("chance", board.chance), ("structural floor", board.floor))
            if baseline is not None
        }
        what = "percent of stories right as a whole" if name == "joint" else "percent of answers right"
        note = f"{_size(board)}. Lines through the dots: 95% intervals over stories"
        if any(score.is_sparse for score in scores.values()):
            note += ", faint over fewer than ten stories"
        found[name] = _draw_dots(scores, levels, series, f"{board.name}: {what}", f"{note}.")
    return found


def curve_chart(board: BoardNumbers, curve: Curve, series: Mapping[str, Series] | None = None) -> str:
    """Draw accuracy along the scale of difficulty, with chance and published figures."""
    series = series or find_series([board])
    lines = []
    for title, scores in curve.scores.items():
        each = series[title]
        points = {point: score.value for point, score in sorted(scores.items())}
        lines.append((each.name, points, _colour(each), "" if each.kind == MODEL else "6 3"))
    lines += [(each.title, dict(each.values), colour("soft"), "2 3") for each in curve.references]
    if curve.chance:
        lines.append(("chance", dict(curve.chance), colour("rule"), "1 3"))
    published = "".join(f" {each.title}: {each.source}." for each in curve.references)
    what = "order of belief" if curve.scale == "order" else curve.scale
    return _draw_lines(
        curve.points, what, lines, f"{board.name}: percent right by {what}", f"{_size(board)}.{published}"
    )


def _size(board: BoardNumbers) -> str:
    return f"{counted(board.questions, 'question')} of {counted(board.stories, 'story')}, {board.labels} labels"


def group_chart(board: BoardNumbers, found: Breakdown, series: Mapping[str, Series] | None = None) -> str:
    """Draw accuracy by groups."""
    series = series or find_series([board])
    rows = [
        (series[title].name, [scores[group].value if group in scores else None for group in found.groups])
        for title, scores in found.scores.items()
    ]
    heads = list(map(display_name, found.groups))
    return _draw_heat(rows, heads, f"{board.name}: percent right by {found.facet}", f"{_size(board)}.")


def mistake_chart(board: BoardNumbers, found: Mistakes, series: Mapping[str, Series] | None = None) -> str:
    """Draw which share of its wrong answers each mistake explains, for each solver."""
    series = series or find_series([board])
    rows: list[tuple[str, list[float | None]]] = [
        (
            f"{series[title].name} ({wrong:,} wrong)",
            [found.first[title].get(name, 0) / wrong for name in found.descriptions],
        )
        for title, wrong in found.wrong.items()
        if wrong
    ]
    note = "A wrong answer that fits several mistakes counts for the first of them. "
    note += "; ".join(f"{display_name(name)}: {text}" for name, text in found.descriptions.items())
    heads = list(map(display_name, found.descriptions))
    return _draw_heat(rows, heads, f"{board.name}: percent of each solver’s wrong answers, by mistake", f"{note}.")


def write_figures(folder: Path, boards: Sequence[BoardNumbers]) -> list[Path]:
    """Write all charts at print quality, as SVG, PNG and PDF; return the files.

    Raises:
        ConfigError: If the extra `pages` is not installed.
        DataError: If a file cannot be written.
    """
    convert = need("vl_convert", "pages", "A chart as PNG or PDF")
    series = find_series(boards)
    found: list[Path] = []
    for number, board in enumerate(boards):
        for name, chart in _charts(board, series):
            for form in FORMS:
                path = folder / f"{number + 1}-{name}.{form}"
                drawn = _rendered(convert, chart, form)
                with writing_to(path, "--figures"):
                    folder.mkdir(parents=True, exist_ok=True)
                    write_whole(path, drawn)
                found.append(path)
    return found


def _rendered(convert: Any, chart: str, form: str) -> bytes:
    if form == "svg":
        return chart.encode()
    if form == "png":
        return shrink_png(convert.svg_to_png(chart, scale=_PRINT_SCALE))
    return bytes(convert.svg_to_pdf(chart))


def _charts(board: BoardNumbers, series: Mapping[str, Series]) -> list[tuple[str, str]]:
    found = list(score_charts(board, series).items())
    if board.curve is not None:
        found.append(("curve", curve_chart(board, board.curve, series)))
    found += [(f"by-{each.facet.replace(' ', '-')}", group_chart(board, each, series)) for each in board.breakdowns]
    if board.mistakes is not None:
        found.append(("mistakes", mistake_chart(board, board.mistakes, series)))
    return found


# --- drawing


def _width(text: str, size: float) -> float:
    """Return an upper estimate of the width of a text."""
    return text_width(text) * size / SIZE


def _lines(text: str, width: float, size: float) -> list[str]:
    return wrap(text, width * SIZE / size)


def _text(
    content: str, x: float, y: float, *, size: float = _TEXT, anchor: str = "", ink: str = "ink", **more: str
) -> str:
    fill = colour(ink) if not ink.startswith("#") else ink
    return element("text", safe(content), x=x, y=y, font_size=size, text_anchor=anchor, fill=fill, **more)


def _colour(each: Series) -> str:
    if each.kind == MODEL:
        return colour(f"series-{each.colour}")
    return colour("ink" if each.kind == PEOPLE else "rule")


def _framed(content: str, width: float, height: float, title: str, note: str) -> str:
    """Return a chart with its title above and its caption below."""
    width = max(width, 420.0)
    heads = _lines(title, width - 2 * _MARGIN, 14)
    notes = _lines(note, width - 2 * _MARGIN, _SMALL)
    top = _MARGIN + 17 * len(heads) + 6
    whole = top + height + 8 + 14 * len(notes) + _MARGIN - 4
    parts = [
        _text(line, _MARGIN, _MARGIN + 12 + 17 * place, size=14, font_weight="bold") for place, line in enumerate(heads)
    ]
    parts.append(element("g", content, transform=f"translate(0 {top:.1f})"))
    parts += [
        _text(line, _MARGIN, top + height + 16 + 14 * place, size=_SMALL, ink="soft")
        for place, line in enumerate(notes)
    ]
    ground = element("rect", width=width, height=whole, fill=colour("paper"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{whole:.0f}" '
        f'viewBox="0 0 {width:.0f} {whole:.0f}" font-family="{_FONT}">{element("title", safe(title))}'
        f"{element('desc', safe(note))}{ground}{''.join(parts)}</svg>"
    )


def _draw_dots(
    scores: Mapping[str, Score], levels: Mapping[str, float], series: Mapping[str, Series], title: str, note: str
) -> str:
    """Draw one row per solver, the best first, and one per level, whose line runs through all rows."""
    rows = [(series[solver], score) for solver, score in scores.items()]
    rows.sort(key=lambda row: (row[0].kind == BASELINE, -row[1].value))
    left = _MARGIN + max(_width(text, _TEXT) for text in [*(each.name for each, _ in rows), *levels]) + 12
    height = _ROW * (len(rows) + len(levels))

    def x(share: float) -> float:
        return left + _PLOT * share

    parts = []
    for tick in range(0, 101, 20):
        parts.append(element("path", d=f"M{x(tick / 100):.1f} 0V{height:.1f}", stroke=colour("line"), fill="none"))
        parts.append(_text(str(tick), x(tick / 100), height + 14, size=_SMALL, anchor="middle", ink="soft"))
    for each, score in rows:
        if each.kind != MODEL and each.title != "oracle":
            line = f"M{x(score.value):.1f} 0V{height:.1f}"
            parts.append(element("path", d=line, stroke=_colour(each), stroke_width="1", opacity="0.5", fill="none"))
    for share in levels.values():
        line = f"M{x(share):.1f} 0V{height:.1f}"
        parts.append(element("path", d=line, stroke=colour("rule"), stroke_dasharray="2 3", fill="none"))
    for place, (each, score) in enumerate(rows):
        y, own = _ROW * (place + 0.5), _colour(each)
        ink = "soft" if each.kind == BASELINE else "ink"
        parts.append(_text(each.name, left - 10, y + 4, anchor="end", ink=ink))
        faint = "0.25" if score.is_sparse else "0.6"
        span = f"M{x(score.low):.1f} {y:.1f}H{x(score.high):.1f}"
        parts.append(element("path", d=span, stroke=own, stroke_width="4", opacity=faint, fill="none"))
        size = 3.5 if each.kind == BASELINE else 5.0
        parts.append(element("circle", cx=x(score.value), cy=y, r=size, fill=own))
        parts.append(_text(f"{100 * score.value:.1f}", left + _PLOT + 44, y + 4, anchor="end", ink=ink))
    for place, (label, share) in enumerate(levels.items(), start=len(rows)):
        y = _ROW * (place + 0.5)
        parts.append(_text(label, left - 10, y + 4, anchor="end", ink="soft"))
        parts.append(_text(f"{100 * share:.1f}", left + _PLOT + 44, y + 4, anchor="end", ink="soft"))
    return _framed("".join(parts), left + _PLOT + 44 + _MARGIN, height + 20, title, note)


def _draw_lines(
    points: Sequence[int], scale: str, lines: Sequence[tuple[str, Mapping[int, float], str, str]], title: str, note: str
) -> str:
    """Draw curves with their names at their right ends, apart from one another."""
    left, height = _MARGIN + 30, max(240.0, _NEXT * len(lines) + 10)
    across = {point: left + _PLOT * (place + 0.3) / (len(points) - 0.4) for place, point in enumerate(points)}

    def y(share: float) -> float:
        return height * (1 - share)

    parts = []
    for tick in range(0, 101, 20):
        line = f"M{left:.1f} {y(tick / 100):.1f}H{left + _PLOT:.1f}"
        parts.append(element("path", d=line, stroke=colour("line"), fill="none"))
        parts.append(_text(str(tick), left - 6, y(tick / 100) + 4, size=_SMALL, anchor="end", ink="soft"))
    for point, x in across.items():
        parts.append(_text(str(point), x, height + 16, size=_SMALL, anchor="middle", ink="soft"))
    parts.append(_text(scale, left + _PLOT / 2, height + 32, size=_SMALL, anchor="middle", ink="soft"))
    ends = []
    for name, values, own, dash in lines:
        known = [(across[point], y(values[point])) for point in points if point in values]
        if not known:
            continue
        path = "M" + "L".join(f"{x:.1f} {place:.1f}" for x, place in known)
        parts.append(element("path", d=path, stroke=own, stroke_width="2", stroke_dasharray=dash, fill="none"))
        if not dash:
            parts += [element("circle", cx=x, cy=place, r=3.5, fill=own) for x, place in known]
        ends.append((known[-1], name, own))
    ends.sort(key=lambda end: end[0][1])
    places: list[float] = []
    for (_, end), *_ in ends:
        places.append(max(end, places[-1] + _NEXT) if places else end)
    lowest = height + 4
    for number in range(len(places) - 1, -1, -1):  # those that were pushed below the chart move up again
        places[number] = min(places[number], lowest)
        lowest = places[number] - _NEXT
    right = left + _PLOT + 14
    for ((x, end), name, own), place in zip(ends, places, strict=True):
        lead = f"M{x + 5:.1f} {end:.1f}L{right - 4:.1f} {place:.1f}"
        parts.append(element("path", d=lead, stroke=own, stroke_width="0.8", opacity="0.6", fill="none"))
        parts.append(_text(name, right, place + 4, ink=own))
    width = right + max(_width(name, _TEXT) for _, name, _ in ends) + _MARGIN
    content = element("g", "".join(parts), transform="translate(0 8)")
    return _framed(content, width, height + 44, title, note)


def _draw_heat(rows: Sequence[tuple[str, Sequence[float | None]]], heads: Sequence[str], title: str, note: str) -> str:
    """Draw a matrix of shades with its numbers; headings are broken into lines, and columns as wide as these."""
    left = _MARGIN + max(_width(name, _TEXT) for name, _ in rows) + 10
    broken = [_lines(head, _HEAD, _SMALL) for head in heads]
    widths = [max(_CELL, *(_width(line, _SMALL) + 8 for line in lines)) for lines in broken]
    top = 14.0 * max(map(len, broken)) + 4
    parts, x = [], left
    for lines, width in zip(broken, widths, strict=True):
        for place, line in enumerate(lines):
            y = top - 6 - 14 * (len(lines) - 1 - place)
            parts.append(_text(line, x + width / 2, y, size=_SMALL, anchor="middle", ink="soft"))
        x += width
    for place, (name, values) in enumerate(rows):
        y = top + _CELL_HEIGHT * place
        parts.append(_text(name, left - 8, y + 16, anchor="end"))
        x = left
        for width, value in zip(widths, values, strict=True):
            if value is not None:
                step = min(int(value * HEAT), HEAT - 1)
                shade = element(
                    "rect",
                    x=x + 1,
                    y=y + 1,
                    width=width - 2,
                    height=_CELL_HEIGHT - 2,
                    rx=2,
                    fill=colour(f"heat-{step}"),
                )
                ink = "on-accent" if step >= _DARK_SHADE else "ink"
                parts += [shade, _text(f"{100 * value:.0f}", x + width / 2, y + 16, anchor="middle", ink=ink)]
            x += width
    return _framed("".join(parts), x + _MARGIN, top + _CELL_HEIGHT * len(rows), title, note)
