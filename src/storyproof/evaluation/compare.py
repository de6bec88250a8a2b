"""The verb `compare`: two runs on the same questions, paired."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.evaluation.evaluate import EXACTLY
from storyproof.evaluation.permutation import permutation_p
from storyproof.evaluation.runs.outcome import Evaluation
from storyproof.intervals import LEVEL, Interval, difference_interval, mean_interval

Run = str | Path | Mapping[str, Any] | Evaluation


class Prediction(NamedTuple):
    """What a comparison needs to know of an answer."""

    story: str
    question_type: str
    question: str | None
    target: str | None
    right: bool


class _Read(NamedTuple):
    """A run: what tells it from others, how many stories it answered as a whole, and what it answered by id."""

    about: dict[str, str]
    stories: int | None
    answers: dict[str, Prediction]


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
        first: The first run's model and prompt, and where the second's are the same, what differs.
        second: The same of the second run.
        questions: How many questions both answered; only these count.
        stories: Of how many stories.
        only_first: Questions that only the first run answered; the other failed, or was not asked.
        only_second: Questions that only the second run answered.
        accuracy: Right answers.
        joint: Stories all of whose questions are right, of those whose questions both runs answered all; None if none,
            or if it cannot be told which.
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
    runs = _read(first), _read(second)
    (one, other), (ours, theirs) = _names(*runs), (run.answers for run in runs)
    shared = [name for name in ours if name in theirs]
    if not shared:
        raise DataError(
            f"{one} and {other} share no questions (such as {next(iter(ours))} and {next(iter(theirs))}); compare runs "
            "on the same data and split."
        )
    _check_matching(one, other, *runs)
    _check_questions(one, other, *runs, shared)
    pairs = [(ours[name], theirs[name]) for name in shared]
    right = np.array([[mine.right, yours.right] for mine, yours in pairs], np.bool_)
    stories = np.array([mine.story for mine, _ in pairs])
    types = np.array([mine.question_type for mine, _ in pairs])
    whole = _whole(*runs, stories)
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


def _whole(first: _Read, second: _Read, stories: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say of each question whether both runs answered all of its story."""
    ours, theirs = first.answers, second.answers
    partial = {(ours.get(name) or theirs[name]).story for name in ours.keys() ^ theirs.keys()}
    whole = np.array([story not in partial for story in stories.tolist()], np.bool_)
    # What neither answered is in no file; that there is such is seen by how many whole stories a run counts.
    count = len(np.unique(stories[whole]))
    if any(run.stories is not None and run.stories < count for run in (first, second)):
        whole[:] = False
    return whole


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


def _check_matching(one: str, other: str, first: _Read, second: _Read) -> None:
    """Make sure that both were judged by the same matcher; what is chosen from candidates is right by any."""
    mine, yours = first.about["matching"], second.about["matching"]
    if len({mine, yours} - {"", EXACTLY}) > 1:
        raise DataError(
            f"{one} was judged by {mine} matching and {other} by {yours} matching, which cannot be compared; evaluate "
            f"both with the same --matching: the same command with --matching {mine} asks nothing again."
        )


def _check_questions(one: str, other: str, first: _Read, second: _Read, shared: list[str]) -> None:
    """Make sure that what has the same id is the same question, and has the same label."""
    pairs = [(name, first.answers[name], second.answers[name]) for name in shared]
    # A question's type says whether the belief is false, which hangs on the label.
    alike = first.about["labels"] == second.about["labels"]
    for name, mine, yours in pairs:
        asked = None not in (mine.question, yours.question) and mine.question != yours.question
        typed = alike and mine.target == yours.target and mine.question_type != yours.question_type
        if mine.story != yours.story or asked or typed:
            raise DataError(f"{name} is another question in {one} than in {other}; compare runs on the same data.")
    labelled = [each for each in pairs if None not in (each[1].target, each[2].target)]
    differing = [(name, mine, yours) for name, mine, yours in labelled if mine.target != yours.target]
    if differing:
        name, mine, yours = differing[0]
        raise DataError(
            f"{name} was scored against '{mine.target}' in {one} and against '{yours.target}' in {other}, and so "
            f"{len(differing):,} of {len(labelled):,} labels differ; score both on the same labels first, with "
            "evaluate --labels or rescore."
        )


def _names(first: _Read, second: _Read) -> tuple[str, str]:
    """Name two runs by model and prompt, and where these are the same by what differs."""
    names = [_model_and_prompt(run.about) for run in (first, second)]
    if names[0] == names[1]:
        for key in ("labels", "seed", "split", "data", "file"):
            mine, yours = first.about[key], second.about[key]
            if mine != yours and mine and yours:
                return f"{names[0]}, {key} {mine}", f"{names[1]}, {key} {yours}"
    return names[0], names[1]


def _model_and_prompt(about: Mapping[str, str]) -> str:
    return f"{about['model']} ({about['prompt']})" if about["prompt"] else about["model"]


def _read(run: Run) -> _Read:
    """Read one run."""
    if isinstance(run, Evaluation):
        return _told({**run.about(), "predictions": run.predictions}, run.path, run.model)
    if isinstance(run, Mapping):
        return _told(run, None, "the run")
    path, chosen = Path(run), ""
    if not path.exists() and ":" in str(run):
        place, _, chosen = str(run).partition(".json:")
        path = Path(f"{place}.json") if chosen else path
    try:
        read = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}; give a file that evaluate wrote.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: no valid JSON ({error}); expected a run that evaluate wrote.") from error
    runs = [each for each in (read if isinstance(read, list) else [read]) if isinstance(each, dict)]
    runs = [each for each in runs if "predictions" in each]
    if not runs:
        raise DataError(f"{path} holds no run; expected an object with 'predictions', as evaluate --json writes it.")
    return _told(_choose(runs, path, chosen), path, path.stem)


def _choose(runs: Sequence[dict[str, Any]], path: Path, chosen: str) -> dict[str, Any]:
    """Choose one of the runs of a file by its model, or by its model and prompt."""
    abouts = [_about(each, path, path.stem) for each in runs]
    names = [_model_and_prompt(about) for about in abouts]
    fitting = [place for place, name in enumerate(names) if chosen in ("", abouts[place]["model"], name)]
    if not fitting:
        raise DataError(f"{path} holds no run of '{chosen}', only: {', '.join(names)}.")
    if len(fitting) > 1:
        of, single = f" of '{chosen}'" if chosen else "", [name for name in names if names.count(name) == 1]
        way = f"choose one, such as '{path}:{single[0]}'" if single else "give the file that evaluate wrote for each"
        raise DataError(f"{path} holds {len(fitting)} runs{of}; {way}.")
    return runs[fitting[0]]


def _about(run: Mapping[str, Any], path: Path | None, name: str) -> dict[str, str]:
    prompt = run.get("prompt")
    about = {
        key: "" if run.get(key) is None else str(run[key]) for key in ("matching", "labels", "seed", "split", "data")
    }
    about["model"], about["file"] = str(run.get("model") or name), "" if path is None else str(path)
    about["prompt"] = str(prompt.get("name") or "") if isinstance(prompt, Mapping) else ""
    return about


def _told(run: Mapping[str, Any], path: Path | None, name: str) -> _Read:
    about = _about(run, path, name)
    answers = _predictions(run.get("predictions"), about["file"] or about["model"])
    stories = run.get("stories") if isinstance(run.get("stories"), int) else None
    return _Read(about, stories, answers)


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
        found[row["id"]] = Prediction(str(story or row["id"]), str(kind or ""), row.get("question"), target, right)
    if not found:
        raise DataError(f"{where} holds no answers to compare; run evaluate --json again, which records them.")
    return found
