"""A long short-term memory whose recurrence takes many runs at once.

PyTorch's own cannot be stacked: cuDNN knows one set of weights a call. Here the step of all runs, directions and rows
is one batched matrix product, and `torch.func.vmap` finds the rule for it below. Gates come in PyTorch's order (input,
forget, cell, output), so that a test can hold it against `torch.nn.LSTM`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

_FUSED = getattr(torch.ops.aten, "_thnn_fused_lstm_cell", None)  # one kernel for all gates; PyTorch's own, for GPUs
_FUSED_BACK = getattr(torch.ops.aten, "_thnn_fused_lstm_cell_backward_impl", None)


class LSTM(nn.Module):
    """Reads sequences padded at the end.

    Args:
        inputs: How wide the sequence is.
        hidden: How wide the state is, in each direction.
        layers: How many, one on top of the other.
        bidirectional: Whether to read backwards too; the outputs lie side by side.
    """

    def __init__(self, inputs: int, hidden: int, *, layers: int = 1, bidirectional: bool = False) -> None:
        super().__init__()
        self.directions = 2 if bidirectional else 1
        self.width = hidden * self.directions
        bound = 1 / math.sqrt(hidden)

        def weights(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(self.directions, *shape).uniform_(-bound, bound))

        sizes = [inputs] + [self.width] * (layers - 1)
        self.from_input = nn.ParameterList([weights(size, 4 * hidden) for size in sizes])
        self.from_state = nn.ParameterList([weights(hidden, 4 * hidden) for _ in sizes])
        self.bias = nn.ParameterList([weights(4 * hidden) for _ in sizes])

    def forward(self, sequence: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Give the outputs [rows, time, width], meaningless beyond the lengths, and each direction's last."""
        time = torch.arange(sequence.shape[1], device=sequence.device)
        ends = lengths.unsqueeze(1)
        mirrored = torch.where(time < ends, ends - 1 - time, time).unsqueeze(-1)
        for from_input, from_state, bias in zip(self.from_input, self.from_state, self.bias, strict=True):
            sides = [sequence] if self.directions == 1 else [sequence, _taken(sequence, mirrored)]
            gates = torch.stack(sides) @ from_input.unsqueeze(1) + bias[:, None, None]
            states = recur(gates.permute(2, 0, 1, 3), from_state).permute(1, 2, 0, 3)
            last = [_taken(side, (lengths - 1).clamp(min=0)[:, None, None])[:, 0] for side in states.unbind()]
            outputs = [states[0]] if self.directions == 1 else [states[0], _taken(states[1], mirrored)]
            sequence = torch.cat(outputs, dim=-1)
        return sequence, torch.cat(last, dim=-1)


def _taken(rows: Tensor, places: Tensor) -> Tensor:
    return rows.gather(1, places.expand(-1, -1, rows.shape[-1]))


def recur(gates: Tensor, weights: Tensor) -> Tensor:
    """Run the recurrence.

    Args:
        gates: What the inputs add to the gates, [time, groups, rows, 4 × hidden].
        weights: What the state adds, [groups, hidden, 4 × hidden].
    """
    states: Tensor = _Recurrence.apply(gates, weights)[0]  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    """The recurrence and its derivative by hand: the gradient of the weights is one product, not one a step."""

    @staticmethod
    def forward(gates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gates = gates.contiguous()
        state = cell = gates.new_zeros(*gates.shape[1:3], gates.shape[3] // 4)
        passed = []
        for now in gates:
            state, cell, opened = _step(now, torch.bmm(state, weights), cell)
            passed.append((state, cell, opened))
        states, cells, all_opened = (torch.stack(each) for each in zip(*passed, strict=True))
        return states, cells, all_opened

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(output[1], output[2])
        ctx.save_for_backward(inputs[1], *output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
        weights, states, cells, opened = ctx.saved_tensors
        back = weights.transpose(1, 2).contiguous()
        gates: list[Tensor] = []
        grad_state, grad_cell, nothing = grad[-1], torch.zeros_like(grad[0]), torch.zeros_like(grad[0])
        for step in range(len(grad) - 1, -1, -1):
            before = cells[step - 1] if step else nothing
            grad_now, grad_cell = _step_back(grad_state, grad_cell, before, cells[step], opened[step])
            gates.append(grad_now)
            if step:
                grad_state = torch.baddbmm(grad[step - 1], grad_now, back)
        grad_gates = torch.stack(gates[::-1])
        grad_weights = torch.bmm(_by_group(states[:-1]).transpose(1, 2), _by_group(grad_gates[1:]))
        return grad_gates, grad_weights

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], gates: Tensor, weights: Tensor) -> Any:
        """Count the runs among the groups."""
        runs = info.batch_size
        gates = gates.unsqueeze(1).expand(-1, runs, -1, -1, -1) if in_dims[0] is None else gates.movedim(in_dims[0], 1)
        weights = weights.expand(runs, -1, -1, -1) if in_dims[1] is None else weights.movedim(in_dims[1], 0)
        found = _Recurrence.apply(gates.flatten(1, 2), weights.flatten(0, 1))  # type: ignore[no-untyped-call]
        return tuple(each.unflatten(1, (runs, -1)) for each in found), (1, 1, 1)


def _by_group(steps: Tensor) -> Tensor:
    return steps.transpose(0, 1).flatten(1, 2)


def _step(gates: Tensor, from_state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if gates.is_cuda and _FUSED is not None:
        shape = cell.shape
        found = _FUSED(gates.flatten(0, 1), from_state.flatten(0, 1), cell.flatten(0, 1))
        return found[0].view(shape), found[1].view(shape), found[2].view(gates.shape)
    gates = gates + from_state
    enter, forget, new, leave = gates.chunk(4, dim=-1)
    enter, forget, new, leave = enter.sigmoid(), forget.sigmoid(), new.tanh(), leave.sigmoid()
    cell = forget * cell + enter * new
    return leave * cell.tanh(), cell, torch.cat([enter, forget, new, leave], dim=-1)


def _step_back(state: Tensor, cell: Tensor, before: Tensor, after: Tensor, opened: Tensor) -> tuple[Tensor, Tensor]:
    """Take the gradients of state and cell one step back, to those of the gates and of the cell before."""
    if opened.is_cuda and _FUSED_BACK is not None:
        shape = cell.shape
        flat = [each.reshape(-1, each.shape[-1]) for each in (state, cell, before, after, opened)]
        found = _FUSED_BACK(*flat, False)
        return found[0].view(opened.shape), found[1].view(shape)
    enter, forget, new, leave = opened.chunk(4, dim=-1)
    shown = after.tanh()
    cell = cell + state * leave * (1 - shown * shown)
    parts = (
        cell * new * enter * (1 - enter),
        cell * before * forget * (1 - forget),
        cell * enter * (1 - new * new),
        state * shown * leave * (1 - leave),
    )
    return torch.cat(parts, dim=-1), cell * forget
