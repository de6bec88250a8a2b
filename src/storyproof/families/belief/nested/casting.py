"""The words of stories: who acts, and what things are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.columns import Words
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.drawing import CONTAINERS, PlotDials
from storyproof.families.belief.nested.world import EventKind
from storyproof.seeds import Draws, Indices


class FirstWords(NamedTuple):
    """The words that make stories unique, as places in the lists of words.

    Attributes:
        first: Who is named first.
        second: Who is named second, among the others.
        room: The room of the object that is placed first.
        thing: This object.
        container: Its container.
    """

    first: Indices
    second: Indices
    room: Indices
    thing: Indices
    container: Indices


def cast_words(
    stories: PlotArrays, dials: PlotDials, words: Mapping[str, Sequence[int]], unique: FirstWords, draws: Draws
) -> Cast:
    """Draw the words of stories.

    Args:
        stories: The plots.
        dials: How many people, rooms and objects they have.
        words: The word numbers of each role that may be used.
        unique: The words that are given.
        draws: The source of randomness for the others.
    """
    count = stories.kind.shape[1]

    def fill(role: str, needed: int, forced: list[Indices], start: npt.NDArray[np.intp]) -> Words:
        known = np.array(words[role], np.int32)
        chosen = list(forced)
        for _ in range(needed - len(forced)):
            word = draws.below(len(known) - len(chosen), count)
            for other in np.sort(chosen, axis=0):  # one of those that are left
                word += word >= other
            chosen.append(word)
        found: Words = np.take_along_axis(known[np.stack(chosen)], start, axis=0)
        return found

    def turned(needed: int, first: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return each number's distance from the first, so that the first gets the word that is given."""
        found: npt.NDArray[np.intp] = ((np.arange(needed)[:, None] - first) % needed).astype(np.intp)
        return found

    placed = (stories.kind == EventKind.PLACE).argmax(axis=0), np.arange(count)
    boxes = CONTAINERS * dials.rooms
    second = unique.second + (unique.second >= unique.first)
    return Cast(
        fill("agents", dials.agents, [unique.first, second], _ranks(stories)),
        fill("rooms", dials.rooms, [unique.room], turned(dials.rooms, stories.room[placed])),
        fill("objects", dials.objects, [unique.thing], turned(dials.objects, stories.thing[placed])),
        fill("containers", boxes, [unique.container], turned(boxes, stories.container[placed])),
    )


def _ranks(stories: PlotArrays) -> npt.NDArray[np.intp]:
    """Return the place of each agent in the order in which they are named, [agent, story]; noise does not count."""
    steps, count = stories.kind.shape
    named = np.full((stories.agents, count), 2 * steps, np.int16)
    counts = stories.kind != EventKind.NOISE
    time, column = (each[::-1].copy() for each in np.nonzero(counts & (stories.agent != NOBODY)))
    named[stories.agent[time, column], column] = 2 * time  # of several values for one place, the last is kept
    time, column = (each[::-1].copy() for each in np.nonzero(counts & (stories.hearer != NOBODY)))
    heard = np.full_like(named, 2 * steps)
    heard[stories.hearer[time, column], column] = 2 * time + 1
    named = np.minimum(named, heard)
    return np.argsort(np.argsort(named, axis=0, kind="stable"), axis=0, kind="stable")
