"""Plots: what happens in a story apart from names, and whom it is about.

Agent 0 is who moves the object, agent 1 the other one asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import KINDS, MOST_NAMES, NOBODY, PAD, LocalNames, Numbers
from storyproof.families.belief.events import Event, Kind, impossibilities
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.text import resolve_rooms

_REMEMBERED, _MOST_EVENTS = 20_000, 1_000_000  # plots, and events in all of them
_plots: dict[bytes, Plot] = {}


@dataclass(frozen=True, slots=True)
class PlotView:
    """A plot with one object in view, in local numbers.

    Attributes:
        mover: Who moves it, or STRANGER.
        leader: Who came into the scene first, or STRANGER.
        companion: Who came into the scene with the mover, or STRANGER.
        containers: Where it was, in order.
    """

    mover: int
    leader: int
    companion: int
    containers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """What happens, with made-up names.

    Attributes:
        events: What happens, with all rooms resolved.
        numbers: The same in local numbers.
        names: What the numbers stand for.
        possible: Whether it can happen.
        agreed: Questions on which oracle and checker have been found to agree.
        breaches: How it departs from recipes, as far as known; see `benchmarks.base.breach`.
        scenes: Its objects, as far as known.
    """

    events: list[Event]
    numbers: tuple[Numbers, ...]
    names: LocalNames
    possible: bool
    agreed: set[tuple[int, ...]] = field(default_factory=set)
    breaches: dict[tuple[str, int, bool], str | None] = field(default_factory=dict)
    scenes: dict[int, PlotView] = field(default_factory=dict)

    def scene(self, thing: int) -> PlotView:
        """Return the plot with one object in view."""
        if thing not in self.scenes:
            self.scenes[thing] = _scene(self.events, f"o{thing}", self.names)
        return self.scenes[thing]


def find_plots(cells: npt.NDArray[np.int8]) -> tuple[list[Plot], npt.NDArray[np.intp]]:
    """Return the distinct plots of stories, and the index of each story's plot.

    Args:
        cells: [story, event, 5], as in `ParsedStories`.
    """
    first, which = distinct_rows(cells.reshape(len(cells), -1))
    if len(_plots) > _REMEMBERED or sum(len(plot.events) for plot in _plots.values()) > _MOST_EVENTS:
        _plots.clear()
    found = []
    for story in first.tolist():
        end = int((cells[story, :, 0] != PAD).sum())
        key = cells[story, :end].tobytes()
        if key not in _plots:
            _plots[key] = _make_plot(cells[story, :end].tolist())
        found.append(_plots[key])
    return found, which


def distinct_rows(keys: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each distinct row of a matrix of integers first occurs, and which of them each row is."""
    low = keys.min(axis=0, initial=0).astype(np.int64)
    widths = [int(span).bit_length() for span in keys.max(axis=0, initial=0) - low]
    if sum(widths) < 63:  # sorting numbers is several times as fast as sorting rows
        packed: npt.NDArray[Any] = np.zeros(len(keys), np.int64)
        for column, start, width in zip(keys.T, low.tolist(), widths, strict=True):
            packed = (packed << width) | (column.astype(np.int64) - start)
    else:
        whole = np.ascontiguousarray(keys)
        packed = whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize))).reshape(-1)
    _, first, which = np.unique(packed, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


# Made-up names by number; NOBODY picks the last, which is None.
_AGENTS, _ROOMS, _THINGS, _CONTAINERS = (
    (*(f"{role}{number}" for number in range(MOST_NAMES + 1)), None) for role in ("a", "r", "o", "c")
)


def _make_plot(cells: Sequence[Sequence[int]]) -> Plot:
    events = resolve_rooms(
        [
            Event(KINDS[kind], _AGENTS[agent], _ROOMS[room], _THINGS[thing], _CONTAINERS[container])
            for kind, agent, room, thing, container in cells
        ]
    )
    rooms = [NOBODY if event.room is None else int(event.room[1:]) for event in events]
    numbers = tuple(
        (kind, agent, room, thing, container, NOBODY, NOBODY)
        for (kind, agent, _, thing, container), room in zip(cells, rooms, strict=True)
    )
    most = 1 + max((max(cell[1:]) for cell in cells), default=0)
    return Plot(events, numbers, _names(most), not impossibilities(events))


@cache
def _names(most: int) -> LocalNames:
    return LocalNames.generic(most)


def _scene(events: list[Event], thing: str, names: LocalNames) -> PlotView:
    def local(agent: str | None) -> int:
        return STRANGER if agent is None else names.agents[agent]

    mover, pair = mover_of(events, thing), pair_on_stage(events, thing)
    companion = next((agent for agent in pair if agent != mover), None) if mover in pair else None
    places = dict.fromkeys(event.container for event in events if event.thing == thing)
    containers = tuple(names.containers[place] for place in places if place is not None)
    return PlotView(local(mover), local(pair[0]), local(companion), containers)


def mover_of(events: Sequence[Event], thing: str) -> str | None:
    """Return who moves the object; of several the last."""
    return next((event.agent for event in reversed(events) if event.kind is Kind.MOVE and event.thing == thing), None)


def other_of(mover: str | None, chains: Iterable[Sequence[str]]) -> str | None:
    """Return whom the questions ask about besides the mover, if it is one person."""
    others = {agent for chain in chains for agent in chain if agent != mover}
    return others.pop() if len(others) == 1 else None


def pair_on_stage(events: Sequence[Event], thing: str) -> tuple[str | None, str | None]:
    """Return who came into the scene, in order, for stories whose question names nobody.

    These are the agents of the two sentences nearest before the object's last placing that put somebody into a
    room.
    """
    placed = max(
        (time for time, event in enumerate(events) if event.kind is Kind.PLACE and event.thing == thing), default=0
    )
    near = [event.agent for event in events[:placed] if event.kind in (Kind.ENTER, Kind.IS_IN)]
    return (near[-2], near[-1]) if len(near) > 1 else (None, None)
