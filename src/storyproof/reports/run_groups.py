"""Accuracy by groups of questions, and along the scale of difficulty."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from storyproof.families.family import Reference, family_of
from storyproof.reports.run_data import AskedQuestion, Board
from storyproof.reports.run_scores import Score, score

_LEAST_POINTS = 2


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


def breakdowns(board: Board, chances: Sequence[float | None], curve: Curve | None) -> list[Breakdown]:
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
                found[solver.title][group] = score(solver.right[chosen], stories[chosen])
    return found


def _mean_chance(groups: Sequence[Any], chances: Sequence[float | None]) -> dict[Any, float]:
    sums: dict[Any, list[float | None]] = defaultdict(list)
    for group, chance in zip(groups, chances, strict=True):
        if group is not None:
            sums[group].append(chance)
    known = {group: [each for each in values if each is not None] for group, values in sums.items()}
    return {group: float(np.mean(each)) for group, each in known.items() if len(each) == len(sums[group])}


def curve_of(board: Board, chances: Sequence[float | None]) -> Curve | None:
    """Return accuracy along the scale of difficulty; None if it has fewer than two places."""
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
