"""The course of stories as sets of instants: who is where, who watches or is distracted, and where objects are.

A sentence can be deleted from a course: what it changed stays as it was, until the next sentence that changes the same.
That is how proofs are found, and much cheaper than following the changed story again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, Mask, Small
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.instants import Instants, Times, has, pack, single, span, until
from storyproof.families.belief.nested.world import EventKind

Columns = npt.NDArray[np.intp]

_NOWHERE = -3  # the room of an object that has not been placed; differs from any agent's


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Who is where, right after each event.

    Attributes:
        room: Each agent's room, [time, agent, column].
        watched: The room each agent secretly watches, [time, agent, column].
        distracted: Who notices nothing, [time, column].
    """

    room: Small
    watched: Small
    distracted: Mask


def whereabouts(stories: PlotArrays) -> Whereabouts:
    """Return who is where after each event; entering or leaving a room ends one's own watching and distraction."""
    steps, count = stories.kind.shape
    shape = (stories.agents, count)
    everybody = np.arange(stories.agents, dtype=np.int8)[:, None]
    kind, acts = stories.kind, stories.agent
    actor = member(acts, stories.mask_type)
    enters, exits = kind == EventKind.ENTER, kind == EventKind.EXIT
    walks, peeks = enters | exits, kind == EventKind.PEEK
    stops = walks | (kind == EventKind.UNPEEK)
    loses, regains = kind == EventKind.DISTRACT, walks | (kind == EventKind.ATTEND)
    target = np.where(enters, stories.room, np.int8(NOBODY))
    view = np.where(peeks, stories.room, np.int8(NOBODY))
    rooms, watched = np.empty((steps, *shape), np.int8), np.empty((steps, *shape), np.int8)
    distracted = np.zeros((steps, count), stories.mask_type)
    here, there = np.full(shape, NOBODY, np.int8), np.full(shape, NOBODY, np.int8)
    absent = np.zeros(count, stories.mask_type)
    walker = np.where(walks, acts, np.int8(NOBODY))
    looker = np.where(stops | peeks, acts, np.int8(NOBODY))
    losing = np.where(loses, actor, stories.mask_type(0))
    regaining = ~np.where(regains, actor, stories.mask_type(0))
    for time in range(steps):
        # Where a mask is all ones, x ^ ((x ^ y) & mask) is y: several times as fast as a masked copy.
        here ^= (here ^ target[time]) & -(walker[time] == everybody).view(np.int8)
        there ^= (there ^ view[time]) & -(looker[time] == everybody).view(np.int8)
        absent = (absent | losing[time]) & regaining[time]
        rooms[time], watched[time], distracted[time] = here, there, absent
    return Whereabouts(rooms, watched, distracted)


def member(agent: Small, kind: type[np.unsignedinteger]) -> Mask:
    """Return the set that has one agent; empty for negative numbers."""
    found: Mask = np.where(agent < 0, kind(0), kind(1) << np.maximum(agent, 0).astype(kind))
    return found


@dataclass(frozen=True, slots=True)
class Talk:
    """The messages of stories as they were written, as sets of instants.

    Attributes:
        told: When something is told to a room, [word, story].
        whispered: When something is told to one hearer.
        announced: When something is announced to everybody.
        by: When an agent speaks, [word, agent, story].
        to: When something is whispered to an agent, [word, agent, story].
        about: When an object is spoken of, [word, object, story].
        time: When, in order, [message, story]; -1 where a story has fewer.
    """

    told: Instants
    whispered: Instants
    announced: Instants
    by: Instants
    to: Instants
    about: Instants
    time: Times

    @classmethod
    def of(cls, stories: PlotArrays, objects: int) -> Talk:
        """Collect the messages of stories."""
        kind, agents = stories.kind, np.arange(stories.agents, dtype=np.int8)[:, None]
        spoken, whispers = kind >= EventKind.TELL, kind == EventKind.WHISPER
        things = np.arange(objects, dtype=np.int8)[:, None]
        return cls(
            told=pack(kind == EventKind.TELL),
            whispered=pack(whispers),
            announced=pack(kind == EventKind.ANNOUNCE),
            by=pack(spoken[:, None] & (stories.agent[:, None] == agents)),
            to=pack(whispers[:, None] & (stories.hearer[:, None] == agents)),
            about=pack(spoken[:, None] & (stories.thing[:, None] == things)),
            time=_message_times(spoken),
        )


@dataclass(frozen=True, slots=True)
class Course:
    """What holds in stories and when, as sets of instants; one column per story, from which sentences may be deleted.

    Attributes:
        stories: The stories as they were written.
        talk: Their messages.
        origin: The story of each column.
        sets: The sets of instants that the properties below are parts of, [word, part, column].
        objects: How many objects a story has at most.
        rooms: How many rooms.
    """

    stories: PlotArrays
    talk: Talk
    origin: Columns
    sets: Instants
    objects: int
    rooms: int

    @classmethod
    def of(cls, stories: PlotArrays) -> Course:
        """Follow stories from beginning to end."""
        where, kind = whereabouts(stories), stories.kind
        agents = np.arange(stories.agents, dtype=np.int8)[:, None]
        objects, rooms = (1 + max(0, int(array.max(initial=0))) for array in (stories.thing, stories.room))
        talk = Talk.of(stories, objects)
        words, count = len(talk.told), kind.shape[1]
        parts = stories.agents * (2 * rooms + 4) + objects * (rooms + 1) + 1
        made = cls(stories, talk, np.arange(count), np.empty((words, parts, count), np.uint64), objects, rooms)
        moved = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
        puts = moved[:, None] & (stories.thing[:, None] == np.arange(objects, dtype=np.int8)[:, None])
        homes = _last_put(puts, stories.room)
        walk = (kind == EventKind.ENTER) | (kind == EventKind.EXIT)
        look, heed = (walk | (kind == one) | (kind == other) for one, other in (_LOOKS, _HEEDS))
        acts = stories.agent[:, None] == agents
        bits = np.arange(stories.agents, dtype=stories.mask_type)[:, None]
        away = (where.distracted[:, None] >> bits) & stories.mask_type(1)
        for room in range(rooms):
            made.inside[:, :, room] = pack(where.room == np.int8(room))
            made.watching[:, :, room] = pack(where.watched == np.int8(room))
            made.home[:, :, room] = pack(homes == np.int8(room))
        made.away[:] = pack(away.astype(np.bool_))
        made.walks[:] = pack(acts & walk[:, None])
        made.looks[:] = pack(acts & look[:, None])
        made.heeds[:] = pack(acts & heed[:, None])
        made.puts[:] = pack(puts)
        made.spoken[:] = talk.told | talk.whispered | talk.announced
        return made

    def _part(self, begin: int, first: int, second: int | None = None) -> Instants:
        """Return a view of some parts: [word, first, column], or [word, first, second, column]."""
        words, _, count = self.sets.shape
        shape = (first,) if second is None else (first, second)
        return self.sets[:, begin : begin + math.prod(shape)].reshape(words, *shape, count)

    @property
    def _agents(self) -> int:
        return self.stories.agents

    @property
    def inside(self) -> Instants:
        """When an agent is in a room, [word, agent, room, column]."""
        return self._part(0, self._agents, self.rooms)

    @property
    def watching(self) -> Instants:
        """When an agent secretly watches a room, [word, agent, room, column]."""
        return self._part(self._agents * self.rooms, self._agents, self.rooms)

    @property
    def home(self) -> Instants:
        """When an object is in a room, [word, object, room, column]."""
        return self._part(2 * self._agents * self.rooms, self.objects, self.rooms)

    @property
    def _rest(self) -> int:
        return (2 * self._agents + self.objects) * self.rooms

    @property
    def away(self) -> Instants:
        """When an agent is distracted, [word, agent, column]."""
        return self._part(self._rest, self._agents)

    @property
    def walks(self) -> Instants:
        """When an agent enters or exits, [word, agent, column]."""
        return self._part(self._rest + self._agents, self._agents)

    @property
    def looks(self) -> Instants:
        """The same, and when it begins or stops to watch."""
        return self._part(self._rest + 2 * self._agents, self._agents)

    @property
    def heeds(self) -> Instants:
        """When an agent enters or exits, gets distracted or pays attention again, [word, agent, column]."""
        return self._part(self._rest + 3 * self._agents, self._agents)

    @property
    def puts(self) -> Instants:
        """When an object is placed or moved, [word, object, column]."""
        return self._part(self._rest + 4 * self._agents, self.objects)

    @property
    def spoken(self) -> Instants:
        """When a message is sent, [word, column]."""
        return self.sets[:, -1]

    @property
    def words(self) -> int:
        """How many words a set of instants has."""
        return len(self.sets)

    @property
    def count(self) -> int:
        """The number of columns."""
        return len(self.origin)

    def pick(self, columns: Columns) -> Course:
        """Return some of the columns, in that order."""
        return replace(self, origin=self.origin[columns], sets=self.sets.take(columns, axis=2))

    def assign(self, columns: Columns, other: Course) -> None:
        """Replace some of the columns by those of another course of the same stories."""
        self.sets[..., columns] = other.sets
        self.origin[columns] = other.origin

    def without(self, columns: Columns, time: npt.NDArray[Any]) -> Course:
        """Return some of the columns, each without one more sentence, which has not been deleted before."""
        made, stories = self.pick(columns), self.stories
        kind, agent, thing = (array[time, made.origin] for array in (stories.kind, stories.agent, stories.thing))
        whole = until(np.array([len(stories.kind) - 1]), made.words)
        some = np.flatnonzero((kind == EventKind.PLACE) | (kind == EventKind.MOVE))
        _delete(made.puts, made.home, thing, time, some, whole)
        walks = (kind == EventKind.ENTER) | (kind == EventKind.EXIT)
        looks, heeds = (walks | (kind == one) | (kind == other) for one, other in (_LOOKS, _HEEDS))
        _delete(made.walks, made.inside, agent, time, np.flatnonzero(walks), whole)
        _delete(made.looks, made.watching, agent, time, np.flatnonzero(looks), whole)
        _delete(made.heeds, made.away[:, :, None], agent, time, np.flatnonzero(heeds), whole)
        some = np.flatnonzero(kind >= EventKind.TELL)
        made.spoken[:, some] &= ~single(time[some], made.words)
        return made


_LOOKS = (EventKind.PEEK, EventKind.UNPEEK)
_HEEDS = (EventKind.DISTRACT, EventKind.ATTEND)


def _delete(events: Instants, state: Instants, who: Small, time: Times, some: Columns, whole: Instants) -> None:
    """Delete an event of somebody or something in some columns: its state stays as it was until the next event.

    Args:
        events: When the state is set, [word, agent or object, column].
        state: When it has which value, [word, agent or object, value, column].
        who: Whose event is deleted.
        time: When it is.
        some: The columns.
        whole: All instants of a story.
    """
    some = some[who[some] >= 0]
    if not len(some):
        return
    who, time = who[some].astype(np.intp), time[some]
    left = events[:, who, some] & ~single(time, len(events))
    events[:, who, some] = left
    changed = span(time, left) & whole
    for value in range(state.shape[2]):
        old = state[:, who, value, some]
        # What was so right before stays so.
        state[:, who, value, some] = (old & ~changed) | np.where(has(old, time - 1), changed, np.uint64(0))


def _last_put(puts: Flags, room: Small) -> Small:
    """Return the room in which each object was put last, up to each time, [time, object, column]."""
    found = np.empty(puts.shape, np.int8)
    now = np.full(puts.shape[1:], _NOWHERE, np.int8)
    for time, put in enumerate(puts):
        now = np.where(put, room[time], now)
        found[time] = now
    return found


def _message_times(spoken: Flags) -> Times:
    """Return the times of the set flags of each column in order, [number, column]; -1 where a column has fewer."""
    rank = np.cumsum(spoken, axis=0, dtype=np.int16)
    time, column = np.nonzero(spoken)
    found = np.full((int(rank[-1].max(initial=0)), spoken.shape[1]), -1, np.int64)
    found[rank[time, column] - 1, column] = time
    return found
