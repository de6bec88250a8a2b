"""Features of kinship rows that shortcuts use."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError, ParseError
from storyproof.example import Example
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.people import person_names, split_person
from storyproof.families.kinship.relations import PREDICATES, WORDS
from storyproof.families.kinship.row import check_references
from storyproof.families.kinship.stated_facts import Text, parse_story, read_texts

Counts = npt.NDArray[np.float32]

_ANY_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PLURALS = frozenset(f"{word}s" for word in WORDS)
_PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself", "whose"})
_TELLING = frozenset(WORDS) | _PLURALS | _PRONOUNS | {"married"}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_UP = {"inv-child": 1, "inv-grand": 2, "inv-un": 1, "inv-in-law": 1}
_GENERATIONS = {
    word: _UP.get(predicate.name, -_UP.get(predicate.inverse, 0))
    for predicate in PREDICATES
    for word in (predicate.male, predicate.female)
}
_FREQUENT = 250  # words that are counted; rarer ones are too rare to learn from
_UNREACHED = 99  # the distance of people who are not connected


class PuzzleFeatures(NamedTuple):
    """What shortcuts use of an example.

    Attributes:
        label: The answer.
        first: Whose relative is asked for.
        second: Who is asked about.
        gender: The gender of the second.
        length: The number of facts on the shortest path between the two.
        last_relation: The last relation that is stated of the second; empty if nothing is stated of them.
        facts: All relations that are stated; of a running text only those that are recorded, which in published data
            leaves out the relations of noise.
        generations: The number of generations that they go up, minus those that they go down.
    """

    label: str
    first: str
    second: str
    gender: str
    length: int
    last_relation: str
    facts: tuple[str, ...]
    generations: int


def extract_features(examples: Sequence[Example]) -> list[PuzzleFeatures]:
    """Return what shortcuts use of examples.

    Raises:
        DataError: If the facts of one are about somebody else.
    """
    texts = [_text(example) for example in examples]
    every = zip(examples, texts, read_texts(texts), strict=True)
    return [_features(example, text, reading) for example, text, reading in every]


def _text(example: Example) -> Text | None:
    """Return the text of an example, from which its facts are read; None for a running text, as others write it."""
    placeholders = example.get("placeholders")
    if placeholders is None or (not placeholders and "\n" not in example.story):
        return None
    return Text(example.story, placeholders, person_names(example.get("genders")))


def _features(example: Example, text: Text | None, reading: Reading | NotUnderstood | None) -> PuzzleFeatures:
    try:
        check_references(example.extra, len(set(person_names(example.get("genders")))))
    except ParseError as error:
        raise DataError(f"{example.id}: {error}") from error
    genders = dict(split_person(each) for each in example.get("genders") or ())
    query: Sequence[str] = example.get("query") or ()
    first, second = query if len(query) == 2 else ("", "")
    stated = _stated(example, list(genders), text, reading)
    return PuzzleFeatures(
        label=example.answer,
        first=first,
        second=second,
        gender=genders.get(second, ""),
        length=_distance(example.get("edges") or (), list(genders), first, second),
        last_relation=next((word for _, word, whom in reversed(stated) if whom == second), ""),
        facts=tuple(word for _, word, _ in stated),
        generations=sum(_GENERATIONS.get(word, 0) for _, word, _ in stated),
    )


def count_words(examples: Sequence[Example]) -> Counts:
    """Count the kinship terms in each text, [example, word]."""
    return _count([_WORD.findall(each.story.lower()) for each in examples], WORDS)


def count_frequent_words(examples: Sequence[Example], *, context: bool = False) -> Counts:
    """Count the most frequent words in each text but names; of the context alone, no words for relations or genders."""
    texts = []
    for example in examples:
        names = set(person_names(example.get("genders")))
        words = [word.lower() for word in _ANY_WORD.findall(example.story) if word not in names]
        texts.append([word for word in words if not context or word not in _TELLING])
    totals = Counter(word for text in texts for word in text)
    frequent = sorted(totals, key=lambda word: (-totals[word], word))[:_FREQUENT]
    return _count(texts, frequent)


def count_facts(puzzles: Sequence[PuzzleFeatures]) -> Counts:
    """Count the relations that each puzzle states, [puzzle, relation]."""
    return _count([puzzle.facts for puzzle in puzzles], sorted({word for puzzle in puzzles for word in puzzle.facts}))


def _count(texts: Sequence[Sequence[str]], words: Sequence[str]) -> Counts:
    column = {word: place for place, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)), np.float32)
    for row, text in enumerate(texts):
        for word in text:
            if word in column:
                counts[row, column[word]] += 1
    return counts


def _stated(
    example: Example, names: Sequence[str], text: Text | None, reading: Reading | NotUnderstood | None
) -> list[tuple[str, str, str]]:
    """Return the facts in the order in which the text states them, if it can be parsed; else as they are recorded."""
    try:
        stated = [] if text is None else [each for line in parse_story(text, reading) for each in line]
    except ParseError:
        stated = []
    if stated:
        return [(each.first, each.word, each.second) for each in stated]
    return [
        (names[edge[0]], word, names[edge[1]])
        for edge, word in zip(example.get("edges") or (), example.get("edge_types") or (), strict=False)
    ]


def _distance(edges: Sequence[Sequence[int]], names: Sequence[str], first: str, second: str) -> int:
    """Count the facts on the shortest path from one person to the other, in either direction of each fact."""
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
