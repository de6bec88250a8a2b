"""What an experiment's table comes down to: jobs, each a model trained on data sets at once, and their results' files.

A job's folder is named after what makes it what it is, so that tables share what they have in common, and a change of
settings or data is another job. It holds one folder a data set with the trained runs, and one small file a data set and
test set with every run's counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storyproof.errors import DataError
from storyproof.experiments.declaring import Cell, Data, Experiment, Model
from storyproof.experiments.files import read_json, write_json
from storyproof.experiments.measures import Counts
from storyproof.experiments.sets import TEST, TRAIN, Sets
from storyproof.seeds import digest
from storyproof.solvers.neural.encoder_identity import encoder_identity
from storyproof.solvers.neural.recipes import recipe
from storyproof.solvers.neural.settings import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """A model on data sets that it is trained on together.

    Attributes:
        model: What is trained, or a solver that need not be.
        lessons: The data sets.
        tests: For each of them what it is tested on.
        runs: How many runs on each.
        training: How it is trained.
        encoder: A pretrained encoder's folder.
        folder: Where it is kept.
    """

    model: Model
    lessons: tuple[Data, ...]
    tests: dict[str, tuple[Data, ...]]
    runs: int
    training: dict[str, Any]
    encoder: str | None
    folder: Path

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return f"{self.model.name} on {', '.join(each.name for each in self.lessons)}"

    def place(self, lesson: Data) -> Path:
        """Say where a data set's runs are kept."""
        return self.folder / lesson.name


@dataclass(frozen=True, slots=True)
class Result:
    """What came out of a job's runs on one data set, tested on one: counts a run, and where they lie."""

    path: Path
    lesson: Data
    test: Data

    def write(self, job: Job, runs: list[Counts]) -> None:
        """Write every run's counts."""
        told = {"model": job.model.name, "data": self.lesson.name, "test": self.test.name, "runs": runs}
        write_json(self.path, told)

    def read(self) -> list[Counts] | None:
        """Read every run's counts; None if they are not there yet.

        Raises:
            DataError: If the file is damaged.
        """
        if not self.path.is_file():
            return None
        plain = read_json(self.path)
        try:
            runs = [{name: [int(right), int(of)] for name, (right, of) in run.items()} for run in plain["runs"]]
            if not runs or not all(0 <= right <= of for run in runs for right, of in run.values()):
                raise ValueError("its counts make no sense")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{self.path} is damaged ({error}); delete it, and run the experiment again.") from error
        return runs


@dataclass(frozen=True, slots=True)
class Plan:
    """All jobs of an experiment, where each cell's result is, and what is left out and why."""

    jobs: list[Job]
    results: dict[tuple[str, str, str], Result]
    missing: dict[Cell, str]
    mark: str | None  # which encoder is given, wherever it lies; its files are read for it, so it is asked once

    def result(self, cell: Cell) -> Result | None:
        """Find a cell's result."""
        return self.results.get((cell.model, cell.data, cell.test))

    def of(self, job: Job) -> list[Result]:
        """List the results of a job."""
        return [
            self.results[job.model.name, lesson.name, test.name]
            for lesson in job.lessons
            for test in job.tests[lesson.name]
        ]


def needs_encoder(model: Model) -> bool:
    """Say whether a model stands on a pretrained encoder."""
    return not model.solver and bool(recipe(model.model).vectors)


def plan(experiment: Experiment, sets: Sets, root: Path, runs: int | None, encoder: str | None) -> Plan:
    """Work out what is to be done for an experiment's table."""
    missing = {cell: reason for cell in experiment.cells() if (reason := _lacking(experiment, sets, cell, encoder))}
    wanted: dict[tuple[str, str], dict[str, dict[str, Data]]] = {}
    for cell in experiment.cells():
        if cell not in missing:
            lesson = experiment.data[cell.data]
            stack = lesson.name if experiment.models[cell.model].solver else lesson.stack
            tests = wanted.setdefault((stack, cell.model), {}).setdefault(cell.data, {})
            tests[cell.test] = experiment.data[cell.test]
    order = list(dict.fromkeys(stack for stack, _ in wanted))  # one stack after the other: their stories are at hand
    jobs, results = [], {}
    encoded = any(needs_encoder(experiment.models[name]) for _, name in wanted)
    mark = encoder_identity(encoder) if encoder is not None and encoded else None
    for stack, name in sorted(wanted, key=lambda key: order.index(key[0])):
        found = {data: tuple(tests.values()) for data, tests in wanted[stack, name].items()}
        lessons = tuple(experiment.data[each] for each in experiment.data if each in found)
        model = experiment.models[name]
        job = _job(model, stack, lessons, found, sets, root, runs or experiment.runs, encoder, mark)
        jobs.append(job)
        for lesson in lessons:
            for test in found[lesson.name]:
                tested = digest(sets.identity(test, TEST)).hex()[:8]
                path = job.folder / f"{lesson.name}.{test.name}.{tested}.json"
                results[name, lesson.name, test.name] = Result(path, lesson, test)
    return Plan(jobs, results, missing, mark)


def _job(
    model: Model,
    stack: str,
    lessons: tuple[Data, ...],
    tests: dict[str, tuple[Data, ...]],
    sets: Sets,
    root: Path,
    runs: int,
    encoder: str | None,
    mark: str | None,
) -> Job:
    training = {**model.training, **lessons[0].training}
    identity: dict[str, Any] = {"solver": model.solver}
    if not model.solver:
        made = recipe(model.model)
        identity = {
            "model": model.model,
            "version": made.version,  # stands for what is not written out here: usual options, and code
            "options": {**made.options, **model.options},
            "training": Settings(**{**made.training, **training}).unusual(),
            "runs": runs,
            "encoder": mark if needs_encoder(model) else None,
            "lessons": [[each.name, sets.identity(each, TRAIN)] for each in lessons],
        }
    folder = root / f"{model.name}.{stack}.{digest(identity).hex()[:8]}"
    return Job(model, lessons, tests, runs, training, encoder if needs_encoder(model) else None, folder)


def _lacking(experiment: Experiment, sets: Sets, cell: Cell, encoder: str | None) -> str:
    """Say why a cell cannot be had; nothing if it can."""
    model = experiment.models[cell.model]
    if needs_encoder(model) and encoder is None:
        return f"model '{model.model}' stands on a pretrained encoder; give --encoder its folder"
    return sets.lacks(experiment.data[cell.data]) or sets.lacks(experiment.data[cell.test])
