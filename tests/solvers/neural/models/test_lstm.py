import pytest
import torch
from torch import Tensor, nn
from torch.func import vmap

from storyproof.solvers.neural.models.lstm import LSTM, recur

LENGTHS = torch.tensor([7, 1, 4, 2])
TIME, INPUTS, HIDDEN = 7, 5, 3


def pytorchs(ours: LSTM, layers: int, bidirectional: bool) -> nn.LSTM:
    """PyTorch's own with the same weights; it has two biases where we have one."""
    theirs = nn.LSTM(INPUTS, HIDDEN, layers, batch_first=True, bidirectional=bidirectional).double()
    with torch.no_grad():
        for layer in range(layers):
            for side in range(ours.directions):
                end = f"_l{layer}{'_reverse' * side}"
                getattr(theirs, f"weight_ih{end}").copy_(ours.from_input[layer][side].T)
                getattr(theirs, f"weight_hh{end}").copy_(ours.from_state[layer][side].T)
                getattr(theirs, f"bias_ih{end}").copy_(ours.bias[layer][side])
                getattr(theirs, f"bias_hh{end}").zero_()
    return theirs


def read_by_pytorch(theirs: nn.LSTM, sequence: Tensor) -> Tensor:
    packed = nn.utils.rnn.pack_padded_sequence(sequence, LENGTHS, batch_first=True, enforce_sorted=False)
    outputs, _ = theirs(packed)
    return nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True, total_length=TIME)[0]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_equals_pytorchs(layers: int, bidirectional: bool) -> None:
    torch.manual_seed(layers)
    ours = LSTM(INPUTS, HIDDEN, layers=layers, bidirectional=bidirectional).double()
    theirs = pytorchs(ours, layers, bidirectional)
    sequence = torch.randn(len(LENGTHS), TIME, INPUTS, dtype=torch.float64, requires_grad=True)
    again = sequence.detach().clone().requires_grad_()
    there = (torch.arange(TIME) < LENGTHS[:, None]).unsqueeze(-1)
    outputs = ours(sequence, LENGTHS)
    their_outputs = read_by_pytorch(theirs, again)
    torch.testing.assert_close(outputs * there, their_outputs)

    pull = torch.randn_like(outputs)
    (outputs * there * pull).sum().backward()
    (their_outputs * pull).sum().backward()
    torch.testing.assert_close(sequence.grad, again.grad)
    for layer in range(layers):
        for side in range(ours.directions):
            end = f"_l{layer}{'_reverse' * side}"
            for mine, name in ((ours.from_input, "weight_ih"), (ours.from_state, "weight_hh"), (ours.bias, "bias_ih")):
                found, expected = mine[layer].grad, getattr(theirs, name + end).grad
                assert found is not None
                torch.testing.assert_close(found[side].T if found.dim() == 3 else found[side], expected)


def test_padding_is_not_read() -> None:
    torch.manual_seed(0)
    model = LSTM(INPUTS, HIDDEN, layers=2, bidirectional=True)
    sequence = torch.randn(len(LENGTHS), TIME, INPUTS)
    longer = torch.cat([sequence, torch.randn(len(LENGTHS), 3, INPUTS)], dim=1)
    outputs, more = model(sequence, LENGTHS), model(longer, LENGTHS)
    there = (torch.arange(TIME) < LENGTHS[:, None]).unsqueeze(-1)
    torch.testing.assert_close(more[:, :TIME] * there, outputs * there)


def test_sequences_of_nothing_are_read_without_harm() -> None:
    outputs = LSTM(INPUTS, HIDDEN, bidirectional=True)(torch.zeros(2, 3, INPUTS), torch.tensor([0, 2]))
    assert torch.isfinite(outputs).all()


def test_derivative_of_the_recurrence() -> None:
    torch.manual_seed(1)
    gates = torch.randn(2, 2, 3, 8, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 2, 8, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(2, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(recur, (gates, weights, bias))


@pytest.mark.parametrize("dims", [(0, 0, 0), (2, 1, 1), (None, 0, None), (0, None, 0)])
def test_runs_at_once_equal_runs_alone(dims: tuple[int | None, ...]) -> None:
    torch.manual_seed(2)
    shapes = ((2, 2, 4, 8), (2, 2, 8), (2, 8))  # groups, rows, time, gates; of weights and bias as many
    every = [torch.randn(3, *shape, dtype=torch.float64) for shape in shapes]

    def of_run(run: int) -> list[Tensor]:
        found = [each[0 if dim is None else run] for each, dim in zip(every, dims, strict=True)]
        return [each.clone().requires_grad_() for each in found]

    given = [each[0] if dim is None else each.movedim(0, dim) for each, dim in zip(every, dims, strict=True)]
    given = [each.clone().requires_grad_() for each in given]
    together = vmap(recur, dims)(*given)
    pull = torch.randn_like(together)
    (together * pull).sum().backward()
    for run in range(3):
        alone = of_run(run)
        states = recur(*alone)
        torch.testing.assert_close(together[run], states)
        (states * pull[run]).sum().backward()
        for each, dim, ours in zip(given, dims, alone, strict=True):
            assert each.grad is not None
            if dim is not None:
                torch.testing.assert_close(each.grad.select(dim, run), ours.grad)
