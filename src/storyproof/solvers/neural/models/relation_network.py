"""Relation network over pairs of sentences (`relnet`, `rn`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, Embedding, first_rows, lengths, mean, mentions, perceptron
from storyproof.solvers.neural.models.lstm import LSTM


class RelationNetwork(nn.Module):
    """Applies one small network to every pair of sentences with the question, and decodes the sum.

    Sources: Santoro et al. (2017); Le et al. (2019) for theory of mind (`relnet`); Sinha et al. (2019), appendix 1.1
    and 2.2, for kinship (`rn`: f 256 and 64, g 64; the question enters the relation module, not the decoder).

    Equation: f(Σᵢⱼ g(oᵢ, oⱼ, q) / n) over all ordered pairs of n sentences, each marked with its place.

    Shapes: story [rows, sentences, words], question [rows, words] to scores [rows, answers].

    Deviations: the sum is divided by the number of sentences, so that long stories do not have larger sums.

    Args:
        shape: The sizes of inputs and outputs.
        sentences: `lstm` for the mean of its states, or `bag` for words weighted by learned masks.
        policy: How people are embedded.
        width: That of the words' vectors.
        hidden: The width of the LSTM's state, in each direction.
        relation: The widths of the relation module's layers.
        decoder: The widths of the decoder's hidden layers.
        dropout: The share of the words' vectors, and of the sum of relations, that training drops.
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
        """Return a score for every answer [rows, answers]."""
        there = batch.story[..., 0] > 0
        states, sentences = self._sentences(batch)
        sentences = sentences + first_rows(self.place, batch.story.shape[1])
        queried = mentions(states, batch.story.flatten(1), batch.question)
        question = self.question(torch.cat([queried, self.embedding(batch.question)], dim=-1).flatten(1))
        pairs = self.first(sentences).unsqueeze(1) + self.second(sentences).unsqueeze(2) + question[:, None, None]
        both = (there.unsqueeze(1) & there.unsqueeze(2)).unsqueeze(-1)
        related = (self.relation(pairs) * both).sum((1, 2)) / there.sum(-1, keepdim=True).clamp(min=1)
        scores: Tensor = self.decoder(self.drop_related(related, batch.noise))
        return scores

    def _sentences(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the states at all words of a story, as one sequence, and one vector per sentence."""
        story = batch.story
        words = self.drop_words(self.embedding(story), batch.noise)
        if self.lstm is None:
            assert self.mask is not None
            states = words * first_rows(self.mask, story.shape[-1])
            return states.flatten(1, 2), states.sum(-2)
        each = story.flatten(0, 1)
        outputs = self.lstm(words.flatten(0, 1), lengths(each))
        return outputs.view(len(story), -1, outputs.shape[-1]), mean(outputs, each > 0).view(*story.shape[:2], -1)
