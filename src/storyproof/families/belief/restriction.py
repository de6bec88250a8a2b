"""Stories cut down to one object and the agents asked about, for the oracle.

A belief along a chain depends on where the object is and on when the agents of the chain come and go, not on what
others do. Proofs name no other sentences either. What is left is several times shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, STRANGER, PlotArrays, Small
from storyproof.families.belief.world import EventKind

_ABSENT = -9  # neither an agent nor a mark for none


@dataclass(frozen=True, slots=True)
class Focus:
    """Stories cut down, one per row.

    Attributes:
        stories: What is left; object 0 is the row's object, and agents are numbered by their place among those asked
            about.
        time: [time, row], where each sentence stands in the whole story, counted from 0.
    """

    stories: PlotArrays
    time: npt.NDArray[np.int16]


def focus(
    stories: PlotArrays, story: npt.NDArray[Any], thing: Small, agents: Small, until: npt.NDArray[Any] | None = None
) -> Focus:
    """Cut stories down to what concerns one object and some agents.

    Args:
        stories: Stories in which nobody watches in secret, is distracted or speaks.
        story: The story of each row.
        thing: The object of each row.
        agents: [number, row], the agents asked about; an agent who is there twice has the first number.
        until: How many sentences of its story each row knows; all if None.
    """
    steps, rows = len(stories.kind), len(story)
    kind = np.ascontiguousarray(stories.kind.T)
    walks = (kind >= EventKind.IS_IN) & (kind <= EventKind.EXIT)
    puts = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
    walker = np.where(walks, stories.agent.T, np.int8(_ABSENT))
    put = np.where(puts, stories.thing.T, np.int8(_ABSENT))
    told = walker[story]
    kept = put[story] == thing[:, None]
    for agent in agents:
        kept |= told == agent[:, None]
    if until is not None:
        kept &= np.arange(steps) < until[:, None]
    cells = np.flatnonzero(kept)
    row, time = cells // steps, cells % steps
    source = story[row] * steps + time
    counts = np.bincount(row, minlength=rows)
    place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    shape = (int(counts.max(initial=1)), rows)

    def moved_up(values: npt.NDArray[Any], empty: int) -> Small:
        moved = np.full(shape, empty, np.int8)
        moved[place, row] = values
        return moved

    def look_up(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(array.T).reshape(-1)[source]

    who = look_up(stories.agent)
    number = np.full(len(who), NOBODY, np.int8)
    for place_of, agent in reversed(list(enumerate(agents))):
        np.copyto(number, np.int8(place_of), where=(who == agent[row]) & (who >= 0))
    is_put = look_up(puts.T)
    left = PlotArrays.plain(
        kind=moved_up(look_up(kind.T), EventKind.NOISE).view(np.uint8),
        agent=moved_up(number, NOBODY),
        room=moved_up(look_up(stories.room), NOBODY),
        thing=moved_up(np.where(is_put, 0, NOBODY), NOBODY),
        container=moved_up(look_up(stories.container), NOBODY),
        agents=len(agents),
    )
    times = np.full(shape, -1, np.int16)
    times[place, row] = time
    return Focus(left, times)


def renumber(chain: Small, agents: Small) -> Small:
    """Return chains [place in the chain, row] in the numbers that `focus` gives to agents; strangers stay strangers."""
    renumbered = np.where(chain == NOBODY, np.int8(NOBODY), np.int8(STRANGER))
    for number, agent in reversed(list(enumerate(agents))):
        np.copyto(renumbered, np.int8(number), where=(chain == agent) & (chain >= 0))
    return renumbered
