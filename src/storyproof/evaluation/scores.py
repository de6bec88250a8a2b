"""The scorer: average and joint accuracy, by question type, by kind and by false belief.

Sources of the figures: the ToMi paper, Tables 1 to 3. Answers are counted one by one, in a dozen bytes per question, so
that a million of them need no attention. All groups come from the family of each example (`Family.kind`,
`Family.measures`).
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from storyproof.evaluation.matching.kinds import EXACT, KINDS, NO_MATCH, Match
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.stats import Flags, Interval, Ints, mean_interval

EXACTLY = "exact"  # the matching of solvers that choose among answers: nothing but equality
T = TypeVar("T", str, tuple[str, str])
_BELIEFS = ("no_false_belief", "false_belief")


class QuestionKind(NamedTuple):
    """A kind of question in tables.

    Attributes:
        place: Where it stands among other kinds: its family, then `Family.kind_order`.
        name: Such as `first_order` or `k=3`.
        asks_belief: Whether it asks for a belief, which may be false.
    """

    place: tuple[Any, ...]
    name: str
    asks_belief: bool


@dataclass(frozen=True, slots=True)
class Scores:
    """Fractions of right answers.

    Attributes:
        questions: How many questions were asked.
        stories: Of how many stories.
        accuracy: Right answers.
        joint_accuracy: Stories all of whose questions were answered rightly; 0 without meaning if there are no stories.
        by_question_type: Right answers by question type.
        by_false_belief: Right answers where the asked belief is false (`false_belief`) or not (`no_false_belief`);
            empty for data without beliefs.
        by_order: The same by kind of question (memory, reality, first_order, …) within each.
        kinds: The kinds of questions in the order of tables.
    """

    questions: int
    stories: int
    accuracy: float
    joint_accuracy: float
    by_question_type: dict[str, float]
    by_false_belief: dict[str, float]
    by_order: dict[str, dict[str, float]]
    kinds: tuple[QuestionKind, ...] = field(default=(), compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; without stories there is no joint accuracy."""
        return {
            "questions": self.questions,
            "stories": self.stories,
            "accuracy": self.accuracy,
            "joint_accuracy": self.joint_accuracy if self.stories else None,
            "by_question_type": self.by_question_type,
            "by_false_belief": self.by_false_belief,
            "by_order": self.by_order,
        }


class _ScoreGroups(NamedTuple):
    """All that decides in which groups an answer counts."""

    question_type: str
    false_belief: bool
    kind: QuestionKind
    measures: tuple[str, ...]


class Tally:
    """Right answers under one or more matchers at once, and requests that failed.

    Args:
        matchers: Their names.
    """

    def __init__(self, matchers: Sequence[str] = (EXACTLY,)) -> None:
        self._matchers = list(matchers)
        self._right = array("B")  # one bit per matcher
        self._numbers, self._stories = array("H"), array("q")
        self._groups: dict[_ScoreGroups, int] = {}
        self._kinds: dict[str, Counter[str]] = {name: Counter() for name in matchers}
        self._broken: set[int] = set()
        self.failed = self.not_asked = 0
        self.errors: Counter[str] = Counter()

    def add(self, example: Example, matches: Mapping[str, Match]) -> None:
        """Count an answer."""
        right = 0
        for place, name in enumerate(self._matchers):
            right |= matches[name].right << place
            self._kinds[name][matches[name].kind] += 1
        number = self._groups.setdefault(_group_of(example), len(self._groups))
        if number == 1 << 16 and self._numbers.typecode == "H":
            self._numbers = array("I", self._numbers)  # more groups than sixteen bits can count
        self._right.append(right)
        self._numbers.append(number)
        self._stories.append(_story(example))

    def add_exact(self, example: Example, answer: str) -> None:
        """Count an answer that is right only if it equals the label; the matcher is `EXACTLY`."""
        self.add(example, {EXACTLY: EXACT if answer == example.answer else NO_MATCH})

    def fail(self, example: Example, error: str | None) -> None:
        """Count a question without an answer (without an error: not asked); its story does not count as a whole."""
        self._broken.add(_story(example))
        if error is None:
            self.not_asked += 1
        else:
            self.failed += 1
            self.errors[error[:200]] += 1

    def extend(self, other: Tally) -> None:
        """Count all that another tally has counted, by the same matchers, as if it came next."""
        numbers = {place: self._groups.setdefault(group, len(self._groups)) for group, place in other._groups.items()}
        if len(self._groups) > 1 << 16 and self._numbers.typecode == "H":
            self._numbers = array("I", self._numbers)
        self._right.extend(other._right)
        self._numbers.extend(array(self._numbers.typecode, [numbers[number] for number in other._numbers]))
        self._stories.extend(other._stories)
        for name, counts in other._kinds.items():
            self._kinds[name].update(counts)
        self._broken |= other._broken
        self.failed += other.failed
        self.not_asked += other.not_asked
        self.errors.update(other.errors)

    def __len__(self) -> int:
        return len(self._right)

    @property
    def asked(self) -> int:
        """How many questions there are, with an answer or without."""
        return len(self) + self.failed + self.not_asked

    def scores(self, matcher: str = EXACTLY) -> Scores:
        """Return the scores by one matcher, of what was answered; joint accuracy is of stories answered as a whole."""
        right, (stories, whole) = self.right(matcher), self._whole(matcher)
        by_order: dict[str, dict[str, float]] = {}
        for (belief, kind), share in self._shares(right, lambda each: (_BELIEFS[each.false_belief], each.kind.name)):
            by_order.setdefault(belief, {})[kind] = share
        return Scores(
            questions=len(right),
            stories=len(stories),
            accuracy=float(right.mean()) if len(right) else 0.0,
            joint_accuracy=float(whole.mean()) if len(whole) else 0.0,
            by_question_type=dict(self._shares(right, lambda each: each.question_type)),
            by_false_belief={name: float(right[chosen].mean()) for name, chosen in self._beliefs().items()},
            by_order=by_order,
            kinds=tuple(sorted({group.kind for group in self._groups})),
        )

    def counts(self, matcher: str = EXACTLY) -> dict[str, list[int]]:
        """Return how many answers are right, and of how many, by measure: average, joint, and those of families."""
        right, (_, whole) = self.right(matcher), self._whole(matcher)
        measures = {"average": [int(right.sum()), len(right)], "joint": [int(whole.sum()), len(whole)]}
        good, of = self._sums(right)
        for group, number in self._groups.items():
            for measure in group.measures:
                counts = measures.setdefault(measure, [0, 0])
                counts[0] += good[number]
                counts[1] += of[number]
        return dict(sorted(measures.items()))

    def intervals(self, matcher: str = EXACTLY) -> dict[str, Any]:
        """Return 95% intervals over stories of the average, joint, and by question type and false belief."""
        intervals: dict[str, Any] = {"accuracy": _pair(self.accuracy(matcher))}
        joint = self.joint(matcher)
        if joint is not None:
            intervals["joint_accuracy"] = _pair(joint)
        right, stories = self.right(matcher), np.asarray(self._stories)
        by_type = self._members(lambda each: each.question_type)
        for name, groups in (("by_question_type", by_type), ("by_false_belief", self._beliefs())):
            intervals[name] = {
                group: _pair(mean_interval(right[groups[group]], stories[groups[group]])) for group in sorted(groups)
            }
        return intervals

    def accuracy(self, matcher: str) -> Interval:
        """Return the share of right answers with its interval."""
        return mean_interval(self.right(matcher), np.asarray(self._stories))

    def joint(self, matcher: str) -> Interval | None:
        """Return the share of stories that are right as a whole; None if no story was answered as a whole."""
        stories, whole = self._whole(matcher)
        return mean_interval(whole, stories) if len(whole) else None

    def kinds(self, matcher: str) -> dict[str, float]:
        """Return the share of each kind of match, the most specific first; they add up to 1."""
        counts = self._kinds[matcher]
        names = [*KINDS, *sorted(set(counts) - set(KINDS))]
        return {kind: counts[kind] / counts.total() for kind in names} if counts else {}

    def right(self, matcher: str) -> Flags:
        """Return which answers are right."""
        bit = 1 << self._matchers.index(matcher)
        return (np.asarray(self._right) & bit).astype(np.bool_)

    def _whole(self, matcher: str) -> tuple[Ints, Flags]:
        """Return the stories that were answered as a whole, and which of them are right as a whole."""
        if not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.bool_)
        stories, places, counts = np.unique(np.asarray(self._stories), return_inverse=True, return_counts=True)
        whole = np.bincount(places, weights=self.right(matcher)) == counts
        kept = ~np.isin(stories, np.fromiter(self._broken, np.int64, len(self._broken)))
        return stories[kept], whole[kept]

    def _beliefs(self) -> dict[str, Flags]:
        """Return which answers are about false beliefs and which are not; nothing if no belief was asked for."""
        has_beliefs = any(group.kind.asks_belief for group in self._groups)
        return self._members(lambda each: _BELIEFS[each.false_belief]) if has_beliefs else {}

    def _members(self, name_of: Callable[[_ScoreGroups], str]) -> dict[str, Flags]:
        """Return which answers belong to each of some groups, by name."""
        numbers = np.asarray(self._numbers)
        members: dict[str, list[int]] = {}
        for group, number in self._groups.items():
            members.setdefault(name_of(group), []).append(number)
        return {name: np.isin(numbers, members[name]) for name in sorted(members)}

    def _shares(self, right: Flags, name_of: Callable[[_ScoreGroups], T]) -> list[tuple[T, float]]:
        """Return the share of right answers in each of some groups, sorted by name."""
        good, of = self._sums(right)
        sums: dict[T, list[int]] = {}
        for group, number in self._groups.items():
            counts = sums.setdefault(name_of(group), [0, 0])
            counts[0] += good[number]
            counts[1] += of[number]
        return [(name, sums[name][0] / sums[name][1]) for name in sorted(sums)]

    def _sums(self, right: Flags) -> tuple[list[int], list[int]]:
        """Return how many answers of each numbered group are right, and how many there are."""
        numbers = np.asarray(self._numbers, dtype=np.int64)
        good = np.bincount(numbers, weights=right, minlength=len(self._groups)).astype(np.int64)
        return good.tolist(), np.bincount(numbers, minlength=len(self._groups)).tolist()


def _group_of(example: Example) -> _ScoreGroups:
    family = family_of(example)
    kind = QuestionKind(
        (family.name, *family.kind_order(example)),
        family.kind(example),
        family.asks_beliefs and not family.is_control(example),
    )
    return _ScoreGroups(example.question_type, bool(example.false_belief), kind, tuple(family.measures(example)))


def _story(example: Example) -> int:
    """Return a number for a story: the same on every machine, and practically unique."""
    name = f"{example.split}\0{example.story_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little", signed=True)


def _pair(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
