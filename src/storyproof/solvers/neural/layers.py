"""What several models share: words and people as vectors, masks, dropout that any number of runs repeat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.encoding import UNKNOWN

POLICIES = ("fixed", "randomised", "learned")  # how people are embedded; source: the CLUTRR paper, appendix 1.5
HIDDEN_SHARE = -1e9
_MOST = 4096  # no table is larger in any dimension but the first


class Shape(NamedTuple):
    """How large a model's inputs and outputs are.

    Attributes:
        words: How many numbers stand for words, those for padding and unknown words included.
        pool: How many entities come after them.
        sentences: The most sentences of a story.
        length: The most words of a sentence.
        question: The most words of a question; of kinship the two people.
        edge_types: How many types an edge of the graph can have.
        answers: How many answers there are.
        pieces: How many vectors a pretrained encoder gives, for models that use one.
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
    """Examples for a model, one a row.

    Attributes:
        story: The story's words [rows, sentences, words].
        flat: The same as one sequence [rows, words].
        question: The question's words [rows, words].
        nodes: The people of the graph [rows, nodes].
        graph: The types of its edges [rows, nodes, nodes].
        query: The two nodes asked about [rows, 2].
        vectors: A pretrained encoder's, for models that use one [rows, pieces, width].
        noise: A number for dropout to draw by.
    """

    story: Tensor
    flat: Tensor
    question: Tensor
    nodes: Tensor
    graph: Tensor
    query: Tensor
    vectors: Tensor
    noise: Tensor


class Embedding(nn.Module):
    """Words and people as vectors; padding is zero.

    People's vectors are random and stay so (`fixed`), are drawn anew every epoch (`randomised`, by the training loop),
    or are `learned` like those of words.
    """

    def __init__(self, shape: Shape, width: int, *, policy: str = "fixed", scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.words = nn.Parameter(torch.randn(shape.words, width) * scale)
        people = torch.randn(shape.pool, width) * scale
        if policy == "learned":
            self.people = nn.Parameter(people)
        else:
            self.register_buffer("people", people)

    def forward(self, numbers: Tensor) -> Tensor:
        """Look up numbers of any shape."""
        table = torch.cat([self.words, self.people])
        return nn.functional.embedding(numbers, table) * (numbers > 0).unsqueeze(-1)


class Dropout(nn.Module):
    """Dropout whose draws depend on a number alone, not on a generator's state.

    So a run drops the same whether it is trained alone, among others, or after being resumed.
    """

    def __init__(self, rate: float, salt: int) -> None:
        super().__init__()
        self.rate, self.salt = rate, salt

    def forward(self, values: Tensor, noise: Tensor) -> Tensor:
        """Drop by a number."""
        if not self.training or not self.rate:
            return values
        place = places(values.shape, values.device)
        drawn = (mixed(place + (noise + self.salt) * 0x9E3779B9) & 0xFFFFFF).to(values.dtype) / 0x1000000
        return values * (drawn >= self.rate) / (1 - self.rate)


def places(shape: Sequence[int], device: torch.device) -> Tensor:
    """Number the places of a table, those of a larger one alike, so that padding changes nothing that is drawn."""
    numbers = torch.zeros((), dtype=torch.int64, device=device)
    for size in shape:
        numbers = numbers.unsqueeze(-1) * _MOST + torch.arange(size, device=device)
    return numbers


def mixed(numbers: Tensor) -> Tensor:
    """Mix the bits of integers, so that neighbours have nothing in common; the lowest 31 are good to draw by."""
    numbers = numbers * 0x2545F4914F6CDD1D
    numbers = (numbers ^ (numbers >> 29)) * 0x369DEA0F31A53F85
    return (numbers ^ (numbers >> 32)) * 0x2545F4914F6CDD1D >> 33


def perceptron(*widths: int) -> nn.Sequential:
    """Give layers of these widths with ReLU between them."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def upto(table: Tensor, count: int) -> Tensor:
    """Give the first rows of a table; the last one again for whatever is beyond it."""
    return table[torch.arange(count, device=table.device).clamp(max=len(table) - 1)]


def lengths(numbers: Tensor) -> Tensor:
    """Count the words of sequences padded at the end."""
    return (numbers > 0).sum(-1)


def mean(values: Tensor, there: Tensor) -> Tensor:
    """Average over the last dimension but one where there is something."""
    weights = there.to(values.dtype).unsqueeze(-1)
    return (values * weights).sum(-2) / weights.sum(-2).clamp(min=1)


def mentions(states: Tensor, words: Tensor, asked: Tensor) -> Tensor:
    """Average a reader's states over the places where each asked word stands [rows, asked, width]; zero where nowhere.

    An unknown word is not found: other unknown words have the same number.

    This is how a decoder learns who is asked about: people's own vectors are other ones in every story.
    """
    there = ((asked.unsqueeze(-1) == words.unsqueeze(-2)) & (asked > UNKNOWN).unsqueeze(-1)).to(states.dtype)
    return (there @ states) / there.sum(-1, keepdim=True).clamp(min=1)


def attend(scores: Tensor, there: Tensor) -> Tensor:
    """Softmax over the last dimension where there is something; zero everywhere if there is nothing."""
    shares = torch.softmax(scores.masked_fill(~there, HIDDEN_SHARE), dim=-1)
    return shares * there
