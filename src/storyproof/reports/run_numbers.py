"""The numbers of a report on runs: plain values, wherever they are shown.

Accuracies are fractions with 95% intervals over stories. Where runs answered different questions of the same data, each
score is of what its run answered, and differences are of what both answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storyproof.evaluation.diagnose import Diagnosis
from storyproof.reports.numbers import counted
from storyproof.reports.run_data import Board
from storyproof.reports.run_groups import Breakdown, Curve, breakdowns, curve_of
from storyproof.reports.run_mistakes import (
    LabelComparison,
    Missed,
    Mistakes,
    compare_labels,
    count_mistakes,
    diagnose_models,
    find_missed,
)
from storyproof.reports.run_replies import Effort, Replies, effort_of, replies_of
from storyproof.reports.run_scores import (
    FEW,
    MODEL,
    PEOPLE,
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
        curve: Accuracy along the scale of difficulty; None if it has fewer than two places.
        replies: What came of asking language models.
        efforts: What runs took.
        mistakes: Wrong answers by what explains them; None if the data could not be read.
        diagnoses: Which procedures the models follow; none if the family lists none.
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
    diagnoses: tuple[Diagnosis, ...]
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
        diagnoses=diagnose_models(board),
        label_change=compare_labels(board),
        missed=find_missed(board),
        legend="" if board.family is None else board.family.legend,
        notes=(*board.notes, *unlike),
    )


def contenders(board: BoardNumbers) -> list[LeaderboardRow]:
    """Return the solvers that a report is about, the best first: models; without any, the other readers."""
    models = [row for row in board.rows if row.kind == MODEL]
    return models or [row for row in board.rows if not row.is_end] or list(board.rows)


def short_titles(boards: Sequence[BoardNumbers]) -> dict[str, str]:
    """Return the short name of each solver of a report."""
    return short_names(row.solver for board in boards for row in board.rows)


def headline(boards: Sequence[BoardNumbers]) -> str:
    """Return the result in one sentence or two: which model is best on each dataset, and how surely."""
    names = short_titles(boards)
    if len(boards) == 1:
        return f"{_best_of(boards[0], names)}{_doubts(boards[0])}{_people(boards[0], names)}."
    best: dict[str, list[BoardNumbers]] = {}
    for board in boards:
        best.setdefault(contenders(board)[0].solver, []).append(board)
    several = [board for board in boards if len(contenders(board)) > 1]
    most = len({row.solver for board in boards for row in contenders(board)})
    what = "models" if all(row.kind == MODEL for board in boards for row in contenders(board)) else "solvers"
    verb = "with" if several and most > 1 else "answers"
    found = "; ".join(f"{names[solver]} {verb} {_and(list(map(_result, places)))}" for solver, places in best.items())
    text = f"Best of {most} {what}: {found}." if several and most > 1 else f"{found}."
    leads = {board.name: _lead(board) for board in several}
    certain = [name for name, pair in leads.items() if pair is not None and pair.is_significant]
    if not leads:
        return text
    if not certain:
        return f"{text} No lead over the next is significant."
    if len(certain) == len(leads):
        return f"{text} {'Every lead' if len(leads) > 1 else 'The lead'} over the next is significant."
    return f"{text} The lead over the next is significant on {_and(certain)} only."


def _result(board: BoardNumbers) -> str:
    best = contenders(board)[0].accuracy
    few = f", only {counted(best.of, 'answer')}" if best.of < FEW else ""
    return f"{_percent(best.value)} of {board.name}{few}{_doubts(board)}"


def _and(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _doubts(board: BoardNumbers) -> str:
    """Return how many labels are wrong, if any are."""
    found = board.label_change
    if found is None:
        return ""
    return f" ({found.changed + found.unsettled:,} of its {found.of:,} labels are not proved)"


def _lead(board: BoardNumbers) -> PairDifference | None:
    """Return how the best two contenders differ; None if that is not known."""
    pair = {row.solver for row in contenders(board)[:2]}
    return next((each for each in board.pairs if {each.first, each.second} == pair), None)


def _best_of(board: BoardNumbers, names: Mapping[str, str]) -> str:
    rows = contenders(board)
    best = rows[0]
    joint = (
        ""
        if best.joint is None or best.joint.of == best.accuracy.of
        else f", {_percent(best.joint.value)} of whole stories"
    )
    few = f" (only {counted(best.accuracy.of, 'answer')})" if best.accuracy.of < FEW else ""
    name = names[best.solver]
    answers = f"answers {_percent(best.accuracy.value)} of {board.name}{few}{joint}"
    if len(rows) == 1:
        return f"{name} {answers}"
    pair, other = _lead(board), names[rows[1].solver]
    if pair is None:
        return f"{name} is best of {len(rows)} and {answers}"
    if not pair.is_significant:
        return f"{name} {answers}, with no significant lead over {other}"
    return f"{name} {answers}, {100 * pair.difference.value:.1f} points more than {other}"


def _people(board: BoardNumbers, names: Mapping[str, str]) -> str:
    people = [row for row in board.rows if row.kind == PEOPLE and row not in contenders(board)]
    return "".join(f"; {names[row.solver]} {_percent(row.accuracy.value)}" for row in people)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def short_names(titles: Iterable[str]) -> dict[str, str]:
    """Return a short name for each title: its last part, and as many parts before it as tell it from the others.

    Example:
        >>> from storyproof.reports.run_numbers import short_names
        >>> list(short_names(["openai/meta-llama/Llama-3.1-70B, cot", "hf/a/gemma", "hf/b/gemma", "rules"]).values())
        ['Llama-3.1-70B, cot', 'a/gemma', 'b/gemma', 'rules']
    """
    parts = {title: _parts(title) for title in titles}
    kept = dict.fromkeys(parts, 1)
    while True:
        names = {title: "/".join(each[-kept[title] :]) for title, each in parts.items()}
        counts = Counter(names.values())
        double = [title for title in parts if counts[names[title]] > 1 and kept[title] < len(parts[title])]
        if not double:
            return names
        for title in double:
            kept[title] += 1


def _parts(title: str) -> list[str]:
    """Return the parts of a model's name; what follows it, such as the prompt, belongs to the last one."""
    model, comma, rest = title.partition(", ")
    parts = [part for part in model.split("/") if part] or [model]
    parts[-1] += comma + rest
    return parts
