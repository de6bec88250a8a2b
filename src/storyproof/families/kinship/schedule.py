"""Which puzzle each row is: labels in turn, patterns of a label in turn, some kept apart for testing.

Rows go round: through the scenarios (task and length), in each through the labels in an order that changes every round,
and for each label through its patterns. So in any beginning of a split label counts differ by at most one, and so do
patterns within a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.example import SPLITS
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.patterns import MOST, Pattern
from storyproof.families.kinship.puzzles import CLEAN, MEMORY, MIXED, Kind, Maker
from storyproof.families.kinship.relations import GENDERS
from storyproof.seeds import Draws, digest

_TEST_SHARE = 5  # of so many patterns one is kept for testing
_FIRST_HELD_OUT = 3  # facts; two of them are all that shorter chains have in common
_VARIANTS = 128  # puzzles of a label that differ in pattern, genders or noise


class Scenario(NamedTuple):
    """Stories of one task and length."""

    task: str
    k: int


class Label(NamedTuple):
    """An answer."""

    target: str
    gender: str


@dataclass(frozen=True, slots=True)
class Dealt:
    """What some rows are.

    Attributes:
        kinds: The different puzzles.
        kind: Which of them each row is.
        scenario: Which of the split's scenarios each row is.
        place: A number a row that differs between rows with the same facts asked for the same.
        start: A number that is the same for all rows with the same facts: where in the list of names they begin.
    """

    kinds: list[Kind]
    kind: npt.NDArray[np.int32]
    scenario: npt.NDArray[np.int32]
    place: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]


class Dealer:
    """Deals puzzles to rows."""

    def __init__(self, config: ClutrrConfig, maker: Maker, places: int, *purpose: object) -> None:
        self._config = config
        self._maker = maker
        self._places = places
        self._purpose = purpose
        self._labels: dict[tuple[bool, str, int], list[Label]] = {}
        self._memory: dict[tuple[bool, int], list[Pattern]] = {}

    def scenarios(self, split: str) -> list[Scenario]:
        """List what a split has."""
        config = self._config
        if split == "test":
            return [Scenario(task, k) for task in config.test_tasks or (config.task,) for k in config.test_k]
        return [Scenario(config.task, k) for k in config.train_k]

    @cached_property
    def held_out(self) -> list[int]:
        """The lengths whose patterns are kept apart between training and test."""
        both = set(self._config.train_k) & set(self._config.test_k) if self._config.holdout else set()
        return sorted(k for k in both if k >= _FIRST_HELD_OUT)

    def kept_in_training(self) -> dict[int, list[str]]:
        """Name for each held-out length the relations that have a single pattern, which stays in training."""
        targets = self._maker.rules.targets
        return {k: [target for target in targets if len(self._maker.patterns(k, target)) == 1] for k in self.held_out}

    def patterns(self, test: bool, k: int, target: str) -> list[Pattern]:
        """Give the patterns of a target on one side of the hold-out."""
        every = self._maker.patterns(k, target)
        if k not in self.held_out:
            return every
        kept = max(1, round(len(every) / _TEST_SHARE)) if len(every) > 1 else 0
        return every[:kept] if test else every[kept:]

    def labels(self, test: bool, task: str, k: int) -> list[Label]:
        """List the answers of a scenario.

        Raises:
            ConfigError: If there is none.
        """
        if (test, task, k) not in self._labels:
            targets = self._maker.rules.told if task == MEMORY else self._maker.rules.targets
            found = [target for target in targets if self._some(test, task, k, target)]
            if not found:
                some = any(self._maker.patterns(k, target) for target in self._maker.rules.targets)
                advice = " that training leaves over; use --no-holdout." if test and some else "; choose other k."
                raise ConfigError(
                    f"no relation has a pattern of {k} facts for {'testing' if test else 'training'}{advice}"
                )
            self._labels[test, task, k] = [Label(target, gender) for target in found for gender in GENDERS]
        return self._labels[test, task, k]

    def _some(self, test: bool, task: str, k: int, target: str) -> list[Pattern]:
        if task != MEMORY:
            return self.patterns(test, k, target)
        if (test, k) not in self._memory:  # whatever the chain is for, if only the relation is told in it
            every = [pattern for each in self._maker.rules.targets for pattern in self.patterns(test, k, each)]
            self._memory[test, k] = sorted(set(every), key=lambda pattern: digest(*self._purpose, "memory", pattern))
        return [pattern for pattern in self._memory[test, k] if target in pattern][:MOST]

    def deal(self, split: str, start: int, count: int) -> Dealt:
        """Say which puzzles so many rows of a split are."""
        scenarios = self.scenarios(split)
        rows = np.arange(start, start + count)
        scenario = rows % len(scenarios)
        kinds: dict[Kind, int] = {}
        kind = np.empty(count, np.int32)
        place, begin = np.empty(count, np.int64), np.empty(count, np.int64)
        for number, each in enumerate(scenarios):
            here = np.flatnonzero(scenario == number)
            turn = rows[here] // len(scenarios)
            tasks = (CLEAN, MEMORY) if each.task == MIXED else (each.task,)
            for part, task in enumerate(tasks):
                mine = turn % len(tasks) == part
                for chosen, found, starts, again in self._of_task(split, task, each.k, turn[mine] // len(tasks)):
                    into = here[mine][chosen]
                    kind[into] = [kinds.setdefault(one, len(kinds)) for one in found]
                    place[into] = (starts + again) % self._places
                    begin[into] = starts
        return Dealt(list(kinds), kind, scenario.astype(np.int32), place, begin)

    def _of_task(
        self, split: str, task: str, k: int, turn: npt.NDArray[np.int64]
    ) -> Iterator[tuple[npt.NDArray[np.intp], Sequence[Kind], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Deal one task and length, label by label: which turns, their puzzles, where names begin, and how far on."""
        if not len(turn):
            return
        test, side = split == "test", SPLITS.index(split)
        labels = self.labels(test, task, k)
        rounds = turn // len(labels)
        first, last = int(rounds[0]), int(rounds[-1])
        orders = np.stack(
            [Draws(*self._purpose, split, task, k, number).order(len(labels)) for number in range(first, last + 1)]
        )
        dealt = orders[rounds - first, turn % len(labels)]
        for number, label in enumerate(labels):
            chosen = np.flatnonzero(dealt == number)
            if not len(chosen):
                continue
            patterns = self._some(test, task, k, label.target)
            which, again = rounds[chosen] % len(patterns), rounds[chosen] // len(patterns)
            most = _VARIANTS // len(patterns)
            if task in (CLEAN, MEMORY):
                most = min(most, 1 << k)  # there are no more genders to draw
            variants = again % most * len(SPLITS)
            found = [
                Kind(task, k, label.target, label.gender, patterns[pattern], variant + side)
                for pattern, variant in zip(which.tolist(), variants.tolist(), strict=True)
            ]
            offsets = np.array([self._offset(task, label, pattern) for pattern in patterns])
            yield chosen, found, offsets[which], again * len(SPLITS) + side

    def _offset(self, task: str, label: Label, pattern: Pattern) -> int:
        """Say where the names of a label's pattern begin, so that not all begin with the same."""
        return int.from_bytes(digest(*self._purpose, "offset", task, label, pattern)[:6], "little") % self._places
