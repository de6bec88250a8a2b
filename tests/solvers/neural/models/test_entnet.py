"""EntNet against its equations."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, check_equations, shared, told


def entnet(weights: Weights, row: Batch) -> Tensor:
    """Henaff et al. (2017), equations 1 to 6, the slots beginning as their keys."""
    keys = weights["keys"]
    slots = list(keys)

    def bag(words: Tensor, mask: Tensor) -> Tensor:
        return sum((weights.word(word) * mask[place] for place, word in enumerate(words)), torch.zeros(()))

    def bend(values: Tensor, slope: Tensor) -> Tensor:
        return torch.where(values > 0, values, slope * values)

    for words in told(row):
        sentence = bag(words, weights["story_mask"])
        for place, (slot, key) in enumerate(zip(slots, keys, strict=True)):
            gate = torch.sigmoid(sentence @ slot + sentence @ key)
            new = weights.line("from_memory", slot) + weights.line("from_key", key)
            new = bend(new + weights.line("from_sentence", sentence), weights["slope"])
            slots[place] = normalize(slot + gate * new, dim=0)
    question = bag(row.question, weights["question_mask"])
    found = shared([question @ slot for slot in slots], slots)
    return weights.line("decoder", bend(question + weights.line("from_found", found), weights["output_slope"]))


def test_equals_its_equations() -> None:
    check_equations("entnet", entnet)
