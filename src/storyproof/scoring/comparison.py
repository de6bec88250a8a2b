"""The verb `compare`: two runs on the same questions, paired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.scoring.intervals import LEVEL, Interval, difference_interval, mean_interval
from storyproof.scoring.permutation import permutation_p
from storyproof.scoring.runs.outcome import Evaluation

Run = str | Path | Mapping[str, Any] | Evaluation


class Prediction(NamedTuple):
    """What a comparison needs to know of an answer."""

    story: str
    question_type: str
    target: str | None
    right: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """One score of both runs.

    Attributes:
        of: Of how many questions, or stories.
        first: The first run's score.
        second: The second run's.
        difference: Second less first, paired.
        p: How often a gap at least as great comes by chance, by an exact permutation test over stories.
    """

    of: int
    first: Interval
    second: Interval
    difference: Interval
    p: float

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        shown = {name: getattr(self, name).as_dict() for name in ("first", "second", "difference")}
        return {"of": self.of, **shown, "p": self.p}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, question by question.

    Attributes:
        first: The first run's model.
        second: The second run's model.
        questions: How many questions both answered; only these count.
        stories: Of how many stories.
        only_first: Questions that only the first run answered; the other failed, or was not asked.
        only_second: Questions that only the second run answered.
        accuracy: Right answers.
        joint: Stories all of whose questions are right, of those whose questions both runs answered all; None if none.
        by_question_type: Right answers by question type.
        agreement: How many questions `both`, only the `first`, only the `second` and `neither` answered rightly.
    """

    first: str
    second: str
    questions: int
    stories: int
    only_first: int
    only_second: int
    accuracy: Gap
    joint: Gap | None
    by_question_type: dict[str, Gap]
    agreement: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        names = ("first", "second", "questions", "stories", "only_first", "only_second", "agreement")
        return {
            **{name: getattr(self, name) for name in names},
            "level": LEVEL,
            "accuracy": self.accuracy.as_dict(),
            "joint": None if self.joint is None else self.joint.as_dict(),
            "by_question_type": {name: gap.as_dict() for name, gap in self.by_question_type.items()},
        }


def compare(first: Run, second: Run) -> Comparison:
    """Compare two runs on the questions that both answered.

    Args:
        first: What `evaluate` wrote, as a file or read already; `FILE:MODEL` chooses one of several in a file.
        second: The other run.

    Raises:
        DataError: If a run cannot be read, or the two do not belong together.
    """
    (one, ours), (other, theirs) = _read(first), _read(second)
    shared = [name for name in ours if name in theirs]
    if not shared:
        raise DataError(
            f"{one} and {other} share no questions (such as {next(iter(ours))} and {next(iter(theirs))}); compare runs "
            "on the same data and split."
        )
    _check(one, other, ours, theirs, shared)
    pairs = [(ours[name], theirs[name]) for name in shared]
    right = np.array([[mine.right, yours.right] for mine, yours in pairs], np.bool_)
    stories = np.array([mine.story for mine, _ in pairs])
    types = np.array([mine.question_type for mine, _ in pairs])
    partial = {
        each.story
        for mine, yours in ((ours, theirs), (theirs, ours))
        for name, each in mine.items()
        if name not in yours
    }
    whole = ~np.isin(stories, sorted(partial)) if partial else np.ones(len(stories), np.bool_)
    tally = np.bincount(right[:, 0] * 2 + right[:, 1], minlength=4).tolist()
    return Comparison(
        first=one,
        second=other,
        questions=len(shared),
        stories=len(np.unique(stories)),
        only_first=len(ours) - len(shared),
        only_second=len(theirs) - len(shared),
        accuracy=_gap(right, stories),
        joint=_gap(*_jointly(right[whole], stories[whole])) if whole.any() else None,
        by_question_type={str(name): _gap(right[types == name], stories[types == name]) for name in np.unique(types)},
        agreement=dict(zip(("neither", "second", "first", "both"), tally, strict=True)),
    )


def _gap(right: npt.NDArray[np.bool_], stories: npt.NDArray[Any]) -> Gap:
    _, places = np.unique(stories, return_inverse=True)
    sums = np.bincount(places, weights=right[:, 1].astype(np.float64) - right[:, 0])
    return Gap(
        of=len(right),
        first=mean_interval(right[:, 0], stories),
        second=mean_interval(right[:, 1], stories),
        difference=difference_interval(right[:, 0], right[:, 1], stories),
        p=permutation_p(sums),
    )


def _jointly(
    right: npt.NDArray[np.bool_], stories: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Say of each story whether all of its questions are right."""
    names, places = np.unique(stories, return_inverse=True)
    wrong = [np.bincount(places, weights=~right[:, side]) for side in (0, 1)]
    return np.stack(wrong, axis=1) == 0, np.arange(len(names))


def _check(one: str, other: str, ours: dict[str, Prediction], theirs: dict[str, Prediction], shared: list[str]) -> None:
    """Make sure that what has the same id is the same question."""
    for name in shared:
        mine, yours = ours[name], theirs[name]
        if mine.story != yours.story or mine.question_type != yours.question_type:
            raise DataError(f"{name} is another question in {one} than in {other}; compare runs on the same data.")
        if mine.target is not None and yours.target is not None and mine.target != yours.target:
            raise DataError(
                f"{name} was scored against '{mine.target}' in {one} and against '{yours.target}' in {other}; score "
                "both on the same labels first, with rescore or evaluate --labels."
            )


def _read(run: Run) -> tuple[str, dict[str, Prediction]]:
    """Read one run: its model, and what it answered by id."""
    if isinstance(run, Evaluation):
        return run.model, _predictions(run.predictions, run.model)
    if isinstance(run, Mapping):
        return str(run.get("model") or "the run"), _predictions(run.get("predictions"), str(run.get("model")))
    path, model = Path(run), ""
    if not path.exists() and ":" in str(run):
        place, _, model = str(run).partition(".json:")
        path = Path(f"{place}.json") if model else path
    try:
        read = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; give a file that evaluate wrote.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: no valid JSON ({error}); expected a run that evaluate wrote.") from error
    runs = read if isinstance(read, list) else [read]
    runs = [each for each in runs if isinstance(each, dict) and "predictions" in each]
    names = [str(each.get("model") or path.stem) for each in runs]
    if not runs:
        raise DataError(f"{path} holds no run; expected an object with 'predictions', as evaluate --json writes it.")
    if model and model not in names:
        raise DataError(f"{path} holds no run of '{model}', only: {', '.join(names)}.")
    if not model and len(runs) > 1:
        raise DataError(f"{path} holds {len(runs)} runs; choose one, such as {path}:{names[0]}.")
    place_of = names.index(model) if model else 0
    prompt = runs[place_of].get("prompt")
    asked = f" ({prompt['name']})" if isinstance(prompt, dict) and prompt.get("name") else ""
    return names[place_of] + asked, _predictions(runs[place_of]["predictions"], str(path))


def _predictions(rows: Any, where: str) -> dict[str, Prediction]:
    found: dict[str, Prediction] = {}
    for number, row in enumerate(rows or ()):
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str):
            raise DataError(f"{where}, prediction {number}: found {row!r:.80}; expected an object with 'id'.")
        if row["id"] in found:
            raise DataError(f"{where} answers {row['id']} more than once; keep one answer for each id.")
        if row.get("failed"):
            continue  # neither right nor wrong
        right, answer, target = row.get("right"), row.get("answer"), row.get("target")
        if not isinstance(right, bool):
            if not isinstance(answer, str) or not isinstance(target, str):
                raise DataError(
                    f"{where}, prediction {number}: neither 'right' nor both 'answer' and 'target'; run evaluate again."
                )
            right = answer == target
        story, kind = row.get("story_id"), row.get("question_type")
        found[row["id"]] = Prediction(str(story or row["id"]), str(kind or ""), target, right)
    if not found:
        raise DataError(f"{where} holds no answers to compare; run evaluate --json again, which records them.")
    return found
