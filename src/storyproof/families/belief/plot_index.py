"""Plots: what happens in a story apart from names, and whom it is about.

Agent 0 is who moves the object, agent 1 the other one asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import (
    MOST_NAMES,
    NOBODY,
    STRANGER,
    LocalNames,
    PlotArrays,
    Small,
    distinct_rows,
)
from storyproof.families.belief.rooms import infer_rooms, occurrences
from storyproof.families.belief.world import EventKind, PlotEvent

_REMEMBERED, _MOST_EVENTS = 60_000, 1_000_000  # plots, and events in all of them
_plots: dict[bytes, Plot] = {}


class PlotView(NamedTuple):
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


@dataclass(frozen=True)
class Plot:
    """What happens, with made-up names.

    Attributes:
        key: The events, each as kind, agent, room, thing and container in local numbers, with all rooms inferred; one
            byte each.
        possible: Whether it can happen.
        announced: Whether "is in" is said only of those who are there already.
        breaches: How it departs from recipes, as far as known; see `benchmarks.base.breach`.
        scenes: Its objects, as far as known.
    """

    key: bytes
    possible: bool
    announced: bool
    breaches: dict[tuple[str, int], str | None] = field(default_factory=dict)
    scenes: dict[int, PlotView] = field(default_factory=dict)

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.key, np.int8).reshape(-1, 5)

    @property
    def events(self) -> list[PlotEvent]:
        """What happens."""
        return [
            PlotEvent(_KINDS[kind], _AGENTS[agent], _ROOMS[room], _THINGS[thing], _CONTAINERS[container])
            for kind, agent, room, thing, container in self._numbers.tolist()
        ]

    @cached_property
    def names(self) -> LocalNames:
        """What the numbers stand for."""
        return _names(1 + int(self._numbers[:, 1:].max(initial=0)))

    def scene(self, thing: int) -> PlotView:
        """Return the plot with one object in view."""
        if thing not in self.scenes:
            kind, agent, room, place, container = np.ascontiguousarray(self._numbers.T)[:, :, None]
            story = PlotArrays.plain(kind.view(np.uint8), agent, room, place, container, 1)
            find_views(
                FoundPlots([self], np.zeros(1, np.intp), story), np.zeros(1, np.intp), np.array([thing], np.int8)
            )
        return self.scenes[thing]


class FoundPlots(NamedTuple):
    """The distinct plots of stories.

    Attributes:
        plots: The plots.
        which: The index of each story's plot.
        stories: The plots as arrays, with all rooms inferred.
    """

    plots: list[Plot]
    which: npt.NDArray[np.intp]
    stories: PlotArrays


def find_plots(cells: npt.NDArray[np.int8]) -> FoundPlots:
    """Return the distinct plots of stories.

    Args:
        cells: [story, event, 5], as in `ParsedStories`.
    """
    first, which = distinct_rows(cells.reshape(len(cells), -1))
    sentences = cells[first]
    kind, agent, room, thing, container = (np.ascontiguousarray(sentences[:, :, field].T) for field in range(5))
    agents = 1 + max(0, int(agent.max(initial=0)))
    stories = infer_rooms(PlotArrays.plain(kind.view(np.uint8), agent, room, thing, container, agents))
    story_plots = occurrences(stories)
    sentences[:, :, 2] = stories.room.T
    if len(_plots) > _REMEMBERED or sum(map(len, _plots)) > 5 * _MOST_EVENTS:
        _plots.clear()
    plots = []
    lengths = (kind != EventKind.NOISE).sum(axis=0).tolist()
    for numbers, length, *flags in zip(
        sentences, lengths, story_plots.possible.tolist(), story_plots.announced.tolist(), strict=True
    ):
        key = numbers[:length].tobytes()
        plot = _plots.get(key)
        if plot is None:
            plot = _plots[key] = Plot(key, *flags)
        plots.append(plot)
    return FoundPlots(plots, which, stories)


@dataclass(frozen=True, slots=True)
class ObjectViews:
    """Plots with one object in view each; see `PlotView`.

    Attributes:
        mover: Who moves it.
        companion: Who came into the scene with the mover.
        containers: [number, pair], where it was, in order; NOBODY after the last.
    """

    mover: Small
    companion: Small
    containers: Small


def find_views(plots: FoundPlots, plot: npt.NDArray[np.intp], thing: Small) -> ObjectViews:
    """Return the scene of each pair of a plot and an object, and note it with the plot."""
    stories = plots.stories
    steps = len(stories.kind)
    kind, agent = stories.kind[:, plot], stories.agent[:, plot]
    about = (stories.thing[:, plot] == thing) & ((kind == EventKind.PLACE) | (kind == EventKind.MOVE))
    times = np.arange(1, steps + 1, dtype=np.int16)[:, None]

    def last(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.int16]:
        """Return the last time, counted from 1, or 0."""
        latest: npt.NDArray[np.int16] = (flags * times).max(axis=0, initial=0)
        return latest

    def agent_at(time: npt.NDArray[np.int16]) -> Small:
        who = agent[np.maximum(time, 1) - 1, np.arange(len(plot))]
        return np.where((time > 0) & (who != NOBODY), who, np.int8(STRANGER))

    mover = agent_at(last(about & (kind == EventKind.MOVE)))
    comes = (kind == EventKind.ENTER) | (kind == EventKind.IS_IN)
    second_time = last(comes & (times < last(about & (kind == EventKind.PLACE))))
    first_time = last(comes & (times < second_time))
    leader, second = agent_at(first_time), agent_at(np.where(first_time > 0, second_time, np.int16(0)))
    companion = np.where(leader == mover, second, np.where(second == mover, leader, np.int8(STRANGER)))
    companion = np.where(companion == mover, np.int8(STRANGER), companion)
    containers = _in_order(np.where(about, stories.container[:, plot], np.int8(NOBODY)))
    scenes, which = distinct_rows(np.column_stack([mover, leader, companion, containers.T]))
    views = [
        PlotView(who_moves, who_leads, who_follows, tuple(place for place in places if place != NOBODY))
        for who_moves, who_leads, who_follows, places in zip(
            mover[scenes].tolist(),
            leader[scenes].tolist(),
            companion[scenes].tolist(),
            containers[:, scenes].T.tolist(),
            strict=True,
        )
    ]
    for number, queried_thing, view in zip(plot.tolist(), thing.tolist(), which.tolist(), strict=True):
        plots.plots[number].scenes[queried_thing] = views[view]
    return ObjectViews(mover, companion, containers)


def _in_order(values: Small) -> Small:
    """Return the distinct values of each column in order of appearance, without NOBODY, which fills the rest."""
    column, time = np.nonzero((values != NOBODY).T)
    most = MOST_NAMES + 1
    keys, first = np.unique(column * most + values[time, column], return_index=True)
    order = np.argsort(first)
    owner = keys[order] // most
    counts = np.bincount(owner, minlength=values.shape[1])
    distinct = np.full((max(1, int(counts.max(initial=0))), values.shape[1]), NOBODY, np.int8)
    distinct[np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner], owner] = keys[order] % most
    return distinct


# Made-up names by number; NOBODY picks the last, which is None.
_KINDS = tuple(EventKind)
_AGENTS, _ROOMS, _THINGS, _CONTAINERS = (
    (*(f"{role}{number}" for number in range(MOST_NAMES + 1)), None) for role in ("a", "r", "o", "c")
)


@cache
def _names(most: int) -> LocalNames:
    return LocalNames.generic(most)


def mover_of(events: Sequence[PlotEvent], thing: str) -> str | None:
    """Return who moves the object; of several the last."""
    return next(
        (event.agent for event in reversed(events) if event.kind is EventKind.MOVE and event.thing == thing), None
    )


def other_of(mover: str | None, chains: Iterable[Sequence[str]]) -> str | None:
    """Return whom the questions ask about besides the mover, if it is one person."""
    others = {agent for chain in chains for agent in chain if agent != mover}
    return others.pop() if len(others) == 1 else None
