"""The oracle: what each chain of agents believes, with the proof, for whole blocks of stories at once.

A belief along a chain a₁, a₂, … is where the object was at the last event that a₁ noticed while the others of the chain
stood in the room (everybody there sees everybody there). Under `open` an event that shows the object is a placing, a
move, or somebody's coming into its room; under `closed` only placings and moves count; `infer-mover` adds, for a chain
of two, that the first returns, finds the object moved and assumes that everybody last seen there knows.

All functions take [time, column] arrays, one column per story, and chains as [place in the chain, column] arrays of
local agent numbers. To ask several questions of a story, pick its column several times.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, Mask, Small, Stories
from storyproof.families.belief.events import Kind
from storyproof.families.belief.readings import CLOSED, INFER_MOVER

Times = npt.NDArray[np.int16]

STRANGER = -2  # an agent who is asked about but not in the story
_NOWHERE = -3  # the room of an object that has not been placed; differs from any agent's


@dataclass(frozen=True, slots=True)
class View:
    """What the stories show of one object each, as [time, column] arrays.

    Attributes:
        present: Who is in the object's room right after the event.
        noticing: Who in fact notices the event (`present`, but for private events).
        place: The container the object is in right after the event.
        put: Whether the event places or moves the object.
        shown: Whether the event shows an open container's content: a put, or a coming into the room.
        room: The object's room.
        position: Each agent's room, [time, agent, column].
        actor: Who acts.
        entering: Whether the event is somebody's entering a room.
    """

    present: Mask
    noticing: Mask
    place: Small
    put: Flags
    shown: Flags
    room: Small
    position: Small
    actor: Small
    entering: Flags

    def pick(self, columns: npt.NDArray[np.intp]) -> View:
        """Return the views of the stories in the given columns, in that order."""
        return replace(self, **{item.name: getattr(self, item.name)[..., columns] for item in fields(self)})


@dataclass(frozen=True, slots=True)
class Belief:
    """Where the chain believes the object to be (NOBODY: no belief), and the event that decided it (-1: none)."""

    place: Small
    decided: Times


def last_time(flags: Flags) -> Times:
    """Return the last time at which each column's flag is set, or -1."""
    times = np.arange(1, flags.shape[0] + 1, dtype=np.int16)[:, None]
    latest: Times = (flags * times).max(axis=0, initial=0) - np.int16(1)
    return latest


def last_times_so_far(flags: Flags) -> Times:
    """Return for each time the last time up to it at which the flag was set, or -1."""
    times = np.arange(flags.shape[0], dtype=np.int16)[:, None]
    found = np.where(flags, times, np.int16(-1))
    for time in range(1, len(found)):  # whole rows: `np.maximum.accumulate` takes one column after the other
        np.maximum(found[time], found[time - 1], out=found[time])
    return found


def at_time(array: npt.NDArray[Any], time: Times) -> npt.NDArray[Any]:
    """Look an array up at one time per column, or one time per cell; NOBODY where the time is -1."""
    columns = np.arange(array.shape[1])
    return np.where(time < 0, array.dtype.type(NOBODY), array[np.maximum(time, 0), columns])


def positions(stories: Stories) -> Small:
    """Return the room of each agent right after each event, [time, agent, story]."""
    steps, count = stories.kind.shape
    everybody = np.arange(stories.agents, dtype=np.int8)[:, None]
    comes = (stories.kind == Kind.ENTER) | (stories.kind == Kind.IS_IN)
    goes = stories.kind == Kind.EXIT
    room = np.where(comes, stories.room, np.int8(NOBODY))
    acts = np.where(comes | goes, stories.agent, np.int8(NOBODY))
    found = np.empty((steps, stories.agents, count), np.int8)
    now = np.full((stories.agents, count), NOBODY, np.int8)
    for time in range(steps):
        now = np.where(acts[time] == everybody, room[time], now)
        found[time] = now
    return found


def view(stories: Stories, thing: Small) -> View:
    """Return what stories show of one object each.

    Args:
        stories: The stories.
        thing: The local number of each story's object.
    """
    moved = (stories.kind == Kind.PLACE) | (stories.kind == Kind.MOVE)
    put: Flags = moved & (stories.thing == thing)
    latest = last_times_so_far(put)
    place = at_time(stories.container, latest)
    room = at_time(stories.room, latest)
    # Nobody is in an unknown room, not even those who are nowhere.
    room = np.where((latest < 0) | (room < 0), np.int8(_NOWHERE), room)
    position = positions(stories)
    bits = (np.ones(1, stories.mask_type) << np.arange(stories.agents).astype(stories.mask_type))[:, None]
    inside = position == room[:, None]
    present = np.where(inside, bits, stories.mask_type(0)).sum(axis=1, dtype=stories.mask_type)
    comes = (stories.kind == Kind.ENTER) | (stories.kind == Kind.IS_IN)
    shown = put | (comes & (stories.room == room))
    noticing = present
    if stories.private is not None and stories.observers is not None:
        noticing = np.where(stories.private, stories.observers, present)
    return View(present, noticing, place, put, shown, room, position, stories.agent, stories.kind == Kind.ENTER)


def belief(seen: View, chain: Small, reading: str) -> Belief:
    """Return where each chain believes its object to be, under a reading.

    Args:
        seen: The stories, with an eye on the object.
        chain: Local agent numbers [place in the chain, column]; shorter chains end in NOBODY, and who is not in the
            story is STRANGER.
        reading: One of READINGS.
    """
    decided = last_time(_informed(seen, chain, reading))
    return Belief(at_time(seen.place, decided), decided)


def beliefs_so_far(seen: View, chain: Small, reading: str) -> Small:
    """Return where each chain believes its object to be after each event, [time, column]."""
    return at_time(seen.place, last_times_so_far(_informed(seen, chain, reading)))


def _informed(seen: View, chain: Small, reading: str) -> Flags:
    """Return which events a chain learns from."""
    informed: Flags = _shared(seen, chain) & (seen.put if reading == CLOSED else seen.shown)
    if reading == INFER_MOVER and chain.shape[0] > 1:
        informed = informed | _blamed(seen, chain)
    return informed


def _member(agent: Small, kind: type[np.unsignedinteger]) -> Mask:
    """Return the set that has one agent; empty for NOBODY and STRANGER."""
    found: Mask = np.where(agent < 0, kind(0), kind(1) << np.maximum(agent, 0).astype(kind))
    return found


def _shared(seen: View, chain: Small) -> Flags:
    """Return at which events the first of the chain notices while all the others are there."""
    kind = seen.present.dtype.type
    rest = np.zeros(chain.shape[1:], kind)
    still_first = np.ones(chain.shape[1:], np.bool_)
    for agent in chain[1:]:
        still_first &= agent == chain[0]  # who thinks of its own thoughts need not see itself there
        rest |= np.where(still_first, kind(0), _member(agent, kind))
    first = np.where((chain == STRANGER).any(axis=0), kind(0), _member(chain[0], kind))
    shared: Flags = ((seen.noticing & first) != 0) & ((seen.present & rest) == rest)
    return shared


def _second_of_two(chain: Small) -> Small:
    """Return the second agent of chains x…x y…y of just two agents, else NOBODY."""
    last, changes = chain[0].copy(), np.zeros(chain.shape[1:], np.int8)
    for agent in chain[1:]:
        changes += (agent != last) & (agent != NOBODY)
        last = np.where(agent == NOBODY, last, agent)
    return np.where((changes == 1) & (last >= 0), last, np.int8(NOBODY))


def _position_of(seen: View, agent: Small) -> Small:
    found = np.full((seen.position.shape[0], *agent.shape), NOBODY, np.int8)
    for number in range(seen.position.shape[1]):
        np.copyto(found, seen.position[:, number], where=agent == number)
    return found


def _earlier(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the value right before each event; NOBODY before the first."""
    shifted = np.full_like(array, NOBODY)
    shifted[1:] = array[:-1]
    return shifted


def _blamed(seen: View, chain: Small) -> Flags:
    """Return when x returns, finds the object moved, and had last seen y staying in that room."""
    finder, other = chain[0], _second_of_two(chain)
    here, there = _position_of(seen, finder), _position_of(seen, other)
    noticed = (seen.noticing & _member(finder, seen.present.dtype.type)) != 0

    remembered = at_time(seen.place, _earlier(last_times_so_far(seen.shown & noticed)))
    surprised = (remembered != NOBODY) & (remembered != seen.place)
    returns = seen.entering & (seen.actor == finder) & (here == seen.room) & (_earlier(here) != here) & noticed

    parted = _earlier(last_times_so_far((here == there) & (here != NOBODY)))
    seen_there = at_time(here, parted) == seen.room
    finder_left = at_time(seen.actor, np.where(parted < 0, parted, parted + np.int16(1))) == finder
    blamed: Flags = (other != NOBODY) & returns & surprised & (parted >= 0) & seen_there & finder_left
    return blamed


def reality(seen: View) -> Belief:
    """Return where each object really is at the end."""
    decided = last_time(seen.put)
    return Belief(at_time(seen.place, decided), decided)


def memory(seen: View) -> Belief:
    """Return where each object was when it was first mentioned."""
    first = np.where(seen.put.any(axis=0), seen.put.argmax(axis=0), -1).astype(np.int16)
    return Belief(at_time(seen.place, first), first)


def _times(seen: View) -> Times:
    return np.arange(seen.put.shape[0], dtype=np.int16)[:, None]


def control_proof(seen: View, found: Belief) -> Flags:
    """Return the proof of memory or reality: the placing or move that decides, as [time, column] flags."""
    proof: Flags = _times(seen) == found.decided
    return proof


def belief_proof(seen: View, chain: Small, found: Belief) -> Flags:
    """Return the proof of beliefs under the default reading, as [time, column] flags.

    The sentence that put the object where it was at the deciding instant; for each agent of the chain the sentence that
    last brought it into the room; and, if the object moved on later, what broke up the chain and the moves it missed.
    """
    times, decided = _times(seen), found.decided
    before = times <= decided
    proof: Flags = times == last_time(seen.put & before)
    together = np.ones(proof.shape, np.bool_)
    for agent in chain:
        arrived, inside = _arrival(seen, agent, decided)
        proof |= times == arrived
        together &= inside | (agent == NOBODY)
    moved = np.concatenate([seen.put[:1], seen.place[1:] != seen.place[:-1]])  # a repeated mention is not a move
    missed = moved & (times > decided)
    broken = (~together & (times > decided)).argmax(axis=0)
    stood_together = at_time(together.view(np.int8), decided) == 1
    proof |= (times == broken) & missed.any(axis=0) & stood_together & (broken > decided)
    proof |= missed
    return proof & (decided >= 0)


def _arrival(seen: View, agent: Small, decided: Times) -> tuple[Times, Flags]:
    """Return when an agent last entered the object's room by the deciding instant (-1: not in), and when it is in."""
    arrived = np.full(decided.shape, -1, np.int16)
    inside = np.zeros((seen.put.shape[0], *decided.shape), np.bool_)
    for number in range(seen.position.shape[1]):
        place = seen.position[:, number]
        came = np.empty(place.shape, np.bool_)
        came[0] = place[0] != NOBODY
        came[1:] = place[1:] != place[:-1]
        mine = agent == number
        there = place == seen.room
        inside |= there & mine
        when = at_time(last_times_so_far(came), decided)
        np.copyto(arrived, when, where=mine & (at_time(there.view(np.int8), decided) == 1))
    return arrived, inside
