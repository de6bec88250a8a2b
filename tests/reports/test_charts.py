import re
import struct
import sys
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from storyproof.errors import ConfigError
from storyproof.pictures.colours import COLOURS
from storyproof.reports import charts
from storyproof.reports.charts import Cell, Level, Value, draw_bars, draw_curves, draw_matrix, render

BARS = [
    Value("rules", "average", 0.775, panel="published"),
    Value("rules", "joint", 0.365, panel="published"),
    Value("EntNet", "average", 0.906, 0.89, 0.92, "published", 0.91),
    Value("EntNet", "joint", 0.668, 0.64, 0.7, "published", 0.668),
    Value("EntNet", "average", 0.944, 0.93, 0.95, "proved"),
]
CURVES = [Value(name, k, 1 - 0.05 * k, 0.9 - 0.05 * k, 1.0, "", 0.8) for name in ("GAT", "MAC") for k in range(2, 6)]
CELLS = [Cell(f"row {row}", f"column\n{column}", (row + column) / 8, 0.5) for row in range(5) for column in range(4)]


def drawn(chart: object, theme: str = "page") -> str:
    svg = render(chart, "svg", theme)  # type: ignore[arg-type]
    assert isinstance(svg, str)
    return svg


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_bars_show_percent_with_levels_and_references() -> None:
    found = texts(drawn(draw_bars(BARS, levels=[Level("chance", {"average": 0.3})], title="Accuracy")))
    assert {"Accuracy", "published", "proved", "average", "joint", "77.5", "36.5", "90.6", "94.4"} <= set(found)
    assert found.count("joint") == 1  # the panel without it has no empty group
    assert found[-5:-1] == ["rules", "EntNet", "paper", "chance"]
    assert "percent right" in found


def test_curves_show_levels_and_references() -> None:
    found = texts(drawn(draw_curves(CURVES, levels=[Level("chance", 0.1), Level("people", {2: 0.9})], x_title="k")))
    assert {"k", "GAT", "MAC", "paper", "chance", "people", "2", "5", "100", "percent right"} <= set(found)


def test_curves_over_names_and_over_wide_ranges() -> None:
    names = texts(drawn(draw_curves([Value("a", x, 0.5) for x in ("first", "second")])))
    assert {"first", "second"} <= set(names)
    wide = texts(drawn(draw_curves([Value("a", x, 0.5) for x in (999, 3000, 9999, 30000)])))
    assert {"999", "3,000", "9,999", "30,000"} <= set(wide)


def test_a_matrix_shows_numbers_and_references_without_what_is_unknown() -> None:
    found = texts(drawn(draw_matrix([*CELLS, Cell("empty", "column\n0", None)])))
    assert {"0", "50", "88", "(50)", "row 4"} <= set(found)
    assert "empty" not in found
    assert "percent right; in brackets: paper" in found


@pytest.mark.parametrize("chart", [draw_bars(BARS), draw_curves(CURVES), draw_matrix(CELLS)])
def test_a_chart_of_a_page_follows_its_colours_and_has_no_style_of_its_own(chart: object) -> None:
    svg = drawn(chart)
    shades = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg)) - {"none", "transparent"}
    assert shades
    assert [shade for shade in shades if shade[6:-1] not in COLOURS] == []
    assert all(re.fullmatch(r"var\(--[a-z0-9-]+\)", shade) for shade in shades)
    assert "style=" not in svg
    assert "font-family" not in svg
    assert re.match(r'<svg role="img" aria-label="[^"]+" ', svg)


def test_a_chart_for_print_has_values() -> None:
    assert "var(" not in drawn(draw_bars(BARS), "print")
    png = render(draw_bars(BARS), "png")
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20])[0] > 1200  # pixels: sharp at the width of a page
    assert bytes(render(draw_bars(BARS), "pdf")).startswith(b"%PDF")  # type: ignore[arg-type]


def test_equal_charts_have_equal_bytes() -> None:
    for form in ("svg", "png"):
        assert render(draw_curves(CURVES), form) == render(draw_curves(CURVES), form)


def test_names_are_text() -> None:
    name = '<script>hacked=1</script>"&\u2028'
    for chart in (
        draw_bars([Value(name, name, 0.5, panel=name), Value("b", name, 0.5)], title=name, levels=[Level(name, 0.5)]),
        draw_curves([Value(name, name, 0.5, panel=name), Value("b", name, 0.5)], title=name, x_title=name),
        draw_matrix([Cell(name, name, 0.5, panel=name)], title=name),
    ):
        svg = drawn(chart)
        assert "<script" not in svg
        assert ET.fromstring(svg) is not None


def test_chart_colours_can_be_told_from_their_values() -> None:
    assert len(set(charts._CHART_COLOURS.values())) == len(charts._CHART_COLOURS) == 6 + 8 + 10


def test_without_the_library_a_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ConfigError, match=r"pip install 'storyproof\[pages\]'|cannot be imported"):
        draw_bars(BARS)
