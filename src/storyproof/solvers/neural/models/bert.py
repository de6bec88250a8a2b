"""Decoder on the pooled vectors of a frozen pretrained encoder (`bert`)."""

from __future__ import annotations

from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Dropout, perceptron


class Bert(nn.Module):
    """Decodes the encoder's vectors of the text and of what is asked.

    Source: Sinha et al. (2019), appendix 1.1 and 2.2: the pooled vector of the text, people written as numbers. The
    vectors of the encoder never change, so they are computed once (see `data.pretrained`).

    Equation: scores MLP[text; asked].

    Shapes: vectors [rows, pieces, width] to scores [rows, answers].

    Deviations: the mean vector of each asked person's mentions (or of the question, if the family asks by text) is
    concatenated with that of the text, so that the decoder knows what is asked.

    Args:
        shape: The sizes of inputs and outputs.
        policy: Ignored, since people are written as numbers; all models have it.
        decoder: The width of the decoder's hidden layer.
        dropout: The share of the vectors that training drops.
    """

    def __init__(self, shape: Shape, *, policy: str = "fixed", decoder: int = 200, dropout: float = 0.0) -> None:
        super().__init__()
        del policy
        self.drop = Dropout(dropout, 1000)
        self.decoder = perceptron(shape.pieces * shape.vector, decoder, shape.answers)

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        scores: Tensor = self.decoder(self.drop(batch.vectors.flatten(1), batch.noise))
        return scores
