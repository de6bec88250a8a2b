"""Training the plain way: one run at a time, PyTorch's own LSTM, no step recorded or shared.

Not used by storyproof; it is here to be compared with.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from storyproof.solvers.neural.data.batches import ExampleTable
from storyproof.solvers.neural.models.lstm import LSTM


class PlainLSTM(nn.Module):
    """`torch.nn.LSTM` with the weights of ours; the second of its two biases stays zero."""

    def __init__(self, ours: LSTM) -> None:
        super().__init__()
        inputs, hidden = ours.from_input[0].shape[1], ours.from_state[0].shape[1]
        layers, self.sides = len(ours.from_input), ours.directions
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True, bidirectional=self.sides == 2)
        with torch.no_grad():
            for layer in range(layers):
                for side in range(self.sides):
                    end = f"_l{layer}{'_reverse' * side}"
                    getattr(self.lstm, f"weight_ih{end}").copy_(ours.from_input[layer][side].T)
                    getattr(self.lstm, f"weight_hh{end}").copy_(ours.from_state[layer][side].T)
                    getattr(self.lstm, f"bias_ih{end}").copy_(ours.bias[layer][side])
                    getattr(self.lstm, f"bias_hh{end}").zero_().requires_grad_(False)

    def forward(self, sequence: Tensor, lengths: Tensor) -> Tensor:
        lengths = lengths.clamp(min=1).cpu()
        packed = pack_padded_sequence(sequence, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = self.lstm(packed)
        padded: Tensor = pad_packed_sequence(outputs, batch_first=True, total_length=sequence.shape[1])[0]
        return padded


def plain(model: nn.Module) -> nn.Module:
    """Put PyTorch's LSTM wherever the model has ours."""
    for name, part in model.named_children():
        if isinstance(part, LSTM):
            setattr(model, name, PlainLSTM(part))
        else:
            plain(part)
    return model


class PlainTraining:
    """One run: a module, PyTorch's optimiser, and a step that does what everybody writes first."""

    def __init__(self, model: nn.Module, table: ExampleTable, rate: float) -> None:
        self.model, self.table = plain(model).to(table.device), table
        self.adam = torch.optim.AdamW(
            [each for each in model.parameters() if each.requires_grad], lr=rate, weight_decay=0
        )

    def step(self, picked: Tensor, noise: Tensor, size: int) -> Tensor:
        self.adam.zero_grad()
        scores = self.model(self.table.batch(picked, noise, size))
        loss = nn.functional.cross_entropy(scores, self.table.answers[picked])
        loss.backward()
        self.adam.step()
        return loss.detach()
