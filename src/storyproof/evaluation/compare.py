"""The verb `compare`: two runs on the same questions, paired; and how a score depends on prompt and seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.evaluation.runs import Evaluation, Prediction, RecordedRun, RunSource, read_runs
from storyproof.evaluation.scores import EXACTLY
from storyproof.stats import LEVEL, Interval, difference_interval, mean_interval, permutation_p

_MOST_PARTS = 5_040  # into which an answer is divided for the exact test; finer shares are rounded to these


class Judgement(NamedTuple):
    """What a comparison needs to know of the answer to a question.

    Attributes:
        story: The story.
        question_type: As published.
        question: What was asked.
        target: The label.
        right: Whether it is right, 0 or 1; of several people's answers, the share that is right.
        given: How many answers these are.
    """

    story: str
    question_type: str
    question: str | None
    target: str | None
    right: float
    given: int


class JudgedRun(NamedTuple):
    """A run with what counts of its answers.

    Attributes:
        run: The run.
        answers: By question.
        judged: All answers one by one, and whether each is right.
    """

    run: RecordedRun
    answers: dict[str, Judgement]
    judged: tuple[tuple[Prediction, bool], ...]


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
        """Return plain values for JSON."""
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
        agreement: How many questions `both`, only the `first`, only the `second` and `neither` answered rightly; of
            several people, more than half.
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
        """Return plain values for JSON."""
        names = ("first", "second", "questions", "stories", "only_first", "only_second", "agreement")
        return {
            **{name: getattr(self, name) for name in names},
            "level": LEVEL,
            "accuracy": self.accuracy.as_dict(),
            "joint": None if self.joint is None else self.joint.as_dict(),
            "by_question_type": {name: gap.as_dict() for name, gap in self.by_question_type.items()},
        }


def compare(first: RunSource, second: RunSource) -> Comparison:
    """Compare two runs on the questions that both answered.

    Args:
        first: What `evaluate` wrote, as a file or read already; `FILE:MODEL` chooses one of several in a file.
        second: The other run.

    Raises:
        DataError: If a run cannot be read, or the two do not belong together.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> runs = [storyproof.evaluate(model, "data") for model in ("random", "oracle")]
        >>> found = storyproof.compare(*runs)
        >>> found.questions, found.accuracy.second.value
        (180, 1.0)
    """
    return compare_judged(judge_run(_read(first)), judge_run(_read(second)))


def compare_judged(first: JudgedRun, second: JudgedRun, *, by_type: bool = True) -> Comparison:
    """Compare two runs that are read already, as `compare` does; by question type as well, or only as a whole.

    Raises:
        DataError: If the two do not belong together.
    """
    runs = first, second
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
    right = np.array([[mine.right, yours.right] for mine, yours in pairs], np.float64)
    stories = np.array([mine.story for mine, _ in pairs])
    types = np.array([mine.question_type for mine, _ in pairs])
    parts = lcm(*{each.given for pair in pairs for each in pair})
    whole = _whole(*runs, stories)
    mostly = (right > 0.5).astype(np.int64)
    tally = np.bincount(mostly[:, 0] * 2 + mostly[:, 1], minlength=4).tolist()
    return Comparison(
        first=one,
        second=other,
        questions=len(shared),
        stories=len(np.unique(stories)),
        only_first=len(ours) - len(shared),
        only_second=len(theirs) - len(shared),
        accuracy=_gap(right, stories, parts),
        joint=_gap(*_jointly(right[whole], stories[whole])) if whole.any() else None,
        by_question_type={
            str(name): _gap(right[types == name], stories[types == name], parts) for name in np.unique(types) if by_type
        },
        agreement=dict(zip(("neither", "second", "first", "both"), tally, strict=True)),
    )


def _whole(first: JudgedRun, second: JudgedRun, stories: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return for each question whether both runs answered all of its story."""
    ours, theirs = first.answers, second.answers
    partial = {(ours.get(name) or theirs[name]).story for name in ours.keys() ^ theirs.keys()}
    whole = np.array([story not in partial for story in stories.tolist()], np.bool_)
    # Questions that neither answered are in no file; the number of whole stories shows whether there are any.
    count = len(np.unique(stories[whole]))
    if any(each.run.stories is not None and each.run.stories < count for each in (first, second)):
        whole[:] = False
    return whole


def _gap(right: npt.NDArray[np.float64], stories: npt.NDArray[Any], parts: int = 1) -> Gap:
    """Compare the shares of right answers, which are multiples of 1/parts; the test counts in the smallest of these."""
    _, places = np.unique(stories, return_inverse=True)
    sums = np.bincount(places, weights=right[:, 1] - right[:, 0])
    return Gap(
        of=len(right),
        first=mean_interval(right[:, 0], stories),
        second=mean_interval(right[:, 1], stories),
        difference=difference_interval(right[:, 0], right[:, 1], stories),
        p=permutation_p(np.rint(sums * min(parts, _MOST_PARTS))),
    )


def _jointly(
    right: npt.NDArray[np.float64], stories: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return for each story whether all of its questions are right, 0 or 1."""
    names, places = np.unique(stories, return_inverse=True)
    wrong = [np.bincount(places, weights=right[:, side] < 1) for side in (0, 1)]
    return (np.stack(wrong, axis=1) == 0).astype(np.float64), np.arange(len(names))


def _check_matching(one: str, other: str, first: JudgedRun, second: JudgedRun) -> None:
    """Check that both were judged by the same matcher; an answer chosen from candidates is right by any."""
    mine, yours = first.run.matching, second.run.matching
    if len({mine, yours} - {"", EXACTLY}) > 1:
        raise DataError(
            f"{one} was judged by {mine} matching and {other} by {yours} matching, which cannot be compared; evaluate "
            f"both with the same --matching: the same command with --matching {mine} needs no new requests."
        )


def _check_questions(one: str, other: str, first: JudgedRun, second: JudgedRun, shared: list[str]) -> None:
    """Check that what has the same id is the same question, and has the same label."""
    pairs = [(name, first.answers[name], second.answers[name]) for name in shared]
    # A question's type says whether the belief is false, which depends on the label.
    alike = first.run.labels == second.run.labels
    for name, mine, yours in pairs:
        differs = None not in (mine.question, yours.question) and mine.question != yours.question
        typed = alike and mine.target == yours.target and mine.question_type != yours.question_type
        if mine.story != yours.story or differs or typed:
            raise DataError(f"{name} is another question in {one} than in {other}; compare runs on the same data.")
    labelled = [each for each in pairs if None not in (each[1].target, each[2].target)]
    differing = [(name, mine, yours) for name, mine, yours in labelled if mine.target != yours.target]
    if differing:
        name, mine, yours = differing[0]
        raise DataError(
            f"{name} was scored against '{mine.target}' in {one} and against '{yours.target}' in {other}, and so "
            f"{len(differing):,} of {len(labelled):,} labels differ; score both on the same labels first: "
            "evaluate with --labels, or rescore."
        )


def _names(first: JudgedRun, second: JudgedRun) -> tuple[str, str]:
    """Name two runs by model and prompt, and where these are the same by what differs."""
    mine, yours = first.run, second.run
    if mine.title == yours.title:
        for key, attribute in (*((name, name) for name in ("labels", "seed", "split", "data")), ("file", "path")):
            one, other = getattr(mine, attribute), getattr(yours, attribute)
            if one != other and one and other:
                return f"{mine.title}, {key} {one}", f"{yours.title}, {key} {other}"
    return mine.title, yours.title


def _read(source: RunSource) -> RecordedRun:
    """Read one run; `FILE.json:MODEL` and `FILE.json:MODEL (PROMPT)` choose one of several."""
    chosen = ""
    if isinstance(source, str | Path) and not Path(source).exists():
        place, _, chosen = str(source).partition(".json:")
        source = f"{place}.json" if chosen else source
    return _choose(read_runs(source), chosen)


def _choose(runs: Sequence[RecordedRun], chosen: str) -> RecordedRun:
    """Choose one of the runs of a file by its model, or by its model and prompt."""
    names, where = [run.title for run in runs], runs[0].where
    fitting = [run for run in runs if chosen in ("", run.model, run.title)]
    if not fitting:
        raise DataError(f"{where} contains no run of '{chosen}', only: {', '.join(names)}.")
    if len(fitting) > 1:
        of, single = f" of '{chosen}'" if chosen else "", [name for name in names if names.count(name) == 1]
        way = f"choose one, such as '{where}:{single[0]}'" if single else "give the file that evaluate wrote for each"
        raise DataError(f"{where} contains {len(fitting)} runs{of}; {way}.")
    return fitting[0]


def judge_run(run: RecordedRun) -> JudgedRun:
    """Return a run with what counts of each of its answers.

    Raises:
        DataError: If there are no answers, or one neither says whether it is right nor what was right.
    """
    judged: list[tuple[Prediction, bool]] = []
    judgements: dict[str, Judgement] = {}
    for number, each in enumerate(run.predictions):
        if each.failed:
            continue  # neither right nor wrong
        right = each.right
        if not isinstance(right, bool):
            if each.answer is None or each.target is None:
                raise DataError(
                    f"{run.where}, prediction {number}: neither 'right' nor both 'answer' and 'target'; run evaluate "
                    "again."
                )
            right = each.answer == each.target
        judged.append((each, right))
        before = judgements.get(each.id)
        if before is None:
            about = (each.story_id or each.id, each.question_type or "", each.question, each.target)
            judgements[each.id] = Judgement(*about, float(right), 1)
        else:
            given = before.given + 1
            judgements[each.id] = before._replace(right=(before.right * before.given + right) / given, given=given)
    if not judged:
        raise DataError(
            f"{run.where} contains no answers to compare; run evaluate again with --output-dir, which records them."
        )
    return JudgedRun(run, judgements, tuple(judged))


def sensitivity(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return for each model how its accuracy spreads over prompts and over seeds.

    Returns:
        By model: lowest, highest and mean accuracy over all of its runs; `prompts` (the mean of each) and `seeds` (the
        same), where there are several.
    """
    models: dict[str, list[Evaluation]] = defaultdict(list)
    for each in evaluations:
        models[each.model].append(each)
    return {model: _spread(runs) for model, runs in models.items() if len(runs) > 1}


def _spread(runs: Sequence[Evaluation]) -> dict[str, Any]:
    scores = [run.scores.accuracy for run in runs]
    spread: dict[str, Any] = {
        "runs": len(runs),
        "lowest": min(scores),
        "highest": max(scores),
        "mean": fmean(scores),
        "deviation": stdev(scores),
    }
    by: dict[str, dict[str, list[float]]] = {"prompts": defaultdict(list), "seeds": defaultdict(list)}
    for run in runs:
        by["prompts"][prompt_of(run)].append(run.scores.accuracy)
        by["seeds"][str(run.seed)].append(run.scores.accuracy)
    for name, groups in by.items():
        if len(groups) > 1:
            spread[name] = {group: fmean(values) for group, values in groups.items()}
    return spread


def prompt_of(run: Evaluation) -> str:
    """Return the name of the prompt that a run was asked with; empty for solvers that have none."""
    prompt = run.details.get("prompt") or {}
    return str(prompt.get("name", "")) + (" without conventions" if prompt.get("conventions") is False else "")
