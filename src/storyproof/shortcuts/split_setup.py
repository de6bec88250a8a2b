"""Training and test rows of a shortcut audit, and how answers are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Draws
from storyproof.shortcuts.results import Forced, ShortcutReport, ShortcutScore
from storyproof.stats import Flags, Ints, Share, share, share_of_stories

TRAIN, OTHER_FOLDS = "train", "folds"
FOLDS = 5
MOST_TRAINING_QUESTIONS = 20_000  # what a small probe needs; more would only take longer


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to learn from, and rows to answer."""

    fit: Ints
    ask: Ints


@dataclass(frozen=True, slots=True)
class Trial:
    """Examples to learn from and to answer, in one list so that they share their numbers.

    Attributes:
        examples: Those to answer, after those of the training set, if there is one.
        asked: The rows to answer.
        folds: From which rows each of them is answered; no story is on both sides.
        cluster: The story of each row to answer, numbered from 0.
        kinds: Kind of question by row to answer.
        groups: A group, such as `false_belief`, by row to answer; empty if there are none.
    """

    examples: Sequence[Example]
    asked: Ints
    folds: tuple[Fold, ...]
    cluster: Ints
    kinds: Sequence[str]
    groups: Sequence[str]

    @property
    def first(self) -> int:
        """The number of the first row to answer."""
        return len(self.examples) - len(self.asked)

    @property
    def trained_on(self) -> str:
        """Where priors and probes learn from."""
        return TRAIN if self.first else OTHER_FOLDS

    @property
    def training_questions(self) -> int:
        """How many questions they learn from; of several folds, at most."""
        return max(len(fold.fit) for fold in self.folds)

    def by_fold(self, answer: Callable[[Fold], Ints]) -> Ints:
        """Return the answers of all folds in the order of the rows to answer."""
        answers = np.zeros(len(self.asked), np.int64)
        for fold in self.folds:
            answers[fold.ask - self.first] = answer(fold)
        return answers

    def score(self, name: str, group: str, reader: str, shortcut: bool, right: Flags, forced: Forced) -> ShortcutScore:
        """Score one way of answering, from which rows it answered correctly."""
        accuracy, joint = share(right, self.cluster), share_of_stories(right, self.cluster)
        by_belief = {belief: self._by_kind(right, belief) for belief in sorted(set(self.groups))}
        return ShortcutScore(
            name=name,
            group=group,
            reader=reader,
            shortcut=shortcut,
            accuracy=accuracy,
            joint_accuracy=joint,
            by_kind=self._by_kind(right),
            by_false_belief=by_belief,
            above_structure=accuracy.value - forced.accuracy,
            joint_above_structure=joint.value - forced.joint_accuracy,
            beats_structure=accuracy.low > forced.accuracy,
            jointly_beats_structure=joint.low > forced.joint_accuracy,
        )

    def report(
        self,
        about: str,
        forced: Forced,
        rows: Sequence[ShortcutScore],
        verdict: str,
        overlap: Mapping[str, Share] | None = None,
        overlap_by_kind: Mapping[str, dict[str, Share]] | None = None,
    ) -> ShortcutReport:
        """Return the report of a trial; see `ShortcutReport` for the arguments."""
        chance, joint_chance = chances(self)
        return ShortcutReport(
            about=about,
            questions=len(self.asked),
            stories=int(self.cluster.max()) + 1,
            trained_on=self.trained_on,
            training_questions=self.training_questions,
            chance=chance,
            joint_chance=joint_chance,
            forced=forced,
            rows=tuple(rows),
            verdict=verdict,
            overlap=dict(overlap or {}),
            overlap_by_kind=dict(overlap_by_kind or {}),
        )

    def _by_kind(self, right: Flags, belief: str | None = None) -> dict[str, Share]:
        kinds = np.array(self.kinds)
        within = np.array(self.groups) == belief if belief is not None else np.ones(len(kinds), np.bool_)
        scores = {}
        for kind in sorted(set(kinds[within].tolist()), key=lambda kind: (len(kind), kind)):
            chosen = within & (kinds == kind)
            scores[kind] = share(right[chosen], self.cluster[chosen])
        return scores


def set_up(
    train: Sequence[Example] | None,
    test: Sequence[Example],
    seed: int,
    groups: Sequence[str] = (),
    kind: Callable[[Example], str] = lambda example: family_of(example).kind(example),
) -> Trial:
    """Build a trial: learn from the training set, or without one from the other folds of the same data.

    Args:
        train: Examples to learn from; of many stories, some are drawn.
        test: Examples to answer.
        seed: For the draws.
        groups: A group for each example of `test`, within which kinds are scored as well; none by default.
        kind: Returns the kind of an example's question; by default its family tells.
    """
    clusters = _number_stories(test)
    drawn = _some(train, seed) if train else []
    first = len(drawn)
    rows = np.arange(first, first + len(test))
    if drawn:
        folds: tuple[Fold, ...] = (Fold(np.arange(first), rows),)
    else:
        part = Draws("shortcuts", "folds", seed).order(int(clusters.max()) + 1)[clusters] % FOLDS
        folds = tuple(Fold(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in np.unique(part))
    return Trial([*drawn, *test], rows, folds, clusters, [*map(kind, test)], groups)


def chances(trial: Trial) -> tuple[float, float]:
    """Return the expected score of guessing among the candidates, or among all answers if there are none."""
    asked = [trial.examples[row] for row in trial.asked]
    answers = len({each.answer for each in asked})
    each = np.array([1 / (len(example.candidates) or answers) for example in asked])
    whole = np.exp(np.bincount(trial.cluster, weights=np.log(each)))
    return float(each.mean()), float(whole.mean())


def _number_stories(examples: Sequence[Example]) -> Ints:
    numbers: dict[tuple[str, str], int] = {}
    return np.array([numbers.setdefault((each.split, each.story_id), len(numbers)) for each in examples], np.int64)


def _some(train: Sequence[Example], seed: int) -> list[Example]:
    """Draw whole stories until there are enough questions."""
    if len(train) <= MOST_TRAINING_QUESTIONS:
        return list(train)
    clusters = _number_stories(train)
    rank = Draws("shortcuts", "training stories", seed).order(int(clusters.max()) + 1)[clusters]
    order = np.argsort(rank, kind="stable")
    limit = rank[order[MOST_TRAINING_QUESTIONS]]  # the story that would go over the limit
    return [train[row] for row in np.flatnonzero(rank < limit).tolist()]
