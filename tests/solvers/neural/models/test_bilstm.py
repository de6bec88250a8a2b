"""BiLSTM against its equations."""

import pytest
import torch
from torch import Tensor

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, average, check_equations, mentioned, said, shared


def bilstm(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: states pooled, and beside them who is asked about, as mentioned and as embedded."""
    words = said(row.flat)
    states = weights.read([weights.word(word) for word in words])
    story = average(states)
    if weights.options["pooling"] == "attention":
        story = shared([weights.line("attention", torch.tanh(state)) for state in states], states)
    asked = mentioned(states, words, row.question)
    return weights.layers("decoder", story, *asked, *(weights.word(word) for word in row.question))


@pytest.mark.parametrize("name", ["bilstm-mean", "bilstm-attention"])
def test_equals_its_equations(name: str) -> None:
    check_equations(name, bilstm)
