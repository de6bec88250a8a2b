"""MAC against its equations."""

from torch import Tensor
from torch.nn.functional import elu

from storyproof.solvers.neural.data.batches import Batch
from tests.solvers.neural.models.by_hand import Weights, check_equations, mentioned, said, shared


def mac(weights: Weights, row: Batch) -> Tensor:
    """Hudson and Manning (2018), 3.2: control by the question's words, read by control and memory, write by both."""
    words = said(row.flat)
    states = weights.read([weights.word(word) for word in words])
    known = [weights.line("knowledge", state) for state in states]
    asked = [
        weights.word(word) + weights.line("mentioned", heard)
        for word, heard in zip(row.question, mentioned(states, words, row.question), strict=True)
    ]
    question = weights.line("asked", *asked)
    there = [word for word, number in zip(asked, row.question, strict=True) if number > 0]
    control, memory = weights["first_control"], weights["first_memory"]
    for _ in range(weights.options["steps"]):
        wanted = weights.line("control", control, question)
        control = shared([weights.line("control_score", wanted * word) for word in there], there)
        scores = []
        for each in known:
            met = weights.line("from_memory", memory) * weights.line("from_knowledge", each)
            scores.append(weights.line("read_score", elu(control * weights.line("read", met, each))))
        memory = weights.line("write", shared(scores, known), memory)
    return weights.layers("decoder", memory, *asked)


def test_equals_its_equations() -> None:
    check_equations("mac", mac, {"steps": 3})
