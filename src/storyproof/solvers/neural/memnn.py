"""End-to-end memory network.

Source: Sukhbaatar et al. (2015): sentences as bags of words with position encoding, temporal encoding, adjacent weight
sharing, three hops. Ours ends in a layer of its own, where theirs shares the last memory's vectors, and counts places
by the longest sentence.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.layers import Batch, Embedding, Shape, attend, upto


class MemNN(nn.Module):
    """Looks the question up among the sentences, several times."""

    def __init__(self, shape: Shape, *, policy: str = "fixed", width: int = 100, hops: int = 3) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList([Embedding(shape, width, policy=policy, scale=0.1) for _ in range(hops + 1)])
        self.times = nn.ParameterList([torch.randn(shape.sentences, width) * 0.1 for _ in range(hops + 1)])
        self.decoder = nn.Linear(width, shape.answers)
        self.register_buffer("story_places", _position_encoding(shape.length, width))
        self.register_buffer("question_places", _position_encoding(shape.question, width))
        self.story_places: Tensor
        self.question_places: Tensor

    def forward(self, batch: Batch) -> Tensor:
        """Give a score for every answer."""
        there = batch.story[..., 0] > 0
        age = there.sum(-1, keepdim=True) - 1 - torch.arange(there.shape[1], device=there.device)
        age = age.clamp(0, len(self.times[0]) - 1)
        memories = [
            (embedding(batch.story) * upto(self.story_places, batch.story.shape[-1])).sum(-2)
            + nn.functional.embedding(age, time)
            for embedding, time in zip(self.embeddings, self.times, strict=True)
        ]
        state = (self.embeddings[0](batch.question) * self.question_places).sum(-2)
        for seen, said in pairwise(memories):
            shares = attend((seen @ state.unsqueeze(-1)).squeeze(-1), there)
            state = state + (shares.unsqueeze(-1) * said).sum(-2)
        scores: Tensor = self.decoder(state)
        return scores


def _position_encoding(length: int, width: int) -> Tensor:
    """Weigh the parts of a word's vector by its place in the sentence (the source's section 4.1)."""
    place = (torch.arange(length) + 1).unsqueeze(1) / max(length, 1)
    part = (torch.arange(width) + 1).unsqueeze(0) / width
    return (1 - place) - part * (1 - 2 * place)
