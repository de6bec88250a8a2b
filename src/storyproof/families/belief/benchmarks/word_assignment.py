"""The words of stories: who acts, and what things are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, PlotArrays, ranks
from storyproof.families.belief.benchmarks.plot_sampler import CONTAINERS, PlotDials
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import Words
from storyproof.generation.seeds import Draws, Indices


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
        chosen, ordered = np.empty((needed, count), np.int64), list[Indices]()
        for place in range(needed):
            if place < len(forced):
                chosen[place] = forced[place]
            else:
                word = draws.below(len(known) - place, count)
                for other in ordered:  # one of those that are left
                    word += word >= other
                chosen[place] = word
            ordered = _insert(ordered, chosen[place])
        found: Words = known[chosen.reshape(-1).take(start * count + np.arange(count))]
        return found

    def turned(needed: int, first: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return each number's distance from the first, so that the first gets the word that is given."""
        turned: npt.NDArray[np.intp] = ((np.arange(needed)[:, None] - first) % needed).astype(np.intp)
        return turned

    placed = (stories.kind == EventKind.PLACE).argmax(axis=0), np.arange(count)
    boxes = CONTAINERS * dials.rooms
    second = unique.second + (unique.second >= unique.first)
    return Cast(
        fill("agents", dials.agents, [unique.first, second], _places_of_agents(stories)),
        fill("rooms", dials.rooms, [unique.room], turned(dials.rooms, stories.room[placed])),
        fill("objects", dials.objects, [unique.thing], turned(dials.objects, stories.thing[placed])),
        fill("containers", boxes, [unique.container], turned(boxes, stories.container[placed])),
    )


def _insert(ordered: Sequence[Indices], word: Indices) -> list[Indices]:
    """Return sorted words of each story with one more; for a few words that is several times as fast as sorting."""
    inserted = []
    for other in ordered:
        inserted.append(np.minimum(other, word))
        word = np.maximum(other, word)
    return [*inserted, word]


def _places_of_agents(stories: PlotArrays) -> npt.NDArray[np.intp]:
    """Return the place of each agent in the order in which they are named, [agent, story]; noise does not count."""
    steps, count = stories.kind.shape
    nobody = (stories.kind <= EventKind.FEEL) * np.int8(NOBODY)
    acts, hears = stories.agent | nobody, stories.hearer | nobody  # all bits of NOBODY are set
    time = 2 * np.arange(steps, dtype=np.uint16)[:, None]
    named = np.empty((stories.agents, count), np.uint16)
    for agent in range(stories.agents):
        never = np.uint16(2 * steps + agent)  # after all others, in order of their numbers
        first = np.maximum(time, (acts != agent) * never).min(axis=0, initial=never)
        named[agent] = np.maximum(time + np.uint16(1), (hears != agent) * never).min(axis=0, initial=never)
        np.minimum(named[agent], first, out=named[agent])
    return ranks(named)
