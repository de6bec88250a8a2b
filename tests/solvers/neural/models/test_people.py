"""That models look at all who are asked about, and at nobody's name."""

from itertools import chain

import numpy as np
import pytest
import torch

from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.data.batches import ExampleTable
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.data.pretrained import add_vectors
from storyproof.solvers.neural.models.layers import Embedding
from storyproof.solvers.neural.models.registry import MODELS, build
from storyproof.solvers.neural.training_job import Training
from storyproof.solvers.neural.training_loop import predict
from tests.groups import only_first
from tests.samples import changed
from tests.solvers.neural.fixtures import (
    CLUTRR,
    CPU,
    SHAPE,
    SMALL,
    TOMI,
    FakeEncoder,
    course,
    make_batch,
    renamed,
    some,
    trained,
)

PAIRS = [(model, family) for model in MODELS for family in (TOMI, CLUTRR) if (model, family) != ("gat", TOMI)]


def asked_often(family: str) -> list[Example]:
    """Two stories with several questions each, whose answers differ though only who is asked about does."""
    if family == TOMI:
        stories = [each.story_id for each in some(TOMI, 96) if each.story_type == "false_belief"]
        return [each for each in some(TOMI, 96) if each.story_id in (stories[0], stories[-1])]
    found, pairs, answers = [], [(0, 1), (0, 2), (2, 1), (1, 2)], ["aunt", "niece", "son", "wife"]
    for number, each in enumerate(some(CLUTRR, 2)):
        people = family_of(each).people(each)
        for place, (first, second) in enumerate(pairs):
            answer = answers[(place + number) % 4]  # not true, but so nothing helps but to look at both people
            found.append(changed(each, id=f"{number}-{place}", query=[people[first], people[second]], answer=answer))
    return found


@pytest.mark.parametrize(("name", "family"), only_first(6, PAIRS))
def test_overfits_questions_about_the_same_story(name: str, family: str) -> None:
    rows = asked_often(family)
    assert len({each.story for each in rows}) == 2
    trainer = course(name, rows, rows, batch=len(rows), epochs=300, rate=0.01, recast=False, patience=0).trainer
    while not trainer.finished and trainer.best_held != [1.0]:
        trainer.train_epoch()
    assert trainer.best_held == [1.0], f"{trainer.best_held} after {trainer.epoch} epochs"


@pytest.mark.parametrize("name", list(MODELS))
def test_people_are_known_by_their_vectors_only(name: str) -> None:
    """Numbers of people and the table of their vectors exchanged alike change nothing."""
    torch.manual_seed(0)
    model, batch = build(name, SHAPE, SMALL[name]).eval(), make_batch(name)
    expected = model(batch)
    order = torch.randperm(SHAPE.pool, generator=torch.Generator().manual_seed(1))
    numbers = torch.cat([torch.arange(SHAPE.words), SHAPE.words + order])
    for module in model.modules():
        if isinstance(module, Embedding):
            module.people[order] = module.people.clone()
    told = {part: numbers[getattr(batch, part)] for part in ("story", "flat", "question", "nodes")}
    torch.testing.assert_close(model(batch._replace(**told)), expected, rtol=1e-5, atol=1e-6)


def accuracy(made: Training, asked: list[Example]) -> float:
    encoded, vectors = encode(asked, made.vocabulary, question=made.shape.question), None
    if kind := MODELS[made.plan.model].vectors:
        encoded, vectors = add_vectors(asked, encoded, made.vocabulary, FakeEncoder(), kind)  # type: ignore[arg-type]
    table = ExampleTable(encoded, CPU, vectors)
    given = predict(made.trainer.stack, table, np.arange(len(asked))[None])
    return float((given[0] == table.answers).float().mean())


# Of the others `test_renaming_leaves_accuracy` knows; `bert` reads people as written numbers, which nothing recasts.
RECAST = [name for name in MODELS if name not in ("memnn", "entnet", "gat", "bert")]


@pytest.mark.parametrize("name", [RECAST[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RECAST[1:])])
def test_stories_learnt_by_heart_are_known_under_other_names(name: str) -> None:
    """Because training recasts them."""
    rows = sorted((each for each in some(CLUTRR, 96) if each.get("k") == 2), key=lambda each: len(each.story))[:16]
    made = trained(course(name, rows, rows, batch=16, epochs=40, rate=0.01, patience=0))
    people = sorted({person for each in rows for person in family_of(each).people(each)})
    next_one = dict(zip(people, people[1:] + people[:1], strict=True))
    told = [rows]
    for _ in range(3):
        told.append([renamed(each, next_one) for each in told[-1]])
    before = accuracy(made, rows)
    assert before > 0.3  # of about a dozen answers
    assert accuracy(made, list(chain(*told[1:]))) > before - 0.2
