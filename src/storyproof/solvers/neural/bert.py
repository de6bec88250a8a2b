"""A frozen pretrained encoder with a decoder on top, alone or with an LSTM between.

Source: Sinha et al. (2019), appendix 1.1 and 2.2. `bert`: the pooled vector of the text, people written as numbers, and
beside it the mean vector of each asked person's mentions (of theory of mind: of the question). `bert-lstm`: the vectors
of its pieces, with those of people replaced by entities, through a unidirectional LSTM of two layers (2.2; 1.1 says
one). The encoder's vectors never change, so they are computed once (see `pretrained`).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.layers import Batch, Dropout, Embedding, Shape, lengths, mean, mentions, perceptron
from storyproof.solvers.neural.lstm import LSTM


class Bert(nn.Module):
    """Decodes the vectors of text and question."""

    def __init__(self, shape: Shape, *, policy: str = "fixed", decoder: int = 200, dropout: float = 0.0) -> None:
        super().__init__()
        del policy  # people are written as numbers
        self.drop = Dropout(dropout, 1000)
        self.decoder = perceptron(shape.pieces * shape.vector, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Give a score for every answer."""
        scores: Tensor = self.decoder(self.drop(batch.vectors.flatten(1), batch.noise))
        return scores


class BertLSTM(nn.Module):
    """Reads the vectors of the text's pieces, people as entities."""

    def __init__(
        self,
        shape: Shape,
        *,
        policy: str = "fixed",
        hidden: int = 100,
        layers: int = 2,
        decoder: int = 200,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.drop_words, self.drop_story = Dropout(dropout, 1000), Dropout(dropout, 2000)
        self.first_entity = shape.words
        self.embedding = Embedding(shape, shape.vector, policy=policy)
        self.lstm = LSTM(shape.vector, hidden, layers=layers)
        self.decoder = perceptron(hidden + shape.question * (hidden + shape.vector), decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Give a score for every answer."""
        person = (batch.flat >= self.first_entity).unsqueeze(-1)
        pieces = torch.where(person, self.embedding(batch.flat), batch.vectors)
        outputs = self.lstm(self.drop_words(pieces, batch.noise), lengths(batch.flat))
        asked = mentions(outputs, batch.flat, batch.question).flatten(1)
        question = self.embedding(batch.question).flatten(1)
        story = self.drop_story(mean(outputs, batch.flat > 0), batch.noise)
        scores: Tensor = self.decoder(torch.cat([story, asked, question], dim=-1))
        return scores
