"""The numbers of a report on runs: plain values, wherever they are shown.

Accuracies are fractions with 95% intervals over stories. Where runs answered different questions of the same data, each
score is of what its run answered, and differences are of what both answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from storyproof.reports.run_data import Board
from storyproof.reports.run_groups import Breakdown, Curve, breakdowns, curve_of
from storyproof.reports.run_mistakes import (
    LabelComparison,
    Missed,
    Mistakes,
    compare_labels,
    count_mistakes,
    find_missed,
)
from storyproof.reports.run_replies import Effort, Replies, effort_of, replies_of
from storyproof.reports.run_scores import (
    Baseline,
    LeaderboardRow,
    PairDifference,
    chance_by_question,
    guessing,
    leaderboard_row,
    pair_differences,
    structural_floor,
)


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
    chances = chance_by_question(board)
    curve = curve_of(board, chances)
    pairs, unlike = pair_differences(board)
    return BoardNumbers(
        name=board.name,
        labels=board.labels,
        questions=len(board.questions),
        stories=len(np.unique(board.stories)),
        rows=tuple(leaderboard_row(board, solver) for solver in board.solvers),
        chance=guessing(board, chances),
        floor=structural_floor(board),
        pairs=pairs,
        breakdowns=tuple(breakdowns(board, chances, curve)),
        curve=curve,
        replies=tuple(replies_of(solver) for solver in board.solvers if "match_types" in solver.about),
        efforts=tuple(effort_of(solver) for solver in board.solvers),
        mistakes=count_mistakes(board, explained),
        label_change=compare_labels(board),
        missed=find_missed(board),
        legend="" if board.family is None else board.family.legend,
        notes=(*board.notes, *unlike),
    )


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
