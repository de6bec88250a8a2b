"""Long short-term memory that many runs compute at once.

PyTorch's own cannot be stacked: cuDNN takes one set of weights per call. Here the step of all runs, directions and rows
is one batched matrix product, for which the rule for `torch.func.vmap` is defined below.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

_FUSED = getattr(torch.ops.aten, "_thnn_fused_lstm_cell", None)  # PyTorch's kernel for all gates on a GPU
_FARTHEST = 2**31 - 1  # the kernel has 32-bit offsets, but checks only the size of its outputs
_FUSED_BACK = getattr(torch.ops.aten, "_thnn_fused_lstm_cell_backward_impl", None)


class LSTM(nn.Module):
    """Reads sequences that are padded at the end.

    Source: Hochreiter and Schmidhuber (1997), with forget gates.

    Equation: i, f, g, o = W x + U h + b; c ← σ(f) c + σ(i) tanh(g); h ← σ(o) tanh(c). Gates are in the order of
    `torch.nn.LSTM`, with which a test compares the result.

    Shapes: sequence [rows, time, inputs], lengths [rows] to outputs [rows, time, hidden × directions].

    Deviations: one bias instead of PyTorch's two.

    Args:
        inputs: The width of the sequence.
        hidden: The width of the state, in each direction.
        layers: How many layers there are.
        bidirectional: Whether to read backwards too; the outputs of both directions are concatenated.
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

    def forward(self, sequence: Tensor, lengths: Tensor) -> Tensor:
        """Return the outputs [rows, time, width]; beyond the lengths they have no meaning."""
        time = torch.arange(sequence.shape[1], device=sequence.device)
        ends = lengths.unsqueeze(1)
        mirrored = torch.where(time < ends, ends - 1 - time, time).unsqueeze(-1)
        for from_input, from_state, bias in zip(self.from_input, self.from_state, self.bias, strict=True):
            sides = [sequence] if self.directions == 1 else [sequence, _taken(sequence, mirrored)]
            words = torch.stack(sides)
            gates = torch.bmm(words.flatten(1, 2), from_input).view(*words.shape[:3], -1)
            states = recur(gates, from_state, bias)
            outputs = [states[0]] if self.directions == 1 else [states[0], _taken(states[1], mirrored)]
            sequence = torch.cat(outputs, dim=-1)
        return sequence


def _taken(rows: Tensor, places: Tensor) -> Tensor:
    return rows.gather(1, places.expand(-1, -1, rows.shape[-1]))


def recur(gates: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    """Return the states of the recurrence [groups, rows, time, hidden].

    Args:
        gates: The inputs' part of the gates [groups, rows, time, 4 × hidden].
        weights: From the state to the gates [groups, hidden, 4 × hidden].
        bias: That of the gates [groups, 4 × hidden].
    """
    states: Tensor = _Recurrence.apply(gates, weights, bias)[0]  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    """The recurrence with its derivative written out: the gradient of the weights is one product, not one per step.

    Large stacks are limited by the memory of a GPU, so nothing as wide as the gates is copied: what the derivative
    needs of a step is an output of its own.
    """

    @staticmethod
    def forward(gates: Tensor, weights: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        state = cell = gates.new_zeros(*gates.shape[:2], gates.shape[3] // 4)
        states, cells, all_opened = [], [], []
        for now in gates.unbind(2):
            state, cell, opened = _step(now, torch.baddbmm(bias.unsqueeze(1), state, weights), cell)
            states.append(state)
            cells.append(cell)
            all_opened.append(opened)
        return torch.stack(states, dim=2), *cells, *all_opened

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(inputs[1], *output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        if grad is None:
            return None, None, None
        weights, states, *kept = ctx.saved_tensors
        cells, opened = kept[: len(kept) // 2], kept[len(kept) // 2 :]
        back, pulls = weights.transpose(1, 2), grad.unbind(2)
        gates: list[Tensor] = []
        nothing = torch.zeros_like(cells[0])
        grad_state, grad_cell = pulls[-1].contiguous(), nothing
        for step in range(len(cells) - 1, -1, -1):
            before = cells[step - 1] if step else nothing
            grad_now, grad_cell = _step_back(grad_state, grad_cell, before, cells[step], opened[step])
            gates.append(grad_now)
            if step:
                grad_state = torch.baddbmm(pulls[step - 1], grad_now, back)
        grad_gates = torch.stack(gates[::-1], dim=2)
        earlier = nn.functional.pad(states, (0, 0, 1, -1))
        grad_weights = torch.bmm(earlier.flatten(1, 2).transpose(1, 2), grad_gates.flatten(1, 2))
        return grad_gates, grad_weights, grad_gates.sum((1, 2))

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor) -> Any:
        """Treat runs as groups."""
        runs = info.batch_size
        spread = [
            each.expand(runs, *each.shape) if dim is None else each.movedim(dim, 0)
            for each, dim in zip(inputs, in_dims, strict=True)
        ]
        outputs = _Recurrence.apply(*(each.flatten(0, 1) for each in spread))  # type: ignore[no-untyped-call]
        return tuple(each.unflatten(0, (runs, -1)) for each in outputs), (0,) * len(outputs)


def _step(gates: Tensor, from_state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if gates.is_cuda and _FUSED is not None:
        shape = cell.shape
        if gates.stride(0) * gates.shape[0] > _FARTHEST:
            gates = gates.contiguous()
        step = _FUSED(gates.flatten(0, 1), from_state.flatten(0, 1), cell.flatten(0, 1))
        return step[0].view(shape), step[1].view(shape), step[2].view(gates.shape)
    gates = gates + from_state
    enter, forget, new, leave = gates.chunk(4, dim=-1)
    enter, forget, new, leave = enter.sigmoid(), forget.sigmoid(), new.tanh(), leave.sigmoid()
    cell = forget * cell + enter * new
    return leave * cell.tanh(), cell, torch.cat([enter, forget, new, leave], dim=-1)


def _step_back(state: Tensor, cell: Tensor, before: Tensor, after: Tensor, opened: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of the gates and of the previous cell from those of state and cell."""
    if opened.is_cuda and _FUSED_BACK is not None:
        shape = cell.shape
        flat = [each.reshape(-1, each.shape[-1]) for each in (state, cell, before, after, opened)]
        gradients = _FUSED_BACK(*flat, False)
        return gradients[0].view(opened.shape), gradients[1].view(shape)
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
