"""Many questions about many stories give what one question about one story gives."""

from __future__ import annotations

import random

import numpy as np
import pytest

from storyproof.families.belief.nested.answers import oracle_answer, oracle_proof, reply
from storyproof.families.belief.nested.arrays import encode_plots
from storyproof.families.belief.nested.batches import QuestionBatch
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import cast_of
from tests.families.belief.nested.plots import plots

LENGTHS = {Ask.SAYS: 1, Ask.KNOWS_WHERE: 1, Ask.KNOWS_WRONG: 2}


def any_questions(seed: int, count: int) -> tuple[list[list[object]], list[int], list[NestedQuestion]]:
    rng, stories = random.Random(seed), plots(seed, count)
    story, asked = [], []
    for number, plot in enumerate(stories):
        people = list(cast_of(plot)) or ["Nobody"]
        boxes = [event.container for event in plot if event.container] or ["jar"]
        for ask in Ask:
            free = {Ask.BELIEF: rng.randint(1, 4), Ask.BELIEVERS: rng.randint(0, 2), Ask.COMMON: rng.randint(2, 3)}
            chain = tuple(rng.choice(people) for _ in range(free.get(ask, LENGTHS.get(ask, 0))))
            place = rng.choice(boxes) if ask == Ask.BELIEVERS else None
            asked.append(NestedQuestion(ask, rng.choice(["key", "coin"]), chain, place))
            story.append(number)
    return stories, story, asked  # type: ignore[return-value]


@pytest.mark.parametrize(
    "reading",
    [NestedReading(), NestedReading(trust="fresher"), NestedReading("infer-mover", "never-liars")],
    ids=str,
)
def test_answers_and_proofs_are_those_of_single_questions(reading: NestedReading) -> None:
    stories, story, asked = any_questions(3, 24)
    arrays, names = encode_plots(stories)  # type: ignore[arg-type]
    batch = QuestionBatch.of(arrays, names, story, asked)
    codes, proofs = batch.answer(reading), batch.prove(reading)
    some = batch.pick(np.arange(1, batch.count, 3))
    assert some.answer(reading).tolist() == codes[1::3].tolist()
    for place, (number, question) in enumerate(zip(story, asked, strict=True)):
        events = stories[number]
        assert reply(int(codes[place]), names[number], question) == oracle_answer(events, question, reading)  # type: ignore[arg-type]
        if place % 4 == 0:
            found = tuple((np.flatnonzero(proofs[:, place]) + 1).tolist())
            assert found == oracle_proof(events, question, reading)  # type: ignore[arg-type]
