"""Counts right answers one by one, in a dozen bytes a question, so that a million of them are no burden."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.evaluation.matching.match import KINDS, Match
from storyproof.evaluation.metrics import Scores, is_belief, kind_of
from storyproof.example import Example
from storyproof.intervals import Flags, Interval, Ints, mean_interval


class Tally:
    """Right answers under several matchers at once, and requests that failed.

    Args:
        matchers: Their names.
    """

    def __init__(self, matchers: Sequence[str]) -> None:
        self._matchers = list(matchers)
        self._right = array("B")  # one bit a matcher
        self._types, self._groups, self._stories = array("H"), array("H"), array("q")
        self._numbers: dict[Any, int] = {}
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
        self._right.append(right)
        self._types.append(self._number(example.question_type))
        self._groups.append(
            self._number(("false_belief" if example.false_belief else "no_false_belief", kind_of(example)))
        )
        self._stories.append(_story(example))

    def fail(self, example: Example, error: str | None) -> None:
        """Count a question without an answer (without an error: not asked); its story does not count as a whole."""
        self._broken.add(_story(example))
        if error is None:
            self.not_asked += 1
        else:
            self.failed += 1
            self.errors[error[:200]] += 1

    def __len__(self) -> int:
        return len(self._right)

    @property
    def asked(self) -> int:
        """How many questions there are, with an answer or without."""
        return len(self) + self.failed + self.not_asked

    def scores(self, matcher: str) -> Scores:
        """Give the scores by one matcher, of what was answered; whole stories count where all of it was."""
        right, (stories, whole) = self.right(matcher), self._whole(matcher)
        names = {number: name for name, number in self._numbers.items()}
        types = _means(np.asarray(self._types), right)
        groups = _means(np.asarray(self._groups), right)
        by_order: dict[str, dict[str, float]] = {}
        for number in sorted(groups, key=lambda each: names[each]):
            belief, kind = names[number]
            by_order.setdefault(belief, {})[kind] = groups[number]
        return Scores(
            questions=len(right),
            stories=len(stories),
            accuracy=float(right.mean()) if len(right) else 0.0,
            joint_accuracy=float(whole.mean()) if len(whole) else 0.0,
            by_question_type=dict(sorted((names[number], value) for number, value in types.items())),
            by_false_belief={name: float(right[chosen].mean()) for name, chosen in self._beliefs().items()},
            by_order=by_order,
        )

    def intervals(self, matcher: str) -> dict[str, Any]:
        """Give 95% intervals over stories of the average, joint, and by question type and false belief."""
        found: dict[str, Any] = {"accuracy": _pair(self.accuracy(matcher))}
        joint = self.joint(matcher)
        if joint is not None:
            found["joint_accuracy"] = _pair(joint)
        names = {number: name for name, number in self._numbers.items()}
        right, stories, types = self.right(matcher), np.asarray(self._stories), np.asarray(self._types)
        by_type = {names[number]: types == number for number in np.unique(types).tolist()}
        for name, groups in (("by_question_type", by_type), ("by_false_belief", self._beliefs())):
            found[name] = {
                group: _pair(mean_interval(right[groups[group]], stories[groups[group]])) for group in sorted(groups)
            }
        return found

    def accuracy(self, matcher: str) -> Interval:
        """Give the share of right answers with its interval."""
        return mean_interval(self.right(matcher), np.asarray(self._stories))

    def joint(self, matcher: str) -> Interval | None:
        """Give the share of stories all of which is right with its interval, if any story was answered as a whole."""
        stories, whole = self._whole(matcher)
        return mean_interval(whole, stories) if len(whole) else None

    def kinds(self, matcher: str) -> dict[str, float]:
        """Give the share of each kind of match, the most specific first; they add up to 1."""
        counts = self._kinds[matcher]
        names = [*KINDS, *sorted(set(counts) - set(KINDS))]
        return {kind: counts[kind] / counts.total() for kind in names} if counts else {}

    def right(self, matcher: str) -> Flags:
        """Say of each answer whether it is right."""
        bit = 1 << self._matchers.index(matcher)
        return (np.asarray(self._right) & bit).astype(np.bool_)

    def _whole(self, matcher: str) -> tuple[Ints, Flags]:
        """Say of each story that was answered as a whole whether all of it is right."""
        if not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.bool_)
        stories, places, counts = np.unique(np.asarray(self._stories), return_inverse=True, return_counts=True)
        whole = np.bincount(places, weights=self.right(matcher)) == counts
        kept = ~np.isin(stories, np.fromiter(self._broken, np.int64, len(self._broken)))
        return stories[kept], whole[kept]

    def _beliefs(self) -> dict[str, Flags]:
        """Say of each answer whether the asked belief is false, and whether not; nothing if none was asked for."""
        groups = np.asarray(self._groups)
        members: dict[str, list[int]] = {}
        asked = False
        for name, number in self._numbers.items():
            if isinstance(name, tuple):
                members.setdefault(name[0], []).append(number)
                asked |= is_belief(name[1])
        return {name: np.isin(groups, members[name]) for name in sorted(members)} if asked else {}

    def _number(self, name: Any) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def _story(example: Example) -> int:
    """Give a number for a story: the same on every machine, and as good as unique."""
    name = f"{example.split}\0{example.story_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little", signed=True)


def _means(numbers: npt.NDArray[Any], right: Flags) -> dict[int, float]:
    if not len(numbers):
        return {}
    counts = np.bincount(numbers)
    good = np.bincount(numbers, weights=right)
    return {number: float(good[number] / counts[number]) for number in np.flatnonzero(counts).tolist()}


def _pair(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
