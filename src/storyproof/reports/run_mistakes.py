"""Wrong answers: what explains them, what wrong labels explain, and what all solvers miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storyproof.errors import StoryproofError
from storyproof.evaluation.answer_judge import MistakeFinder, describe
from storyproof.evaluation.diagnose import Diagnosis, ask_procedures
from storyproof.evaluation.diagnose import explain_answers as diagnose_answers
from storyproof.reports.run_data import Board
from storyproof.reports.run_scores import MODEL, Score, kind_of, score
from storyproof.solvers.baselines import ENDS_OF_SCALE
from storyproof.stats import Interval, difference_interval

DIAGNOSED = 150  # questions; each is put to all procedures


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


def explain_answers(board: Board) -> list[list[tuple[str, ...]]]:
    """Return for each run what explains each of its answers: nothing for right ones, and where there is no row."""
    missed = sorted({place for solver in board.solvers for place in solver.places[~solver.right].tolist()})
    examples = {place: board.questions[place].example for place in missed}
    # In the order of the data: questions of one story share what is derived from it.
    finders = {place: MistakeFinder(example) for place, example in examples.items() if example is not None}
    return [
        [
            () if right or place not in finders else finders[place].explain(each.answer or "")
            for place, right, each in zip(
                solver.places.tolist(), solver.right.tolist(), solver.predictions, strict=True
            )
        ]
        for solver in board.solvers
    ]


def diagnose_models(board: Board) -> tuple[Diagnosis, ...]:
    """Return which procedures the answers of models follow, on the first stories; nothing if the family lists none."""
    models = [solver for solver in board.solvers if kind_of(solver) == MODEL]
    first = [each.example for each in board.questions if each.example is not None][:DIAGNOSED]
    if not models or not first or board.family is None or not board.family.procedures:
        return ()
    try:
        replies = ask_procedures(each for each in first if not board.family.is_control(each))
    except (StoryproofError, LookupError, ValueError):  # rows may name people that are not in their text
        return ()
    found = []
    for solver in models:
        answers = {each.id: each for each in solver.predictions if not each.failed}
        asked = [each for each in first if each.id in answers]
        if asked:
            found.append(diagnose_answers(solver.title, board.name, asked, answers, replies))
    return tuple(found)


def count_mistakes(board: Board, explained: Sequence[Sequence[tuple[str, ...]]]) -> Mistakes | None:
    """Return wrong answers by what explains them; None if there are none, or the data could not be read."""
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


def compare_labels(board: Board) -> LabelComparison | None:
    """Return given against proved labels; None if none differ, or they are not known."""
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
                published=score(before, stories),
                corrected=score(after, stories),
                difference=difference_interval(before, after, stories),
            )
        )
    return LabelComparison(len(changed) - len(unsettled), len(unsettled), len(board.questions), tuple(rows))


def find_missed(board: Board) -> Missed | None:
    """Return what all solvers miss; None if fewer than two solvers miss anything."""
    counted = [
        each for each in board.solvers if each.judged.run.model not in ENDS_OF_SCALE and not bool(each.right.all())
    ]
    if len(counted) < 2:
        return None
    answered, right = (np.zeros(len(board.questions), np.int64) for _ in range(2))
    asked = np.bincount(board.stories)
    whole, solved = (np.zeros(len(asked), np.int64) for _ in range(2))
    for solver in counted:
        places, shares = solver.shares()
        answered[places] += 1
        right[places] += shares > 0
        stories = board.stories[places]
        complete = np.bincount(stories, minlength=len(asked)) == asked
        whole += complete
        solved += complete & (np.bincount(stories, weights=shares > 0, minlength=len(asked)) == asked)
    several = answered > 1
    return Missed(
        solvers=tuple(each.title for each in counted),
        questions=tuple(np.flatnonzero(several & (right == 0)).tolist()),
        stories=tuple(np.flatnonzero((whole > 1) & (solved == 0)).tolist()),
        of_questions=int(several.sum()),
        of_stories=int((whole > 1).sum()),
    )
