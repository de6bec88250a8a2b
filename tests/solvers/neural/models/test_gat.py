"""GAT against its equations."""

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu, relu

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, average, check_equations, said, shared


def gat(weights: Weights, row: Batch) -> Tensor:
    """Velickovic et al. (2018), with the edge beside the neighbour (Sinha et al. 2019, 1.1)."""
    people = [weights.word(number) for number in said(row.nodes)]
    for turn in range(weights.options["rounds"]):
        at, after = f"rounds.{turn}.", []
        for one, own in enumerate(people):
            scores, messages = [], []
            for other, kind in enumerate(row.graph[one][: len(people)]):
                if kind == 0:  # no edge
                    continue
                edge = weights["edges"][kind]
                met = leaky_relu(weights.line(at + "to_score", own, people[other], edge), 0.2)
                scores.append(weights.line(at + "score", met))
                messages.append(weights.line(at + "say", people[other], edge))
            heard = shared(scores, messages) if scores else torch.zeros(weights.options["message"])
            after.append(own + relu(weights.line(at + "update", own, heard)))
        people = after
    first, second = row.query
    return weights.layers("decoder", average(people), people[first], people[second])


def test_equals_its_equations() -> None:
    check_equations("gat", gat, {"rounds": 3})
