"""Bidirectional LSTM over the words of a story (`bilstm-mean`, `bilstm-attention`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, Embedding, attend, lengths, mean, mentions, perceptron
from storyproof.solvers.neural.models.lstm import LSTM


class BiLSTM(nn.Module):
    """Encodes the story by an LSTM, pools its states, and decodes them together with the question.

    Source: Sinha et al. (2019), appendix 1.1 and 2.2: embedding 100, hidden 100, two layers, decoder 200. Appendix 1.1
    describes an LSTM that ends in its last state; 2.2 and the tables have mean and attention, as here.

    Equation: h = LSTM(x); story vector Σₜ aₜ hₜ with aₜ = 1/T (`mean`) or softmax(w·tanh(hₜ)) (`attention`);
    scores MLP[story; mean of h at each asked word; asked words].

    Shapes: flat [rows, words], question [rows, words] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        pooling: `mean` or `attention`.
        policy: How people are embedded.
        width: That of the words' vectors.
        hidden: The width of the LSTM's state, in each direction.
        layers: How many layers the LSTM has.
        decoder: The width of the decoder's hidden layer.
        dropout: The share of the words' vectors, and of the story's, that training drops.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        pooling: str = "mean",
        policy: str = "fixed",
        width: int = 100,
        hidden: int = 100,
        layers: int = 2,
        decoder: int = 200,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = Embedding(shape, width, policy=policy)
        self.lstm = LSTM(width, hidden, layers=layers, bidirectional=True)
        self.attention = nn.Linear(self.lstm.width, 1) if pooling == "attention" else None
        self.drop_words, self.drop_story = Dropout(dropout, 1000), Dropout(dropout, 2000)
        self.decoder = perceptron(self.lstm.width + shape.question * (self.lstm.width + width), decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        words = self.drop_words(self.embedding(batch.flat), batch.noise)
        outputs = self.lstm(words, lengths(batch.flat))
        there = batch.flat > 0
        if self.attention is None:
            story = mean(outputs, there)
        else:
            shares = attend(self.attention(torch.tanh(outputs)).squeeze(-1), there)
            story = (shares.unsqueeze(-1) * outputs).sum(-2)
        queried = mentions(outputs, batch.flat, batch.question).flatten(1)
        question = torch.cat([queried, self.embedding(batch.question).flatten(1)], dim=-1)
        scores: Tensor = self.decoder(torch.cat([self.drop_story(story, batch.noise), question], dim=-1))
        return scores
