"""The jobs of an experiment, each a model trained on one or more data sets at once, and the files of their results.

The folder of a job is named by a hash of all that determines it, so that tables share jobs, and other settings or data
are another job. It contains one folder per data set with the trained runs, and one small file per data set and test set
with the counts of every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storyproof.errors import DataError
from storyproof.evaluation.scores import Tally
from storyproof.example import Example
from storyproof.experiments.datasets import TEST, TRAIN, Datasets
from storyproof.experiments.declaration import DeclaredData, DeclaredModel, Experiment, TableCell
from storyproof.generation.seeds import digest
from storyproof.io.atomic_files import read_json, write_json, writing_to
from storyproof.solvers.neural.data.encoder_identity import encoder_identity
from storyproof.solvers.neural.models.registry import recipe
from storyproof.solvers.training_settings import Settings

REMEDY = "delete it, and run the experiment again"


@dataclass(frozen=True, slots=True)
class Job:
    """A model and the data sets that it is trained on together.

    Attributes:
        model: The model, or a solver that is not trained.
        training_sets: The data sets.
        tests: The test sets of each of them.
        runs: How many runs on each.
        training: Settings of training.
        encoder: A pretrained encoder's folder.
        folder: The folder of the job.
    """

    model: DeclaredModel
    training_sets: tuple[DeclaredData, ...]
    tests: dict[str, tuple[DeclaredData, ...]]
    runs: int
    training: dict[str, Any]
    encoder: str | None
    folder: Path

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"{self.model.name} on {', '.join(each.name for each in self.training_sets)}"

    def place(self, data: DeclaredData) -> Path:
        """Return the folder of the runs on a data set."""
        return self.folder / data.name


@dataclass(frozen=True, slots=True)
class Result:
    """The file with the counts of every run on one data set, tested on one test set."""

    path: Path
    data: DeclaredData
    test: DeclaredData

    @property
    def source(self) -> str:
        """What identifies the training and the test stories behind the counts, wherever the file is."""
        return f"{self.path.parent.name}/{self.path.stem}"

    def write(self, job: Job, runs: list[Counts]) -> None:
        """Write the counts of every run."""
        plain = {"model": job.model.name, "data": self.data.name, "test": self.test.name, "runs": runs}
        with writing_to(self.path):
            write_json(self.path, plain)

    def read(self) -> list[Counts] | None:
        """Read the counts of every run; None if there are none yet.

        Raises:
            DataError: If the file is damaged.
        """
        if not self.path.is_file():
            return None
        plain = read_json(self.path, REMEDY)
        try:
            runs = [{name: [int(right), int(of)] for name, (right, of) in run.items()} for run in plain["runs"]]
            if not runs or not all(0 <= right <= of for run in runs for right, of in run.values()):
                raise ValueError("more right answers than answers, or no runs")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{self.path} is damaged ({error}); {REMEDY}.") from error
        return runs


@dataclass(frozen=True, slots=True)
class KeptFigures:
    """The figures of every run in a cell of the written table, and what identifies the training and test behind it."""

    runs: tuple[float, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """All jobs of an experiment.

    Attributes:
        jobs: The jobs.
        results: The result of each model, data set and test set.
        missing: The cells that are left out, and why.
        encoder_identity: That of the given encoder; its files are hashed only once.
        kept: The figures of cells that are taken from the written table, without results of their own.
    """

    jobs: list[Job]
    results: dict[tuple[str, str, str], Result]
    missing: dict[TableCell, str]
    encoder_identity: str | None
    kept: Mapping[TableCell, KeptFigures] = field(default_factory=dict)

    def result(self, cell: TableCell) -> Result | None:
        """Return the result of a cell, if it is not left out."""
        return self.results.get((cell.model, cell.data, cell.test))

    def of(self, job: Job) -> list[Result]:
        """Return the results of a job."""
        return [
            self.results[job.model.name, data.name, test.name]
            for data in job.training_sets
            for test in job.tests[data.name]
        ]

    def is_done(self, job: Job) -> bool:
        """Return whether all results of a job are there, or their figures are kept; raise DataError if one is damaged.

        A table has figures in all cells of a result or in none, so one cell stands for all. Figures of an earlier
        version do not count.
        """
        kept = {
            (cell.model, cell.data, cell.test)
            for cell, figures in self.kept.items()
            if (result := self.result(cell)) is not None and figures.source == result.source
        }
        return all(
            (job.model.name, result.data.name, result.test.name) in kept or result.read() is not None
            for result in self.of(job)
        )


def needs_encoder(model: DeclaredModel) -> bool:
    """Return whether a model needs a pretrained encoder."""
    return not model.solver and bool(recipe(model.model).vectors)


def plan(experiment: Experiment, sets: Datasets, root: Path, runs: int | None, encoder: str | None) -> ExperimentPlan:
    """Plan the jobs of an experiment's table."""
    missing = {cell: reason for cell in experiment.cells() if (reason := _missing(experiment, sets, cell, encoder))}
    wanted: dict[tuple[str, str], dict[str, dict[str, DeclaredData]]] = {}
    for cell in experiment.cells():
        if cell not in missing:
            data = experiment.data[cell.data]
            stack = data.name if experiment.models[cell.model].solver else data.stack
            tests = wanted.setdefault((stack, cell.model), {}).setdefault(cell.data, {})
            tests[cell.test] = experiment.data[cell.test]
    order = list(dict.fromkeys(stack for stack, _ in wanted))  # stack by stack, so that stories stay in memory
    jobs, results = [], {}
    encoded = any(needs_encoder(experiment.models[name]) for _, name in wanted)
    identity = encoder_identity(encoder) if encoder is not None and encoded else None
    for stack, name in sorted(wanted, key=lambda key: order.index(key[0])):
        tests_by_training = {each: tuple(tests.values()) for each, tests in wanted[stack, name].items()}
        training_sets = tuple(experiment.data[each] for each in experiment.data if each in tests_by_training)
        model = experiment.models[name]
        job = _job(
            model,
            stack,
            training_sets,
            tests_by_training,
            sets,
            root,
            runs or model.runs or experiment.runs,
            encoder,
            identity,
        )
        jobs.append(job)
        for data in training_sets:
            for test in tests_by_training[data.name]:
                tested = digest(sets.identity(test, TEST)).hex()[:8]
                path = job.folder / f"{data.name}.{test.name}.{tested}.json"
                results[name, data.name, test.name] = Result(path, data, test)
    return ExperimentPlan(jobs, results, missing, identity)


def _job(
    model: DeclaredModel,
    stack: str,
    training_sets: tuple[DeclaredData, ...],
    tests: dict[str, tuple[DeclaredData, ...]],
    sets: Datasets,
    root: Path,
    runs: int,
    encoder: str | None,
    encoder_mark: str | None,
) -> Job:
    training = {**model.training, **training_sets[0].training}
    identity: dict[str, Any] = {"solver": model.solver}
    if not model.solver:
        made = recipe(model.model)
        identity = {
            "model": model.model,
            "version": made.version,  # stands for the default options and the code
            "options": {**made.options, **model.options},
            "training": Settings(**{**made.training, **training}).unusual(),
            "runs": runs,
            "encoder": encoder_mark if needs_encoder(model) else None,
            "lessons": [[each.name, sets.identity(each, TRAIN)] for each in training_sets],
        }
    folder = root / f"{model.name}.{stack}.{digest(identity).hex()[:8]}"
    return Job(model, training_sets, tests, runs, training, encoder if needs_encoder(model) else None, folder)


def _missing(experiment: Experiment, sets: Datasets, cell: TableCell, encoder: str | None) -> str:
    """Return why a cell has to be left out; empty if it has not."""
    if lacking := sets.lacks(experiment.data[cell.data]) or sets.lacks(experiment.data[cell.test]):
        return lacking
    model = experiment.models[cell.model]
    if needs_encoder(model) and encoder is None:
        return f"model '{model.model}' needs a pretrained encoder; give --encoder its folder"
    return ""


Counts = dict[str, list[int]]  # for every measure how many are right, and of how many


def count(examples: Sequence[Example], answers: Sequence[str]) -> Counts:
    """Count right answers under every measure."""
    tally = Tally()
    for example, answer in zip(examples, answers, strict=True):
        tally.add_exact(example, answer)
    return tally.counts()
