"""In which rooms things are put, and whether stories can happen, for many stories at once.

What is right is stated for one story, in `text.resolve_rooms` and `world.PlotState`; these say the same of whole
arrays. PlotArrays that need more than arrays hold are left to the former.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, PlotArrays, Small, decode_plot
from storyproof.families.belief.tomi_text import resolve_rooms
from storyproof.families.belief.world import EventKind


@dataclass(frozen=True, slots=True)
class Occurrences:
    """What a story's events show about it.

    Attributes:
        possible: Whether each story can happen.
        announced: Whether "is in" is said only of those who are there already.
    """

    possible: Flags
    announced: Flags


def _how_many(names: Small) -> int:
    return 1 + max(0, int(names.max(initial=0)))


def infer_rooms(stories: PlotArrays) -> PlotArrays:
    """Return stories in which every placing and move has its room, as far as it is known or can be inferred."""
    steps, count = stories.kind.shape
    agents, things, containers = map(_how_many, (stories.agent, stories.thing, stories.container))
    rooms = stories.room.copy()
    where = np.full((count, agents), NOBODY, np.int8)
    object_room, container_room = (np.full((count, width), NOBODY, np.int8) for width in (things, containers))
    last_entered = np.full(count, NOBODY, np.int8)
    waiting = np.full((count, things), -1, np.int16)  # when an object was placed without being moved since
    in_use = np.full((count, things, agents), NOBODY, np.int8)  # who was where then
    several = np.zeros(count, np.bool_)  # stories in which an object waits in two places for its mover
    for time in range(steps):
        kind = stories.kind[time]
        at = np.flatnonzero((kind == EventKind.ENTER) | (kind == EventKind.IS_IN))
        where[at, stories.agent[time, at]] = last_entered[at] = stories.room[time, at]
        at = np.flatnonzero(kind == EventKind.EXIT)
        where[at, stories.agent[time, at]] = NOBODY
        is_known = rooms[time] != NOBODY
        at = np.flatnonzero((kind == EventKind.PLACE) & is_known)
        if len(at):
            thing, container = stories.thing[time, at], stories.container[time, at]
            object_room[at, thing] = container_room[at, container] = rooms[time, at]
            waiting[at, thing] = -1
        at = np.flatnonzero((kind == EventKind.PLACE) & ~is_known)
        thing = stories.thing[time, at]
        room = _first_known(object_room[at, thing], container_room[at, stories.container[time, at]], last_entered[at])
        rooms[time, at] = room
        several[at] |= waiting[at, thing] >= 0
        waiting[at, thing] = time
        in_use[at, thing] = where[at]
        at = np.flatnonzero(kind == EventKind.MOVE)
        thing = stories.thing[time, at]
        room = _first_known(where[at, stories.agent[time, at]], object_room[at, thing])
        placed = waiting[at, thing]
        fits = (placed >= 0) & (room >= 0) & (in_use[at, thing] == room[:, None]).any(axis=1)
        rooms[placed[fits], at[fits]] = room[fits]
        placings = np.flatnonzero(placed >= 0)
        then, story = placed[placings], at[placings]
        container_room[story, stories.container[then, story]] = rooms[then, story]
        room[placings] = _first_known(room[placings], rooms[then, story])
        waiting[at, thing] = -1
        room = _first_known(rooms[time, at], room)
        rooms[time, at] = room
        object_room[at, thing] = room
        container_room[at, stories.container[time, at]] = room
    for column in np.flatnonzero(several).tolist():
        rooms[:, column] = _infer_alone(stories, column)
    return replace(stories, room=rooms)


def _first_known(*rooms: Small) -> Small:
    first = rooms[0].copy()
    for other in rooms[1:]:
        np.copyto(first, other, where=first == NOBODY)
    return first


def _infer_alone(stories: PlotArrays, story: int) -> npt.NDArray[np.int8]:
    most = max(map(_how_many, (stories.agent, stories.room, stories.thing, stories.container)))
    names = LocalNames.generic(most)
    events = resolve_rooms(decode_plot(stories, story, names))
    inferred = np.full(len(stories.kind), NOBODY, np.int8)
    inferred[: len(events)] = [NOBODY if event.room is None else names.rooms[event.room] for event in events]
    return inferred


def occurrences(stories: PlotArrays) -> Occurrences:
    """Return which stories can happen, and which announce everybody; their rooms are inferred."""
    steps, count = stories.kind.shape
    agents, things = map(_how_many, (stories.agent, stories.thing))
    possible, announced = np.ones(count, np.bool_), np.ones(count, np.bool_)
    where = np.full((count, agents), NOBODY, np.int8)
    left = np.full((2, count, things), NOBODY, np.int8)  # room and container
    is_left = np.zeros((count, things), np.bool_)
    for time in range(steps):
        kind = stories.kind[time]
        at = np.flatnonzero((kind >= EventKind.IS_IN) & (kind <= EventKind.EXIT))
        agent, room, how = stories.agent[time, at], stories.room[time, at], kind[at]
        here = where[at, agent]
        there = here == room
        is_in = how == EventKind.IS_IN
        wrong = np.where(how == EventKind.ENTER, there, np.where(is_in, ~there & (here != NOBODY), ~there))
        possible[at] &= ~wrong
        announced[at] &= ~is_in | there
        where[at, agent] = np.where(how == EventKind.EXIT, np.int8(NOBODY), room)
        at = np.flatnonzero((kind == EventKind.PLACE) | (kind == EventKind.MOVE))
        thing, room, container = stories.thing[time, at], stories.room[time, at], stories.container[time, at]
        was_left = is_left[at, thing]
        moves = kind[at] == EventKind.MOVE
        same = (left[0, at, thing] == room) & (left[1, at, thing] == container)
        beside = was_left & (where[at, np.where(moves, stories.agent[time, at], 0)] == left[0, at, thing])
        possible[at] &= np.where(moves, beside, same | ~was_left)
        left[0, at, thing], left[1, at, thing] = room, container
        is_left[at, thing] = True
    return Occurrences(possible, announced)
