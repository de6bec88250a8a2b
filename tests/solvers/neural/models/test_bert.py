"""Bert against its equations."""

from torch import Tensor

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, check_equations


def bert(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: a perceptron over the pooled vectors."""
    return weights.layers("decoder", *row.vectors)


def test_equals_its_equations() -> None:
    check_equations("bert", bert)
