"""Examples as arrays of numbers: stories, questions, graphs and answers.

Several training sets can be joined to one set of arrays, so that runs on all of them train together. Each set keeps its
own vocabulary: a word that only another set knows is unknown to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import Family, Graph, family_of
from storyproof.generation.seeds import Draws
from storyproof.solvers.neural.data.vocabulary import (
    UNKNOWN,
    TokenVocabulary,
    group_key,
    one_per_story,
    question_words,
    split_sentences,
    story_key,
    translate_numbers,
)

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Examples as arrays, padded with zeros; rows of `stories`, `flat`, `nodes` and `graphs` are distinct stories.

    Attributes:
        stories: Words by sentence [stories, sentences, words].
        flat: The same as one sequence [stories, words].
        questions: The words of the question, or what the family asks instead [examples, words].
        story_of: The story of each example [examples].
        group_of: The same number for examples that must not be split, as stories of ToM-bAbI grow from question to
            question [examples].
        nodes: The nodes of each story's graph, as entities [stories, nodes]; empty if the family has no graphs.
        graphs: The type of the edge between each two nodes [stories, nodes, nodes].
        query: The two nodes that each example asks about [examples, 2].
        answers: The number of each example's answer, -1 if the vocabulary does not have it [examples].
        first_entity: The first number that is an entity, not a word.
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


def encode(
    examples: Sequence[Example], vocabulary: TokenVocabulary, *, seed: int = 0, question: int | None = None
) -> Encoded:
    """Turn examples into arrays.

    Args:
        examples: The examples.
        vocabulary: The numbers to use.
        seed: For drawing which entity each person is.
        question: The most words of a question; by default the number in the longest of these.

    Raises:
        DataError: If a story names more people than there are entities, or a question has too many words.
    """
    distinct = one_per_story(examples)
    place = {story_key(example): number for number, example in enumerate(distinct)}
    texts = [split_sentences(example.story) for example in distinct]
    entities = [draw_entities(example, vocabulary, seed) for example in distinct]
    story_of = [place[story_key(example)] for example in examples]
    groups = {key: number for number, key in enumerate(dict.fromkeys(map(group_key, examples)))}
    stories = [
        [[number_of(word, people, vocabulary) for word in words] for words in sentences]
        for sentences, people in zip(texts, entities, strict=True)
    ]
    questions = [
        [number_of(word, entities[story], vocabulary) for word in question_words(example)]
        for example, story in zip(examples, story_of, strict=True)
    ]
    for example, words in zip(examples, questions, strict=True):
        if question is not None and len(words) > question:
            raise DataError(
                f"the question of '{example.id}' has {len(words)} words, but the model reads at most {question}; leave "
                "it out, or train on data that has such questions."
            )
    numbers = {answer: number for number, answer in enumerate(vocabulary.answers)}
    types = edge_types(family_of(examples[0])) if examples else ()
    graphs = [family_of(each).graph(each) for each in distinct]
    nodes = [
        [people.get(name, UNKNOWN) for name in graph.nodes] if graph is not None else []
        for graph, people in zip(graphs, entities, strict=True)
    ]
    return Encoded(
        _pad_sentences(stories),
        pad_rows([[number for words in sentences for number in words] for sentences in stories], 1),
        pad_rows(questions, question or 0),
        np.asarray(story_of, np.int32),
        np.asarray([groups[group_key(example)] for example in examples], np.int32),
        pad_rows(nodes),
        _matrices(graphs, types, max((len(each) for each in nodes), default=0)),
        np.asarray([_asked_nodes(example) for example in examples], np.int32).reshape(len(examples), 2),
        np.asarray([numbers.get(example.answer, -1) for example in examples], np.int32),
        vocabulary.first_entity,
        len(types),
    )


def draw_entities(example: Example, vocabulary: TokenVocabulary, seed: int) -> dict[str, int]:
    """Draw an entity for every person of a story; none if names are words.

    Raises:
        DataError: If there are more people than entities.
    """
    if not vocabulary.entities:
        return {}
    people = family_of(example).people(example)
    if len(people) > vocabulary.pool:
        raise DataError(
            f"the story of '{example.id}' names {len(people)} people, but the model knows at most {vocabulary.pool}; "
            "leave it out."
        )
    drawn = Draws("entities", seed, example.story).order(vocabulary.pool)
    return {name: vocabulary.first_entity + int(drawn[number]) for number, name in enumerate(people)}


def number_of(word: str, people: dict[str, int], vocabulary: TokenVocabulary) -> int:
    """Return the number of a word, or of the entity that a person is in this story."""
    return people[word] if word in people else vocabulary.numbers.get(word.lower(), UNKNOWN)


def pad_rows(rows: Sequence[Sequence[int]], least: int = 0) -> Numbers:
    """Pad rows with zeros to the longest, or to `least`."""
    table = np.zeros((len(rows), max([least, *map(len, rows)])), np.int32)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


def _pad_sentences(stories: Sequence[Sequence[Sequence[int]]]) -> Numbers:
    most = max((len(sentences) for sentences in stories), default=0) or 1  # also if no story has a word
    longest = max((len(words) for sentences in stories for words in sentences), default=0) or 1
    table = np.zeros((len(stories), most, longest), np.int32)
    for number, sentences in enumerate(stories):
        for line, words in enumerate(sentences):
            table[number, line, : len(words)] = words
    return table


def edge_types(family: Family) -> tuple[str, ...]:
    """Return what numbers in a graph mean: no edge, an edge of unknown type, each type, and each inverse type."""
    return ("", "unknown", *family.edge_types, *(f"inverse {name}" for name in family.edge_types))


def _matrices(graphs: Sequence[Graph | None], types: Sequence[str], most: int) -> Numbers:
    """Return the edge types as one matrix per story: from the first of a pair to the second, and back as inverse."""
    numbers = {name: number for number, name in enumerate(types)}
    inverse = (len(types) - 2) // 2
    matrices = np.zeros((len(graphs), most, most), np.int32)
    for matrix, graph in zip(matrices, graphs, strict=True):
        if graph is None:
            continue
        for place, (first, second) in enumerate(graph.edges):
            has_type = place < len(graph.edge_types)  # noise facts of published data have no type
            kind = numbers.get(graph.edge_types[place], 1) if has_type else 1
            back = kind + inverse if kind > 1 else kind
            if kind > 1 or not matrix[first, second]:
                matrix[first, second] = kind
            matrix[second, first] = matrix[second, first] or back
    return matrices


def _asked_nodes(example: Example) -> tuple[int, int]:
    graph = family_of(example).graph(example)
    return graph.asked if graph is not None else (0, 0)


def join(parts: Sequence[Encoded], vocabularies: Sequence[TokenVocabulary], whole: TokenVocabulary) -> Encoded:
    """Concatenate encoded examples, in the numbers of the merged vocabulary."""
    moved = [_translate(part, own, whole) for part, own in zip(parts, vocabularies, strict=True)]
    starts = np.cumsum([0, *(len(part.stories) for part in moved[:-1])])  # a part has no more groups than stories
    return Encoded(
        _concatenate([part.stories for part in moved]),
        _concatenate([part.flat for part in moved]),
        _concatenate([part.questions for part in moved]),
        np.concatenate([part.story_of + start for part, start in zip(moved, starts, strict=True)]).astype(np.int32),
        np.concatenate([part.group_of + start for part, start in zip(moved, starts, strict=True)]).astype(np.int32),
        _concatenate([part.nodes for part in moved]),
        _concatenate([part.graphs for part in moved]),
        _concatenate([part.query for part in moved]),
        _concatenate([part.answers for part in moved]),
        whole.first_entity,
        moved[0].edge_types,
    )


def _translate(part: Encoded, own: TokenVocabulary, whole: TokenVocabulary) -> Encoded:
    numbers = translate_numbers(own, whole).astype(np.int32)
    places = {answer: place for place, answer in enumerate(whole.answers)}
    answers = np.asarray([*(places[answer] for answer in own.answers), -1], np.int32)
    words = {name: numbers[getattr(part, name)] for name in ("stories", "flat", "questions", "nodes")}
    return replace(part, **words, answers=answers[part.answers])


def _concatenate(arrays: Sequence[Numbers]) -> Numbers:
    """Concatenate, padding every dimension but the first with zeros."""
    most = [max(sizes) for sizes in zip(*(array.shape[1:] for array in arrays), strict=True)]
    padded = [
        np.pad(array, [(0, 0), *((0, size - have) for size, have in zip(most, array.shape[1:], strict=True))])
        for array in arrays
    ]
    return np.concatenate(padded)
