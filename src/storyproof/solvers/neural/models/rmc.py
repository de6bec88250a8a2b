"""Relational memory core (`rmc`)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.models.layers import Embedding, lengths, perceptron


class RMC(nn.Module):
    """Reads word by word into a small memory whose slots attend to each other and to the word.

    Source: Santoro et al. (2018), equations 2 to 8, with the sizes of Sinha et al. (2019), appendix 2.2: two slots,
    four heads of 192, key 64, one block, three layers, gates by unit, forget bias 1, input bias 0, no dropout.

    Equation: per word x: M̃ = LN(M + attention(M, [M; x])), M̃ ← LN(M̃ + MLP(M̃)),
    M ← σ(i) tanh(M̃) + σ(f + 1) M with gates i, f from x and tanh(M); scores MLP[M; question].

    Shapes: flat [rows, words], question [rows, words] to scores [rows, answers].

    Args:
        shape: The sizes of inputs and outputs.
        policy: How people are embedded.
        width: That of the words' vectors.
        slots: How many memory slots there are.
        heads: How many attention heads there are.
        head: The width of a head's values.
        key: The width of a head's keys.
        layers: How many layers the perceptron after attention has.
        decoder: The width of the decoder's hidden layer.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        policy: str = "fixed",
        width: int = 100,
        slots: int = 2,
        heads: int = 4,
        head: int = 192,
        key: int = 64,
        layers: int = 3,
        decoder: int = 200,
    ) -> None:
        super().__init__()
        memory = heads * head
        self.slots, self.heads, self.key, self.head = slots, heads, key, head
        self.embedding = Embedding(shape, width, policy=policy)
        self.enter = nn.Linear(width, memory)
        self.look = nn.Linear(memory, heads * (2 * key + head))
        self.scale = nn.LayerNorm(heads * (2 * key + head))
        self.attended = nn.LayerNorm(memory)
        self.think = nn.Sequential(*[layer for _ in range(layers) for layer in (nn.Linear(memory, memory), nn.ReLU())])
        self.thought = nn.LayerNorm(memory)
        self.input_gates = nn.Linear(memory, 2 * memory)
        self.memory_gates = nn.Linear(memory, 2 * memory)
        self.decoder = perceptron(slots * memory + shape.question * width, decoder, shape.answers)
        start = torch.zeros(slots, memory)
        start[torch.arange(slots), torch.arange(slots)] = 1  # so that slots differ from the first word on
        self.register_buffer("start", start)
        self.start: Tensor

    def forward(self, batch: Batch) -> Tensor:
        """Return a score for every answer [rows, answers]."""
        words = self.enter(self.embedding(batch.flat))
        gates = self.input_gates(words).unsqueeze(2)
        going = torch.arange(batch.flat.shape[1], device=words.device) < lengths(batch.flat).unsqueeze(1)
        memory = self.start.expand(len(words), -1, -1)
        for step in range(words.shape[1]):
            changed = self._step(memory, words[:, step].unsqueeze(1), gates[:, step])
            memory = torch.where(going[:, step, None, None], changed, memory)
        question = self.embedding(batch.question).flatten(1)
        scores: Tensor = self.decoder(torch.cat([memory.flatten(1), question], dim=-1))
        return scores

    def _step(self, memory: Tensor, word: Tensor, gates: Tensor) -> Tensor:
        seen = torch.cat([memory, word], dim=1)
        after = self.attended(memory + self._attend(seen)[:, : self.slots])
        after = self.thought(after + self.think(after))
        enter, forget = (gates + self.memory_gates(torch.tanh(memory))).chunk(2, dim=-1)
        return torch.sigmoid(enter) * torch.tanh(after) + torch.sigmoid(forget + 1) * memory

    def _attend(self, seen: Tensor) -> Tensor:
        rows, places, _ = seen.shape
        parts = self.scale(self.look(seen)).view(rows, places, self.heads, -1).transpose(1, 2)
        query, key, value = parts.split([self.key, self.key, self.head], dim=-1)
        shares = torch.softmax(query @ key.transpose(-1, -2) / self.key**0.5, dim=-1)
        heard: Tensor = (shares @ value).transpose(1, 2).reshape(rows, places, -1)
        return heard
