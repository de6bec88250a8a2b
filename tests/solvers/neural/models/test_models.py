"""What every model must do; the families it serves are all but `gat` on theory of mind."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.data.batches import Batch, ExampleTable
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.models.registry import MODELS, build, default_options, recipe
from storyproof.solvers.neural.stacked_models import Stack
from storyproof.solvers.neural.training_job import Training
from storyproof.solvers.neural.training_loop import predict
from tests.groups import only_first
from tests.samples import examples
from tests.solvers.neural.fixtures import (
    CLUTRR,
    CPU,
    EDGE_TYPES,
    SHAPE,
    SMALL,
    TOMI,
    UNFELT,
    course,
    make_batch,
    renamed,
    some,
    stacked,
    trained,
)

PAIRS = [(model, family) for model in MODELS for family in (TOMI, CLUTRR) if (model, family) != ("gat", TOMI)]
every_model = pytest.mark.parametrize("name", list(MODELS))
every_pair = pytest.mark.parametrize(("name", "family"), PAIRS)


def small(name: str, seed: int = 0, **options: Any) -> nn.Module:
    torch.manual_seed(seed)
    return build(name, SHAPE, {**SMALL[name], **options})


@every_model
@pytest.mark.parametrize("rows", [1, 5])
def test_shapes(name: str, rows: int) -> None:
    scores = small(name)(make_batch(name, rows))
    assert scores.shape == (rows, SHAPE.answers)
    assert torch.isfinite(scores).all()


@every_model
def test_usual_sizes(name: str) -> None:
    assert build(name, SHAPE, {})(make_batch(name, 2)).shape == (2, SHAPE.answers)


def with_more(batch: Batch, what: str, name: str) -> Batch:
    """Pad a batch."""
    if what == "sentences":
        return batch._replace(story=pad(batch.story, (0, 0, 0, 3)))
    if what == "words":
        return batch._replace(story=pad(batch.story, (0, 4)))
    if what == "flat":
        pieces = 7 if MODELS[name].vectors == "pieces" else 0
        return batch._replace(flat=pad(batch.flat, (0, 7)), vectors=pad(batch.vectors, (0, 0, 0, pieces)))
    if what == "nodes":
        return batch._replace(nodes=pad(batch.nodes, (0, 3)), graph=pad(batch.graph, (0, 3, 0, 3)))
    more = {
        part: pad(value, (0, 0) * (value.dim() - 1) + (0, 2))
        for part, value in batch._asdict().items()
        if part != "noise"
    }
    return batch._replace(**more)


@every_model
@pytest.mark.parametrize("what", ["sentences", "words", "flat", "nodes", "rows"])
def test_padding_changes_nothing(name: str, what: str) -> None:
    model, batch = small(name).eval(), make_batch(name)
    torch.testing.assert_close(model(with_more(batch, what, name))[:5], model(batch), rtol=1e-4, atol=1e-5)


@every_model
def test_rows_do_not_see_each_other(name: str) -> None:
    model, batch = small(name).eval(), make_batch(name)
    alone = [model(Batch(*(part[row : row + 1] for part in batch[:-1]), batch.noise)) for row in range(5)]
    torch.testing.assert_close(torch.cat(alone), model(batch), rtol=1e-4, atol=1e-5)


@every_model
def test_gradient_reaches_every_parameter(name: str) -> None:
    model = small(name, policy="learned")
    scores = model(make_batch(name, 40))
    (scores * torch.randn(scores.shape, generator=torch.Generator().manual_seed(1))).sum().backward()
    for part, parameter in model.named_parameters():
        assert parameter.grad is not None, part
        assert torch.isfinite(parameter.grad).all(), part
        if not part.endswith(UNFELT):
            assert parameter.grad.abs().max() > 1e-7, part


@every_pair
def test_real_batches_teach_what_they_use(name: str, family: str) -> None:
    """Of real data, only the vectors of words that a model does not read stay as they are."""
    trainer = course(name, some(family, 60), batch=60, recast=False, epochs=1).trainer
    before = trainer.stack.state()
    trainer.train_epoch()
    after = trainer.stack.state()
    still = {part for part in trainer.stack.weights if torch.equal(before[part], after[part])}
    unread = {"embedding.words"} if (name, family) in (("gat", CLUTRR), ("bert-lstm", CLUTRR)) else set()
    assert {part for part in still if not part.endswith(UNFELT)} == unread


@every_model
def test_stack_equals_runs_alone(name: str) -> None:
    dropout = {} if name in ("memnn", "entnet", "gat", "rmc") else {"dropout": 0.2}
    options = {**SMALL[name], **dropout}
    seeds, batches = [3, 4, 5], [make_batch(name, seed=seed) for seed in range(3)]

    def scores_and_gradients(stack: Stack, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        stack.model.train()
        scores = stack(batch)
        scores.square().sum().backward()
        return scores.detach(), {part: weight.grad for part, weight in stack.weights.items() if weight.grad is not None}

    together, gradients = scores_and_gradients(Stack(lambda: build(name, SHAPE, options), seeds, CPU), stacked(batches))
    for run, seed in enumerate(seeds):
        one = Stack(lambda: build(name, SHAPE, options), [seed], CPU)
        alone, own = scores_and_gradients(one, stacked(batches[run : run + 1]))
        torch.testing.assert_close(together[run], alone[0], rtol=1e-5, atol=1e-5)
        assert own.keys() == gradients.keys()
        for part, gradient in own.items():
            scale = max(1.0, float(gradient.abs().max()))
            torch.testing.assert_close(gradients[part][run] / scale, gradient[0] / scale, rtol=1e-5, atol=1e-5)


@every_pair
def test_overfits_eight_examples(name: str, family: str) -> None:
    eight = some(family, 8)
    trainer = course(name, eight, eight, batch=8, epochs=300, rate=0.01, recast=False, patience=0).trainer
    while not trainer.finished and trainer.best_held != [1.0]:
        trainer.train_epoch()
    assert trainer.best_held == [1.0], f"{trainer.best_held} after {trainer.epoch} epochs"


def swapped(some_examples: list[Example], names: list[str]) -> list[Example]:
    """Call everybody by the next one's name."""
    return [renamed(each, dict(zip(names, names[1:] + names[:1], strict=True))) for each in some_examples]


def by_appearance(example: Example, made: Training) -> list[list[int]]:
    """An encoded example with people numbered as they appear: what is left when nobody's number means anything."""
    found = encode([example], made.vocabulary)
    order: dict[int, int] = {}

    def told(numbers: Any) -> list[int]:
        return [
            -1 - order.setdefault(int(each), len(order)) if each >= made.vocabulary.first_entity else int(each)
            for each in numbers.flatten()
        ]

    return [told(part) for part in (found.stories, found.flat, found.questions, found.nodes)] + [
        part.flatten().tolist() for part in (found.graphs, found.query, found.answers)
    ]


@pytest.mark.parametrize("family", [TOMI, CLUTRR])
def test_names_do_not_matter(family: str) -> None:
    """The people of a story by any other names are the same up to which entities they are drawn as."""
    rows = some(family, 40)
    made = course("entnet", rows, entities=True)
    for each in rows:
        people = family_of(each).people(each)
        new = renamed(each, {name: f"{name[::-1].title()}x" for name in people})
        assert new.story != each.story
        assert by_appearance(new, made) == by_appearance(each, made)


@pytest.mark.parametrize(("name", "family"), only_first(1, [("gat", CLUTRR), ("memnn", CLUTRR), ("entnet", TOMI)]))
def test_renaming_leaves_accuracy(name: str, family: str) -> None:
    """Trained on stories that are recast, a model scores the same on people that have exchanged their names."""
    count = 360
    rows = list(examples(family, "train", 720)[:count])
    tests = list(examples(family, "train", 720)[count : 2 * count])
    made = course(name, rows, rows[:60], batch=20, epochs=6, rate=0.01)
    trained(made)
    people = sorted({name for each in rows for name in family_of(each).people(each)})
    people = [name for name in people if family == CLUTRR or name.lower() in made.vocabulary.numbers]
    scores = []
    for asked in (tests, swapped(tests, people)):
        table = ExampleTable(encode(asked, made.vocabulary, question=made.shape.question), CPU)
        given = predict(made.trainer.stack, table, np.arange(count)[None])
        scores.append(float((given[0] == table.answers).float().mean()))
    before, after = scores
    assert before > 1.5 / len(made.vocabulary.answers)  # something was learnt
    assert abs(after - before) < 3 * (2 * before * (1 - before) / count) ** 0.5


def test_gat_needs_a_graph() -> None:
    with pytest.raises(ConfigError, match="model 'gat' reads graphs, but stories of theory of mind have none"):
        course("gat", some(TOMI, 12))


def test_unknown_model() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model 'entnut'\. Did you mean 'entnet'"):
        recipe("entnut")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("memnn", {"slots": 3}, "model 'memnn' has no option 'slots'; it has hops, memory, policy, width"),
        ("memnn", {"policy": "frozen"}, "unknown policy 'frozen'.*fixed, learned, randomised"),
        ("memnn", {"width": 0}, "option width is 0; use a whole number above 0"),
        ("memnn", {"width": "wide"}, "option width is 'wide'; use a whole number"),
        ("mac", {"dropout": 1.0}, "option dropout is 1.0; use a share"),
        ("rn", {"relation": 64}, "option relation is 64; use a list"),
        ("rn", {"relation": [64, 10**13]}, "option relation is 10000000000000; use at most 10,000"),
        ("rn", {"relation": [10_000] * 12}, "model 'rn' would have 1.1.*e\\+09 weights .*; use smaller options"),
        ("memnn", {"hops": 10**12}, "option hops is 1000000000000; use at most 10,000"),
        ("rn", {"sentences": "words"}, "unknown sentences 'words'"),
        ("bilstm-mean", {"pooling": "max"}, "unknown pooling 'max'"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build(name, SHAPE, options)


def test_usual_options() -> None:
    assert default_options("rn")["relation"] == (64, 64, 64)
    assert default_options("relnet")["relation"] == (256, 256, 256)  # its recipe's
    assert default_options("bilstm-mean")["pooling"] == "mean"


def test_edge_types() -> None:
    assert EDGE_TYPES[:2] == ("", "unknown")
    assert len(set(EDGE_TYPES)) == len(EDGE_TYPES)
