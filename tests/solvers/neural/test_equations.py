"""Every model against its equations, told again row by row and word by word, in double precision.

What stands here follows the papers that the models' modules cite, and shares nothing with them but the weights.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import elu, layer_norm, leaky_relu, normalize, relu

from storyproof.solvers.neural.encoding import UNKNOWN
from storyproof.solvers.neural.layers import Batch
from storyproof.solvers.neural.models import build, usual_options
from storyproof.solvers.neural.recipes import MODELS
from tests.solvers.neural.by_hand import Weights, average, mentioned, said, shared, told
from tests.solvers.neural.lessons import SHAPE, SMALL, make_batch

# Where one of something would hide whether several follow each other.
DEEPER: dict[str, dict[str, Any]] = {
    "memnn": {"hops": 3},
    "relnet": {"relation": (9, 8, 7), "decoder": (6, 5)},
    "rn": {"relation": (9, 8, 7), "decoder": (6, 5)},
    "mac": {"steps": 3},
    "rmc": {"slots": 3, "layers": 2},
    "gat": {"rounds": 3},
}


def memnn(weights: Weights, row: Batch) -> Tensor:
    """Sukhbaatar et al. (2015), 2.2 and 4.1: u ← u + Σ p c, with p = softmax(u · m), and C of a hop is the next's A."""
    hops, width = weights.options["hops"], weights.options["width"]

    def bag(words: Tensor, of: int, most: int) -> Tensor:
        total, part = torch.zeros(width), torch.arange(1, width + 1) / width
        for place, word in enumerate(words, start=1):
            share = place / most  # of the longest sentence there is, so that padding changes nothing
            total = total + weights.word(word, f"embeddings.{of}") * ((1 - share) - part * (1 - 2 * share))
        return total

    state, sentences = bag(row.question, 0, SHAPE.question), told(row)
    for hop in range(hops):
        seen, given = (
            [
                bag(sentence, of, SHAPE.length) + weights[f"times.{of}"][len(sentences) - 1 - place]  # the last is 0
                for place, sentence in enumerate(sentences)
            ]
            for of in (hop, hop + 1)
        )
        state = state + shared([state @ each for each in seen], given)
    return weights.line("decoder", state)


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


def bilstm(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: states pooled, and beside them who is asked about, as mentioned and as embedded."""
    words = said(row.flat)
    states = weights.read([weights.word(word) for word in words])
    story = average(states)
    if weights.options["pooling"] == "attention":
        story = shared([weights.line("attention", torch.tanh(state)) for state in states], states)
    asked = mentioned(states, words, row.question)
    return weights.layers("decoder", story, *asked, *(weights.word(word) for word in row.question))


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


def bert(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: a perceptron over the pooled vectors."""
    return weights.layers("decoder", *row.vectors)


def bert_lstm(weights: Weights, row: Batch) -> Tensor:
    """Sinha et al. (2019), 1.1: an LSTM over the encoder's vectors, but people's are their entities'."""
    words = said(row.flat)
    vectors = [
        weights.word(word) if word >= SHAPE.words else vector
        for word, vector in zip(words, row.vectors[: len(words)], strict=True)
    ]
    states = weights.read(vectors)
    asked = mentioned(states, words, row.question)
    return weights.layers("decoder", average(states), *asked, *(weights.word(word) for word in row.question))


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


EQUATIONS = {
    "memnn": memnn,
    "relnet": relation_network,
    "entnet": entnet,
    "bilstm-mean": bilstm,
    "bilstm-attention": bilstm,
    "rn": relation_network,
    "mac": mac,
    "bert": bert,
    "bert-lstm": bert_lstm,
    "gat": gat,
    "rmc": rmc,
}


@pytest.fixture
def _double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double")
@pytest.mark.parametrize("name", list(MODELS))
def test_equals_its_equations(name: str) -> None:
    torch.manual_seed(1)
    options = {**SMALL[name], **DEEPER.get(name, {})}
    model = build(name, SHAPE, options).eval()
    with torch.no_grad():
        for value in model.parameters():  # some begin as ones or zeros, which hide what they do
            value.add_(torch.randn_like(value) * 0.3)
    weights = Weights(model.state_dict())
    weights.options = {**usual_options(name), **options}
    batch = make_batch(name, rows=3, seed=2)
    for part in (batch.story[1, 0], batch.flat[1], batch.question[1]):
        part[0] = UNKNOWN
    batch.question[0, -1] = 0  # a short question; stories are of different lengths
    batch.graph[1, 1] = 0  # somebody who hears nobody
    assert (batch.story[..., 0] == 0).any()
    assert (batch.flat[:, -1] == 0).any()
    assert (batch.nodes == 0).any()
    with torch.no_grad():
        for row, scores in enumerate(model(batch)):
            one = Batch._make([*(part[row] for part in batch[:-1]), batch.noise])
            torch.testing.assert_close(EQUATIONS[name](weights, one), scores, rtol=1e-10, atol=1e-10)
