"""Bidirectional LSTM over the words of a story (`lstm`, `bilstm-mean`, `bilstm-attention`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, Embedding, attend, lengths, mean, mentions, perceptron
from storyproof.solvers.neural.models.lstm import LSTM


class BiLSTM(nn.Module):
    """Encodes the story by an LSTM, pools its states, and decodes them together with the question.

    Source: Sinha et al. (2019), appendix 1.1 and 2.2: embedding 100, hidden 100, two layers, decoder 200. Appendix 1.1
    describes an LSTM that ends in its last state and one with attention; 2.2 and the tables have mean and attention.

    Equation: h = LSTM(x); story vector Σₜ aₜ hₜ with aₜ = 1/T (`mean`) or softmax(w·tanh(hₜ)) (`attention`), or the
    state in which each direction ends (`last`); scores MLP[story; mean of h at each asked word; asked words].

    Deviations: the mean of h at each asked word, which the paper's text does not have; `asked="vectors"` leaves it out.

    Shapes: flat [rows, words], question [rows, words] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        pooling: `mean`, `attention` or `last`.
        asked: What the decoder gets of each asked word: its vector and the states at its `mentions`, or only its vector
            (`vectors`).
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
        asked: str = "mentions",
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
        self.pooling, self.asked = pooling, asked
        self.attention = nn.Linear(self.lstm.width, 1) if pooling == "attention" else None
        self.drop_words, self.drop_story = Dropout(dropout, 1000), Dropout(dropout, 2000)
        each = width + (self.lstm.width if asked == "mentions" else 0)
        self.decoder = perceptron(self.lstm.width + shape.question * each, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        words = self.drop_words(self.embedding(batch.flat), batch.noise)
        outputs = self.lstm(words, lengths(batch.flat))
        there = batch.flat > 0
        if self.attention is not None:
            shares = attend(self.attention(torch.tanh(outputs)).squeeze(-1), there)
            story = (shares.unsqueeze(-1) * outputs).sum(-2)
        elif self.pooling == "last":
            story = _last_states(outputs, lengths(batch.flat))
        else:
            story = mean(outputs, there)
        question = self.embedding(batch.question).flatten(1)
        if self.asked == "mentions":
            question = torch.cat([mentions(outputs, batch.flat, batch.question).flatten(1), question], dim=-1)
        scores: Tensor = self.decoder(torch.cat([self.drop_story(story, batch.noise), question], dim=-1))
        return scores


def _last_states(outputs: Tensor, ends: Tensor) -> Tensor:
    """Return the state in which each direction ends: forwards at the last word, backwards at the first."""
    last = (ends - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, outputs.shape[-1])
    forwards, backwards = outputs.gather(1, last).squeeze(1).chunk(2, dim=-1)[0], outputs[:, 0].chunk(2, dim=-1)[1]
    return torch.cat([forwards, backwards], dim=-1)
