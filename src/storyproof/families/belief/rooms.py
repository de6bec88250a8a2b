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
from storyproof.families.belief.world import MESSAGES, EventKind

_MOST_PLACINGS = 4  # of an object that waits for its mover; more are rare


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
    # How often an object was placed without being moved since, when, and who was where then.
    waiting = np.zeros((count, things), np.int8)
    placed_at = np.zeros((_MOST_PLACINGS, count, things), np.int16)
    in_use = np.full((_MOST_PLACINGS, count, things, agents), NOBODY, np.int8)
    several = np.zeros(count, np.bool_)  # stories in which an object waits in more places for its mover
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
            waiting[at, thing] = 0
        at = np.flatnonzero((kind == EventKind.PLACE) & ~is_known)
        thing = stories.thing[time, at]
        room = _first_known(object_room[at, thing], container_room[at, stories.container[time, at]], last_entered[at])
        rooms[time, at] = room
        number = waiting[at, thing]
        several[at] |= number == _MOST_PLACINGS
        number = np.minimum(number, _MOST_PLACINGS - 1)
        placed_at[number, at, thing] = time
        in_use[number, at, thing] = where[at]
        waiting[at, thing] = number + 1
        at = np.flatnonzero(kind == EventKind.MOVE)
        thing = stories.thing[time, at]
        room = _first_known(where[at, stories.agent[time, at]], object_room[at, thing])
        for number in range(int(waiting[at, thing].max(initial=0))):
            placings = np.flatnonzero(waiting[at, thing] > number)
            story, what = at[placings], thing[placings]
            then = placed_at[number, story, what]
            fits = (room[placings] >= 0) & (in_use[number, story, what] == room[placings, None]).any(axis=1)
            rooms[then[fits], story[fits]] = room[placings][fits]
            container_room[story, stories.container[then, story]] = rooms[then, story]
            room[placings] = _first_known(room[placings], rooms[then, story])
        waiting[at, thing] = 0
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


def place_moves(stories: PlotArrays) -> PlotArrays:
    """Return stories in which every move happens in the room where its agent is, as far as there is one."""
    steps, count = stories.kind.shape
    rooms, where = stories.room.copy(), np.full((count, _how_many(stories.agent)), NOBODY, np.int8)
    for time in range(steps):
        kind = stories.kind[time]
        at = np.flatnonzero((kind >= EventKind.IS_IN) & (kind <= EventKind.EXIT))
        is_gone = kind[at] == EventKind.EXIT
        where[at, stories.agent[time, at]] = np.where(is_gone, np.int8(NOBODY), stories.room[time, at])
        at = np.flatnonzero(kind == EventKind.MOVE)
        rooms[time, at] = where[at, stories.agent[time, at]]
    return replace(stories, room=rooms)


def occurrences(stories: PlotArrays, *, tells_rooms: bool = False) -> Occurrences:
    """Return which stories can happen, and which announce everybody; their rooms are known.

    Args:
        stories: The stories.
        tells_rooms: See `PlotState`. If so, stories in which something happens in an unknown room are impossible.
    """
    steps, count = stories.kind.shape
    agents, things, containers = map(
        _how_many, (np.maximum(stories.agent, stories.hearer), stories.thing, stories.container)
    )
    possible, announced = np.ones(count, np.bool_), np.ones(count, np.bool_)
    where = np.full((count, agents), NOBODY, np.int8)
    left = np.full((2, count, things), NOBODY, np.int8)  # room and container
    is_left = np.zeros((count, things), np.bool_)
    homes = np.full((count, containers), NOBODY, np.int8)
    watching, distracted = np.zeros((count, agents), np.bool_), np.zeros((count, agents), np.bool_)
    is_plain = not (stories.kind > EventKind.MOVE).any()
    for time in range(steps):
        kind = stories.kind[time]
        at = np.flatnonzero((kind >= EventKind.IS_IN) & (kind <= EventKind.EXIT))
        agent, room, how = stories.agent[time, at], stories.room[time, at], kind[at]
        here = where[at, agent]
        there = here == room
        is_in = how == EventKind.IS_IN
        wrong = np.where(how == EventKind.ENTER, there, np.where(is_in, ~there & (here != NOBODY), ~there))
        if not is_plain:
            wrong |= (watching[at, agent] | distracted[at, agent]) & ~(is_in & there)
        possible[at] &= ~wrong
        announced[at] &= ~is_in | there
        where[at, agent] = np.where(how == EventKind.EXIT, np.int8(NOBODY), room)
        at = np.flatnonzero((kind == EventKind.PLACE) | (kind == EventKind.MOVE))
        thing, room, container = stories.thing[time, at], stories.room[time, at], stories.container[time, at]
        was_left = is_left[at, thing]
        moves = kind[at] == EventKind.MOVE
        agent = np.where(moves, stories.agent[time, at], 0)
        same = (left[0, at, thing] == room) & (left[1, at, thing] == container)
        beside = was_left & (where[at, agent] == left[0, at, thing])
        possible[at] &= np.where(moves, beside, same | ~was_left)
        if tells_rooms:
            home = homes[at, container]
            possible[at] &= (room != NOBODY) & ((home == NOBODY) | (home == room))
            possible[at] &= ~moves | ((room == left[0, at, thing]) & ~distracted[at, agent])
            homes[at, container] = np.where(home == NOBODY, room, home)
        left[0, at, thing], left[1, at, thing] = room, container
        is_left[at, thing] = True
        if not is_plain:
            possible &= ~_misbehaves(stories, time, where, watching, distracted)
            possible &= ~_misspeaks(stories, time, where, is_left, distracted)
    return Occurrences(possible, announced)


def _misbehaves(stories: PlotArrays, time: int, where: Small, watching: Flags, distracted: Flags) -> Flags:
    """Return in which stories somebody cannot begin or stop to watch, dream or be attentive; then let it happen."""
    kind, wrong = stories.kind[time], np.zeros(stories.count, np.bool_)
    at = np.flatnonzero((kind >= EventKind.PEEK) & (kind <= EventKind.ATTEND))
    how, agent, room = kind[at], stories.agent[time, at], stories.room[time, at]
    here, watches, dreams = where[at, agent], watching[at, agent], distracted[at, agent]
    peeks, stops, drifts, wakes = (
        how == each for each in (EventKind.PEEK, EventKind.UNPEEK, EventKind.DISTRACT, EventKind.ATTEND)
    )
    wrong[at] = (
        (dreams != wakes)
        | (peeks & ((here == NOBODY) | (here == room) | watches))
        | (stops & ~watches)
        | (drifts & (here == NOBODY))
    )
    watching[at, agent] = (watches | peeks) & ~stops
    distracted[at, agent] = (dreams | drifts) & ~wakes
    return wrong


def _misspeaks(stories: PlotArrays, time: int, where: Small, is_left: Flags, distracted: Flags) -> Flags:
    """Return in which stories somebody says what cannot be said, or to nobody who can hear it."""
    kind, wrong = stories.kind[time], np.zeros(stories.count, np.bool_)
    at = np.flatnonzero((kind >= min(MESSAGES)) & (kind <= max(MESSAGES)))
    how, agent, hearer, thing = (
        each[time, at] for each in (stories.kind, stories.agent, stories.hearer, stories.thing)
    )
    here = where[at, agent]
    hears = (where[at] == here[:, None]) & ~distracted[at]
    hears[np.arange(len(at)), agent] = False
    is_heard = np.where(how == EventKind.WHISPER, hears[np.arange(len(at)), np.maximum(hearer, 0)], hears.any(axis=1))
    wrong[at] = (
        ~is_left[at, thing] | distracted[at, agent] | (here == NOBODY) | ~(is_heard | (how == EventKind.ANNOUNCE))
    )
    return wrong
