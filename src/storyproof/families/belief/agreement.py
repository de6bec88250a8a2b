"""Comparison of the oracle's answers with the checker's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ProofError
from storyproof.families.belief.arrays import NOBODY, LocalNames, Small, Stories, decode
from storyproof.families.belief.block_worlds import TYPES, BlockWorlds, EventBlock
from storyproof.families.belief.labels import STORY_TYPES, Questions
from storyproof.families.belief.readings import READINGS


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question, by its place among those asked, on which oracle and checker differ."""

    question: int
    what: str
    oracle: str | None
    checker: str | None


def compare(
    stories: Stories, questions: Questions, mover: Small, other: Small, until: npt.NDArray[Any] | None = None
) -> Iterator[Disagreement]:
    """Yield where the checker differs from the oracle.

    Args:
        stories: The stories; none has private events.
        questions: What is asked of them, and the oracle's answers.
        mover: Who moves the object, for each question; negative if unknown.
        other: The other queried agent; negative if unknown.
        until: How many sentences of its story each question knows; all if None.
    """
    block = EventBlock(stories.kind, stories.agent, stories.room, stories.thing, stories.container)
    worlds = BlockWorlds(block, questions.story, questions.thing, until)
    is_control = (questions.chain == NOBODY).all(axis=0)
    control = np.where(questions.memory, worlds.memory, worlds.reality)
    checked = np.where(is_control, control, worlds.beliefs(questions.chain))
    answered = questions.labels.by_reading
    for number, slot in np.argwhere((checked != answered).T).tolist():
        places = (_place(array[slot, number]) for array in (answered, checked))
        yield Disagreement(number, f"answer under {READINGS[slot]}", *places)
    types = worlds.story_types(mover, other)
    right = np.array([TYPES.index(name) for name in STORY_TYPES])[questions.story_type]
    for number in np.flatnonzero((types != right) & (mover >= 0) & (other >= 0)).tolist():
        yield Disagreement(number, "story type", TYPES[right[number]], TYPES[types[number]])


def _place(number: int) -> str | None:
    return None if number == NOBODY else f"c{number}"


def confirm(
    stories: Stories, questions: Questions, mover: Small, other: Small, until: npt.NDArray[Any] | None = None
) -> None:
    """Confirm by the checker every answer about a block; the arguments are those of `compare`.

    Raises:
        ProofError: If the two differ: nothing is generated that they do not agree on.
    """
    for found in compare(stories, questions, mover, other, until):
        names = (stories.agent, stories.room, stories.thing, stories.container)
        most = 1 + max(int(array.max(initial=0)) for array in names)
        story = int(questions.story[found.question])
        events = decode(stories, story, LocalNames.generic(most))
        if until is not None:
            events = events[: int(until[found.question])]
        raise ProofError(
            f"oracle and checker differ on the {found.what}: {found.oracle} against {found.checker}, in {events}"
        )
