"""Relation networks: every pair of sentences, with the question, through one small network, summed up.

Sources: Santoro et al. (2017); Le et al. (2019) on theory of mind (`relnet`); Sinha et al. (2019), appendix 1.1 and
2.2, on kinship (`rn`: f 256 and 64, g 64, the question goes into the relation module and not into the decoder). The sum
is divided by the number of sentences, so that longer stories do not count for more; that is ours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.layers import (
    Batch,
    Dropout,
    Embedding,
    Shape,
    lengths,
    mean,
    mentions,
    perceptron,
    upto,
)
from storyproof.solvers.neural.lstm import LSTM


class RelationNetwork(nn.Module):
    """Sentences marked with their place; relations of all ordered pairs; the answer from their sum.

    Args:
        shape: How large inputs and outputs are.
        sentences: By an `lstm`, its states averaged, or as a `bag` of words weighed by learned masks.
        policy: How people are embedded.
        width: Of words.
        hidden: Of the LSTM, in each direction.
        relation: The widths of the relation module's layers.
        decoder: Those of the decoder's hidden ones.
        dropout: The share of a word's vector, and of the sum of relations, that training leaves out.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        sentences: str = "lstm",
        policy: str = "fixed",
        width: int = 100,
        hidden: int = 100,
        relation: tuple[int, ...] = (64, 64, 64),
        decoder: tuple[int, ...] = (256, 64),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = Embedding(shape, width, policy=policy)
        self.drop_words, self.drop_related = Dropout(dropout, 1000), Dropout(dropout, 2000)
        self.lstm = LSTM(width, hidden, bidirectional=True) if sentences == "lstm" else None
        self.mask = nn.Parameter(torch.ones(shape.length, width)) if self.lstm is None else None
        wide = self.lstm.width if self.lstm is not None else width
        self.place = nn.Parameter(torch.randn(shape.sentences, wide))
        self.first = nn.Linear(wide, relation[0])
        self.second = nn.Linear(wide, relation[0])
        self.question = nn.Linear(shape.question * (wide + width), relation[0])
        self.relation = nn.Sequential(nn.ReLU(), *perceptron(*relation), nn.ReLU())
        self.decoder = perceptron(relation[-1], *decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Give a score for every answer."""
        there = batch.story[..., 0] > 0
        states, told = self._sentences(batch)
        told = told + upto(self.place, batch.story.shape[1])
        asked = mentions(states, batch.story.flatten(1), batch.question)
        question = self.question(torch.cat([asked, self.embedding(batch.question)], dim=-1).flatten(1))
        pairs = self.first(told).unsqueeze(1) + self.second(told).unsqueeze(2) + question[:, None, None]
        both = (there.unsqueeze(1) & there.unsqueeze(2)).unsqueeze(-1)
        related = (self.relation(pairs) * both).sum((1, 2)) / there.sum(-1, keepdim=True).clamp(min=1)
        scores: Tensor = self.decoder(self.drop_related(related, batch.noise))
        return scores

    def _sentences(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Give the states at all words of a story, one after the other, and one vector a sentence."""
        story = batch.story
        words = self.drop_words(self.embedding(story), batch.noise)
        if self.lstm is None:
            assert self.mask is not None
            states = words * upto(self.mask, story.shape[-1])
            return states.flatten(1, 2), states.sum(-2)
        each = story.flatten(0, 1)
        outputs = self.lstm(words.flatten(0, 1), lengths(each))
        return outputs.view(len(story), -1, outputs.shape[-1]), mean(outputs, each > 0).view(*story.shape[:2], -1)
