"""Layers that several models share: embeddings, perceptrons, and dropout that runs repeat exactly."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.counter_rng import mix, number_places
from storyproof.solvers.neural.data.batches import Shape
from storyproof.solvers.neural.data.vocabulary import UNKNOWN

_MASKED_SCORE = -1e9


def perceptron(*widths: int) -> nn.Sequential:
    """Build linear layers of these widths with ReLU between them."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def first_rows(table: Tensor, count: int) -> Tensor:
    """Return the first rows of a table [count, width]; beyond its end the last row is repeated."""
    return table[torch.arange(count, device=table.device).clamp(max=len(table) - 1)]


def lengths(numbers: Tensor) -> Tensor:
    """Count the words of sequences that are padded at the end [..., words] -> [...]."""
    return (numbers > 0).sum(-1)


def mean(values: Tensor, there: Tensor) -> Tensor:
    """Return the mean over the unmasked places [..., places, width] -> [..., width]; zero if there are none."""
    weights = there.to(values.dtype).unsqueeze(-1)
    return (values * weights).sum(-2) / weights.sum(-2).clamp(min=1)


def mentions(states: Tensor, words: Tensor, asked: Tensor) -> Tensor:
    """Return the mean state over the places at which each asked word occurs [rows, asked, width]; zero if nowhere.

    Decoders need it to know who is asked about, since the vectors of people differ from story to story. The unknown
    word has no mentions: other unknown words have the same number.

    Args:
        states: The states of a reader at all words [rows, words, width].
        words: The words [rows, words].
        asked: The asked words [rows, asked].
    """
    there = ((asked.unsqueeze(-1) == words.unsqueeze(-2)) & (asked > UNKNOWN).unsqueeze(-1)).to(states.dtype)
    return (there @ states) / there.sum(-1, keepdim=True).clamp(min=1)


def attend(scores: Tensor, there: Tensor) -> Tensor:
    """Return the softmax over the unmasked places of the last dimension; all zero if there are none."""
    shares = torch.softmax(scores.masked_fill(~there, _MASKED_SCORE), dim=-1)
    return shares * there


class Dropout(nn.Module):
    """Dropout whose draws depend on a number alone, not on the state of a generator.

    A run drops the same values alone, among other runs, and after it is resumed.

    Shapes: values [...] to values [...].

    Args:
        rate: The share of values that training sets to zero.
        salt: Distinguishes several dropouts of one model.
    """

    def __init__(self, rate: float, salt: int) -> None:
        super().__init__()
        self.rate, self.salt = rate, salt

    def forward(self, values: Tensor, noise: Tensor) -> Tensor:
        """Drop values by the number `noise`."""
        if not self.training or not self.rate:
            return values
        place = number_places(values.shape, values.device)
        drawn = (mix(place + (noise + self.salt) * 0x9E3779B9) & 0xFFFFFF).to(values.dtype) / 0x1000000
        return values * (drawn >= self.rate) / (1 - self.rate)


class Embedding(nn.Module):
    """A table of vectors for words, then one for people; padding is zero.

    Source: Sinha et al. (2019), appendix 1.5. The vectors of people are random and `fixed`, drawn again in every epoch
    by the trainer (`randomised`), or `learned` like those of words.

    Shapes: numbers [...] to vectors [..., width].

    Args:
        shape: The sizes of inputs and outputs.
        width: That of a vector.
        policy: `fixed`, `randomised` or `learned`.
        scale: The standard deviation of the first vectors.
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
