"""Kinship puzzles as a shallow reader sees them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.kinship.relations import PREDICATES, WORDS
from storyproof.families.kinship.text import parse_line

Counts = npt.NDArray[np.float32]

_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_UP = {"inv-child": 1, "inv-grand": 2, "inv-un": 1, "inv-in-law": 1}
_GENERATIONS = {
    word: _UP.get(predicate.name, -_UP.get(predicate.inverse, 0))
    for predicate in PREDICATES
    for word in (predicate.male, predicate.female)
}
_UNREACHED = 99  # stands for how far people are from each other whom nothing connects


class Puzzle(NamedTuple):
    """What shortcuts use of an example.

    Attributes:
        label: The answer.
        first: Whose relative is asked for.
        second: Who is asked about.
        gender: Of the second.
        length: How many facts lie between the two on the shortest way.
        last_relation: What the second is to whoever comes last in the telling; empty if nothing is told of them.
        facts: All relations told; of a running text only those that are recorded, which in published data leaves out
            the relations of noise.
        generations: How many generations they go up, those down taken off.
    """

    label: str
    first: str
    second: str
    gender: str
    length: int
    last_relation: str
    facts: tuple[str, ...]
    generations: int


def look_at(example: Example) -> Puzzle:
    """Take from an example what shortcuts use."""
    genders = dict(each.rsplit(":", 1) for each in example.get("genders") or ())
    first, second = example.get("query") or ("", "")
    told = _told(example, list(genders))
    return Puzzle(
        label=example.answer,
        first=first,
        second=second,
        gender=genders.get(second, ""),
        length=_distance(example.get("edges") or (), list(genders), first, second),
        last_relation=next((word for _, word, whom in reversed(told) if whom == second), ""),
        facts=tuple(word for _, word, _ in told),
        generations=sum(_GENERATIONS.get(word, 0) for _, word, _ in told),
    )


def count_words(examples: Sequence[Example]) -> Counts:
    """Count the words of kinship in each text, [example, word]."""
    return _count([_WORD.findall(each.story.lower()) for each in examples], WORDS)


def count_facts(puzzles: Sequence[Puzzle]) -> Counts:
    """Count the relations that each puzzle tells, [puzzle, relation]."""
    return _count([puzzle.facts for puzzle in puzzles], sorted({word for puzzle in puzzles for word in puzzle.facts}))


def _count(texts: Sequence[Sequence[str]], words: Sequence[str]) -> Counts:
    column = {word: place for place, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)), np.float32)
    for row, text in enumerate(texts):
        for word in text:
            if word in column:
                counts[row, column[word]] += 1
    return counts


def _told(example: Example, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Give the facts in the order in which the text tells them, if it can be read; else as they are recorded."""
    lines = example.story.split("\n")
    forms: Sequence[str | None] = example.get("placeholders") or [None] * len(lines)
    try:
        told = [each for line, form in zip(lines, forms, strict=True) for each in parse_line(line, form)]
    except (ParseError, ValueError):
        told = []
    if told:
        return [(each.first, each.word, each.second) for each in told]
    return [
        (names[edge[0]], word, names[edge[1]])
        for edge, word in zip(example.get("edges") or (), example.get("edge_types") or (), strict=False)
    ]


def _distance(edges: Sequence[Sequence[int]], names: Sequence[str], first: str, second: str) -> int:
    """Count the facts on the shortest way from one person to the other, in either direction of each fact."""
    near: dict[str, set[str]] = {name: set() for name in (*names, first, second)}
    for edge in edges:
        one, other = (names[person] for person in edge)
        near[one].add(other)
        near[other].add(one)
    distance = {first: 0}
    waiting = deque([first])
    while waiting:
        name = waiting.popleft()
        for neighbour in near[name] - distance.keys():
            distance[neighbour] = distance[name] + 1
            waiting.append(neighbour)
    return distance.get(second, _UNREACHED)
