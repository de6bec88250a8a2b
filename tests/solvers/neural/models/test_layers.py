import torch

from storyproof.solvers.neural.models.layers import attend, first_rows, lengths, mean, mentions, perceptron


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
    assert first_rows(table, 1).flatten().tolist() == [1.0]
    assert first_rows(table, 4).flatten().tolist() == [1.0, 2.0, 2.0, 2.0]


def test_perceptron() -> None:
    assert [str(layer) for layer in perceptron(3, 4, 2)] == [
        "Linear(in_features=3, out_features=4, bias=True)",
        "ReLU()",
        "Linear(in_features=4, out_features=2, bias=True)",
    ]
