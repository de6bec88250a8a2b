"""Examples as arrays of numbers: words, people, questions, graphs and answers.

People are not words: each story's people are given numbers drawn from a pool, other ones in every story, so that no
model can learn anything about a name (source: the CLUTRR paper, appendix 1.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import Family, Graph, family_of
from storyproof.seeds import Draws
from storyproof.solvers.neural.text import question_words, sentences_of

PAD, UNKNOWN = 0, 1
FIRST_WORD = 2
POOL = 50  # entities to draw from; the longest published stories name fifteen people

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a model can read and say.

    Attributes:
        words: The words it knows; a word's number is its place plus two. After them come the entities of the pool.
        answers: What it can answer.
        entities: Whether people are entities, or words like any other.
        pool: How many entities there are to draw from.
    """

    words: tuple[str, ...]
    answers: tuple[str, ...]
    entities: bool
    pool: int = POOL
    numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {word: FIRST_WORD + place for place, word in enumerate(self.words)}
        object.__setattr__(self, "numbers", numbers)

    @property
    def first_entity(self) -> int:
        """The number of the pool's first entity."""
        return FIRST_WORD + len(self.words)

    @property
    def size(self) -> int:
        """How many numbers there are in all."""
        return self.first_entity + (self.pool if self.entities else 0)

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "numbers"}


@dataclass(frozen=True, slots=True)
class Encoded:
    """Examples as arrays, padded with zeros; rows of `stories`, `flat`, `nodes` and `graphs` are distinct stories.

    Attributes:
        stories: By sentence and word.
        flat: The same as one sequence of words.
        questions: The words asked with; of kinship the two people.
        story_of: Which story each example is about.
        group_of: Which of them belong together: a story of ToM-bAbI grows from question to question.
        nodes: The people of each story's graph (kinship only; else empty), as entities.
        graphs: The type of the edge between each two of them.
        query: Which two nodes each example asks about.
        answers: What each example's answer is, or -1 if the vocabulary does not have it.
        first_entity: Where words end and people begin.
        edge_types: How many types an edge can have.
    """

    stories: Numbers
    flat: Numbers
    questions: Numbers
    story_of: Numbers
    group_of: Numbers
    nodes: Numbers
    graphs: Numbers
    query: Numbers
    answers: Numbers
    first_entity: int
    edge_types: int

    def __len__(self) -> int:
        return len(self.story_of)


def learn_vocabulary(examples: Sequence[Example], *, entities: bool | None = None, at_least: int = 2) -> Vocabulary:
    """Collect the words and answers of examples to train on.

    Args:
        examples: What to learn from.
        entities: Whether people are entities; by default in kinship, while in theory of mind names are words.
        at_least: How often a word must occur; rarer ones teach what an unknown word is.
    """
    if not examples:
        raise DataError("There are no examples to learn from; choose data that has some.")
    entities = family_of(examples[0]).names_are_entities if entities is None else entities
    counts: Counter[str] = Counter()
    for example in one_a_story(examples):
        sentences = sentences_of(example.story)
        people = set(family_of(example).people(example)) if entities else set()
        counts.update(word.lower() for words in sentences for word in words if word not in people)
    for example in examples:
        people = set(family_of(example).people(example)) if entities else set()
        counts.update(word.lower() for word in question_words(example) if word not in people)
    words = sorted(word for word, count in counts.items() if count >= at_least)
    return Vocabulary(tuple(words), tuple(sorted({example.answer for example in examples})), entities)


def encode(
    examples: Sequence[Example], vocabulary: Vocabulary, *, seed: int = 0, question: int | None = None
) -> Encoded:
    """Turn examples into arrays.

    Args:
        examples: What to encode.
        vocabulary: Whose numbers to use.
        seed: For drawing who is which entity.
        question: How many words a question has at most; by default as many as any of these.

    Raises:
        DataError: If a story names more people than there are entities, or a question has too many words.
    """
    distinct = one_a_story(examples)
    place = {_key(example): number for number, example in enumerate(distinct)}
    told = [sentences_of(example.story) for example in distinct]
    cast = [cast_of(example, vocabulary, seed) for example in distinct]
    story_of = [place[_key(example)] for example in examples]
    groups = {key: number for number, key in enumerate(dict.fromkeys(map(group_key, examples)))}
    stories = [
        [[number_of(word, people, vocabulary) for word in words] for words in sentences]
        for sentences, people in zip(told, cast, strict=True)
    ]
    questions = [
        [number_of(word, cast[story], vocabulary) for word in question_words(example)]
        for example, story in zip(examples, story_of, strict=True)
    ]
    for example, words in zip(examples, questions, strict=True):
        if question is not None and len(words) > question:
            raise DataError(
                f"the question of '{example.id}' has {len(words)} words, but the model was made for {question}; leave "
                "it out, or train on data that has such questions."
            )
    known = {answer: number for number, answer in enumerate(vocabulary.answers)}
    types = edge_types(family_of(examples[0])) if examples else ()
    graphs = [family_of(each).graph(each) for each in distinct]
    nodes = [
        [people.get(name, UNKNOWN) for name in graph.nodes] if graph is not None else []
        for graph, people in zip(graphs, cast, strict=True)
    ]
    return Encoded(
        _padded_sentences(stories),
        padded([[number for words in sentences for number in words] for sentences in stories], 1),
        padded(questions, question or 0),
        np.asarray(story_of, np.int32),
        np.asarray([groups[group_key(example)] for example in examples], np.int32),
        padded(nodes),
        _matrices(graphs, types, max((len(each) for each in nodes), default=0)),
        np.asarray([_asked(example) for example in examples], np.int32).reshape(len(examples), 2),
        np.asarray([known.get(example.answer, -1) for example in examples], np.int32),
        vocabulary.first_entity,
        len(types),
    )


def group_key(example: Example) -> tuple[str, str]:
    """Say which story an example belongs to, however much of it is told."""
    return example.split, example.story_id


def _key(example: Example) -> tuple[str, str, str]:
    return *group_key(example), example.story


def one_a_story(examples: Sequence[Example]) -> list[Example]:
    """Give an example of each story, in order."""
    return list({_key(example): example for example in reversed(examples)}.values())[::-1]


def cast_of(example: Example, vocabulary: Vocabulary, seed: int) -> dict[str, int]:
    """Draw an entity for everybody in a story; for nobody if names are words."""
    if not vocabulary.entities:
        return {}
    people = family_of(example).people(example)
    if len(people) > vocabulary.pool:
        raise DataError(
            f"the story of '{example.id}' names {len(people)} people, but the model was made for "
            f"{vocabulary.pool}; leave it out."
        )
    drawn = Draws("entities", seed, example.story).order(vocabulary.pool)
    return {name: vocabulary.first_entity + int(drawn[number]) for number, name in enumerate(people)}


def number_of(word: str, people: dict[str, int], vocabulary: Vocabulary) -> int:
    """Give a word's number, or that of the entity that somebody is in this story."""
    return people[word] if word in people else vocabulary.numbers.get(word.lower(), UNKNOWN)


def padded(rows: Sequence[Sequence[int]], least: int = 0) -> Numbers:
    """Make rows equally long, at least so long."""
    table = np.zeros((len(rows), max([least, *map(len, rows)])), np.int32)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


def _padded_sentences(stories: Sequence[Sequence[Sequence[int]]]) -> Numbers:
    most = max((len(sentences) for sentences in stories), default=0) or 1  # also where no story has a word
    longest = max((len(words) for sentences in stories for words in sentences), default=0) or 1
    table = np.zeros((len(stories), most, longest), np.int32)
    for number, sentences in enumerate(stories):
        for line, words in enumerate(sentences):
            table[number, line, : len(words)] = words
    return table


def edge_types(family: Family) -> tuple[str, ...]:
    """Return what numbers in a graph stand for: none, an edge of unknown type, and each type and its inverse."""
    return ("", "unknown", *family.edge_types, *(f"inverse {name}" for name in family.edge_types))


def _matrices(graphs: Sequence[Graph | None], types: Sequence[str], most: int) -> Numbers:
    """Return the edge types as one matrix per story: from the first of a pair to the second, and back as inverse."""
    numbers = {name: number for number, name in enumerate(types)}
    inverse = (len(types) - 2) // 2
    found = np.zeros((len(graphs), most, most), np.int32)
    for matrix, graph in zip(found, graphs, strict=True):
        if graph is None:
            continue
        for place, (first, second) in enumerate(graph.edges):
            known = place < len(graph.edge_types)  # published noise has no type
            kind = numbers.get(graph.edge_types[place], 1) if known else 1
            back = kind + inverse if kind > 1 else kind
            if kind > 1 or not matrix[first, second]:
                matrix[first, second] = kind
            matrix[second, first] = matrix[second, first] or back
    return found


def _asked(example: Example) -> tuple[int, int]:
    graph = family_of(example).graph(example)
    return graph.asked if graph is not None else (0, 0)
