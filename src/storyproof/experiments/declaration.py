"""Declared experiments: models, data sets and a table whose cells name what is measured, read from TOML files.

Declarations that several experiments use are in `shared/`; an experiment takes those that its table names.
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
JOINT = "joint"  # the measure of whole stories
_HERE = Path(__file__).parent
_QUICK = "quick"  # the sizes of quick experiments; not an experiment itself


@dataclass(frozen=True, slots=True)
class DeclaredModel:
    """A model as an experiment trains it.

    Attributes:
        name: Its name in cells.
        label: Its name in the table.
        model: The name of the neural model; empty for a solver that is not trained.
        solver: The name of that solver in the catalog.
        options: Options that differ from the model's recipe.
        training: Settings of training that differ from the model's recipe.
        runs: How many runs, for a model that takes long; 0 for as many as the experiment has.
    """

    name: str
    label: str
    model: str = ""
    solver: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 0


@dataclass(frozen=True, slots=True)
class DeclaredData:
    """Training and test stories, by a benchmark's generator or from published files.

    Attributes:
        name: Its name in cells.
        benchmark: The benchmark that generates it.
        settings: Those of the benchmark.
        train: How many training stories; of published data the most, 0 for all.
        test: How many test stories, of clutrr per scenario; of published data the most, 0 for all.
        seed: That of the generator.
        published: A folder in the user's folder of published data.
        splits: Its splits for training and for testing.
        labels: Published labels as `given`, or `proved` from the text.
        sentences: The order of a generated story's sentences: as `given`, or `proof first`, with noise at the end.
        training: Settings of training on it that differ from those of the model.
        stack: Models train on all data sets of one stack at once; by default each is a stack of its own.
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
    sentences: str = "given"
    training: Mapping[str, Any] = field(default_factory=dict)
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row or a column of the table.

    Attributes:
        label: Its name.
        group: The group that it belongs to, such as the training set.
        fixes: What it determines of its cells: some of `model`, `data`, `test` and `measure`.
        x: Its place on the axis of a figure of curves.
        paper: For a row, the paper's figures by column; None where the paper has none.
    """

    label: str
    group: str = ""
    fixes: Mapping[str, str] = field(default_factory=dict)
    x: float | None = None
    paper: tuple[float | None, ...] = ()

    def named(self, between: str) -> str:
        """Return the group and the label, or the label if there is no group."""
        return f"{self.group}{between}{self.label}" if self.group else self.label


@dataclass(frozen=True, slots=True)
class TableCell:
    """One figure of the table: a model trained on data, tested on the same or other data, and a measure."""

    model: str
    data: str
    test: str
    measure: str


@dataclass(frozen=True, slots=True)
class Chance:
    """How much is right by guessing.

    Attributes:
        question: The share of single questions.
        questions: How many questions a story has; joint accuracy needs all of them right.
        one_question: Data sets whose stories have one question only.
    """

    question: float
    questions: int = 1
    one_question: Sequence[str] = ()

    def of(self, cell: TableCell) -> float:
        """Return the share that guessing gets right in a cell."""
        joint = cell.measure == JOINT and cell.test not in self.one_question
        return self.question ** (self.questions if joint else 1)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A declared table; `figure` is how it is drawn: bars, curves or shades."""

    name: str
    title: str
    source: str
    unit: str
    runs: int
    figure: str
    axis: str
    models: Mapping[str, DeclaredModel]
    data: Mapping[str, DeclaredData]
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    chance: Chance | None = None

    def cell(self, row: Line, column: Line) -> TableCell:
        """Return the cell of a row and a column."""
        fixed = {"measure": "average", **column.fixes, **row.fixes}
        return TableCell(fixed["model"], fixed["data"], fixed.get("test", fixed["data"]), fixed["measure"])

    def cells(self) -> list[TableCell]:
        """List all cells, row by row."""
        return [self.cell(row, column) for row in self.rows for column in self.columns]

    def paper(self, row: Line, place: int) -> float | None:
        """Return the paper's figure for a row and the column at a place, as a fraction."""
        figure = row.paper[place] if row.paper else None
        return figure / 100 if figure is not None and self.unit == PERCENT else figure


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in _HERE.glob("*.toml") if path.stem != _QUICK)


def read(name: str, *, quick: bool = False) -> Experiment:
    """Read an experiment; `quick` reduces all sizes.

    Raises:
        UnknownNameError: If there is no such experiment.
    """
    if name not in names():
        raise UnknownNameError("experiment", name, names())
    plain = _toml(name)
    rows, columns = tuple(map(_line, plain["rows"])), tuple(map(_line, plain["columns"]))
    experiment = Experiment(
        name,
        plain["title"],
        plain["source"],
        plain["unit"],
        plain["runs"],
        plain["figure"],
        plain.get("axis", ""),
        {key: DeclaredModel(key, **value) for key, value in _named(plain, "models", (*rows, *columns)).items()},
        {key: _data(key, value) for key, value in _named(plain, "data", (*rows, *columns)).items()},
        rows,
        columns,
        _chance(plain),
    )
    return _reduce(experiment) if quick else experiment


def _chance(plain: Mapping[str, Any]) -> Chance | None:
    shared = _toml(f"shared/{plain['shared']}") if "shared" in plain else {}
    declared = plain.get("chance", shared.get("chance"))
    return Chance(**declared) if declared else None


def _named(plain: Mapping[str, Any], kind: str, lines: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """Return the models or data sets that a table names: the experiment's own, and shared ones."""
    declared = {**(_toml(f"shared/{plain['shared']}")[kind] if "shared" in plain else {}), **plain.get(kind, {})}
    wanted = {line.fixes[key] for line in lines for key in ("model", "data", "test") if key in line.fixes}
    return {key: value for key, value in declared.items() if key in wanted}


def _data(name: str, plain: Mapping[str, Any]) -> DeclaredData:
    splits = plain.get("splits", ("train", "test"))
    return DeclaredData(name, **{**plain, "splits": tuple(splits), "stack": plain.get("stack", name)})


def _line(plain: Mapping[str, Any]) -> Line:
    fixes = {key: plain[key] for key in ("model", "data", "test", "measure") if key in plain}
    paper = tuple(None if figure == "" else float(figure) for figure in plain.get("paper", ()))
    return Line(plain["label"], plain.get("group", ""), fixes, plain.get("x"), paper)


def _reduce(experiment: Experiment) -> Experiment:
    """Reduce all that takes time to the sizes in quick.toml."""
    small = _toml(_QUICK)
    models = {
        name: replace(
            model,
            options={**model.options, **small["options"].get(model.model, {})},
            training={**model.training, **small["training"]},
            runs=0,
        )
        for name, model in experiment.models.items()
    }
    data = {
        name: replace(
            declared,
            settings={**declared.settings, **small["settings"].get(declared.benchmark.partition("@")[0], {})},
            train=small["train"],
            test=0 if declared.published else small["test"],
            training={},
        )
        for name, declared in experiment.data.items()
    }
    kept = [
        place for place, column in enumerate(experiment.columns) if column.fixes.get("measure") not in small["left_out"]
    ]
    return replace(
        experiment,
        title=f"{experiment.title} (quick: the figures mean nothing)",
        runs=small["runs"],
        models=models,
        data=data,
        columns=tuple(experiment.columns[place] for place in kept),
        rows=tuple(
            replace(row, paper=tuple(row.paper[place] for place in kept) if row.paper else ())
            for row in experiment.rows
        ),
    )


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))
