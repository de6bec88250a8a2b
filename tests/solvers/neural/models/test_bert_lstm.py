"""BertLSTM against its equations."""

from torch import Tensor

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.fixtures import SHAPE
from tests.solvers.neural.models.by_hand import Weights, average, check_equations, mentioned, said


def bert_lstm(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: an LSTM over the encoder's vectors, but people's are their entities'."""
    words = said(row.flat)
    vectors = [
        weights.word(word) if word >= SHAPE.words else vector
        for word, vector in zip(words, row.vectors[: len(words)], strict=True)
    ]
    states = weights.read(vectors)
    asked = mentioned(states, words, row.question)
    return weights.layers("decoder", average(states), *asked, *(weights.word(word) for word in row.question))


def test_equals_its_equations() -> None:
    check_equations("bert-lstm", bert_lstm)
