"""Columns of rows, made from arrays, say what the puzzles say."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from storyproof.example import plain
from storyproof.families.kinship.config import MOST_K
from storyproof.families.kinship.generation.pattern_search import SearchedPatterns
from storyproof.families.kinship.generation.patterns import ProvedPatterns
from storyproof.families.kinship.generation.proof_file import LENGTHS, strict_proofs
from storyproof.families.kinship.generation.puzzle_maker import Puzzle
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays, PuzzleTable
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.rules import RuleSet, rules_of, strict_rules
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.generation.seeds import Draws
from tests.families.kinship.generation.test_pattern_search import maker
from tests.families.kinship.generation.test_puzzle_maker import each_reading, each_task, kinds_of

STRICT = strict_rules()


def describe(rules: RuleSet, puzzle: Puzzle) -> dict[str, object]:
    """The values of the columns that a puzzle determines, one by one."""

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


@each_reading
@each_task
def test_columns_say_what_puzzles_say(reading: str, task: str) -> None:
    made, rules = maker(reading), rules_of(reading)
    table = PuzzleTable(SearchedPatterns(made.search, MOST_K))
    kinds = [kind for k in (2, 3, 6) for kind in kinds_of(made, task, k, 25)]
    for some in (kinds[:10], kinds[5:], kinds):  # added little by little
        numbers = table.made(some, made)
        genders = np.array([GENDERS.index(kind.gender) for kind in some])
        columns = table.columns(table.rows(numbers, genders, Draws("tests")))
        assert {name: plain(column.type) for name, column in columns.items()} == {
            name: plain(KINSHIP_SCHEMA.field(name).type) for name in columns
        }
        expected = [describe(rules, puzzle) for puzzle in made.make(some)]
        for name, column in columns.items():
            assert column.to_pylist() == [each[name] for each in expected], name


@cache
def table() -> PuzzleTable:
    return PuzzleTable(ProvedPatterns(STRICT, strict_proofs(), 15, "tests"))


def proved_rows(k: int, seed: int = 0) -> PuzzleArrays:
    """One row of each pattern of k facts, with drawn genders."""
    source = table()._source
    numbers = np.concatenate([source.numbers(k, target) for target in STRICT.targets])
    genders = Draws("answers", seed).below(2, len(numbers))
    rows = table().rows(table().proved(numbers), genders, Draws("tests", seed))
    assert rows.genders[:, k].tolist() == genders.tolist()
    return rows


@pytest.mark.parametrize("k", LENGTHS)
def test_proved_patterns_get_genders_in_which_spouses_differ(k: int) -> None:
    rows, proved = proved_rows(k), strict_proofs().of(k)
    spouses = {
        tuple(relations): spouse
        for relations, spouse in zip(proved.relations.tolist(), proved.spouse.tolist(), strict=True)
    }
    for relations, genders in zip(rows.predicate.tolist(), rows.genders.tolist(), strict=True):
        for person, spouse in enumerate(spouses[tuple(relations)]):
            assert spouse < 0 or genders[person] != genders[spouse]


def test_all_genders_that_are_possible_are_drawn() -> None:
    """Each as often as any other."""
    source = table()._source
    numbers = np.repeat(source.numbers(3, "SO"), 4000)  # a child's sibling's parent
    rows = table().rows(table().proved(numbers), np.arange(4000) % 2, Draws("many"))
    found, counts = np.unique(rows.genders, axis=0, return_counts=True)
    assert found.tolist() == [
        [one, *between, 1 - one] for one in (0, 1) for between in ([0, 0], [0, 1], [1, 0], [1, 1])
    ]
    assert counts.min() > 400


@pytest.mark.parametrize("k", [2, 6])
def test_proved_patterns_are_the_puzzles_that_the_maker_makes(k: int) -> None:
    """Facts, proof, status and readings are the same; genders are drawn in another way."""
    made = maker("strict")
    kinds = kinds_of(made, "clean", k, 60)
    puzzles = {puzzle.pattern: puzzle for puzzle in made.make(kinds)}
    rows = proved_rows(k)
    columns = table().columns(rows)
    seen = 0
    for number, pattern in enumerate(columns["pattern"].to_pylist()):
        puzzle = puzzles.get(tuple(pattern.split(" ")))
        if puzzle is not None:
            genders = tuple(GENDERS[each] for each in rows.genders[number].tolist())
            expected = describe(STRICT, replace(puzzle, genders=genders))
            assert {name: columns[name][number].as_py() for name in columns} == expected
            seen += 1
    assert seen == len(puzzles)
