"""Batches: what a model reads, examples on the device, and the order in which each run sees them.

Batches contain examples of similar length, so that little is spent on padding: the order of an epoch is drawn, and then
sorted by length within windows of some batches. Which name a person has, and which container is the box and which the
basket, does not matter: people, objects, containers and rooms are permuted among themselves in every training step, and
the answer with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.generation.seeds import Draws, Indices
from storyproof.solvers.neural.counter_rng import mix
from storyproof.solvers.neural.data.encoding import Encoded
from storyproof.solvers.neural.data.vocabulary import TokenVocabulary, split_words

_GRAIN = 16  # lengths are rounded up to a multiple of this many words
_WINDOW = 20  # batches that are sorted by length together


class Shape(NamedTuple):
    """The sizes of a model's inputs and outputs.

    Attributes:
        words: How many numbers are words, with padding and the unknown word.
        pool: How many entities follow them.
        sentences: The most sentences of a story.
        length: The most words of a sentence.
        question: The most words of a question, or of what the family asks instead.
        edge_types: How many types an edge of the graph can have.
        answers: How many answers there are.
        pieces: How many vectors a pretrained encoder returns, for models that use one.
        vector: How wide they are.
    """

    words: int
    pool: int
    sentences: int
    length: int
    question: int
    edge_types: int
    answers: int
    pieces: int = 0
    vector: int = 0


class Batch(NamedTuple):
    """Examples for a model, one per row.

    Attributes:
        story: The words of the story [rows, sentences, words].
        flat: The same as one sequence [rows, words].
        question: The words of the question [rows, words].
        nodes: The nodes of the graph [rows, nodes].
        graph: The types of its edges [rows, nodes, nodes].
        query: The two nodes asked about [rows, 2].
        vectors: Those of a pretrained encoder, for models that use one [rows, pieces, width].
        noise: The number that determines all draws of dropout.
    """

    story: Tensor
    flat: Tensor
    question: Tensor
    nodes: Tensor
    graph: Tensor
    query: Tensor
    vectors: Tensor
    noise: Tensor


def shape_of(encoded: Encoded, vocabulary: TokenVocabulary, pieces: int = 0, vector: int = 0) -> Shape:
    """Return the sizes that a model for these examples needs."""
    return Shape(
        words=vocabulary.first_entity,
        pool=vocabulary.pool if vocabulary.entities else 0,
        sentences=encoded.stories.shape[1],
        length=encoded.stories.shape[2],
        question=encoded.questions.shape[1],
        edge_types=encoded.edge_types,
        answers=len(vocabulary.answers),
        pieces=pieces,
        vector=vector,
    )


class ExampleTable:
    """Encoded examples as tensors, selected by number.

    Args:
        encoded: The examples.
        device: Where to keep them.
        vectors: A pretrained encoder's vectors of every story (or example), for models that use them.
    """

    def __init__(self, encoded: Encoded, device: torch.device, vectors: Tensor | None = None) -> None:
        def kept(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values).to(device)

        self.device, self.first_entity = device, encoded.first_entity
        self.stories, self.flat = kept(encoded.stories), kept(encoded.flat)
        self.nodes, self.graphs = kept(encoded.nodes), kept(encoded.graphs)
        self.questions, self.query = kept(encoded.questions), kept(encoded.query).long()
        self.story_of, self.answers = kept(encoded.story_of).long(), kept(encoded.answers).long()
        self.pooled = vectors is not None and len(vectors) == len(encoded) and vectors.shape[1] != encoded.flat.shape[1]
        self.vectors = torch.zeros(len(encoded.stories), 0, 0) if vectors is None else vectors
        self.vectors = self.vectors.to(device)
        lengths = (encoded.flat > 0).sum(1)
        self.size_of = (-(-lengths // _GRAIN))[encoded.story_of]
        self.caps = _caps(encoded, -(-lengths // _GRAIN))

    def __len__(self) -> int:
        return len(self.answers)

    def batch(self, picked: Tensor, noise: Tensor, size: int | None = None) -> Batch:
        """Gather examples by number.

        Args:
            picked: The numbers, with any leading dimensions.
            noise: For dropout.
            size: The size of the longest of them (see `size_of`); by default that of the longest of all.
        """
        words, sentences, length = self.caps[len(self.caps) - 1 if size is None else size]
        story = self.story_of[picked]
        vectors = self.vectors[picked] if self.pooled else self.vectors[:, :words][story]
        return Batch(
            self.stories[:, :sentences, :length][story],
            self.flat[:, :words][story],
            self.questions[picked],
            self.nodes[story],
            self.graphs[story],
            self.query[picked],
            vectors.to(torch.get_default_dtype()),
            noise,
        )


def _caps(encoded: Encoded, sizes: Indices) -> list[tuple[int, int, int]]:
    """Return for each size the most words, sentences, and words of a sentence up to it."""
    there = encoded.stories > 0
    counts = np.stack([(encoded.flat > 0).sum(1), there.any(2).sum(1), there.sum(2).max(1, initial=0)])
    caps = [(1, 1, 1)]  # of stories without a word
    for size in range(1, int(sizes.max(initial=1)) + 1):
        most = counts[:, sizes == size].max(1, initial=0)
        before = caps[-1]
        words = min(size * _GRAIN, encoded.flat.shape[1])
        caps.append((max(words, before[0]), max(int(most[1]), before[1]), max(int(most[2]), before[2])))
    return caps


def split(table: Encoded, rows: Indices, share: float, seed: int) -> tuple[Indices, Indices]:
    """Draw which examples to train on and which to hold back; the questions of a story stay together."""
    groups = np.unique(table.group_of[rows])
    order = Draws("development split", seed).order(len(groups))
    held = groups[order[: max(1, round(share * len(groups)))]]
    back = np.isin(table.group_of[rows], held)
    return rows[~back], rows[back]


def order_of(parts: Sequence[Indices], batch: int, epoch: int, seeds: Sequence[int], size_of: Indices) -> Indices:
    """Draw the order of an epoch [batches, runs, size].

    Every run sees each of its examples once. Incomplete batches, and runs with fewer batches than others, are filled up
    by repeating the order from its start. A batch is not larger than the number of examples of the smallest run.
    """
    batch = min(batch, *(len(part) for part in parts))
    batches = -(-max(len(part) for part in parts) // batch)
    orders = []
    for part, seed in zip(parts, seeds, strict=True):
        order = np.resize(part[Draws("order", seed, epoch).order(len(part))], batches * batch)
        for start in range(0, len(order), _WINDOW * batch):
            window = order[start : start + _WINDOW * batch]
            window[:] = window[np.argsort(size_of[window], kind="stable")]
        orders.append(order)
    shuffled = Draws("batches", epoch).order(batches)  # the same for all runs, so that their batches have one size
    return np.stack(orders).reshape(len(parts), batches, batch).transpose(1, 0, 2)[shuffled]


_WORDS = ("story", "flat", "question", "nodes")  # of a batch


class WordPermutation:
    """Draws permutations of words.

    Args:
        roles: The role of each number of a vocabulary; numbers of one role may be permuted.
        vocabulary: The vocabulary.
        device: Where to draw.
    """

    def __init__(self, roles: Indices, vocabulary: TokenVocabulary, device: torch.device) -> None:
        self.roles = torch.from_numpy(roles).to(device)
        self.by_role = torch.argsort(self.roles, stable=True)
        spelt = [vocabulary.numbers.get(answer.lower(), 0) for answer in vocabulary.answers]
        self.answer_words = torch.tensor(spelt, device=device)
        answer_of = np.zeros(vocabulary.size, np.int64)
        answer_of[spelt] = np.arange(len(spelt))
        self.answer_of = torch.from_numpy(answer_of).to(device)

    def draw(self, noise: Tensor) -> Tensor:
        """Draw one permutation per number given: where each number of the vocabulary goes."""
        place = torch.arange(len(self.roles), device=noise.device)
        keys = mix(place + noise.unsqueeze(-1) * 0x9E3779B9)
        order = torch.argsort(self.roles * 2**31 + (keys & 0x7FFFFFFF), dim=-1)
        return torch.empty_like(order).scatter_(-1, self.by_role.expand_as(order), order)

    def permute_answers(self, permutation: Tensor, answers: Tensor) -> Tensor:
        """Permute answers; those that are not words of the vocabulary, such as rare ones, stay."""
        words = self.answer_words[answers]
        return torch.where(words > 0, self.answer_of[permutation.gather(-1, words)], answers)

    def __call__(self, batch: Batch, answers: Tensor) -> tuple[Batch, Tensor]:
        """Permute the words and answers of all runs' batches, by the noise of each run."""
        permutation = self.draw(batch.noise)

        def permute(numbers: Tensor) -> Tensor:
            return permutation.gather(1, numbers.flatten(1).long()).view(numbers.shape)

        permuted = batch._replace(**{name: permute(getattr(batch, name)) for name in _WORDS})
        return permuted, self.permute_answers(permutation, answers)


def word_roles(examples: Sequence[Example], vocabulary: TokenVocabulary) -> Indices:
    """Return a number for the role of each word; words that must not be permuted have a role of their own.

    Entities have one role. Other words have the role that the family gives them (`Family.roles`), except those of
    answers that consist of several words, such as the people who believe something: such an answer stays as it is, so
    its words must stay too.
    """
    numbers = np.arange(vocabulary.size)
    numbers[vocabulary.first_entity :] = vocabulary.first_entity
    roles = family_of(examples[0]).roles(examples)
    answers = {answer.lower() for answer in vocabulary.answers}
    kept = {word for answer in answers if len(words := split_words(answer)) > 1 for word in words}
    first: dict[tuple[str, bool], int] = {}
    for word, number in vocabulary.numbers.items():
        if word in roles and word not in kept:
            role = (roles[word], word in answers)  # words that are never answers are not exchanged for answers
            numbers[number] = first.setdefault(role, number)
    return numbers
