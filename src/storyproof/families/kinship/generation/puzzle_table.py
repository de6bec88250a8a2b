"""The table of all puzzles known so far, as arrays; the columns of rows are made from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.families.kinship.checker import ENTAILED, STATUSES
from storyproof.families.kinship.config import MOST_K
from storyproof.families.kinship.generation.patterns import (
    Numbers,
    PatternSource,
    ProvedPatterns,
    PuzzleKind,
    split_numbers,
)
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.rules import PUBLISHED, STRICT
from storyproof.families.kinship.tasks import CLEAN, NOISE, TASKS
from storyproof.generation.arrow_columns import NO_WORD, coded, constant_words, word_lists
from storyproof.generation.seeds import Draws

if TYPE_CHECKING:
    from storyproof.families.kinship.generation.puzzle_maker import Puzzle, PuzzleMaker

Ints = npt.NDArray[np.int32]
NOBODY = NO_WORD


@dataclass(frozen=True, slots=True)
class PuzzleArrays:
    """Puzzles as arrays [puzzle, …]; NOBODY where there is nothing.

    Attributes:
        task: The task's number in TASKS.
        k: The number of facts in the chain.
        facts: The number of all facts.
        first: [puzzle, fact], whose relative is named; the chain, then noise.
        predicate: [puzzle, fact], what they are, by number.
        second: [puzzle, fact], who they are.
        noise: [puzzle, fact], the number of a noise fact's type; NOBODY for the chain.
        asked: [puzzle, 2], the two people of the question.
        target: The number of the answer's predicate.
        spouse: [puzzle, person], the spouse whose gender decides that of the person.
        genders: [puzzle, person]; NOBODY where they are drawn for each row.
        people: How many there are.
        steps: [puzzle, step, 3], the proof from the top down: first, through whom, second.
        concluded: [puzzle, step], the predicate of each step.
        status: The number of the status.
        readings: Under which readings the answer holds, by number.
    """

    task: Ints
    k: Ints
    facts: Ints
    first: Ints
    predicate: Ints
    second: Ints
    noise: Ints
    asked: Ints
    target: Ints
    spouse: Ints
    genders: Ints
    people: Ints
    steps: Ints
    concluded: Ints
    status: Ints
    readings: Ints

    def __len__(self) -> int:
        return len(self.k)

    def take(self, numbers: npt.NDArray[Any]) -> PuzzleArrays:
        """Return some puzzles, in arrays that are no wider than they need."""
        widths = {
            **dict.fromkeys(("first", "predicate", "second", "noise"), int(self.facts[numbers].max())),
            **dict.fromkeys(("spouse", "genders"), int(self.people[numbers].max())),
            **dict.fromkeys(("steps", "concluded"), int(self.k[numbers].max()) - 1),
        }
        arrays = {}
        for item in fields(self):
            array = getattr(self, item.name)
            arrays[item.name] = array[:, : widths[item.name]][numbers] if item.name in widths else array[numbers]
        return PuzzleArrays(**arrays)


def _stacked(parts: Sequence[PuzzleArrays]) -> PuzzleArrays:
    """Put tables of puzzles on top of each other; narrower ones are padded."""
    stacked = {}
    for item in fields(PuzzleArrays):
        arrays = [getattr(part, item.name) for part in parts]
        shape = np.max([array.shape[1:] for array in arrays], axis=0, initial=0)
        whole = np.full((sum(map(len, arrays)), *shape.astype(int)), NOBODY, np.int32)
        start = 0
        for array in arrays:
            whole[start : start + len(array), *(slice(width) for width in array.shape[1:])] = array
            start += len(array)
        stacked[item.name] = whole
    return PuzzleArrays(**stacked)


class PuzzleTable:
    """Puzzles by number: proved patterns, of which genders are drawn for each row, and puzzles made one by one."""

    def __init__(self, source: PatternSource) -> None:
        self._source = source
        self._rules = source.rules
        self._arrays: PuzzleArrays | None = None
        self._readings: dict[tuple[str, ...], int] = {}
        self._groups = np.full((MOST_K + 1) * len(self._rules.predicates), NOBODY, np.int64)
        self._made: dict[PuzzleKind, int] = {}

    def proved(self, patterns: Numbers) -> Numbers:
        """Return the numbers of the puzzles of proved patterns; their lengths are read when they are needed."""
        groups, places = split_numbers(patterns)
        unknown = groups[self._groups[groups] == NOBODY]
        if len(unknown):
            self._add_lengths(sorted(set((unknown // len(self._rules.predicates)).tolist())))
        numbers: Numbers = self._groups[groups] + places
        return numbers

    def _add_lengths(self, lengths: Sequence[int]) -> None:
        source, start = self._source, self._count
        assert isinstance(source, ProvedPatterns)
        for k in lengths:
            for target in self._rules.targets:
                self._groups[source.group(k, target)] = start + source.places(k, target)[0]
            start += len(source.proofs.of(k))
        self._add(*(self._of_length(k, source) for k in lengths))

    def _of_length(self, k: int, source: ProvedPatterns) -> PuzzleArrays:
        proved = source.proofs.of(k)
        count = len(proved)

        def same(value: int | Sequence[int] | npt.NDArray[Any]) -> Ints:
            return np.broadcast_to(np.asarray(value, np.int32), (count, *np.shape(value)))

        both = [self._reading((STRICT,)), self._reading((STRICT, PUBLISHED))]
        places = np.arange(k + 1)
        spouse = proved.spouse.astype(np.int32)
        # Of a couple the later one follows the earlier, but everybody follows the person asked about.
        spouse[(spouse > places) & (spouse != k)] = NOBODY
        spouse[:, k] = NOBODY
        return PuzzleArrays(
            task=same(TASKS.index(CLEAN)),
            k=same(k),
            facts=same(k),
            first=same(places[:-1]),
            predicate=proved.relations.astype(np.int32),
            second=same(places[1:]),
            noise=same([NOBODY] * k),
            asked=same([0, k]),
            target=proved.target.astype(np.int32),
            spouse=spouse,
            genders=same([NOBODY] * (k + 1)),
            people=same(k + 1),
            steps=np.stack([proved.first, proved.via, proved.second], axis=2).astype(np.int32),
            concluded=proved.concluded.astype(np.int32),
            status=same(STATUSES.index(ENTAILED)),
            readings=np.array(both, np.int32)[proved.published],
        )

    def made(self, kinds: Sequence[PuzzleKind], maker: PuzzleMaker) -> Numbers:
        """Return the numbers of puzzles of some kinds; new ones are made and added."""
        new = [kind for kind in kinds if kind not in self._made]
        if new:
            arrays = self.arrays(maker.make(new))
            self._made |= {kind: number for number, kind in enumerate(new, start=self._count)}
            self._add(arrays)
        return np.array([self._made[kind] for kind in kinds], np.int64)

    @property
    def _count(self) -> int:
        return 0 if self._arrays is None else len(self._arrays)

    def _add(self, *new: PuzzleArrays) -> None:
        self._arrays = _stacked([*([] if self._arrays is None else [self._arrays]), *new])

    def _reading(self, names: tuple[str, ...]) -> int:
        return self._readings.setdefault(names, len(self._readings))

    def arrays(self, puzzles: Sequence[Puzzle]) -> PuzzleArrays:
        """Return puzzles as arrays."""
        number = self._rules.number

        def filled(rows: Sequence[Sequence[Any]], *inner: int) -> Ints:
            padded = np.full((len(rows), max(map(len, rows)), *inner), NOBODY, np.int32)
            for place, row in enumerate(rows):
                if row:
                    padded[place, : len(row)] = row
            return padded

        def plain(values: Sequence[Any]) -> Ints:
            return np.array(values, np.int32)

        steps = [[(step.fact.first, step.via, step.fact.second) for step in each.proof] for each in puzzles]
        genders = filled([[GENDERS.index(gender) for gender in each.genders] for each in puzzles])
        return PuzzleArrays(
            task=plain([TASKS.index(each.task) for each in puzzles]),
            k=plain([each.k for each in puzzles]),
            facts=plain([len(each.facts) for each in puzzles]),
            first=filled([[fact.first for fact in each.facts] for each in puzzles]),
            predicate=filled([[number[fact.predicate] for fact in each.facts] for each in puzzles]),
            second=filled([[fact.second for fact in each.facts] for each in puzzles]),
            noise=filled([[NOBODY] * each.k + [NOISE.index(kind) for kind in each.noise] for each in puzzles]),
            asked=plain([(each.query.first, each.query.second) for each in puzzles]),
            target=plain([number[each.query.predicate] for each in puzzles]),
            spouse=np.full_like(genders, NOBODY),
            genders=genders,
            people=plain([len(each.genders) for each in puzzles]),
            steps=filled(steps, 3),
            concluded=filled([[number[step.fact.predicate] for step in each.proof] for each in puzzles]),
            status=plain([NO_WORD if each.status is None else STATUSES.index(each.status) for each in puzzles]),
            readings=plain([self._reading(each.readings) for each in puzzles]),
        )

    def rows(self, puzzle: Numbers, gender: Numbers, draws: Draws) -> PuzzleArrays:
        """Return the puzzles of rows, with everybody's gender.

        Args:
            puzzle: The number of each row's puzzle.
            gender: That of the person asked about.
            draws: Random draws for the genders that a puzzle leaves open.
        """
        assert self._arrays is not None
        puzzles = self._arrays.take(puzzle)
        drawn = draws.below(2, puzzles.genders.size).reshape(puzzles.genders.shape).astype(np.int32)
        every = np.arange(len(puzzle))
        drawn[every, puzzles.asked[:, 1]] = gender
        # Spouses differ. Nobody follows somebody who follows somebody else, because nobody has two spouses.
        other = 1 - np.take_along_axis(drawn, np.maximum(puzzles.spouse, 0), axis=1)
        drawn = np.where(puzzles.spouse != NOBODY, other, drawn)
        there = np.arange(int(puzzles.people.max())) < puzzles.people[:, None]
        drawn = np.where(there, drawn, 0)
        return replace(puzzles, genders=np.where(puzzles.genders != NOBODY, puzzles.genders, drawn))

    def columns(self, rows: PuzzleArrays) -> dict[str, pa.Array]:
        """Return all columns that the puzzles of rows determine."""
        words = constant_words(
            tuple(self._rules.word(each.name, gender) for each in self._rules.predicates for gender in GENDERS)
        )
        every = np.arange(len(rows))

        def worded(predicate: Ints, second: Ints) -> Ints:
            gender = np.take_along_axis(rows.genders, np.maximum(second, 0), axis=1)
            return np.where(predicate != NOBODY, predicate * len(GENDERS) + gender, NO_WORD).astype(np.int32)

        answer = rows.target * len(GENDERS) + rows.genders[every, rows.asked[:, 1]]
        names = constant_words(tuple(each.name for each in self._rules.predicates))
        chain = np.where(np.arange(rows.predicate.shape[1]) < rows.k[:, None], rows.predicate, NO_WORD)
        readings = pa.array([list(each) for each in self._readings], pa.list_(pa.string()))
        return {
            "answer": coded(answer, words),
            "story_type": coded(rows.task, constant_words(TASKS)),
            "readings": readings.take(pa.array(rows.readings)),
            "k": pa.array(rows.k.astype(np.int8)),
            "edges": _tuples(np.stack([rows.first, rows.second], axis=2)),
            "edge_types": word_lists(words, worded(rows.predicate, rows.second)),
            "noise_types": word_lists(constant_words(NOISE), rows.noise),
            "pattern": pc.binary_join(word_lists(names, chain), " ").dictionary_encode(),
            "status": coded(rows.status, constant_words(STATUSES)),
            "proof_steps": _tuples(rows.steps),
            "proof_relations": word_lists(words, worded(rows.concluded, rows.steps[:, :, 2])),
        }


def _tuples(numbers: Ints) -> pa.Array:
    """Return lists of tuples of numbers, [row, item, part], without those that begin with NOBODY."""
    used = numbers[:, :, 0] != NOBODY
    flat = numbers[used].astype(np.int16)
    inner = pa.ListArray.from_arrays(
        pa.array(np.arange(0, flat.size + 1, numbers.shape[2], dtype=np.int32)), pa.array(flat.reshape(-1))
    )
    ends = np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), inner)
