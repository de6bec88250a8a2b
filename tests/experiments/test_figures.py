"""What is called the same must look the same in every panel, and the legend must name all that is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.experiments.declaration import Experiment, Line, read
from storyproof.experiments.figures import _bars, _curves, draw
from storyproof.experiments.table import Entry, ResultTable

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer

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


def bar_colours(panel: Axes) -> dict[str, str]:
    bars = [each for each in panel.containers if isinstance(each, BarContainer)]
    return {str(each.get_label()): to_hex(each.patches[0].get_facecolor()) for each in bars}


def curve_colours(panel: Axes) -> dict[str, str]:
    curves = [each for each in panel.containers if isinstance(each, ErrorbarContainer)]
    return {str(each.get_label()): to_hex(each.lines[0].get_color()) for each in curves}


@pytest.mark.parametrize(("draw", "colours"), [(_bars, bar_colours), (_curves, curve_colours)])
def test_labels_keep_their_colours(draw: Callable[..., object], colours: Callable[[Axes], dict[str, str]]) -> None:
    figure = draw(made())
    shown = [panel for panel in figure.axes if panel.axison]  # type: ignore[attr-defined]
    assert [panel.get_title() for panel in shown] == ["easy", "hard"]
    found = [{label: each for label, each in colours(panel).items() if not label.startswith("_")} for panel in shown]
    assert [list(each) for each in found] == [LABELS["easy"], LABELS["hard"]]
    together = {**found[0], **found[1]}
    assert found[0] == {label: together[label] for label in LABELS["easy"]}
    assert len(set(together.values())) == len(together)
    (legend,) = figure.legends  # type: ignore[attr-defined]
    assert set(together) <= {text.get_text() for text in legend.get_texts()}


def test_figures_are_drafted_under_a_name_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts: list[str] = []
    moved = Path.replace

    def replace_by(draft: Path, path: Path) -> Path:
        drafts.append(draft.name)
        return moved(draft, path)

    monkeypatch.setattr(Path, "replace", replace_by)
    assert draw(tmp_path, made()) == ""
    assert [re.sub(r"\d{9}$", "", draft) for draft in drafts] == [
        f".figure.{kind}.draft-{os.getpid()}" for kind in ("png", "svg")
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.svg"}


def test_a_figure_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "figure.png").mkdir()
    with pytest.raises(DataError, match=f"cannot write to {tmp_path}/figure.png: .*; choose another --out"):
        draw(tmp_path, made())
