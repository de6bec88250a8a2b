"""Recurrent entity network (`entnet`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Embedding, first_rows


class EntNet(nn.Module):
    """Keeps the state of the world in memory slots that every sentence updates.

    Source: Henaff et al. (2017), section 2: sentences by a learned mask over the places of their words; slots with
    learned keys and gates; the answer by one attention over the slots.

    Equation: for every sentence s and slot j with key wⱼ: gⱼ = σ(s·hⱼ + s·wⱼ), h̃ⱼ = φ(U hⱼ + V wⱼ + W s),
    hⱼ ← (hⱼ + gⱼ h̃ⱼ) / |hⱼ + gⱼ h̃ⱼ|; scores R φ(q + H Σⱼ softmax(q·hⱼ) hⱼ), φ a parametric ReLU.

    Shapes: story [rows, sentences, words], question [rows, words] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        width: That of the vectors.
        slots: How many memory slots there are.
    """

    def __init__(self, shape: Shape, *, policy: str = "fixed", width: int = 100, slots: int = 20) -> None:
        super().__init__()
        self.embedding = Embedding(shape, width, policy=policy, scale=0.1)
        self.story_mask = nn.Parameter(torch.ones(shape.length, width))
        self.question_mask = nn.Parameter(torch.ones(shape.question, width))
        self.keys = nn.Parameter(torch.randn(slots, width) * 0.1)
        self.from_memory = nn.Linear(width, width, bias=False)
        self.from_key = nn.Linear(width, width, bias=False)
        self.from_sentence = nn.Linear(width, width, bias=False)
        self.slope = nn.Parameter(torch.ones(width))
        self.output_slope = nn.Parameter(torch.ones(width))
        self.from_found = nn.Linear(width, width, bias=False)
        self.decoder = nn.Linear(width, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        sentences = (self.embedding(batch.story) * first_rows(self.story_mask, batch.story.shape[-1])).sum(-2)
        question = (self.embedding(batch.question) * self.question_mask).sum(-2)
        memory = self.keys.expand(len(sentences), -1, -1)
        from_keys = self.from_key(self.keys)
        from_sentences = self.from_sentence(sentences)
        there = (batch.story[..., 0] > 0).to(sentences.dtype)
        for step in range(sentences.shape[1]):
            sentence = sentences[:, step].unsqueeze(1)
            gate = torch.sigmoid((sentence * (memory + self.keys)).sum(-1, keepdim=True))
            new = _prelu(self.from_memory(memory) + from_keys + from_sentences[:, step].unsqueeze(1), self.slope)
            changed = nn.functional.normalize(memory + gate * new, dim=-1)
            memory = torch.lerp(memory, changed, there[:, step, None, None])
        shares = torch.softmax((memory * question.unsqueeze(1)).sum(-1), dim=-1)
        recalled = (shares.unsqueeze(-1) * memory).sum(1)
        scores: Tensor = self.decoder(_prelu(question + self.from_found(recalled), self.output_slope))
        return scores


def _prelu(values: Tensor, slope: Tensor) -> Tensor:
    return values.clamp(min=0) + slope * values.clamp(max=0)
