"""A run divided by files, wherever an engine likes; scores and predictions are those of one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from storyproof.datasets.manifest import file_sha256
from storyproof.datasets.reading import DataFile, Source
from storyproof.errors import ConfigError, DataError, ParseError
from storyproof.evaluation.answer_judge import AnswerJudge
from storyproof.evaluation.matching import exact
from storyproof.evaluation.options import Selection
from storyproof.evaluation.runs import Prediction
from storyproof.evaluation.scores import EXACTLY, Tally
from storyproof.solvers.solver import Divisible, Limited, ModelReference, Solver, answers_of, load_solver


@dataclass(frozen=True, slots=True)
class Answered:
    """What a solver made of one file.

    Attributes:
        tally: What is right.
        unknown_answers: How many answers the solver could not have given.
        predictions: All answers, in order.
        sha256: The hash of the file.
    """

    tally: Tally
    unknown_answers: int
    predictions: Sequence[Prediction]
    sha256: str


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """Answers the examples of files.

    Attributes:
        model: The solver.
        seed: For solvers that draw.
        encoder: Where the encoder of a trained run is, if it has moved.
        proved: Whether labels are those that follow from the text.
        exclude_memory_reality: Leave out questions that only check reading.
    """

    model: ModelReference
    seed: int
    encoder: str | None
    proved: bool
    exclude_memory_reality: bool

    def __call__(self, item: tuple[DataFile, str | None]) -> Answered:
        """Answer the examples of a file of a split."""
        file, split = item
        solver = _solver(self.model, self.seed, self.encoder)
        judge = exact_judge(solver)
        predictions = _Collected()
        with file.opened() as path:
            source = Source((DataFile(str(path)),), split)
            chosen = Selection(source, self.proved, exclude_memory_reality=self.exclude_memory_reality)
            try:
                for answer in answers_of(solver, chosen.examples):
                    judge.add(answer, predictions)
            except ParseError as error:
                raise DataError(f"{source.name}: {error}") from error
            return Answered(judge.tally, judge.unknown_answers, predictions.found, file_sha256(path))


class _Collected:
    """Predictions in memory."""

    def __init__(self) -> None:
        self.found: list[Prediction] = []

    def add(self, prediction: Prediction) -> None:
        self.found.append(prediction)


def _solver(model: ModelReference, seed: int, encoder: str | None) -> Solver:
    """Load a solver once for all files that a process reads."""
    return _loaded(model, id(model.value), seed, encoder)


@lru_cache(maxsize=1)
def _loaded(model: ModelReference, value: int, seed: int, encoder: str | None) -> Solver:
    """Load a solver; `value` tells apart what the same file held at two times."""
    return load_solver(model, seed, encoder)


def exact_judge(solver: Solver) -> AnswerJudge:
    """Return what judges answers by equality with the label."""
    can_answer = solver.can_answer if isinstance(solver, Limited) else None
    return AnswerJudge({EXACTLY: exact}, EXACTLY, free_text=False, can_answer=can_answer)


def refuse_indivisible(model: ModelReference, seed: int, encoder: str | None, limits: Mapping[str, int | None]) -> None:
    """Raise ConfigError if a run cannot be divided by files with the same result."""
    reason = why_indivisible(model, seed, encoder, limits)
    if reason is not None:
        raise ConfigError(f"{reason}; leave out --engine and --workers.")


def why_indivisible(
    model: ModelReference, seed: int, encoder: str | None, limits: Mapping[str, int | None]
) -> str | None:
    """Return why a run cannot be divided by files with the same result; None if it can.

    Args:
        model: The solver.
        seed: For solvers that draw.
        encoder: Where the encoder of a trained run is, if it has moved.
        limits: The most that is to be asked, by name.
    """
    for name, value in limits.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            return f"{option} is {value}, which takes the first ones in order, so files cannot be answered apart"
    if model.value is not None and not model.target:
        return (
            f"{model.name} is an object of this program, which other processes do not have, unlike its class "
            "(file.py:Class)"
        )
    if model.is_language_model:
        return f"{model.name} is a language model, to which one process sends many requests at a time (--concurrency)"
    if not isinstance(_solver(model, seed, encoder), Divisible):
        return f"{model.name} looks at all examples at once, so files cannot be answered apart"
    return None
