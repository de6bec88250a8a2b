"""Functions that several models share: perceptrons, masked means and masked attention."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

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
