"""The table of all puzzles made so far, as arrays and columns from which rows are picked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.example import plain
from storyproof.families.kinship.generation.narration import NOBODY
from storyproof.families.kinship.generation.puzzles import Puzzle, PuzzleKind, PuzzleMaker
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.rules import RuleSet
from storyproof.families.kinship.schema import KINSHIP_SCHEMA

_COLUMNS = (
    "answer",
    "story_type",
    "readings",
    "k",
    "edges",
    "edge_types",
    "noise_types",
    "pattern",
    "status",
    "proof_steps",
    "proof_relations",
)


class PuzzleTable:
    """Puzzles by number, with their wordings by one narrator."""

    def __init__(self, rules: RuleSet, narrator: Any) -> None:
        self._rules = rules
        self._narrator = narrator
        self._number: dict[PuzzleKind, int] = {}
        self._columns: dict[str, pa.Array] = {}
        self.wordings: Any = None  # whatever the narrator needs to know of puzzles
        self.genders = np.zeros((0, 0), np.int8)
        self.people = np.zeros(0, np.int32)
        self.asked = np.zeros((0, 2), np.int32)

    def numbers(self, kinds: Sequence[PuzzleKind], maker: PuzzleMaker) -> npt.NDArray[np.int32]:
        """Return the numbers of puzzles; new ones are made and added."""
        new = [kind for kind in kinds if kind not in self._number]
        if new:
            self._add(maker.make(new))
            self._number |= {kind: number for number, kind in enumerate(new, start=len(self._number))}
        return np.array([self._number[kind] for kind in kinds], np.int32)

    def columns(self, puzzle: npt.NDArray[np.int32]) -> dict[str, pa.Array]:
        """Return all columns that the puzzles of rows determine."""
        picked = pa.array(puzzle)
        found = {name: column.take(picked) for name, column in self._columns.items()}
        # Dictionaries are rebuilt, so that they do not depend on the other puzzles of the table.
        words = [name for name in _COLUMNS if pa.types.is_dictionary(KINSHIP_SCHEMA.field(name).type)]
        return {**found, **{name: found[name].dictionary_encode() for name in words}}

    def _add(self, puzzles: list[Puzzle]) -> None:
        wordings = self._narrator.find_wordings(puzzles)
        widest = max(len(puzzle.genders) for puzzle in puzzles)
        genders = np.zeros((len(puzzles), widest), np.int8)
        for number, puzzle in enumerate(puzzles):
            genders[number, : len(puzzle.genders)] = [GENDERS.index(gender) for gender in puzzle.genders]
        people = np.array([len(puzzle.genders) for puzzle in puzzles], np.int32)
        asked = np.array([(puzzle.query.first, puzzle.query.second) for puzzle in puzzles], np.int32)
        columns = self._described(puzzles)
        if self._columns:
            stacked = (_stack(getattr(self.wordings, name), getattr(wordings, name)) for name in wordings.__slots__)
            wordings = type(wordings)(*stacked)
            genders = _stack(self.genders, genders, fill=0)
            people, asked = np.concatenate([self.people, people]), np.concatenate([self.asked, asked])
            columns = {name: _joined(self._columns[name], column) for name, column in columns.items()}
        self.wordings, self.genders, self.people, self.asked, self._columns = wordings, genders, people, asked, columns

    def _described(self, puzzles: list[Puzzle]) -> dict[str, pa.Array]:
        found = [describe(self._rules, puzzle) for puzzle in puzzles]
        columns = {}
        for name in _COLUMNS:
            columns[name] = pa.array([each[name] for each in found], plain(KINSHIP_SCHEMA.field(name).type))
        return columns


def describe(rules: RuleSet, puzzle: Puzzle) -> dict[str, object]:
    """Return the values of the columns that a puzzle determines."""

    def word(predicate: str, second: int) -> str:
        return rules.word(predicate, puzzle.genders[second])

    return {
        "answer": word(puzzle.query.predicate, puzzle.query.second),
        "story_type": puzzle.task,
        "readings": list(puzzle.readings),
        "k": puzzle.k,
        "edges": [[fact.first, fact.second] for fact in puzzle.facts],
        "edge_types": [word(fact.predicate, fact.second) for fact in puzzle.facts],
        "noise_types": list(puzzle.noise),
        "pattern": " ".join(puzzle.pattern),
        "status": puzzle.status,
        "proof_steps": [[step.fact.first, step.via, step.fact.second] for step in puzzle.proof],
        "proof_relations": [word(step.fact.predicate, step.fact.second) for step in puzzle.proof],
    }


def _stack(old: npt.NDArray[Any], new: npt.NDArray[Any], fill: int = NOBODY) -> npt.NDArray[Any]:
    """Concatenate arrays of puzzles, padding the smaller ones."""
    shape = np.maximum(old.shape, new.shape)[1:]

    def filled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        gaps = [(0, 0), *((0, int(wide) - have) for wide, have in zip(shape, array.shape[1:], strict=True))]
        return np.pad(array, gaps, constant_values=fill)

    return np.concatenate([filled(old), filled(new)])


def _joined(old: pa.Array, new: pa.Array) -> pa.Array:
    return pa.concat_arrays([old, new])
