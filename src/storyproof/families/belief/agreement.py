"""Comparison of the oracle's answers with the checker's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.errors import ProofError
from storyproof.families.belief.arrays import NOBODY, LocalNames, Small, Stories, decode
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event
from storyproof.families.belief.labels import STORY_TYPES, Questions
from storyproof.families.belief.readings import READINGS

_STRANGER = "?"  # not the name of any agent


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question, by its place among those asked, on which oracle and checker differ."""

    question: int
    what: str
    oracle: str | None
    checker: str | None


def compare(
    events: Sequence[Event], names: LocalNames, questions: Questions, asked: Sequence[int], pair: tuple[int, int] | None
) -> Iterator[Disagreement]:
    """Yield where the checker differs from the oracle about one object of one story.

    Args:
        events: The story.
        names: What the oracle's local numbers stand for in it.
        questions: The oracle's answers.
        asked: Which of the questions are about this story and object.
        pair: The mover and the other queried agent, if known.
    """
    agents, containers = tuple(names.agents), tuple(names.containers)
    world = Worlds(events, tuple(names.things)[questions.thing[asked[0]]])
    # Whole lists at once: picking single numbers out of arrays costs more than asking the checker.
    chains, memory = questions.chain[:, asked].T.tolist(), questions.memory[asked].tolist()
    believed = questions.labels.by_reading[:, asked].T.tolist()
    for number, asked_of, is_memory, places in zip(asked, chains, memory, believed, strict=True):
        chain = tuple([agents[agent] if agent >= 0 else _STRANGER for agent in asked_of if agent != NOBODY])
        for reading, place in zip(READINGS, places, strict=True):
            oracle = None if place == NOBODY else containers[place]
            checker = world.belief(chain, reading) if chain else world.memory if is_memory else world.reality
            if oracle != checker:
                yield Disagreement(number, f"answer under {reading}", oracle, checker)
    if pair is not None:
        oracle, checker = (
            STORY_TYPES[questions.story_type[asked[0]]],
            world.story_type(agents[pair[0]], agents[pair[1]]),
        )
        if oracle != checker:
            yield Disagreement(asked[0], "story type", oracle, checker)


def confirm(stories: Stories, questions: Questions, chosen: npt.NDArray[np.int64], mover: Small, other: Small) -> None:
    """Confirm by the checker every answer about the chosen stories of a block, each asked about one object.

    Args:
        stories: The block.
        questions: What the oracle answered; the questions of a story are adjacent.
        chosen: Which stories to check.
        mover: Who moves the object in each story.
        other: The other queried agent of each story.

    Raises:
        ProofError: If the two differ: nothing is generated that they do not agree on.
    """
    most = 1 + max(
        int(array.max(initial=0)) for array in (stories.agent, stories.room, stories.thing, stories.container)
    )
    names = LocalNames.generic(most)
    starts = np.searchsorted(questions.story, np.arange(stories.count + 1))
    for story in chosen.tolist():
        events = decode(stories, story, names)
        asked = range(starts[story], starts[story + 1])
        for found in compare(events, names, questions, asked, (int(mover[story]), int(other[story]))):
            raise ProofError(
                f"oracle and checker differ on the {found.what}: {found.oracle} against {found.checker}, in {events}"
            )
