"""LSTM over the vectors of a frozen pretrained encoder (`bert-lstm`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, Embedding, lengths, mean, mentions, perceptron
from storyproof.solvers.neural.models.lstm import LSTM


class BertLSTM(nn.Module):
    """Reads the encoder's vectors of word pieces, with people replaced by entities, by a unidirectional LSTM.

    Source: Sinha et al. (2019), appendix 2.2 (two layers; appendix 1.1 has one). The vectors of the encoder never
    change, so they are computed once (see `data.pretrained`).

    Equation: h = LSTM(vectors); scores MLP[mean of h; mean of h at each asked word; asked words].

    Shapes: flat and vectors [rows, pieces(, width)], question [rows, words] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        hidden: The width of the LSTM's state.
        layers: How many layers the LSTM has.
        decoder: The width of the decoder's hidden layer.
        dropout: The share of the pieces' vectors, and of the story's, that training drops.
    """

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
        """Return a score for every answer [rows, answers]."""
        person = (batch.flat >= self.first_entity).unsqueeze(-1)
        pieces = torch.where(person, self.embedding(batch.flat), batch.vectors)
        outputs = self.lstm(self.drop_words(pieces, batch.noise), lengths(batch.flat))
        queried = mentions(outputs, batch.flat, batch.question).flatten(1)
        question = self.embedding(batch.question).flatten(1)
        story = self.drop_story(mean(outputs, batch.flat > 0), batch.noise)
        scores: Tensor = self.decoder(torch.cat([story, queried, question], dim=-1))
        return scores
