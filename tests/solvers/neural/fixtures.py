"""Small models, batches and training sets that several tests share."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from storyproof.example import Example
from storyproof.families.family import load_family
from storyproof.generation.seeds import Draws
from storyproof.solvers.neural.data.batches import Batch, Shape
from storyproof.solvers.neural.data.encoding import edge_types
from storyproof.solvers.neural.models.registry import MODELS
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet
from storyproof.solvers.training_settings import Settings
from tests.samples import changed, examples

TOMI, CLUTRR = "tomi", "clutrr"
CPU = torch.device("cpu")
SHAPE = Shape(words=20, pool=5, sentences=4, length=6, question=3, edge_types=7, answers=6, pieces=3, vector=5)
SMALL: dict[str, dict[str, Any]] = {
    "memnn": {"width": 20, "hops": 2},
    "relnet": {"width": 20, "relation": (32, 32), "decoder": (32,)},
    "entnet": {"width": 20, "slots": 5},
    "lstm": {"width": 16, "hidden": 12, "decoder": 24},
    "bilstm-mean": {"width": 16, "hidden": 12, "decoder": 24},
    "bilstm-attention": {"width": 16, "hidden": 12, "decoder": 24},
    "rn": {"width": 16, "hidden": 12, "relation": (32, 32), "decoder": (32,)},
    "mac": {"width": 16, "hidden": 12, "steps": 2, "decoder": 24},
    "bert": {"decoder": 24},
    "bert-lstm": {"hidden": 12, "decoder": 24},
    "gat": {"width": 16, "message": 16, "edge": 8, "rounds": 2, "decoder": 24},
    "rmc": {"width": 16, "heads": 2, "head": 8, "key": 4, "layers": 1, "decoder": 24},
}
# A softmax does not feel what is added to all its scores, so these biases have no gradient.
UNFELT = ("attention.bias", "control_score.bias", "read_score.bias", "score.bias")


def make_batch(model: str, rows: int = 5, seed: int = 0, nodes: int = 4) -> Batch:
    """Draw stories of words and people, of different lengths."""
    draw = torch.Generator().manual_seed(seed)

    def below(limit: int, *size: int, least: int = 0) -> Tensor:
        return torch.randint(least, limit, size, generator=draw)

    numbers = SHAPE.words + SHAPE.pool
    story = below(numbers, rows, SHAPE.sentences, SHAPE.length, least=1)
    counts, lengths = below(SHAPE.sentences + 1, rows, least=1), below(SHAPE.length + 1, rows, 4, least=1)
    story = story * (torch.arange(SHAPE.sentences) < counts[:, None])[:, :, None]
    story = story * (torch.arange(SHAPE.length) < lengths[:, :, None])
    flat = torch.zeros(rows, SHAPE.sentences * SHAPE.length, dtype=torch.int64)
    for row, words in enumerate(story.flatten(1)):
        said = words[words > 0]
        flat[row, : len(said)] = said
    question = flat[:, :1].repeat(1, SHAPE.question)  # what is asked about is mentioned …
    question[:, 1:] = below(numbers, rows, SHAPE.question - 1, least=1)  # … or not
    people = below(numbers, rows, nodes, least=1) * (torch.arange(nodes) < below(nodes + 1, rows, 1, least=2))
    graph = below(SHAPE.edge_types, rows, nodes, nodes) * (people[:, :, None] > 0) * (people[:, None] > 0)
    pieces = flat.shape[1] if MODELS[model].vectors == "pieces" else SHAPE.pieces
    vectors = torch.randn(rows, pieces, SHAPE.vector, generator=draw)
    query = below(2, rows, 2)
    return Batch(story, flat, question, people, graph, query, vectors, torch.tensor(seed))


def stacked(batches: Sequence[Batch]) -> Batch:
    return Batch(*(torch.stack(values) for values in zip(*batches, strict=True)))


class FakeEncoder:
    """Gives every word one or two vectors that depend on the word alone."""

    width = 12

    def __init__(self, name: str = "", device: torch.device = CPU) -> None:
        self.asked: list[list[str]] = []

    def read(self, texts: Sequence[Sequence[str]]) -> list[tuple[Tensor, list[int]]]:
        self.asked += map(list, texts)
        return [self._one(words) for words in texts]

    def _one(self, words: Sequence[str]) -> tuple[Tensor, list[int]]:
        owners = [place for place, word in enumerate(words) for _ in range(1 + (len(word) > 6))]
        vectors = [self._vector(words[place]) for place in owners]
        return torch.stack(vectors).half() if vectors else torch.zeros(0, self.width).half(), owners

    def _vector(self, word: str) -> Tensor:
        raw = torch.from_numpy(Draws("fake encoder", word.lower()).below(1000, self.width))
        return raw.float() / 500 - 1


def some(family: str, count: int, split: str = "train") -> list[Example]:
    """Give so many examples of one of the two families."""
    return list(examples(family, split, 96)[:count])


def parts_of(family: str) -> list[list[Example]]:
    """Return three training sets of one family."""
    rows = some(family, 90)
    return [rows[:30], rows[30:48], rows[48:]]


def course(model: str, train: Sequence[Example], held: Sequence[Example] | None = None, **changes: Any) -> Training:
    """Prepare a small model; what is not the plan's is a setting of training."""
    plan = {name: changes.pop(name) for name in ("runs", "seed", "entities") if name in changes}
    options: Mapping[str, Any] = {**SMALL[model], **changes.pop("options", {})}
    encoder = "fake" if MODELS[model].vectors else None
    settings = Settings(**{"batch": 16, "epochs": 3, **changes})
    return Training(
        TrainingPlan(model, settings=settings, options=options, encoder=encoder, device="cpu", **plan),
        [TrainingSet(train, held)],
    )


def trained(made: Training) -> Training:
    """Train to the end."""
    while not made.trainer.finished:
        made.trainer.train_epoch()
    return made


def renamed(example: Example, names: Mapping[str, str]) -> Example:
    """Call people otherwise, wherever they are named."""
    word = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")

    def other(text: str) -> str:
        return word.sub(lambda found: names[found[1]], text)

    return changed(
        example,
        story=other(example.story),
        question=other(example.question),
        chain=[other(name) for name in example.chain],
        query=None if example.get("query") is None else [other(name) for name in example.get("query")],
        genders=None if example.get("genders") is None else [other(person) for person in example.get("genders")],
    )


assert set(SMALL) == set(MODELS)
EDGE_TYPES = edge_types(load_family("kinship"))
assert len(EDGE_TYPES) > SHAPE.edge_types
