"""What there is to draw of a row: its people and facts, and families that show the status of its label."""

from __future__ import annotations

from typing import NamedTuple

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import Example
from storyproof.families.kinship.checker import Witnesses, find_witnesses
from storyproof.families.kinship.people import split_person
from storyproof.families.kinship.relations import WORDS
from storyproof.families.kinship.row import KinshipRow, build_row, check_references

_REQUIRED = ("query", "genders", "edges", "edge_types")


class FamilyScene(NamedTuple):
    """A row, and families that show the status of its label.

    Attributes:
        row: Its people and facts.
        steps: The steps of the proof: first person, linking person, second person; None if the row has none.
        relations: What the second person is to the first in each step; None if the row does not tell.
        foreign: Its words that strict kinship does not define.
        witnesses: What the checker finds; None if there are such words.
    """

    row: KinshipRow
    steps: list[tuple[int, int, int]] | None
    relations: list[str] | None
    foreign: tuple[str, ...]
    witnesses: Witnesses | None


def read_scene(example: Example) -> FamilyScene | None:
    """Read an example and find the families that fit it; None if it lacks its facts.

    Raises:
        DataError: If it refers to somebody who is not in the row.
    """
    if any(example.get(name) is None for name in _REQUIRED):
        return None
    people = [split_person(each) for each in example.get("genders")]
    names, genders = tuple(name for name, _ in people), tuple(gender for _, gender in people)
    query = example.get("query")
    if len(query) != 2 or not set(query) <= set(names):
        raise DataError(f"{example.id} asks about {quoted(query)}; expected two of {', '.join(names)}.")
    try:
        check_references(example.extra, len(names))
    except ParseError as error:
        raise DataError(f"{example.id}: {error}") from error
    steps = example.get("proof_steps")
    row = build_row(
        example.extra,
        (names, genders),
        tuple((first, second) for first, second in example.get("edges")),
        tuple(example.get("edge_types"))[: len(example.get("edges"))],
        example.get("k") or 0,
        (query[0], query[1]),
        example.answer,
    )
    foreign = tuple(sorted({*row.words, example.answer} - set(WORDS)))
    witnesses = None if foreign else find_witnesses(genders, row.facts, row.query, names)
    proof = None if steps is None else [(first, via, second) for first, via, second in steps]
    return FamilyScene(row, proof, example.get("proof_relations"), foreign, witnesses)


def proof_path(scene: FamilyScene) -> list[int]:
    """Return the people through whom a proof goes, in order; without a proof, those of the chain."""
    row = scene.row
    if not scene.steps:
        return list(range(min(row.k + 1, len(row.names)))) if row.k else []
    steps = list(scene.steps)
    path, ahead = [row.pair[0]], [row.pair]
    while ahead:
        one, other = ahead.pop()
        step = next((step for step in steps if (step[0], step[2]) == (one, other)), None)
        if step is None:
            path.append(other)
        else:
            steps.remove(step)  # so that a circular proof comes to an end
            ahead += [(step[1], other), (one, step[1])]
    return path
