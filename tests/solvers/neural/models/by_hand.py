"""Parts of the models' equations, written out row by row and word by word: no batches, no masks, no padding.

They follow the papers that the models cite, and share nothing with the models but the weights.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear, relu

from storyproof.solvers.neural.data.batches import Batch
from storyproof.solvers.neural.data.vocabulary import UNKNOWN
from storyproof.solvers.neural.models.registry import build, default_options
from tests.solvers.neural.fixtures import SHAPE, SMALL, make_batch


class Weights(dict[str, Tensor]):
    """A model's weights by name, and its options."""

    options: dict[str, Any]

    def word(self, number: Tensor, of: str = "embedding") -> Tensor:
        """Look a word or a person up; padding is nothing."""
        words, people = self[f"{of}.words"], self[f"{of}.people"]
        if number == 0:
            return torch.zeros(words.shape[1])
        return words[number] if number < SHAPE.words else people[number - SHAPE.words]

    def line(self, name: str, *values: Tensor) -> Tensor:
        """Lay vectors side by side, and take them through a linear layer."""
        return linear(torch.cat(values), self[f"{name}.weight"], self.get(f"{name}.bias"))

    def layers(self, name: str, *values: Tensor) -> Tensor:
        """Go through all layers of a perceptron, ReLU between them."""
        places = sorted(int(key.split(".")[1]) for key in self if key.startswith(name) and key.endswith("weight"))
        found = torch.cat(values)
        for place in places:
            found = self.line(f"{name}.{place}", found if place == places[0] else relu(found))
        return found

    def read(self, words: Sequence[Tensor]) -> list[Tensor]:
        """Give the LSTM's states at each word, those of both directions side by side."""
        layer = 0
        while f"lstm.bias.{layer}" in self:
            sides = []
            for side in range(len(self[f"lstm.bias.{layer}"])):
                own = [self[f"lstm.{part}.{layer}"][side] for part in ("from_input", "from_state", "bias")]
                states = _states(words[::-1] if side else words, *own)
                sides.append(states[::-1] if side else states)
            words = [torch.cat(both) for both in zip(*sides, strict=True)]
            layer += 1
        return list(words)


def _states(words: Sequence[Tensor], from_input: Tensor, from_state: Tensor, bias: Tensor) -> list[Tensor]:
    states = []
    state = cell = torch.zeros(len(bias) // 4)
    for word in words:
        enter, forget, new, leave = (word @ from_input + state @ from_state + bias).chunk(4)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        state = leave.sigmoid() * cell.tanh()
        states.append(state)
    return states


def said(numbers: Tensor) -> Tensor:
    return numbers[numbers > 0]


def told(row: Batch) -> list[Tensor]:
    return [said(sentence) for sentence in row.story if sentence[0] > 0]


def average(values: Sequence[Tensor]) -> Tensor:
    return sum(values, torch.zeros(())) / len(values)


def mentioned(states: Sequence[Tensor], words: Tensor, asked: Tensor) -> list[Tensor]:
    """Average, for each word asked with, the states wherever it is said; nothing where it is not, or is unknown."""
    found = []
    for one in asked:
        heard = [state for state, word in zip(states, words, strict=True) if word == one > UNKNOWN]
        found.append(average(heard) if heard else torch.zeros(len(states[0])))
    return found


def shared(scores: Sequence[Tensor], values: Sequence[Tensor]) -> Tensor:
    """Weigh values by the softmax of their scores."""
    shares = torch.softmax(torch.stack([score.squeeze() for score in scores]), 0)
    return sum((share * value for share, value in zip(shares, values, strict=True)), torch.zeros(()))


def check_equations(name: str, equations: Callable[[Weights, Batch], Tensor], deeper: Mapping[str, Any] = {}) -> None:
    """Check that a model equals its equations in double precision.

    Args:
        name: That of the model.
        equations: Its equations for one row.
        deeper: Options that repeat what the small model has only once.
    """
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        _compare(name, equations, {**SMALL[name], **deeper})
    finally:
        torch.set_default_dtype(usual)


def _compare(name: str, equations: Callable[[Weights, Batch], Tensor], options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    model = build(name, SHAPE, options).eval()
    with torch.no_grad():
        for value in model.parameters():  # some start as ones or zeros, which would hide their effect
            value.add_(torch.randn_like(value) * 0.3)
    weights = Weights(model.state_dict())
    weights.options = {**default_options(name), **options}
    batch = make_batch(name, rows=3, seed=2)
    for part in (batch.story[1, 0], batch.flat[1], batch.question[1]):
        part[0] = UNKNOWN
    batch.question[0, -1] = 0  # a short question; stories have different lengths
    batch.graph[1, 1] = 0  # a node without neighbours
    assert (batch.story[..., 0] == 0).any()
    assert (batch.flat[:, -1] == 0).any()
    assert (batch.nodes == 0).any()
    with torch.no_grad():
        for row, scores in enumerate(model(batch)):
            one = Batch._make([*(part[row] for part in batch[:-1]), batch.noise])
            torch.testing.assert_close(equations(weights, one), scores, rtol=1e-10, atol=1e-10)
