import pytest
import torch

from storyproof.solvers.neural.models.layers import Embedding
from tests.solvers.neural.fixtures import SHAPE


@pytest.mark.parametrize("policy", ["fixed", "randomised", "learned"])
def test_embedding(policy: str) -> None:
    made = Embedding(SHAPE, 4, policy=policy)
    numbers = torch.tensor([[0, 1, SHAPE.words - 1, SHAPE.words, SHAPE.words + SHAPE.pool - 1]])
    found = made(numbers)
    assert not found[0, 0].any()
    torch.testing.assert_close(found[0, 1:3], made.words[[1, SHAPE.words - 1]])
    torch.testing.assert_close(found[0, 3:], made.people[[0, SHAPE.pool - 1]])
    assert ("people" in dict(made.named_parameters())) == (policy == "learned")
