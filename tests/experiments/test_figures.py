"""What is called the same must look the same in every panel, and the legend must name all that is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from docs.plots import RESULTS, redraw
from storyproof.errors import DataError
from storyproof.experiments.declaration import Chance, Experiment, Line, TableCell, names, read
from storyproof.experiments.table import Entry, ResultTable, _bars, _curves, _shades, draw, read_table
from storyproof.reports.charts import render

LABELS = {"easy": ["Rules", "MemNN", "RelNet"], "hard": ["MemNN", "MemNN, plain", "RelNet"], "none yet": ["Rules"]}


def made() -> ResultTable:
    """Make a table whose groups have other rows each; one has nothing to show."""
    declared: Experiment = replace(read("tomi-table1"), columns=(Line("average", x=1), Line("joint", x=2)))
    rows = tuple(Line(label, group) for group, labels in LABELS.items() for label in labels)
    cell = read("tomi-table1").cells()[0]
    entries = tuple(
        tuple(Entry(cell, () if row.group == "none yet" else (0.5, 0.7), 0.6) for _ in declared.columns) for row in rows
    )
    return ResultTable(declared, rows, declared.columns, entries, ())


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def shown(chart: Any) -> list[str]:
    svg = render(chart, "svg")
    assert isinstance(svg, str)
    return texts(svg)


@pytest.mark.parametrize("draw_table", [_bars, _curves])
def test_labels_keep_their_colours(draw_table: Callable[..., Any]) -> None:
    """One scale for all panels gives each label its colour, and no panel is empty."""
    spec = draw_table(made()).to_dict()
    panels = spec["concat"]
    assert [panel["title"]["text"] for panel in panels] == [["easy"], ["hard"]]
    scales = [
        tuple(layer["encoding"]["color"]["scale"]["domain"])
        for panel in panels
        for layer in panel["layer"]
        if "scale" in layer["encoding"].get("color", {})
    ]
    assert len(set(scales)) == 1
    assert spec["resolve"]["scale"]["color"] == "shared"
    labels = ["Rules", "MemNN", "RelNet", "MemNN, plain"]
    assert list(scales[0])[:4] == labels
    colours = panels[0]["layer"][-3 if draw_table is _curves else 0]["encoding"]["color"]["scale"]["range"]
    assert len(set(colours[:4])) == 4
    assert {*labels, "paper", "chance"} <= set(shown(draw_table(made())))


def test_everything_is_percent() -> None:
    for table in (made(), replace(made(), experiment=replace(made().experiment, unit="fraction"))):
        for draw_table in (_bars, _curves):
            assert "percent right" in shown(draw_table(table))
        assert "60" in shown(_shades(table))


def test_a_matrix_has_numbers_and_the_papers() -> None:
    found = shown(_shades(made()))
    assert found.count("60") == 12
    assert found.count("(60)") == 12
    assert "trained on easy" in found
    assert "trained on none yet" not in found
    assert "percent right; in brackets: paper; chance 50" in found


def test_chance() -> None:
    chance = Chance(0.5, 6, ("tom",))
    cells = [TableCell("m", "d", data, measure) for data in ("tomi", "tom") for measure in ("average", "joint")]
    assert [chance.of(cell) for cell in cells] == [0.5, 0.5**6, 0.5, 0.5]
    for name in names():
        assert read(name).chance is not None


def test_figures_are_drafted_under_a_name_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts: list[str] = []
    moved = Path.replace

    def replace_by(draft: Path, path: Path) -> Path:
        drafts.append(draft.name)
        return moved(draft, path)

    monkeypatch.setattr(Path, "replace", replace_by)
    assert draw(tmp_path, made()) == ""
    names = [draft.rpartition("-") for draft in drafts]
    assert [name for name, _, _ in names] == [".figure.png.draft", ".figure.svg.draft"]
    assert all(number.startswith(str(os.getpid())) for *_, number in names)
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.svg"}


def test_a_figure_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "figure.png").mkdir()
    with pytest.raises(DataError, match=f"cannot write to {tmp_path}/figure.png: .*; choose another --out"):
        draw(tmp_path, made())


def test_a_written_table_can_be_read() -> None:
    table = read_table(read("tomi-table1"), RESULTS / "tomi-table1" / "results.json")
    (row,) = [place for place, line in enumerate(table.rows) if line.named(": ") == "ToMi, published: EntNet"]
    assert [table.text(entry) for entry in table.entries[row]] == [
        "90.9 ± 1.3 (90.6, +0.3)",
        "69.7 ± 3.6 (66.8, +2.9)",
    ]


@pytest.mark.parametrize("content", ["{}", '{"cells": [{}], "notes": []}', '{"cells": 3, "notes": []}'])
def test_a_damaged_table_is_said_to_be(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(DataError, match=r"results.json is damaged \(.*\); delete it"):
        read_table(read("tomi-table1"), tmp_path / "results.json")


def test_committed_figures_show_the_committed_results(tmp_path: Path) -> None:
    """Every number and name of a figure is that of the results; places may differ with the fonts of a machine."""
    folder = RESULTS / "tomi-growth"
    redraw(folder, tmp_path)
    assert texts((tmp_path / "figure.svg").read_text()) == texts((folder / "figure.svg").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(path.parent for path in RESULTS.glob("*/results.json")), ids=lambda p: p.name)
def test_all_committed_figures_show_the_committed_results(folder: Path, tmp_path: Path) -> None:
    redraw(folder, tmp_path)
    assert texts((tmp_path / "figure.svg").read_text()) == texts((folder / "figure.svg").read_text())
