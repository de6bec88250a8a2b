"""The verb `evaluate`: put a solver through a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.datasets.examples import read_examples
from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError, ParseError, UnknownNameError
from storyproof.scoring.metrics import Scores, score
from storyproof.solvers.solver import load_solver

GIVEN, PROVED = "given", "proved"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A solver's scores on a dataset, with what is needed to repeat them, and every answer beside its label."""

    model: str
    data: str
    split: str | None
    labels: str
    seed: int
    scores: Scores
    predictions: list[dict[str, str]]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        about = {name: getattr(self, name) for name in ("model", "data", "split", "labels", "seed")}
        return {"storyproof": __version__, **about, **self.scores.as_dict(), "predictions": self.predictions}


def evaluate(
    model: str,
    data: str | Path,
    *,
    split: str | None = None,
    labels: str = GIVEN,
    max_stories: int | None = None,
    seed: int = 0,
) -> Evaluation:
    """Score a solver on a dataset.

    Args:
        model: The solver's name.
        data: A dataset folder or a file.
        split: Which split of a folder; by default test.
        labels: Score against the labels as `given`, or against the answers that are `proved` from the text.
        max_stories: Use only so many stories.
        seed: For solvers that draw.

    Raises:
        ConfigError: If there is no such solver.
        DataError: If the data cannot be read.
    """
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    if max_stories is not None and max_stories < 1:
        raise ConfigError(f"--max-stories is {max_stories}; use 1 or more.")
    solver = load_solver(model, seed)
    source = find_source(data, split)
    examples = read_examples(source, proved=labels == PROVED, max_stories=max_stories)
    if not examples:
        raise DataError(f"{source.name} holds no questions, so there is nothing to score; make or choose other data.")
    try:
        answers = solver.predict(examples)
    except ParseError as error:
        raise DataError(f"{source.name}: {error}") from error
    predictions = [
        {
            "id": example.id,
            "story_id": example.story_id,
            "question_type": example.question_type,
            "answer": answer,
            "target": example.answer,
        }
        for example, answer in zip(examples, answers, strict=True)
    ]
    return Evaluation(model, str(data), source.split, labels, seed, score(examples, answers), predictions)
