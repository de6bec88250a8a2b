"""The schedule: which puzzle each row is, with balanced labels and patterns, and patterns held out for testing.

Rows cycle through the scenarios (task and length), in each scenario through the labels in an order that changes every
round, and for each label through its patterns. So in every prefix of a split the counts of labels differ by at most
one, and so do the counts of patterns within a label.
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
from storyproof.families.kinship.config import KinshipConfig
from storyproof.families.kinship.generation.patterns import MOST, Pattern
from storyproof.families.kinship.generation.puzzles import PuzzleKind, PuzzleMaker
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.tasks import CLEAN, MEMORY, MIXED
from storyproof.seeds import Draws, digest

_TEST_SHARE = 5  # one in so many patterns is held out for testing
_FIRST_HELD_OUT = 3  # facts; shorter chains have too few patterns
_VARIANTS = 128  # puzzles per label that differ in pattern, genders or noise


class Scenario(NamedTuple):
    """Stories of one task and length."""

    task: str
    k: int


class Label(NamedTuple):
    """An answer: relation and gender."""

    target: str
    gender: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """The puzzles of some rows.

    Attributes:
        kinds: The distinct puzzles.
        kind: The number of each row's puzzle in `kinds`.
        scenario: The number of each row's scenario in the split.
        place: One number per row; it differs between rows with the same facts and question.
        start: One number per row, equal for rows with the same facts: their offset into the list of names.
    """

    kinds: list[PuzzleKind]
    kind: npt.NDArray[np.int32]
    scenario: npt.NDArray[np.int32]
    place: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]


class Schedule:
    """Assigns puzzles to rows."""

    def __init__(self, config: KinshipConfig, maker: PuzzleMaker, places: int, *purpose: object) -> None:
        self._config = config
        self._maker = maker
        self._places = places
        self._purpose = purpose
        self._labels: dict[tuple[bool, str, int], list[Label]] = {}
        self._memory: dict[tuple[bool, int], list[Pattern]] = {}

    def scenarios(self, split: str) -> list[Scenario]:
        """List the scenarios of a split."""
        config = self._config
        if split == "test":
            return [Scenario(task, k) for task in config.test_tasks or (config.task,) for k in config.test_k]
        return [Scenario(config.task, k) for k in config.train_k]

    @cached_property
    def held_out(self) -> list[int]:
        """The lengths at which training and test have different patterns."""
        both = set(self._config.train_k) & set(self._config.test_k) if self._config.holdout else set()
        return sorted(k for k in both if k >= _FIRST_HELD_OUT)

    def kept_in_training(self) -> dict[int, list[str]]:
        """Return for each held-out length the relations with a single pattern, which stays in training."""
        targets = self._maker.rules.targets
        return {k: [target for target in targets if len(self._maker.patterns(k, target)) == 1] for k in self.held_out}

    def patterns(self, test: bool, k: int, target: str) -> list[Pattern]:
        """Return the patterns of a target on one side of the hold-out."""
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
            targets = self._maker.rules.stated if task == MEMORY else self._maker.rules.targets
            found = [target for target in targets if self._some(test, task, k, target)]
            if not found:
                some = any(self._maker.patterns(k, target) for target in self._maker.rules.targets)
                advice = " that is not used in training; use --no-holdout." if test and some else "; choose other k."
                raise ConfigError(
                    f"no relation has a pattern of {k} facts for {'testing' if test else 'training'}{advice}"
                )
            self._labels[test, task, k] = [Label(target, gender) for target in found for gender in GENDERS]
        return self._labels[test, task, k]

    def _some(self, test: bool, task: str, k: int, target: str) -> list[Pattern]:
        if task != MEMORY:
            return self.patterns(test, k, target)
        if (test, k) not in self._memory:  # chains of any target that state the relation
            every = [pattern for each in self._maker.rules.targets for pattern in self.patterns(test, k, each)]
            self._memory[test, k] = sorted(set(every), key=lambda pattern: digest(*self._purpose, "memory", pattern))
        return [pattern for pattern in self._memory[test, k] if target in pattern][:MOST]

    def assign(self, split: str, start: int, count: int) -> Assignment:
        """Return the puzzles of `count` rows of a split, from row `start` on."""
        scenarios = self.scenarios(split)
        rows = np.arange(start, start + count)
        scenario = rows % len(scenarios)
        kinds: dict[PuzzleKind, int] = {}
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
        return Assignment(list(kinds), kind, scenario.astype(np.int32), place, begin)

    def _of_task(
        self, split: str, task: str, k: int, turn: npt.NDArray[np.int64]
    ) -> Iterator[tuple[npt.NDArray[np.intp], Sequence[PuzzleKind], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Yield for each label of a task and length: its turns, their puzzles, offsets of names, and repetitions."""
        if not len(turn):
            return
        test, side = split == "test", SPLITS.index(split)
        labels = self.labels(test, task, k)
        rounds = turn // len(labels)
        first, last = int(rounds[0]), int(rounds[-1])
        orders = np.stack(
            [Draws(*self._purpose, split, task, k, number).order(len(labels)) for number in range(first, last + 1)]
        )
        labelled = orders[rounds - first, turn % len(labels)]
        for number, label in enumerate(labels):
            chosen = np.flatnonzero(labelled == number)
            if not len(chosen):
                continue
            patterns = self._some(test, task, k, label.target)
            which, again = rounds[chosen] % len(patterns), rounds[chosen] // len(patterns)
            most = _VARIANTS // len(patterns)
            if task in (CLEAN, MEMORY):
                most = min(most, 1 << k)  # there are no more combinations of genders
            variants = again % most * len(SPLITS)
            found = [
                PuzzleKind(task, k, label.target, label.gender, patterns[pattern], variant + side)
                for pattern, variant in zip(which.tolist(), variants.tolist(), strict=True)
            ]
            offsets = np.array([self._offset(task, label, pattern) for pattern in patterns])
            yield chosen, found, offsets[which], again * len(SPLITS) + side

    def _offset(self, task: str, label: Label, pattern: Pattern) -> int:
        """Return the offset of the names of a label's pattern, so that patterns begin with different names."""
        return int.from_bytes(digest(*self._purpose, "offset", task, label, pattern)[:6], "little") % self._places
