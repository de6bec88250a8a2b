"""Patterns: the gender-neutral sequences of relations from which a target follows, in some family at least.

They are built constructively: a pattern of k facts is two shorter ones put together by a rule, and as every part of a
story that can happen can happen, the parts are patterns themselves. Up to five facts all patterns are found; of longer
ones, which are many, a number for each target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product

from storyproof.families.kinship.rules import Rules
from storyproof.seeds import Draws

Pattern = tuple[str, ...]
Admit = Callable[[Sequence[tuple[str, Pattern]]], Sequence[bool]]  # says of targets and patterns which can be used
MOST = 64  # patterns of a target at one length
_LISTED = 5000  # ways of putting two parts together up to which all are tried, in random order
_TRIED = 64  # patterns of a target that are looked at together


class Patterns:
    """The patterns of some rules, found when asked for and kept."""

    def __init__(self, rules: Rules, admit: Admit, *purpose: object) -> None:
        self._rules = rules
        self._admit = admit
        self._purpose = purpose
        self._found: dict[int, dict[str, list[Pattern]]] = {1: {relation: [(relation,)] for relation in rules.told}}

    def of(self, k: int, target: str) -> list[Pattern]:
        """Give the patterns of k facts from which a target follows, in random order, MOST at most."""
        if k not in self._found:
            for shorter in range(2, k):
                self.of(shorter, target)
            self._found[k] = self._find(k)
        return self._found[k].get(target, [])

    def _find(self, k: int) -> dict[str, list[Pattern]]:
        """Go through the candidates of all targets side by side until each has enough or no more."""
        heads = dict.fromkeys(self._rules.heads.values())
        waiting = {head: self._candidates(k, head) for head in heads}
        found: dict[str, list[Pattern]] = {head: [] for head in heads}
        while tried := [
            (head, pattern)
            for head, patterns in waiting.items()
            if len(found[head]) < MOST
            for pattern in islice(patterns, _TRIED)
        ]:
            for (head, pattern), good in zip(tried, self._admit(tried), strict=True):
                if good:
                    found[head].append(pattern)
        return {head: patterns[:MOST] for head, patterns in found.items()}

    def _candidates(self, k: int, head: str) -> Iterator[Pattern]:
        """Put two parts together in all ways, or in many if there are too many."""
        draws = Draws(*self._purpose, "patterns", k, head)
        halves = [
            (self._found[left].get(first, []), self._found[k - left].get(second, []))
            for (first, second), other in self._rules.heads.items()
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
