"""The numbers of a report on runs: plain values, whoever shows them.

Accuracies are fractions with 95% intervals over stories. Where runs answered different questions of the same data, each
score is of what its run answered, and differences are of what both answered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.errors import StoryproofError
from storyproof.evaluation.compare import compare_judged
from storyproof.evaluation.matching.kinds import KINDS
from storyproof.evaluation.mistakes import MistakeFinder, describe
from storyproof.families.family import Reference, family_of
from storyproof.intervals import Flags, Interval, Ints, difference_interval, gap_interval, mean_interval
from storyproof.reports.run_data import AskedQuestion, Board, SolverRun
from storyproof.solvers.baselines import ENDS_OF_SCALE

SIGNIFICANT = 0.05
_LEAST_POINTS = 3  # of a curve; two are groups


@dataclass(frozen=True, slots=True)
class Score:
    """A share of right answers.

    Attributes:
        value: The share.
        low: The lower end of its interval.
        high: The upper end.
        of: Of how many questions, or stories.
    """

    value: float
    low: float
    high: float
    of: int


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
    """

    solver: str
    accuracy: Score
    joint: Score | None
    true_belief: Score | None
    false_belief: Score | None
    gap: Interval | None
    missing: int
    is_end: bool


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


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Accuracy by groups of questions.

    Attributes:
        facet: What divides the groups, such as `question type`.
        groups: Their names, in order.
        scores: By solver, then by group.
        chance: Chance by group, as far as it is known.
    """

    facet: str
    groups: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Score]]
    chance: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """Accuracy along a scale of difficulty.

    Attributes:
        scale: Its name, such as `k`.
        points: Its places.
        scores: By solver, then by place.
        chance: Chance by place.
        references: Published accuracies on the same benchmark.
    """

    scale: str
    points: tuple[int, ...]
    scores: Mapping[str, Mapping[int, Score]]
    chance: Mapping[int, float]
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Replies:
    """What came of asking a language model.

    Attributes:
        solver: Its title.
        matching: How its replies were judged.
        matches: The share of each kind of match, by `matching`.
        cut_off: Replies that were cut off before an answer.
        failed: Questions whose requests failed.
        not_asked: Questions that were not asked, as the run ended before.
        of: All questions.
        causes: How many requests failed for which reason.
    """

    solver: str
    matching: str
    matches: Mapping[str, float]
    cut_off: int
    failed: int
    not_asked: int
    of: int
    causes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run took, as far as it is known.

    Attributes:
        solver: Its title.
        seconds: From beginning to end.
        answers: How many answers there are.
        requests: Requests sent.
        known_before: Replies that were kept from an earlier run.
        retries: Requests that were sent again.
        latency: Median seconds of an answer.
        slow_latency: Seconds within which 95% of the answers came.
        prompt_tokens: Tokens read.
        output_tokens: Tokens written.
        cost: What they cost, in the currency of the prices.
    """

    solver: str
    seconds: float | None
    answers: int
    requests: int | None
    known_before: int | None
    retries: int | None
    latency: float | None
    slow_latency: float | None
    prompt_tokens: int | None
    output_tokens: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Wrong answers by what explains them.

    Attributes:
        descriptions: What each mistake is, in order of priority; only those that occur.
        first: By solver, how many wrong answers each explains first; together all wrong answers.
        fitting: By solver, how many wrong answers each fits at all.
        wrong: By solver, all wrong answers that could be examined.
    """

    descriptions: Mapping[str, str]
    first: Mapping[str, Mapping[str, int]]
    fitting: Mapping[str, Mapping[str, int]]
    wrong: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LabelChange:
    """A solver on the labels as published, and on those that are proved.

    Attributes:
        solver: Its title.
        questions: How many of its answers count on both sides.
        published: Right by the given labels.
        corrected: Right by the proved labels.
        difference: Corrected less published, paired.
    """

    solver: str
    questions: int
    published: Score
    corrected: Score
    difference: Interval


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Labels as given against proved ones.

    Attributes:
        changed: Questions whose label is not the proved answer.
        unsettled: Questions from whose story no answer follows; they count on neither side.
        of: Of how many questions.
        rows: By solver.
    """

    changed: int
    unsettled: int
    of: int
    rows: tuple[LabelChange, ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """What all solvers miss that answered it; those that mark the ends of the scale, or miss nothing, do not count.

    Attributes:
        solvers: Who counts.
        questions: The numbers of the questions that several of them answered, and none rightly.
        stories: The numbers of the stories that several of them answered as a whole, and none rightly as a whole.
        of_questions: How many questions several of them answered.
        of_stories: How many stories several of them answered as a whole.
    """

    solvers: tuple[str, ...]
    questions: tuple[int, ...]
    stories: tuple[int, ...]
    of_questions: int
    of_stories: int


@dataclass(frozen=True, slots=True)
class BoardNumbers:
    """All numbers about the runs on one dataset.

    Attributes:
        name: The dataset's name.
        labels: Whether labels are as `given` or as `proved`.
        questions: How many questions were asked.
        stories: Of how many stories.
        rows: The solvers, the best first.
        chance: What guessing reaches; None if the data could not be read.
        floor: What constant answers for each kind of question reach; None if it is not known.
        pairs: Differences between solvers, the greatest first.
        breakdowns: Accuracy by groups.
        curve: Accuracy along the scale of difficulty; None if it has fewer than three places.
        replies: What came of asking language models.
        efforts: What runs took.
        mistakes: Wrong answers by what explains them; None if the data could not be read.
        label_change: Given against proved labels; None if none differ, or they are not known.
        missed: What all solvers miss; None if fewer than two solvers miss anything.
        legend: How to read the pictures of its stories; empty if there are none.
        notes: What a reader must know.
    """

    name: str
    labels: str
    questions: int
    stories: int
    rows: tuple[LeaderboardRow, ...]
    chance: Baseline | None
    floor: Baseline | None
    pairs: tuple[PairDifference, ...]
    breakdowns: tuple[Breakdown, ...]
    curve: Curve | None
    replies: tuple[Replies, ...]
    efforts: tuple[Effort, ...]
    mistakes: Mistakes | None
    label_change: LabelComparison | None
    missed: Missed | None
    legend: str
    notes: tuple[str, ...]


def count_board(board: Board, explained: Sequence[Sequence[tuple[str, ...]]]) -> BoardNumbers:
    """Compute all numbers about the runs on one dataset.

    Args:
        board: The runs.
        explained: What explains each answer of each run, as `explain_answers` returns it.
    """
    chances = _chances(board)
    curve = _curve(board, chances)
    pairs, unlike = _pairs(board)
    return BoardNumbers(
        name=board.name,
        labels=board.labels,
        questions=len(board.questions),
        stories=len(np.unique(board.stories)),
        rows=tuple(_row(board, solver) for solver in board.solvers),
        chance=_chance(board, chances),
        floor=_floor(board),
        pairs=pairs,
        breakdowns=tuple(_breakdowns(board, chances, curve)),
        curve=curve,
        replies=tuple(_replies(solver) for solver in board.solvers if "match_types" in solver.about),
        efforts=tuple(_effort(solver) for solver in board.solvers),
        mistakes=_mistakes(board, explained),
        label_change=_label_change(board),
        missed=_missed(board),
        legend="" if board.family is None else board.family.legend,
        notes=(*board.notes, *unlike),
    )


def explain_answers(board: Board) -> list[list[tuple[str, ...]]]:
    """Return for each run what explains each of its answers: nothing for right ones, and where there is no row."""
    finders: dict[int, MistakeFinder] = {}
    found = []
    for solver in board.solvers:
        reasons: list[tuple[str, ...]] = []
        for place, right, each in zip(solver.places.tolist(), solver.right.tolist(), solver.predictions, strict=True):
            example = board.questions[place].example
            if right or example is None:
                reasons.append(())
                continue
            if place not in finders:
                finders[place] = MistakeFinder(example)
            reasons.append(finders[place].explain(each.answer or ""))
        found.append(reasons)
    return found


# --- scores


def _score(right: Flags, stories: Ints | Sequence[int]) -> Score:
    found = mean_interval(right, stories)
    return Score(found.value, found.low, found.high, len(right))


def _row(board: Board, solver: SolverRun) -> LeaderboardRow:
    stories = board.stories[solver.places]
    beliefs = [_asks_belief(board.questions[place]) for place in solver.places]
    asked = np.array([each is not None for each in beliefs], np.bool_)
    false = np.array([bool(each) for each in beliefs], np.bool_)
    true_belief = false_belief = gap = None
    if (asked & false).any() and (asked & ~false).any():
        true_belief, false_belief = (
            _score(solver.right[chosen], stories[chosen]) for chosen in (asked & ~false, asked & false)
        )
        gap = gap_interval(solver.right[asked], false[asked], stories[asked])
    failures = _mapping(solver.about.get("failures"))
    return LeaderboardRow(
        solver=solver.title,
        accuracy=_score(solver.right, stories),
        joint=_joint(solver, stories),
        true_belief=true_belief,
        false_belief=false_belief,
        gap=gap,
        missing=int(failures.get("failed", 0)) + int(failures.get("not_asked", 0)),
        is_end=solver.judged.run.model in ENDS_OF_SCALE,
    )


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
        _mapping(about.get("intervals")).get("joint_accuracy"),
        about.get("joint_accuracy"),
        about.get("stories"),
    )
    if isinstance(value, float) and isinstance(of, int) and isinstance(recorded, Sequence) and len(recorded) == 2:
        return Score(value, float(recorded[0]), float(recorded[1]), of) if of else None
    if "stories" in about and not about["stories"]:
        return None
    names, places = np.unique(stories, return_inverse=True)
    return _score(np.bincount(places, weights=~solver.right) == 0, np.arange(len(names)))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# --- what can be reached without reasoning


def _chances(board: Board) -> list[float | None]:
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


def _chance(board: Board, chances: Sequence[float | None]) -> Baseline | None:
    known = [each for each in chances if each is not None]
    if not known or len(known) < len(chances):
        return None
    stories: dict[int, float] = defaultdict(lambda: 1.0)
    for story, each in zip(board.stories.tolist(), known, strict=True):
        stories[story] *= each
    return Baseline(
        float(np.mean(known)), float(np.mean(list(stories.values()))), "guessing among the possible answers"
    )


def _floor(board: Board) -> Baseline | None:
    examples = [each.example for each in board.questions if each.example is not None]
    if len(examples) < len(board.questions):
        return None
    try:
        forced = find_shortcuts(None, examples, learned=False).forced
    except (StoryproofError, LookupError, ValueError):
        return None
    return Baseline(forced.accuracy, forced.joint_accuracy, forced.about)


# --- differences


def _pairs(board: Board) -> tuple[tuple[PairDifference, ...], list[str]]:
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


# --- groups


def _breakdowns(board: Board, chances: Sequence[float | None], curve: Curve | None) -> list[Breakdown]:
    """Return accuracy by all groups that have names; what a curve shows already is left out."""
    facets: dict[str, list[str | None]] = {}
    for number, each in enumerate(board.questions):
        for name, group in _facets(each).items():
            if group:
                facets.setdefault(name, [None] * len(board.questions))[number] = group
    found: list[Breakdown] = []
    seen = set() if curve is None else {_partition(_scale(board, curve.scale))}
    for name, groups in facets.items():
        known = dict.fromkeys(group for group in groups if group is not None)
        partition = _partition(groups)
        if len(known) < 2 or partition in seen:  # the same groups under another name
            continue
        seen.add(partition)
        order = _order(board, groups)
        found.append(
            Breakdown(
                facet=name,
                groups=tuple(sorted(known, key=lambda group: order[group])),
                scores=_by(board, groups),
                chance=_mean_chance(groups, chances),
            )
        )
    return found


def _partition(groups: Sequence[Any]) -> tuple[int, ...]:
    """Return groups by number, in order of appearance, so that equal divisions are equal whatever their names."""
    numbers: dict[Any, int] = {None: -1}
    return tuple(numbers.setdefault(group, len(numbers) - 1) for group in groups)


def _scale(board: Board, name: str) -> list[int | None]:
    """Return the place of each question on a scale."""
    scales = [None if each.example is None else family_of(each.example).scale(each.example) for each in board.questions]
    return [scale[1] if scale is not None and scale[0] == name else None for scale in scales]


def _facets(question: AskedQuestion) -> Mapping[str, str]:
    if question.example is not None:
        return family_of(question.example).facets(question.example)
    return {"question type": question.question_type, "kind": question.kind}


def _order(board: Board, groups: Sequence[str | None]) -> dict[str, tuple[Any, ...]]:
    """Return where groups stand: by the kinds of their questions as far as these tell, then by name."""
    found: dict[str, tuple[Any, ...]] = {}
    for question, group in zip(board.questions, groups, strict=True):
        if group is not None:
            example = question.example
            kind = family_of(example).kind_order(example)[0] if example is not None else question.order or 0
            place = (kind if isinstance(kind, int) else 0, group)
            found[group] = min(found.get(group, place), place)
    return found


def _by(board: Board, groups: Sequence[Any]) -> dict[str, dict[Any, Score]]:
    """Return the scores of each solver by group."""
    known = {group: number for number, group in enumerate(dict.fromkeys(each for each in groups if each is not None))}
    numbers = np.array([known.get(group, -1) for group in groups], np.int64)
    found: dict[str, dict[Any, Score]] = {solver.title: {} for solver in board.solvers}
    for group, number in known.items():  # groups first: intervals of as many stories share their draws
        for solver in board.solvers:
            chosen = numbers[solver.places] == number
            if chosen.any():
                stories = board.stories[solver.places]
                found[solver.title][group] = _score(solver.right[chosen], stories[chosen])
    return found


def _mean_chance(groups: Sequence[Any], chances: Sequence[float | None]) -> dict[Any, float]:
    sums: dict[Any, list[float | None]] = defaultdict(list)
    for group, chance in zip(groups, chances, strict=True):
        if group is not None:
            sums[group].append(chance)
    known = {group: [each for each in values if each is not None] for group, values in sums.items()}
    return {group: float(np.mean(each)) for group, each in known.items() if len(each) == len(sums[group])}


def _curve(board: Board, chances: Sequence[float | None]) -> Curve | None:
    scales = [None if each.example is None else family_of(each.example).scale(each.example) for each in board.questions]
    names = Counter(scale[0] for scale in scales if scale is not None)
    if not names:
        return None
    name = names.most_common(1)[0][0]
    places = _scale(board, name)
    points = sorted({place for place in places if place is not None})
    if len(points) < _LEAST_POINTS:
        return None
    family = board.family
    known = [] if family is None else [each for each in family.references if each.scale == name]
    references = [each for each in known if each.benchmark == board.benchmark.partition("@")[0]]
    return Curve(
        scale=name,
        points=tuple(points),
        scores=_by(board, places),
        chance=_mean_chance(places, chances),
        references=tuple(each for each in references if set(each.values) & set(points)),
    )


# --- language models


def _replies(solver: SolverRun) -> Replies:
    about = solver.about
    shares, failures = _mapping(about.get("match_types")), _mapping(about.get("failures"))
    known = [*KINDS, *sorted(set(shares) - set(KINDS))]
    return Replies(
        solver=solver.title,
        matching=str(about.get("matching") or ""),
        matches={kind: float(shares[kind]) for kind in known if shares.get(kind)},
        cut_off=int(about.get("cut_off") or 0),
        failed=int(failures.get("failed", 0)),
        not_asked=int(failures.get("not_asked", 0)),
        of=int(failures.get("of", len(solver.predictions))),
        causes={str(cause): int(count) for cause, count in _mapping(failures.get("errors")).items()},
    )


def _effort(solver: SolverRun) -> Effort:
    about = solver.about
    efforts = [each.effort for each in solver.predictions if isinstance(each.effort, Mapping)]
    seconds = [float(each["seconds"]) for each in efforts if isinstance(each.get("seconds"), int | float)]
    retries = [int(each["retries"]) for each in efforts if isinstance(each.get("retries"), int | float)]
    traffic, tokens = _mapping(about.get("traffic")), _mapping(about.get("tokens"))
    whole, cost = _mapping(about.get("run")).get("seconds"), about.get("cost")
    return Effort(
        solver=solver.title,
        seconds=float(whole) if isinstance(whole, int | float) else None,
        answers=len(solver.predictions),
        requests=traffic.get("asked"),
        known_before=traffic.get("found"),
        retries=sum(retries) if retries else None,
        latency=float(np.quantile(seconds, 0.5)) if seconds else None,
        slow_latency=float(np.quantile(seconds, 0.95)) if seconds else None,
        prompt_tokens=tokens.get("prompt"),
        output_tokens=tokens.get("output"),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )


# --- wrong answers


def _mistakes(board: Board, explained: Sequence[Sequence[tuple[str, ...]]]) -> Mistakes | None:
    family = board.family
    if family is None:
        return None
    first: dict[str, Counter[str]] = {}
    fitting: dict[str, Counter[str]] = {}
    for solver, reasons in zip(board.solvers, explained, strict=True):
        first[solver.title] = Counter(each[0] for each in reasons if each)
        fitting[solver.title] = Counter(name for each in reasons for name in each)
    if not any(first.values()):
        return None
    occurring = {name for counts in fitting.values() for name in counts}
    return Mistakes(
        descriptions={name: text for name, text in describe(family).items() if name in occurring},
        first=first,
        fitting=fitting,
        wrong={title: counts.total() for title, counts in first.items()},
    )


def _label_change(board: Board) -> LabelComparison | None:
    changed = [number for number, each in enumerate(board.questions) if each.proved is not None]
    if not changed:
        return None
    unsettled = {number for number in changed if board.questions[number].proved == ""}
    rows = []
    for solver in board.solvers:
        kept = [number for number, place in enumerate(solver.places.tolist()) if place not in unsettled]
        if not kept:
            continue
        places = solver.places[kept]
        answers = [solver.predictions[number].answer for number in kept]
        questions = [board.questions[place] for place in places.tolist()]
        before = solver.right[kept]
        after = np.array(
            [
                right if each.proved is None else answer == each.proved
                for right, answer, each in zip(before.tolist(), answers, questions, strict=True)
            ],
            np.bool_,
        )
        stories = board.stories[places]
        rows.append(
            LabelChange(
                solver=solver.title,
                questions=len(kept),
                published=_score(before, stories),
                corrected=_score(after, stories),
                difference=difference_interval(before, after, stories),
            )
        )
    return LabelComparison(len(changed) - len(unsettled), len(unsettled), len(board.questions), tuple(rows))


def _missed(board: Board) -> Missed | None:
    counted = [
        each for each in board.solvers if each.judged.run.model not in ENDS_OF_SCALE and not bool(each.right.all())
    ]
    if len(counted) < 2:
        return None
    answered, right = (np.zeros(len(board.questions), np.int64) for _ in range(2))
    asked = np.bincount(board.stories)
    whole, solved = (np.zeros(len(asked), np.int64) for _ in range(2))
    for solver in counted:
        answered[solver.places] += 1
        right[solver.places] += solver.right
        stories = board.stories[solver.places]
        complete = np.bincount(stories, minlength=len(asked)) == asked
        whole += complete
        solved += complete & (np.bincount(stories, weights=solver.right, minlength=len(asked)) == asked)
    several = answered > 1
    return Missed(
        solvers=tuple(each.title for each in counted),
        questions=tuple(np.flatnonzero(several & (right == 0)).tolist()),
        stories=tuple(np.flatnonzero((whole > 1) & (solved == 0)).tolist()),
        of_questions=int(several.sum()),
        of_stories=int((whole > 1).sum()),
    )


# --- in a sentence


def headline(boards: Sequence[BoardNumbers]) -> str:
    """Return the result in one sentence: who is best on each dataset, and how surely."""
    return "; ".join(f"{_best_of(board)}{_doubts(board)}" for board in boards) + "."


def _doubts(board: BoardNumbers) -> str:
    """Return how many labels are wrong, if any are."""
    found = board.label_change
    if found is None:
        return ""
    return f" ({found.changed + found.unsettled:,} of its {found.of:,} labels are not proved)"


def _best_of(board: BoardNumbers) -> str:
    rows = [row for row in board.rows if not row.is_end] or list(board.rows)
    best = rows[0]
    joint = (
        ""
        if best.joint is None or best.joint.of == best.accuracy.of
        else f", {_percent(best.joint.value)} of whole stories"
    )
    answers = f"answers {_percent(best.accuracy.value)} of {board.name}{joint}"
    if len(rows) == 1:
        return f"{best.solver} {answers}"
    pair = next((each for each in board.pairs if {each.first, each.second} == {best.solver, rows[1].solver}), None)
    if pair is None:
        return f"{best.solver} is best of {len(rows)} and {answers}"
    if not pair.is_significant:
        return f"{best.solver} {answers}, with no significant lead over {rows[1].solver}"
    return f"{best.solver} {answers}, {100 * pair.difference.value:.1f} points more than {rows[1].solver}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"
