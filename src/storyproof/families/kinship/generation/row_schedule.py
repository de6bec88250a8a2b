"""The schedule: which puzzle each row is, with balanced labels and patterns, and patterns held out for testing.

Rows cycle through the scenarios (task and length), in each scenario through the labels in an order that changes every
round, and for each label through its patterns. So in every prefix of a split the counts of labels differ by at most
one, and so do the counts of patterns within a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.example import SPLITS
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.generation.patterns import Numbers, Pattern, PatternSource, PuzzleKind
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.tasks import CLEAN, MEMORY, MIXED, TASKS
from storyproof.generation.seeds import Draws, Permutation, digest

_TEST_SHARE = 5  # one in this number of patterns is held out for testing
_FIRST_HELD_OUT = 3  # facts; shorter chains have too few patterns
_VARIANTS = 128  # puzzles per label that differ in pattern, genders or noise
_ROUNDS = 64  # whose orders are drawn together


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
    """The puzzles of some rows; every array has one number per row.

    Attributes:
        scenario: The scenario's number in the split.
        task: The task's number in TASKS; a mixed scenario has rows of two tasks.
        k: The number of facts.
        target: The number of the answer's predicate.
        gender: The number of the answer's gender.
        pattern: The number of the pattern.
        variant: Rows with different numbers have puzzles with different genders or noise, where puzzles are made one by
            one.
        place: It differs between rows with the same facts and question.
        start: Equal for rows with the same facts: their offset into the list of names.
    """

    scenario: Numbers
    task: Numbers
    k: Numbers
    target: Numbers
    gender: Numbers
    pattern: Numbers
    variant: Numbers
    place: Numbers
    start: Numbers

    def take(self, rows: npt.NDArray[np.intp]) -> Assignment:
        """Return the puzzles of some of the rows."""
        return Assignment(*(getattr(self, item.name)[rows] for item in fields(self)))


@dataclass(frozen=True, slots=True)
class _Deck:
    """The labels of a task and length with their patterns, as arrays [label] and [label, pattern].

    Attributes:
        labels: The labels.
        target: The numbers of their predicates.
        gender: The numbers of their genders.
        count: How many patterns they have.
        most: How many variants of a pattern are made.
        pattern: The numbers of the patterns.
        start: The offsets of names.
    """

    labels: list[Label]
    target: Numbers
    gender: Numbers
    count: Numbers
    most: Numbers
    pattern: Numbers
    start: Numbers


class Schedule:
    """Assigns puzzles to rows.

    Args:
        config: The settings.
        source: The patterns.
        places: How many ways there are to name the people of a puzzle.
        *purpose: What all draws depend on.
    """

    def __init__(self, config: ClutrrConfig, source: PatternSource, places: int, *purpose: object) -> None:
        self._config = config
        self._source = source
        self._rules = source.rules
        self._places = places
        self._purpose = purpose
        self._decks: dict[tuple[bool, str, int], _Deck] = {}
        self._memory: dict[tuple[bool, int], list[tuple[int, Pattern]]] = {}

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
        targets = self._rules.targets
        return {k: [target for target in targets if len(self._source.numbers(k, target)) == 1] for k in self.held_out}

    def patterns(self, test: bool, k: int, target: str) -> list[Pattern]:
        """Return the patterns of a target on one side of the hold-out."""
        return [self._source.pattern(number) for number in self._numbers(test, k, target).tolist()]

    def _numbers(self, test: bool, k: int, target: str) -> Numbers:
        every = self._source.numbers(k, target)
        if k not in self.held_out:
            return every
        kept = max(1, round(len(every) / _TEST_SHARE)) if len(every) > 1 else 0
        return every[:kept] if test else every[kept:]

    def labels(self, test: bool, task: str, k: int) -> list[Label]:
        """List the answers of a scenario.

        Raises:
            ConfigError: If there is none.
        """
        return self._deck(test, task, k).labels

    def _deck(self, test: bool, task: str, k: int) -> _Deck:
        if (test, task, k) not in self._decks:
            targets = self._rules.stated if task == MEMORY else self._rules.targets
            numbers = {target: self._some(test, task, k, target) for target in targets}
            by_target = {target: patterns for target, patterns in numbers.items() if len(patterns)}
            if not by_target:
                is_shipped = any(len(self._source.numbers(k, target)) for target in self._rules.targets)
                advice = (
                    " that is not used in training; use --no-holdout." if test and is_shipped else "; choose other k."
                )
                raise ConfigError(
                    f"no relation has a pattern of {k} facts for {'testing' if test else 'training'}{advice}"
                )
            self._decks[test, task, k] = self._arranged(task, k, by_target)
        return self._decks[test, task, k]

    def _arranged(self, task: str, k: int, by_target: dict[str, Numbers]) -> _Deck:
        labels = [Label(target, gender) for target in by_target for gender in GENDERS]
        count = np.array([len(by_target[label.target]) for label in labels])
        pattern = np.zeros((len(labels), count.max()), np.int64)
        for row, label in zip(pattern, labels, strict=True):
            row[: len(by_target[label.target])] = by_target[label.target]
        most = np.maximum(_VARIANTS // count, 1)
        if task in (CLEAN, MEMORY):
            most = np.minimum(most, 1 << k)  # there are no more combinations of genders
        target = np.array([self._rules.number[label.target] for label in labels])
        gender = np.array([GENDERS.index(label.gender) for label in labels])
        return _Deck(labels, target, gender, count, most, pattern, self._starts(task, labels, pattern, count))

    def _some(self, test: bool, task: str, k: int, target: str) -> Numbers:
        if task != MEMORY:
            return self._numbers(test, k, target)
        if (test, k) not in self._memory:  # chains of any target that state the relation
            every = [number for each in self._rules.targets for number in self._numbers(test, k, each).tolist()]
            patterns = {self._source.pattern(number): number for number in reversed(every)}
            order = sorted(patterns, key=lambda pattern: digest(*self._purpose, "memory", pattern))
            self._memory[test, k] = [(patterns[pattern], pattern) for pattern in order]
        numbers = [number for number, pattern in self._memory[test, k] if target in pattern]
        return np.array(numbers, np.int64)

    def assign(self, split: str, start: int, count: int) -> Assignment:
        """Return the puzzles of `count` rows of a split, from row `start` on."""
        scenarios = self.scenarios(split)
        rows = np.arange(start, start + count)
        scenario = rows % len(scenarios)
        every = {item.name: np.zeros(count, np.int64) for item in fields(Assignment)}
        every["scenario"] = scenario
        for number, each in enumerate(scenarios):
            here = np.flatnonzero(scenario == number)
            turn = rows[here] // len(scenarios)
            tasks = (CLEAN, MEMORY) if each.task == MIXED else (each.task,)
            for part, task in enumerate(tasks):
                mine = turn % len(tasks) == part
                if mine.any():
                    puzzles = self._of_task(split, task, each.k, turn[mine] // len(tasks))
                    for name, values in puzzles.items():
                        every[name][here[mine]] = values
        return Assignment(**every)

    def _of_task(self, split: str, task: str, k: int, turn: Numbers) -> dict[str, npt.ArrayLike]:
        """Return what an assignment says of consecutive rows of a task and length."""
        side = SPLITS.index(split)
        deck = self._deck(split == "test", task, k)
        rounds = turn // len(deck.labels)
        orders = self._orders(split, task, k, len(deck.labels), int(rounds[0]), int(rounds[-1]))
        label = orders[rounds - rounds[0], turn % len(deck.labels)]
        again, which = np.divmod(rounds, deck.count[label])
        start = deck.start[label, which]
        repeated = again * len(SPLITS) + side
        return {
            "task": TASKS.index(task),
            "k": k,
            "target": deck.target[label],
            "gender": deck.gender[label],
            "pattern": deck.pattern[label, which],
            "variant": again % deck.most[label] * len(SPLITS) + side,
            "place": (start + repeated) % self._places,
            "start": start,
        }

    def _orders(self, split: str, task: str, k: int, labels: int, first: int, last: int) -> Numbers:
        """Return the order of the labels in each round, [round, place]."""
        orders = [
            np.argsort(
                Draws(*self._purpose, split, task, k, number).below(1 << 31, _ROUNDS * labels).reshape(_ROUNDS, labels),
                axis=1,
                kind="stable",
            )
            for number in range(first // _ROUNDS, last // _ROUNDS + 1)
        ]
        begin = first // _ROUNDS * _ROUNDS
        return np.concatenate(orders)[first - begin : last + 1 - begin]

    def _starts(self, task: str, labels: Sequence[Label], pattern: Numbers, count: Numbers) -> Numbers:
        """Return the offset of the names of each label's patterns, so that patterns begin with different names."""
        number = [self._rules.number[label.target] * len(GENDERS) + GENDERS.index(label.gender) for label in labels]
        every = len(self._rules.predicates) * len(GENDERS)
        shuffle = Permutation(self._places, *self._purpose, "offset", task)
        places = (pattern * every + np.array(number)[:, None]) % self._places
        return shuffle(places.reshape(-1)).reshape(places.shape)

    def kinds(self, assigned: Assignment) -> tuple[list[PuzzleKind], Numbers]:
        """Return the distinct kinds of puzzles of an assignment, and the number of each row's kind."""
        parts = assigned.task, assigned.k, assigned.target, assigned.gender, assigned.pattern, assigned.variant
        rows = zip(*(part.tolist() for part in parts), strict=True)
        number: dict[tuple[int, ...], int] = {}
        kind = np.array([number.setdefault(row, len(number)) for row in rows], np.int64)
        names = [predicate.name for predicate in self._rules.predicates]
        kinds = [
            PuzzleKind(TASKS[task], k, names[target], GENDERS[gender], self._source.pattern(pattern), variant)
            for task, k, target, gender, pattern, variant in number
        ]
        return kinds, kind
