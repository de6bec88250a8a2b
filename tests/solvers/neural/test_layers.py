import pytest
import torch
from torch.func import vmap

from storyproof.solvers.neural.layers import (
    Dropout,
    Embedding,
    attend,
    lengths,
    mean,
    mentions,
    mixed,
    perceptron,
    places,
    upto,
)
from tests.solvers.neural.lessons import SHAPE


@pytest.mark.parametrize("policy", ["fixed", "randomised", "learned"])
def test_embedding(policy: str) -> None:
    made = Embedding(SHAPE, 4, policy=policy)
    numbers = torch.tensor([[0, 1, SHAPE.words - 1, SHAPE.words, SHAPE.words + SHAPE.pool - 1]])
    found = made(numbers)
    assert not found[0, 0].any()
    torch.testing.assert_close(found[0, 1:3], made.words[[1, SHAPE.words - 1]])
    torch.testing.assert_close(found[0, 3:], made.people[[0, SHAPE.pool - 1]])
    assert ("people" in dict(made.named_parameters())) == (policy == "learned")


def test_dropout_is_drawn_by_its_number_alone() -> None:
    drop = Dropout(0.3, salt=5)
    values, noise = torch.ones(50, 40, 6), torch.tensor([7, 8, 7])
    first, second, again = vmap(drop, in_dims=(None, 0))(values, noise)
    assert torch.equal(first, again)
    assert torch.equal(first, drop(values, torch.tensor(7)))
    assert not torch.equal(first, second)
    for each in (first, second):
        assert abs((each == 0).float().mean() - 0.3) < 0.02
        assert abs(each.mean() - 1) < 0.03
    both = ((first == 0) & (second == 0)).float().mean()
    assert abs(both - 0.09) < 0.02  # nothing in common
    assert torch.equal(drop(torch.ones(50, 70, 6), torch.tensor(7))[:, :40], first)  # padding changes no draw
    assert not torch.equal(Dropout(0.3, salt=6)(values, torch.tensor(7)), first)
    assert torch.equal(drop.eval()(values, torch.tensor(7)), values)


def test_places_are_distinct_and_the_same_in_larger_tables() -> None:
    small, large = (places((3, size, 5), torch.device("cpu")) for size in (4, 9))
    assert torch.equal(small, large[:, :4])
    assert len(large.unique()) == large.numel()


def test_mixed_numbers_are_evenly_spread() -> None:
    found = mixed(torch.arange(40_000))
    assert found.min() >= -(2**30)
    assert len(found.unique()) > 39_990
    for bit in range(31):
        assert abs(((found >> bit) & 1).float().mean() - 0.5) < 0.02
    assert abs((((found[1:] ^ found[:-1]) >> 3) & 1).float().mean() - 0.5) < 0.02


def test_masks() -> None:
    values = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]], [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]])
    there = torch.tensor([[True, True, False], [False, False, False]])
    torch.testing.assert_close(mean(values, there), torch.tensor([[2.0, 3.0], [0.0, 0.0]]))
    shares = attend(torch.tensor([[0.0, 0.0, 50.0], [1.0, 2.0, 3.0]]), there)
    torch.testing.assert_close(shares, torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]))
    assert lengths(torch.tensor([[3, 1, 0], [0, 0, 0]])).tolist() == [2, 0]


def test_mentions() -> None:
    states = torch.tensor([[[1.0], [2.0], [4.0], [100.0]]])
    words, asked = torch.tensor([[8, 9, 8, 0]]), torch.tensor([[8, 9, 7, 0]])
    assert mentions(states, words, asked).flatten().tolist() == [2.5, 2.0, 0.0, 0.0]
    unknown = torch.tensor([[1, 1]])
    assert mentions(states[:, :2], unknown, unknown).flatten().tolist() == [0.0, 0.0]


def test_table_goes_on_with_its_last_row() -> None:
    table = torch.tensor([[1.0], [2.0]])
    assert upto(table, 1).flatten().tolist() == [1.0]
    assert upto(table, 4).flatten().tolist() == [1.0, 2.0, 2.0, 2.0]


def test_perceptron() -> None:
    assert [str(layer) for layer in perceptron(3, 4, 2)] == [
        "Linear(in_features=3, out_features=4, bias=True)",
        "ReLU()",
        "Linear(in_features=4, out_features=2, bias=True)",
    ]
