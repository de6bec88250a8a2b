"""BiLSTM against its equations."""

import pytest
import torch
from torch import Tensor

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, average, check_equations, mentioned, said, shared


def bilstm(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: states pooled, or the last of each direction, and beside them who is asked about."""
    words = said(row.flat)
    states = weights.read([weights.word(word) for word in words])
    story = average(states)
    if weights.options["pooling"] == "attention":
        story = shared([weights.line("attention", torch.tanh(state)) for state in states], states)
    if weights.options["pooling"] == "last":
        half = weights.options["hidden"]
        story = torch.cat([states[-1][:half], states[0][half:]])
    asked = mentioned(states, words, row.question) if weights.options["asked"] == "mentions" else []
    return weights.layers("decoder", story, *asked, *(weights.word(word) for word in row.question))


@pytest.mark.parametrize("asked", ["mentions", "vectors"])
@pytest.mark.parametrize("name", ["lstm", "bilstm-mean", "bilstm-attention"])
def test_equals_its_equations(name: str, asked: str) -> None:
    check_equations(name, bilstm, {"asked": asked})
