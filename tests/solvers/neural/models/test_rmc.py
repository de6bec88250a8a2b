"""RMC against its equations."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, relu

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, check_equations, said, shared


def rmc(weights: Weights, row: Batch) -> Tensor:
    """Santoro et al. (2018), equations 2 to 8, with gates by unit; forget bias 1, input bias 0."""
    options = weights.options
    memory = list(torch.eye(options["slots"], options["heads"] * options["head"]))

    def normal(name: str, values: Tensor) -> Tensor:
        return layer_norm(values, values.shape, weights[f"{name}.weight"], weights[f"{name}.bias"])

    for number in said(row.flat):
        word = weights.line("enter", weights.word(number))
        after = []
        for slot, heard in zip(memory, _attended(weights, normal, [*memory, word]), strict=False):  # not the word
            thought = attended = normal("attended", slot + heard)
            for layer in range(options["layers"]):
                thought = relu(weights.line(f"think.{2 * layer}", thought))
            new = normal("thought", attended + thought)
            gates = weights.line("input_gates", word) + weights.line("memory_gates", torch.tanh(slot))
            enter, forget = gates.chunk(2)
            after.append(torch.sigmoid(enter) * torch.tanh(new) + torch.sigmoid(forget + 1) * slot)
        memory = after
    return weights.layers("decoder", *memory, *(weights.word(word) for word in row.question))


def _attended(weights: Weights, normal: Callable[[str, Tensor], Tensor], seen: list[Tensor]) -> list[Tensor]:
    """Let every place look at all; each head has its own query, key and value."""
    key, head = weights.options["key"], weights.options["head"]
    parts = [torch.split(normal("scale", weights.line("look", place)), 2 * key + head) for place in seen]
    heard = []
    for own in parts:
        heads = []
        for turn, part in enumerate(own):
            others = [torch.split(place[turn], [key, key, head]) for place in parts]
            heads.append(shared([part[:key] @ each[1] / key**0.5 for each in others], [each[2] for each in others]))
        heard.append(torch.cat(heads))
    return heard


def test_equals_its_equations() -> None:
    check_equations("rmc", rmc, {"slots": 3, "layers": 2})
