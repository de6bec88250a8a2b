"""End-to-end memory network (`memnn`)."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Embedding, attend, first_rows


class MemNN(nn.Module):
    """Compares the question with all sentences, in several hops.

    Source: Sukhbaatar et al. (2015), sections 2.2, 4.1 and 4.2: sentences as bags of words with position and temporal
    encoding, adjacent weight sharing, three hops; their memory has the last 50 sentences (`memory=50`).

    Equation: u ← u + Σᵢ pᵢ cᵢ with p = softmax(u · mᵢ) in every hop; scores W u.

    Shapes: story [rows, sentences, words], question [rows, words] to scores [rows, answers].

    Deviations: the output layer has weights of its own instead of those of the last memory; position encoding counts
    places by the longest sentence.

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        width: That of the vectors.
        hops: How often the question is compared.
        memory: How many of the last sentences it remembers; by default more than stories have.
    """

    def __init__(
        self, shape: Shape, *, policy: str = "fixed", width: int = 100, hops: int = 3, memory: int = 10_000
    ) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList([Embedding(shape, width, policy=policy, scale=0.1) for _ in range(hops + 1)])
        self.memory = min(memory, shape.sentences)
        self.times = nn.ParameterList([torch.randn(self.memory, width) * 0.1 for _ in range(hops + 1)])
        self.decoder = nn.Linear(width, shape.answers)
        self.register_buffer("story_places", _position_encoding(shape.length, width))
        self.register_buffer("question_places", _position_encoding(shape.question, width))
        self.story_places: Tensor
        self.question_places: Tensor

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        there = batch.story[..., 0] > 0
        age = there.sum(-1, keepdim=True) - 1 - torch.arange(there.shape[1], device=there.device)
        remembered = there & (age < self.memory)
        age = age.clamp(0, self.memory - 1)
        memories = [
            (embedding(batch.story) * first_rows(self.story_places, batch.story.shape[-1])).sum(-2)
            + nn.functional.embedding(age, time)
            for embedding, time in zip(self.embeddings, self.times, strict=True)
        ]
        state = (self.embeddings[0](batch.question) * self.question_places).sum(-2)
        for keys, values in pairwise(memories):
            shares = attend((keys @ state.unsqueeze(-1)).squeeze(-1), remembered)
            state = state + (shares.unsqueeze(-1) * values).sum(-2)
        scores: Tensor = self.decoder(state)
        return scores


def _position_encoding(length: int, width: int) -> Tensor:
    """Return weights for the parts of a word's vector by its place in the sentence (section 4.1 of the source)."""
    place = (torch.arange(length) + 1).unsqueeze(1) / max(length, 1)
    part = (torch.arange(width) + 1).unsqueeze(0) / width
    return (1 - place) - part * (1 - 2 * place)
