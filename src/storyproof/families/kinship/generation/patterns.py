"""Patterns: the gender-neutral sequences of relations from which a target follows in at least one family.

Those of the strict reading are known, see `proof_file`; those of other rules are searched for, see `pattern_search`.

Long chains of strict kinship need large families: a relation spans at most three generations, so most facts of a long
chain are about siblings. A bound on how many of them follow each other leaves out the largest families.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.kinship.generation.proof_file import Proofs
from storyproof.families.kinship.rules import RuleSet
from storyproof.generation.seeds import Draws

Pattern = tuple[str, ...]
Numbers = npt.NDArray[np.int64]
SIBLING = "sibling"
FEWEST = 2  # patterns that a bound leaves to a target, so that one can be held out
_PLACES = 12  # bits of a pattern's number that count the patterns of its target and length


class PuzzleKind(NamedTuple):
    """The identity of a puzzle: the n-th of a task, length, answer and pattern."""

    task: str
    k: int
    target: str
    gender: str
    pattern: Pattern
    number: int


class PatternSource(ABC):
    """Patterns by number. A number is made up of length, target and place in a list that never changes."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules

    @abstractmethod
    def numbers(self, k: int, target: str) -> Numbers:
        """Return the patterns of k facts from which a target follows, in random order."""

    @abstractmethod
    def longest_run(self, k: int, target: str) -> int:
        """Return how many siblings follow each other at most in the patterns of k facts of a target."""

    @abstractmethod
    def pattern(self, number: int) -> Pattern:
        """Return the pattern with a number."""

    def group(self, k: int, target: str) -> int:
        """Return what the patterns of a length and target have in common: their numbers without the last bits."""
        return k * len(self.rules.predicates) + self.rules.number[target]

    def first_number(self, k: int, target: str) -> int:
        """Return the number of the first pattern of a length and target."""
        return self.group(k, target) << _PLACES

    def split_number(self, number: int) -> tuple[int, str, int]:
        """Return length, target and place of a pattern."""
        k, target = divmod(number >> _PLACES, len(self.rules.predicates))
        return k, self.rules.predicates[target].name, number & ((1 << _PLACES) - 1)


def split_numbers(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the groups and places of patterns."""
    return numbers >> _PLACES, numbers & ((1 << _PLACES) - 1)


def longest_run(pattern: Sequence[str]) -> int:
    """Return how many sibling facts follow each other at most."""
    return max((len(list(run)) for relation, run in groupby(pattern) if relation == SIBLING), default=0)


def within_bound(runs: npt.NDArray[np.integer], bound: int) -> npt.NDArray[np.bool_]:
    """Return which patterns of a target to use: those within the bound or, if they are too few, within the next.

    Args:
        runs: How many sibling facts follow each other in each pattern.
        bound: How many may.
    """
    within = runs <= bound
    while np.count_nonzero(within) < min(FEWEST, len(runs)):
        within = runs <= runs[~within].min()
    return within


class ProvedPatterns(PatternSource):
    """All patterns of the strict reading; a seed decides their order only.

    Args:
        rules: The strict rules.
        proofs: What has been proved.
        bound: How many siblings may follow each other.
        *purpose: What the order depends on.
    """

    def __init__(self, rules: RuleSet, proofs: Proofs, bound: int, *purpose: object) -> None:
        super().__init__(rules)
        self.proofs = proofs
        self._bound = bound
        self._purpose = purpose
        self._numbers: dict[tuple[int, str], Numbers] = {}

    def numbers(self, k: int, target: str) -> Numbers:
        """Return the patterns of k facts from which a target follows, in random order."""
        if (k, target) not in self._numbers:
            runs = self._runs(k, target)
            order = Draws(*self._purpose, "patterns", k, target).order(len(runs))
            self._numbers[k, target] = self.first_number(k, target) + order[within_bound(runs, self._bound)[order]]
        return self._numbers[k, target]

    def longest_run(self, k: int, target: str) -> int:
        """Return how many siblings follow each other at most in the patterns of k facts of a target."""
        runs = self._runs(k, target)
        return int(runs[within_bound(runs, self._bound)].max(initial=0))

    def _runs(self, k: int, target: str) -> npt.NDArray[np.int8]:
        """Return how many siblings follow each other in each pattern, before any is left out."""
        start, stop = self.places(k, target)
        longest = run = np.zeros(stop - start, np.int8)
        for relation in self.proofs.of(k).relations[start:stop].T:
            run = np.where(relation == self.rules.number[SIBLING], run + 1, 0).astype(np.int8)
            longest = np.maximum(longest, run)
        return longest

    def places(self, k: int, target: str) -> tuple[int, int]:
        """Return where the patterns of a target begin and end among all patterns of k facts."""
        start, stop = np.searchsorted(self.proofs.of(k).target, self.rules.number[target] + np.arange(2))
        return int(start), int(stop)

    def pattern(self, number: int) -> Pattern:
        """Return the pattern with a number."""
        k, target, place = self.split_number(number)
        relations = self.proofs.of(k).relations[self.places(k, target)[0] + place]
        return tuple(self.rules.predicates[each].name for each in relations.tolist())
