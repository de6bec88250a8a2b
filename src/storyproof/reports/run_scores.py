"""Scores of runs, what can be reached without reasoning, and differences between solvers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeGuard

import numpy as np

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.errors import StoryproofError
from storyproof.evaluation.compare import compare_judged
from storyproof.families.family import family_of
from storyproof.reports.run_data import AskedQuestion, Board, SolverRun
from storyproof.solvers.baselines import ENDS_OF_SCALE
from storyproof.stats import Flags, Interval, Ints, gap_interval, mean_interval

SIGNIFICANT = 0.05
FEW = 10  # stories, below which an interval says little

MODEL, PEOPLE, BASELINE = "model", "people", "baseline"  # kinds of solvers
_BASELINES = ENDS_OF_SCALE | {"rules"}


@dataclass(frozen=True, slots=True)
class Score:
    """A share of right answers.

    Attributes:
        value: The share.
        low: The lower end of its interval.
        high: The upper end.
        of: Of how many questions, or stories.
        stories: Of how many stories; intervals over fewer than ten mean little.
    """

    value: float
    low: float
    high: float
    of: int
    stories: int

    @property
    def is_sparse(self) -> bool:
        """Whether there are too few stories for its interval to mean much."""
        return self.stories < FEW


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A solver's scores on one dataset.

    Attributes:
        solver: Its title.
        accuracy: Right answers.
        joint: Stories right as a whole; None if none was answered as a whole.
        true_belief: Right answers where the asked belief is true; None if no beliefs are asked for.
        false_belief: Right answers where it is false.
        gap: By how much false beliefs are harder.
        missing: Questions without an answer: failed, or not asked.
        is_end: Whether the solver only marks an end of the scale, as random guesses and the oracle do.
        kind: Whether it is a `model`, `people`, or a `baseline` with which these are compared.
    """

    solver: str
    accuracy: Score
    joint: Score | None
    true_belief: Score | None
    false_belief: Score | None
    gap: Interval | None
    missing: int
    is_end: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """What can be reached without reasoning.

    Attributes:
        accuracy: Right answers.
        joint: Stories right as a whole.
        about: How, in words.
    """

    accuracy: float
    joint: float
    about: str


@dataclass(frozen=True, slots=True)
class PairDifference:
    """How two solvers differ on the questions that both answered.

    Attributes:
        first: The better solver.
        second: The other one.
        questions: On how many questions.
        difference: By how much the first is better.
        p: By an exact permutation test over stories.
        adjusted_p: The same, adjusted for the number of pairs by Holm's method.
    """

    first: str
    second: str
    questions: int
    difference: Interval
    p: float
    adjusted_p: float

    @property
    def is_significant(self) -> bool:
        """Whether the adjusted p is below 5%."""
        return self.adjusted_p < SIGNIFICANT


def score(right: Flags, stories: Ints | Sequence[int]) -> Score:
    """Return the share of right answers with its interval over stories."""
    found = mean_interval(right, stories)
    return Score(found.value, found.low, found.high, len(right), len(np.unique(np.asarray(stories))))


def leaderboard_row(board: Board, solver: SolverRun) -> LeaderboardRow:
    """Return a solver's scores on one dataset."""
    stories = board.stories[solver.places]
    beliefs = [_asks_belief(board.questions[place]) for place in solver.places]
    asked = np.array([each is not None for each in beliefs], np.bool_)
    false = np.array([bool(each) for each in beliefs], np.bool_)
    true_belief = false_belief = gap = None
    if (asked & false).any() and (asked & ~false).any():
        true_belief, false_belief = (
            score(solver.right[chosen], stories[chosen]) for chosen in (asked & ~false, asked & false)
        )
        gap = gap_interval(solver.right[asked], false[asked], stories[asked])
    failures = as_mapping(solver.about.get("failures"))
    return LeaderboardRow(
        solver=solver.title,
        accuracy=score(solver.right, stories),
        joint=_joint(solver, stories),
        true_belief=true_belief,
        false_belief=false_belief,
        gap=gap,
        missing=as_count(failures.get("failed")) + as_count(failures.get("not_asked")),
        is_end=solver.judged.run.model in ENDS_OF_SCALE,
        kind=kind_of(solver),
    )


def kind_of(solver: SolverRun) -> str:
    """Return whether a solver is a model, people, or a baseline."""
    model = solver.judged.run.model
    if model in _BASELINES:
        return BASELINE
    return PEOPLE if "study" in solver.about or model.partition("-")[0] == PEOPLE else MODEL


def _asks_belief(question: AskedQuestion) -> bool | None:
    """Return whether the belief that is asked for is false; None if no belief is asked for."""
    if question.example is not None:
        family = family_of(question.example)
        return bool(question.false_belief) if family.asks_beliefs and not family.is_control(question.example) else None
    return question.false_belief if question.order else None


def _joint(solver: SolverRun, stories: Ints) -> Score | None:
    """Return the score of whole stories: as the run recorded it, as only the run knows what it failed to answer."""
    about = solver.about
    recorded, value, of = (
        as_mapping(about.get("intervals")).get("joint_accuracy"),
        about.get("joint_accuracy"),
        about.get("stories"),
    )
    if isinstance(value, float) and isinstance(of, int) and is_interval(recorded):
        return Score(value, float(recorded[0]), float(recorded[1]), of, of) if of else None
    if "stories" in about and not about["stories"]:
        return None
    names, places = np.unique(stories, return_inverse=True)
    return score(np.bincount(places, weights=~solver.right) == 0, np.arange(len(names)))


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one: run files of others may have anything here."""
    return value if isinstance(value, Mapping) else {}


def as_count(value: Any) -> int:
    """Return the value if it is a whole number of 0 or more, else 0."""
    return value if isinstance(value, int) and value >= 0 else 0


def is_interval(value: Any) -> TypeGuard[Sequence[float]]:
    """Return whether the value has two numbers."""
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(each, int | float) for each in value)


def chance_by_question(board: Board) -> list[float | None]:
    """Return how often guessing is right, for each question."""
    found: list[float | None] = []
    for each in board.questions:
        options = 0
        if each.example is not None:
            try:
                options = len(family_of(each.example).positions(each.example))
            except StoryproofError:
                options = len(each.example.candidates)
        found.append(1 / options if options else None)
    return found


def guessing(board: Board, chances: Sequence[float | None]) -> Baseline | None:
    """Return what guessing reaches; None unless it is known for all questions."""
    known = [each for each in chances if each is not None]
    if not known or len(known) < len(chances):
        return None
    stories: dict[int, float] = defaultdict(lambda: 1.0)
    for story, each in zip(board.stories.tolist(), known, strict=True):
        stories[story] *= each
    return Baseline(
        float(np.mean(known)), float(np.mean(list(stories.values()))), "guessing among the possible answers"
    )


def structural_floor(board: Board) -> Baseline | None:
    """Return what constant answers for each kind of question reach; None if it is not known."""
    examples = [each.example for each in board.questions if each.example is not None]
    if len(examples) < len(board.questions):
        return None
    try:
        forced = find_shortcuts(None, examples, learned=False).forced
    except (StoryproofError, LookupError, ValueError):
        return None
    return Baseline(forced.accuracy, forced.joint_accuracy, forced.about)


def pair_differences(board: Board) -> tuple[tuple[PairDifference, ...], list[str]]:
    """Return how solvers differ, and notes on pairs that cannot be compared."""
    found: list[tuple[str, str, int, Interval, float]] = []
    notes: list[str] = []
    for one, other in combinations(board.solvers, 2):
        try:
            compared = compare_judged(one.judged, other.judged, by_type=False)
        except StoryproofError as error:
            notes.append(f"{one.title} and {other.title} are not compared: {error}")
            continue
        gap = compared.accuracy
        value, low, high = gap.difference.value, gap.difference.low, gap.difference.high
        if value >= 0:
            found.append((other.title, one.title, compared.questions, gap.difference, gap.p))
        else:
            found.append((one.title, other.title, compared.questions, Interval(-value, -high, -low), gap.p))
    adjusted = adjust_p([each[-1] for each in found])
    pairs = [PairDifference(*each, p) for each, p in zip(found, adjusted, strict=True)]
    return tuple(sorted(pairs, key=lambda pair: -pair.difference.value)), notes


def adjust_p(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    found, highest = [0.0] * len(values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        found[place] = highest
    return found
