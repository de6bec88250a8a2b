"""Words and people as vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Shape


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
