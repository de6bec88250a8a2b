"""The search for the patterns of rules of which not all patterns have been proved.

Patterns are built up: a pattern of k facts is two shorter ones joined by a rule. Since every part of a possible story
is possible, the parts are patterns themselves. Up to five facts all patterns are found; of the many longer ones, a
limited number per target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.generation.patterns import (
    Numbers,
    Pattern,
    PatternSource,
    longest_run,
    split_numbers,
    within_bound,
)
from storyproof.families.kinship.rules import RuleSet
from storyproof.generation.seeds import Draws

Admit = Callable[[Sequence[tuple[str, Pattern]]], Sequence[bool]]  # returns which targets and patterns can be used
MOST = 64  # patterns per target and length
_LISTED = 5000  # number of joins up to which all are tried, in random order
_TRIED = 64  # patterns of a target that are tried together


class SearchedPatterns(PatternSource):
    """The patterns that `Patterns` finds.

    Args:
        patterns: What finds them.
        bound: How many siblings may follow each other.
    """

    def __init__(self, patterns: Patterns, bound: int) -> None:
        super().__init__(patterns.rules)
        self._patterns = patterns
        self._bound = bound

    def numbers(self, k: int, target: str) -> Numbers:
        """Return the patterns of k facts from which a target follows, in random order."""
        kept = within_bound(self._runs(k, target), self._bound)
        return self.first_number(k, target) + np.flatnonzero(kept)

    def longest_run(self, k: int, target: str) -> int:
        """Return how many siblings follow each other at most in the patterns of k facts of a target."""
        _, places = split_numbers(self.numbers(k, target))
        return int(self._runs(k, target)[places].max(initial=0))

    def _runs(self, k: int, target: str) -> npt.NDArray[np.int64]:
        return np.array([longest_run(each) for each in self._patterns.of(k, target)], np.int64)

    def pattern(self, number: int) -> Pattern:
        """Return the pattern with a number."""
        k, target, place = self.split_number(number)
        return self._patterns.of(k, target)[place]


class Patterns:
    """The patterns of some rules, found on demand and cached."""

    def __init__(self, rules: RuleSet, admit: Admit, *purpose: object) -> None:
        self.rules = rules
        self._admit = admit
        self._purpose = purpose
        self._found: dict[int, dict[str, list[Pattern]]] = {1: {relation: [(relation,)] for relation in rules.stated}}

    def of(self, k: int, target: str) -> list[Pattern]:
        """Return the patterns of k facts from which a target follows, in random order, at most MOST."""
        if k not in self._found:
            for shorter in range(2, k):
                self.of(shorter, target)
            self._found[k] = self._find(k)
        return self._found[k].get(target, [])

    def _find(self, k: int) -> dict[str, list[Pattern]]:
        """Try the candidates of all targets in parallel until each target has enough or no more."""
        heads = dict.fromkeys(self.rules.heads.values())
        waiting = {head: self._candidates(k, head) for head in heads}
        accepted: dict[str, list[Pattern]] = {head: [] for head in heads}
        while tried := [
            (head, pattern)
            for head, patterns in waiting.items()
            if len(accepted[head]) < MOST
            for pattern in islice(patterns, _TRIED)
        ]:
            for (head, pattern), good in zip(tried, self._admit(tried), strict=True):
                if good:
                    accepted[head].append(pattern)
        return {head: patterns[:MOST] for head, patterns in accepted.items()}

    def _candidates(self, k: int, head: str) -> Iterator[Pattern]:
        """Yield all joins of two parts, or a random selection if there are too many."""
        draws = Draws(*self._purpose, "patterns", k, head)
        halves = [
            (self._found[left].get(first, []), self._found[k - left].get(second, []))
            for (first, second), other in self.rules.heads.items()
            if other == head
            for left in range(1, k)
        ]
        halves = [(one, other) for one, other in halves if one and other]
        if sum(len(one) * len(other) for one, other in halves) <= _LISTED:
            every = sorted({start + end for one, other in halves for start, end in product(one, other)})
            yield from (every[place] for place in draws.order(len(every)) if every)
            return
        seen: set[Pattern] = set()
        choices = draws.below(1 << 30, 3 * _LISTED).reshape(3, -1).T.tolist()
        for which, start, end in choices:
            one, other = halves[which % len(halves)]
            pattern = one[start % len(one)] + other[end % len(other)]
            if pattern not in seen:
                seen.add(pattern)
                yield pattern
