"""RelationNetwork against its equations."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import relu

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, average, check_equations, mentioned, told


def relation_network(weights: Weights, row: Batch) -> Tensor:
    """Santoro et al. (2017): f(Σ g(o, o', q)) over all ordered pairs of sentences; the sum a sentence, not a pair."""
    states, objects = [], []
    for number, sentence in enumerate(told(row)):
        words = [weights.word(word) for word in sentence]
        if "mask" in weights:
            words = [word * weights["mask"][place] for place, word in enumerate(words)]
            one = sum(words, torch.zeros(()))
        else:
            words = weights.read(words)
            one = average(words)
        states += words
        objects.append(one + weights["place"][number])
    asked = mentioned(states, torch.cat(told(row)), row.question)
    both = zip(asked, map(weights.word, row.question), strict=True)
    question = weights.line("question", *(part for pair in both for part in pair))
    total = torch.zeros(())
    for one in objects:
        for other in objects:
            met = weights.line("first", other) + weights.line("second", one) + question
            total = total + relu(weights.layers("relation", relu(met)))
    return weights.layers("decoder", total / len(objects))


@pytest.mark.parametrize("name", ["relnet", "rn"])
def test_equals_its_equations(name: str) -> None:
    check_equations(name, relation_network, {"relation": (9, 8, 7), "decoder": (6, 5)})
