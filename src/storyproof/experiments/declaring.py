"""What an experiment is: models, data sets and a table whose cells name what is measured, read from a TOML file.

What several experiments have in common lies in `shared/`; an experiment takes of it what its table names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from storyproof.errors import UnknownNameError

PERCENT = "percent"
_HERE = Path(__file__).parent
_QUICK = "quick"  # the file that says what is small, and no experiment


@dataclass(frozen=True, slots=True)
class Model:
    """A model as this experiment trains it.

    Attributes:
        name: What cells call it.
        label: What the table calls it.
        model: The neural model's name; empty for a solver that learns nothing.
        solver: That solver's name in the catalog.
        options: How the model differs from its recipe.
        training: How its training differs from what is usual.
    """

    name: str
    label: str
    model: str = ""
    solver: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Data:
    """Training and test stories: of a benchmark's generator, or published files.

    Attributes:
        name: What cells call it.
        benchmark: Whose generator.
        settings: The generator's.
        train: How many training stories; of published ones at most so many, 0 for all.
        test: How many test stories, of clutrr in each scenario; of published ones at most so many, 0 for all.
        seed: The generator's.
        published: A folder under the one that the user names.
        splits: Which of its splits is for training and which for testing.
        labels: Published labels as `given`, or `proved` from the text.
        training: How training on it differs from what is usual for the model.
        stack: Data sets of one stack are trained on together; by default each for itself.
    """

    name: str
    benchmark: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    train: int = 0
    test: int = 0
    seed: int = 0
    published: str = ""
    splits: tuple[str, str] = ("train", "test")
    labels: str = "given"
    training: Mapping[str, Any] = field(default_factory=dict)
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row or a column of the table.

    Attributes:
        label: What it is called.
        group: What it belongs to, such as the training set.
        fixes: What it says of its cells: some of `model`, `data`, `test` and `measure`.
        x: Where a figure of curves has it.
        paper: Of a row: the paper's figures, column by column, None where it gives none.
    """

    label: str
    group: str = ""
    fixes: Mapping[str, str] = field(default_factory=dict)
    x: float | None = None
    paper: tuple[float | None, ...] = ()

    def named(self, between: str) -> str:
        """Give the group and the label, or what there is of them."""
        return f"{self.group}{between}{self.label}" if self.group else self.label


@dataclass(frozen=True, slots=True)
class Cell:
    """What one figure of the table is: a model trained on data, tested on (other) data, measured somehow."""

    model: str
    data: str
    test: str
    measure: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """A declared table; see the module. `figure` says how it is drawn: bars, curves or shades."""

    name: str
    title: str
    source: str
    unit: str
    runs: int
    figure: str
    axis: str
    models: Mapping[str, Model]
    data: Mapping[str, Data]
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]

    def cell(self, row: Line, column: Line) -> Cell:
        """Say what stands where a row and a column meet."""
        said = {"measure": "average", **column.fixes, **row.fixes}
        return Cell(said["model"], said["data"], said.get("test", said["data"]), said["measure"])

    def cells(self) -> list[Cell]:
        """List all cells, row by row."""
        return [self.cell(row, column) for row in self.rows for column in self.columns]

    def paper(self, row: Line, place: int) -> float | None:
        """Give the paper's figure for a row and the column at a place, as a fraction."""
        found = row.paper[place] if row.paper else None
        return found / 100 if found is not None and self.unit == PERCENT else found


def names() -> list[str]:
    """List all experiments."""
    return sorted(path.stem for path in _HERE.glob("*.toml") if path.stem != _QUICK)


def read(name: str, *, quick: bool = False) -> Experiment:
    """Read an experiment; `quick` makes everything small.

    Raises:
        UnknownNameError: If there is none of that name.
    """
    if name not in names():
        raise UnknownNameError("experiment", name, names())
    plain = _toml(name)
    rows, columns = tuple(map(_line, plain["rows"])), tuple(map(_line, plain["columns"]))
    found = Experiment(
        name,
        plain["title"],
        plain["source"],
        plain["unit"],
        plain["runs"],
        plain["figure"],
        plain.get("axis", ""),
        {key: Model(key, **value) for key, value in _named(plain, "models", (*rows, *columns)).items()},
        {key: _data(key, value) for key, value in _named(plain, "data", (*rows, *columns)).items()},
        rows,
        columns,
    )
    return _small(found) if quick else found


def _named(plain: Mapping[str, Any], kind: str, lines: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """Give the models or data sets that a table names: the experiment's own, and shared ones."""
    known = {**(_toml(f"shared/{plain['shared']}")[kind] if "shared" in plain else {}), **plain.get(kind, {})}
    wanted = {line.fixes[key] for line in lines for key in ("model", "data", "test") if key in line.fixes}
    return {key: value for key, value in known.items() if key in wanted}


def _data(name: str, plain: Mapping[str, Any]) -> Data:
    splits = plain.get("splits", ("train", "test"))
    return Data(name, **{**plain, "splits": tuple(splits), "stack": plain.get("stack", name)})


def _line(plain: Mapping[str, Any]) -> Line:
    fixes = {key: plain[key] for key in ("model", "data", "test", "measure") if key in plain}
    paper = tuple(None if figure == "" else float(figure) for figure in plain.get("paper", ()))
    return Line(plain["label"], plain.get("group", ""), fixes, plain.get("x"), paper)


def _small(found: Experiment) -> Experiment:
    """Make all that takes time small, as quick.toml says."""
    small = _toml(_QUICK)
    models = {
        name: replace(
            model,
            options={**model.options, **small["options"].get(model.model, {})},
            training={**model.training, **small["training"]},
        )
        for name, model in found.models.items()
    }
    data = {
        name: replace(
            some,
            settings={**some.settings, **small["settings"].get(some.benchmark, {})},
            train=small["train"],
            test=0 if some.published else small["test"],
            training={},
        )
        for name, some in found.data.items()
    }
    kept = [place for place, column in enumerate(found.columns) if column.fixes.get("measure") not in small["left_out"]]
    return replace(
        found,
        title=f"{found.title} (quick: the figures mean nothing)",
        runs=small["runs"],
        models=models,
        data=data,
        columns=tuple(found.columns[place] for place in kept),
        rows=tuple(
            replace(row, paper=tuple(row.paper[place] for place in kept) if row.paper else ()) for row in found.rows
        ),
    )


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))
