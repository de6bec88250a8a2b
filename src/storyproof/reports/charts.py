"""Charts by Vega-Lite: bars, curves and matrices in one theme, for pages and for print.

A chart is an Altair object, and `render` turns it into a file or a part of a page; no browser and no script is needed.
Values are fractions, and charts show percent.
"""

from __future__ import annotations

import json
import re
import struct
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from storyproof.pictures.colours import COLOURS, HEAT, SERIES, colour
from storyproof.pictures.svg import safe
from storyproof.runtime.optional_packages import need

if TYPE_CHECKING:
    from altair import ConcatChart, TopLevelMixin

Format = Literal["svg", "png", "pdf"]
_Each = TypeVar("_Each")
_Part = TypeVar("_Part", "Value", "Level", "Cell")

PERCENT_RIGHT = "percent right"
_WHAT = "A chart"
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_DASHES = ([2, 2], [7, 4], [8, 3, 2, 3], [4, 1])  # of references and levels
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
_SPECIAL = {"paper", "ink", "soft", "line", "rule", "on-accent"}
_CHART_COLOURS = {
    light: name for name, (light, _) in COLOURS.items() if name in _SPECIAL or name.startswith(("series", "heat"))
}
_PNG = b"\x89PNG\r\n\x1a\n"
_PRINT_SCALE = 2.0  # pixels of a PNG per pixel of the chart
_HEADING = 46  # letters that fit above a panel
_LOGARITHMIC = 20  # from the smallest to the largest number
_NUMBER = 34  # pixels from a panel to the end of the numbers beside it
_BAR, _ROW, _GAP = 11, 14, 6  # pixels of a bar, with the space below it, and beside a group of bars
_LINE = 13  # pixels of a line of a heading
_DARK_SHADE = 7  # of a heat map, on which letters are light
_APART = 2.0  # pixels between curves that meet
_COLOUR = re.compile(r'"(#[0-9a-f]{6})"')
_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')  # of parts; a chart is one picture
_FONTS = re.compile(r' font-family="[^"]*"')
# Vega-Lite writes names into expressions, in which these would be errors.
_NOT_IN_NAMES = re.compile("[\x00-\x09\x0b-\x1f\x7f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


class Value(NamedTuple):
    """One value to draw.

    Attributes:
        series: Whose value it is, such as a model; series have colours.
        x: Where it belongs: a group of bars, or a place on the axis of curves.
        value: A fraction.
        low: The lower end of its interval.
        high: The upper end.
        panel: The panel that it is drawn in; each has its title.
        reference: A value from elsewhere to compare it with, such as the paper's.
    """

    series: str
    x: str | float
    value: float
    low: float | None = None
    high: float | None = None
    panel: str = ""
    reference: float | None = None


class Level(NamedTuple):
    """A line for comparison that belongs to no series, such as chance.

    Attributes:
        label: What it is.
        values: A fraction, or one for each x.
        panel: The panel that it is drawn in; None for all.
    """

    label: str
    values: float | Mapping[str | float, float]
    panel: str | None = None


class Cell(NamedTuple):
    """A cell of a matrix.

    Attributes:
        row: Its row.
        column: Its column.
        value: A fraction; None if it is not known.
        reference: A value from elsewhere, shown below it in brackets.
        panel: The panel that it is drawn in.
    """

    row: str
    column: str
    value: float | None
    reference: float | None = None
    panel: str = ""


def draw_bars(
    values: Sequence[Value],
    *,
    levels: Sequence[Level] = (),
    title: str = "",
    axis: str = PERCENT_RIGHT,
    reference: str = "paper",
    note: str = "",
    columns: int = 2,
    width: int = 300,
) -> ConcatChart:
    """Draw horizontal bars with their intervals and numbers; panels without values are left out.

    Args:
        values: What to draw; series, groups and panels keep their order.
        levels: Lines to compare with, such as chance.
        title: What the chart shows.
        axis: What the values are.
        reference: What the references of values are.
        note: What else belongs to the title, such as what the intervals are.
        columns: How many panels stand side by side.
        width: Of a panel, in pixels.
    """
    alt = need("altair", "pages", _WHAT)
    values, levels, title = [_clean(each) for each in values], [_clean(each) for each in levels], _clean_name(title)
    series, labels = _distinct(each.series for each in values), _distinct(level.label for level in levels)
    references = [reference] if any(each.reference is not None for each in values) else []
    scale = alt.Scale(
        domain=[*series, *references, *labels],
        range=[
            *(_series_colour(number) for number in range(len(series))),
            *(colour("ink") for _ in references),
            *(colour(("soft", "rule", "line")[number % 3]) for number in range(len(labels))),
        ],
    )
    legend = alt.Legend(title=None, symbolType="square", symbolOpacity=1) if len(scale.domain) > 1 else None
    colouring = alt.Color("series:N", scale=scale, legend=legend)
    percent = {"scale": alt.Scale(domain=[0, 100], nice=False), "axis": _percent_axis(alt), "title": axis}
    panels = []
    for name, members in _panels(values):
        bars, groups, height = _stack(members)
        down = {"scale": alt.Scale(domain=[0, height], range=[0, height], nice=False, zero=False), "axis": None}
        span = {"y": alt.Y("top:Q", **down), "y2": "bottom:Q"}
        middle = alt.Y("middle:Q", **down)
        lines = [
            {**group, "value": _percent(value), "series": level.label}
            for level in levels
            if level.panel in (None, name)
            for group in groups
            for x, value in _at(level, [group["x"]])
        ]
        base = alt.Chart(alt.Data(values=[bar | {"mark": reference} for bar in bars]))
        heads = alt.Chart(alt.Data(values=groups)).mark_text(align="right", baseline="middle", fontSize=11)
        layers = [
            base.mark_bar().encode(x=alt.X("value:Q", **percent), x2=alt.X2Datum(0), **span, color=colouring),
            alt.Chart(alt.Data(values=lines))
            .mark_rule(strokeWidth=1.5, opacity=1)
            .encode(x=alt.X("value:Q", **percent), **span, color=colouring),
            base.transform_filter("isValid(datum.low)")
            .mark_rule(color=colour("ink"))
            .encode(x=alt.X("low:Q", **percent), x2="high:Q", y=middle),
            base.transform_filter("isValid(datum.reference)")
            .mark_rule(strokeWidth=2.5, opacity=1)
            .encode(x=alt.X("reference:Q", **percent), **span, color=alt.Color("mark:N", scale=scale, legend=legend)),
            base.mark_text(align="right", baseline="middle", fontSize=10, color=colour("ink")).encode(
                x=alt.value(width + _NUMBER), y=middle, text="text:N"
            ),
            heads.encode(x=alt.value(-6), y=middle, text="x:N", color=alt.value(colour("ink"))),
        ]
        panels.append(alt.layer(*layers).properties(width=width, height=height, title=_heading(alt, name)))
    return _joined(alt, panels, columns, title, _clean_name(note))


def _stack(values: Sequence[Value]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Return bars and their groups with their places from top to bottom in pixels, and the height of all."""
    bars, groups, y = [], [], float(_GAP)
    for x in _distinct(_name(each.x) for each in values):
        top = y
        for each in values:
            if _name(each.x) == x:
                bars.append(_row(each, x) | {"top": y, "bottom": y + _BAR, "middle": y + _BAR / 2})
                y += _ROW
        bottom = y - (_ROW - _BAR)
        groups.append({"x": x, "top": top - 2, "bottom": bottom + 2, "middle": (top + bottom) / 2})
        y = bottom + 2 * _GAP
    return bars, groups, y - _GAP


def draw_curves(
    values: Sequence[Value],
    *,
    levels: Sequence[Level] = (),
    title: str = "",
    x_title: str = "",
    axis: str = PERCENT_RIGHT,
    reference: str = "paper",
    note: str = "",
    columns: int = 2,
    width: int = 300,
    height: int = 220,
) -> ConcatChart:
    """Draw curves over numbers or names, with intervals; panels without values are left out.

    Numbers that span more than a factor of 20 stand on a logarithmic axis.

    Args:
        values: What to draw; series, names and panels keep their order.
        levels: Lines to compare with, such as chance or people.
        title: What the chart shows.
        x_title: What the numbers or names are.
        axis: What the values are.
        reference: What the references of values are; they are dotted lines in the colour of their series.
        note: What else belongs to the title, such as what the intervals are.
        columns: How many panels stand side by side.
        width: Of a panel, in pixels.
        height: Of a panel, in pixels.
    """
    alt = need("altair", "pages", _WHAT)
    values, levels, title = [_clean(each) for each in values], [_clean(each) for each in levels], _clean_name(title)
    series = _distinct(each.series for each in values)
    references = [reference] if any(each.reference is not None for each in values) else []
    labels = [*references, *_distinct(level.label for level in levels)]
    domain = _distinct(each.x for each in values)
    across = _across(alt, domain, x_title)
    percent = {"scale": alt.Scale(domain=[0, 100], nice=False), "axis": _percent_axis(alt), "title": axis}
    legend = alt.Legend(title=None, padding=3) if len(series) > 1 else None
    colours = alt.Scale(domain=series, range=[_series_colour(number) for number in range(len(series))])
    shapes = alt.Scale(domain=series, range=[_SHAPES[number % len(_SHAPES)] for number in range(len(series))])
    colouring = alt.Color("series:N", scale=colours, legend=legend)
    shaping = alt.Shape("series:N", scale=shapes, legend=legend)
    dashes = alt.Scale(domain=labels, range=[_DASHES[place % len(_DASHES)] for place in range(len(labels))])
    dashing = alt.StrokeDash("line:N", scale=dashes, legend=alt.Legend(title=None, symbolType="stroke", symbolSize=324))
    panels = []
    for name, members in _panels(values):
        lines = [
            {"x": x, "value": _percent(value), "line": level.label}
            for level in levels
            if level.panel in (None, name)
            for x, value in _at(level, domain)
        ]
        layers = []
        if lines:
            level = alt.Chart(alt.Data(values=lines)).mark_line(color=colour("soft"), strokeWidth=1.5)
            layers.append(level.encode(x=across, y=alt.Y("value:Q", **percent), strokeDash=dashing))
        for number, one in enumerate(series):
            rows = [_row(each, each.x) | {"line": reference} for each in members if each.series == one]
            if not rows:
                continue
            apart = {"xOffset": _APART * (number - (len(series) - 1) / 2)}
            base = alt.Chart(alt.Data(values=rows)).encode(x=across, color=colouring)
            if any(row["reference"] is not None for row in rows):
                known = base.transform_filter("isValid(datum.reference)").mark_line(strokeWidth=1.2, **apart)
                layers.append(known.encode(y=alt.Y("reference:Q", **percent), strokeDash=dashing))
            interval = base.transform_filter("isValid(datum.low)").mark_rule(**apart)
            layers.append(interval.encode(y=alt.Y("low:Q", **percent), y2="high:Q"))
            layers.append(base.mark_line(strokeWidth=1.8, **apart).encode(y=alt.Y("value:Q", **percent)))
            points = base.mark_point(filled=True, size=45, opacity=1, **apart)
            layers.append(points.encode(y=alt.Y("value:Q", **percent), shape=shaping))
        panels.append(alt.layer(*layers).properties(width=width, height=height, title=_heading(alt, name)))
    return _joined(alt, panels, columns, title, _clean_name(note))


def draw_matrix(
    cells: Sequence[Cell],
    *,
    title: str = "",
    columns: int = 1,
    cell_width: int = 64,
    reference: str = "paper",
    note: str = "",
) -> ConcatChart:
    """Draw a matrix of shades with its numbers; rows and columns without values are left out.

    Args:
        cells: What to draw; rows, columns and panels keep their order. Names of columns may have several lines.
        title: What the chart shows.
        columns: How many panels stand side by side.
        cell_width: In pixels.
        reference: What the references of cells are; they stand below the numbers in brackets.
        note: What else belongs to the title.
    """
    alt = need("altair", "pages", _WHAT)
    title = _clean_name(title)
    known = [(_clean(cell), cell.value) for cell in cells if cell.value is not None]
    referenced = any(cell.reference is not None for cell, _ in known)
    shades = alt.Scale(domain=list(range(HEAT)), range=[colour(f"heat-{step}") for step in range(HEAT)])
    inks = alt.Scale(
        domain=list(range(HEAT)),
        range=[colour("on-accent" if step >= _DARK_SHADE else "ink") for step in range(HEAT)],
    )
    panels = []
    for name in _distinct(cell.panel for cell, _ in known):
        members = [(cell, value) for cell, value in known if cell.panel == name]
        heads, sides = _distinct(cell.column for cell, _ in members), _distinct(cell.row for cell, _ in members)
        labels = alt.Axis(
            orient="top",
            labelAngle=0,
            labelLimit=0,
            labelExpr="split(datum.label, '\\n')",
            labelPadding=6 + _LINE * max(head.count("\n") for head in heads),
            ticks=False,
            domain=False,
        )
        base = alt.Chart(alt.Data(values=[_shade(cell, value) for cell, value in members])).encode(
            x=alt.X("column:N", sort=heads, title=None, axis=labels),
            y=alt.Y(
                "row:N",
                sort=sides,
                title=None,
                axis=alt.Axis(labelLimit=360, ticks=False, domain=False, labelPadding=6),
            ),
        )
        shade = alt.Color("step:O", scale=shades, legend=None)
        ink = alt.Color("step:O", scale=inks, legend=None)
        layers = [
            base.mark_rect(stroke=colour("paper"), strokeWidth=1.5).encode(fill=alt.Fill(**shade.to_dict())),
            base.mark_text(baseline="middle", dy=-6 if referenced else 0, fontSize=11).encode(color=ink, text="text:N"),
        ]
        if referenced:
            layers.append(base.mark_text(baseline="middle", dy=8, fontSize=9).encode(color=ink, text="beside:N"))
        size = {"width": cell_width * len(heads), "height": (32 if referenced else 22) * len(sides)}
        panels.append(alt.layer(*layers).properties(**size, title=_heading(alt, name)))
    told = f"percent right; in brackets: {reference}" if referenced else "percent right"
    return _joined(alt, panels, columns, title, _clean_name(f"{told}; {note}" if note else told))


def render(chart: TopLevelMixin, form: Format, theme: Literal["page", "print"] = "page") -> str | bytes:
    """Return a chart as a picture.

    Args:
        chart: What to draw.
        form: SVG is text, the others are bytes.
        theme: SVG for a `page` follows its colours, light or dark, and its font; for `print` it has colours of its own.
    """
    convert = need("vl_convert", "pages", _WHAT)
    spec = json.loads(chart.to_json())
    spec["config"] = {**spec.get("config", {}), **_config()}
    if form == "png":
        return shrink_png(convert.vegalite_to_png(spec, scale=_PRINT_SCALE, ppi=72))
    if form == "pdf":
        return bytes(convert.vegalite_to_pdf(spec))
    svg = str(convert.vegalite_to_svg(spec))
    return _for_page(svg, _title_of(spec)) if theme == "page" else svg


def shrink_png(png: bytes) -> bytes:
    """Return the same picture in fewer bytes; the library compresses for speed."""
    chunks, pixels, place = [], b"", len(_PNG)
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        kind, content = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        place += 12 + size
        if kind == b"IDAT":
            pixels += content
        else:
            chunks.append((kind, content))
    packed = zlib.compress(zlib.decompress(pixels), 9)
    chunks.insert(-1, (b"IDAT", packed))  # before the last, which ends the file
    return _PNG + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


def _for_page(svg: str, title: str) -> str:
    """Return an SVG for a page: its colours are the page's variables, and nothing in it needs a style of its own."""
    svg = _COLOUR.sub(lambda found: f'"var(--{_CHART_COLOURS.get(found[1], "ink")})"', svg)
    svg = _ROLES.sub("", _FONTS.sub("", svg))
    name = f' role="img" aria-label="{safe(title or "Chart")}"'
    return svg.replace("<svg ", f"<svg{name} ", 1).replace('class="marks"', 'class="chart"', 1)


def _config() -> dict[str, Any]:
    """Return the theme of charts."""
    ink, soft, line = colour("ink"), colour("soft"), colour("line")
    return {
        "font": _FONT,
        "background": colour("paper"),
        "aria": False,
        "view": {"stroke": "transparent"},
        "axis": {
            "labelColor": ink,
            "titleColor": soft,
            "titleFontWeight": "normal",
            "titleFontSize": 11,
            "labelFontSize": 11,
            "gridColor": line,
            "domainColor": colour("rule"),
            "tickColor": colour("rule"),
        },
        "title": {"color": ink, "subtitleColor": soft, "fontSize": 13, "subtitleFontSize": 11, "anchor": "start"},
        "legend": {
            "labelColor": ink,
            "symbolStrokeColor": soft,
            "orient": "bottom",
            "columns": 4,
            "labelFontSize": 11,
            "labelLimit": 260,
        },
        "concat": {"spacing": 24},
    }


def _title_of(spec: Mapping[str, Any]) -> str:
    title = spec.get("title", "")
    text = title.get("text", "") if isinstance(title, Mapping) else title
    return " ".join(text) if isinstance(text, list) else str(text)


def _joined(alt: Any, panels: Sequence[Any], columns: int, title: str, note: str = "") -> ConcatChart:
    """Return panels side by side under a title."""
    joined = alt.concat(*panels, columns=min(columns, len(panels)))
    chart: ConcatChart = joined.resolve_scale(color="shared", shape="shared", strokeDash="shared")
    if title:
        chart.title = alt.TitleParams(text=title, subtitle=note, fontSize=14, subtitlePadding=4, offset=12)
    elif note:
        chart.title = alt.TitleParams(text=note, fontSize=11, fontWeight="normal", color=colour("soft"), offset=12)
    return chart


def _panels(values: Sequence[Value]) -> list[tuple[str, list[Value]]]:
    groups: dict[str, list[Value]] = {}
    for each in values:
        groups.setdefault(each.panel, []).append(each)
    return list(groups.items())


def _clean(each: _Part) -> _Part:
    """Return a part of a chart with names that can be drawn."""
    texts: dict[str, Any] = {key: _clean_name(part) for key, part in each._asdict().items() if isinstance(part, str)}
    return each._replace(**texts)


def _clean_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("\ufffd", name)


def _distinct(values: Iterable[_Each]) -> list[_Each]:
    return list(dict.fromkeys(values))


def _series_colour(number: int) -> str:
    return colour(f"series-{number % SERIES}")


def _heading(alt: Any, name: str) -> Any:
    """Return the title of a panel, in lines that fit above it."""
    return alt.TitleParams(text=textwrap.wrap(name, _HEADING) or "", fontSize=12, fontWeight="bold")


def _percent_axis(alt: Any) -> Any:
    return alt.Axis(values=[0, 20, 40, 60, 80, 100], domain=False, ticks=False)


def _name(x: str | float) -> str:
    return x if isinstance(x, str) else f"{x:,g}"


def _row(each: Value, x: str | float) -> dict[str, object]:
    """Return a value as a row of a chart's data, in percent."""
    high = each.value if each.high is None else each.high
    return {
        "series": each.series,
        "x": x,
        "value": _percent(each.value),
        "low": None if each.low is None or each.high is None else _percent(each.low),
        "high": _percent(high),
        "text": f"{100 * each.value:.1f}",
        "reference": None if each.reference is None else _percent(each.reference),
    }


def _percent(value: float) -> float:
    return round(100 * value, 3)


def _at(level: Level, domain: Sequence[str | float]) -> list[tuple[str | float, float]]:
    """Return a level's values at the places of an axis."""
    if isinstance(level.values, Mapping):
        return [(x, level.values[x]) for x in domain if x in level.values]
    return [(x, level.values) for x in domain]


def _across(alt: Any, domain: Sequence[str | float], title: str) -> Any:
    """Return the axis of curves."""
    numbers = [x for x in domain if not isinstance(x, str)]
    if len(numbers) < len(domain):
        return alt.X("x:O", sort=list(domain), title=title or None, axis=alt.Axis(labelAngle=0, grid=False))
    logarithmic = min(numbers) > 0 and max(numbers) > _LOGARITHMIC * min(numbers)
    low, high = min(numbers), max(numbers)
    margin = 0.04 * (high - low) or 1
    ends = [low / 1.15, high * 1.15] if logarithmic else [low - margin, high + margin]
    scale = alt.Scale(type="log" if logarithmic else "linear", domain=ends, nice=False, zero=False)
    axis = alt.Axis(values=sorted(numbers), format=",~r" if low >= 1 else "~g", grid=False, labelOverlap=True)
    return alt.X("x:Q", title=title or None, scale=scale, axis=axis)


def _shade(cell: Cell, value: float) -> dict[str, object]:
    step = min(int(value * HEAT), HEAT - 1)
    return {
        "row": cell.row,
        "column": cell.column,
        "step": step,
        "text": f"{100 * value:.0f}",
        "beside": "" if cell.reference is None else f"({100 * cell.reference:.0f})",
    }
