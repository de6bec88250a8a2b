"""The course of stories as sets of instants: who is where, who watches or is distracted, and where objects are.

A sentence can be deleted from a course: what it changed stays as it was, until the next sentence that changes the same.
That is how proofs are found, and much cheaper than following the changed story again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
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
class Course:
    """What holds in stories and when, as sets of instants; one column per story, from which sentences may be deleted.

    Attributes:
        stories: The stories as they were written.
        origin: The story of each column.
        inside: When an agent is in a room, [word, agent, room, column].
        watching: When an agent secretly watches a room, [word, agent, room, column].
        away: When an agent is distracted, [word, agent, column].
        home: When an object is in a room, [word, object, room, column].
        walks: When an agent enters or exits, [word, agent, column].
        looks: The same, and when it begins or stops to watch.
        heeds: When an agent enters or exits, gets distracted or pays attention again.
        puts: When an object is placed or moved, [word, object, column].
        spoken: When a message is sent, [word, column].
        room: The room of each agent when each message is sent, [message, agent, column].
        watched: The room that each agent watches then.
        distracted: 0 if an agent is distracted then, else NOBODY.
        sent: When the messages of the stories as written are sent, [message, story]; -1 where a story has fewer.
    """

    stories: PlotArrays
    origin: Columns
    inside: Instants
    watching: Instants
    away: Instants
    home: Instants
    walks: Instants
    looks: Instants
    heeds: Instants
    puts: Instants
    spoken: Instants
    room: Small
    watched: Small
    distracted: Small
    sent: Times

    @classmethod
    def of(cls, stories: PlotArrays, where: Whereabouts | None = None) -> Course:
        """Follow stories from beginning to end."""
        where = where or whereabouts(stories)
        kind, agents = stories.kind, np.arange(stories.agents, dtype=np.int8)[:, None]
        objects, rooms = (1 + max(0, int(array.max(initial=0))) for array in (stories.thing, stories.room))
        moved = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
        puts = moved[:, None] & (stories.thing[:, None] == np.arange(objects, dtype=np.int8)[:, None])
        homes = _last_put(puts, stories.room)
        walk = (kind == EventKind.ENTER) | (kind == EventKind.EXIT)
        look, heed = (walk | (kind == one) | (kind == other) for one, other in (_LOOKS, _HEEDS))
        acts = stories.agent[:, None] == agents
        bits = np.arange(stories.agents, dtype=stories.mask_type)[:, None]
        away = (where.distracted[:, None] >> bits) & stories.mask_type(1)
        sent = _message_times(kind >= EventKind.TELL)
        then = np.maximum(sent, 0)[:, None], np.arange(stories.agents)[:, None], np.arange(kind.shape[1])

        def by_room(array: Small) -> Instants:
            return np.stack([pack(array == np.int8(room)) for room in range(rooms)], axis=2)

        return cls(
            stories,
            origin=np.arange(kind.shape[1]),
            inside=by_room(where.room),
            watching=by_room(where.watched),
            away=pack(away.astype(np.bool_)),
            home=by_room(homes),
            walks=pack(acts & walk[:, None]),
            looks=pack(acts & look[:, None]),
            heeds=pack(acts & heed[:, None]),
            puts=pack(puts),
            spoken=pack(kind >= EventKind.TELL),
            room=where.room[then],
            watched=where.watched[then],
            distracted=np.where(away[then], np.int8(0), np.int8(NOBODY)),
            sent=sent,
        )

    @property
    def words(self) -> int:
        """How many words a set of instants has."""
        return len(self.spoken)

    @property
    def count(self) -> int:
        """The number of columns."""
        return len(self.origin)

    def pick(self, columns: Columns) -> Course:
        """Return some of the columns, in that order."""
        return replace(self, **{name: getattr(self, name)[..., columns] for name in _SETS})

    def assign(self, columns: Columns, other: Course) -> None:
        """Replace some of the columns by those of another course of the same stories."""
        for name in _SETS:
            getattr(self, name)[..., columns] = getattr(other, name)

    def without(self, columns: Columns, time: npt.NDArray[Any]) -> Course:
        """Return some of the columns, each without one more sentence, which has not been deleted before."""
        made, stories = self.pick(columns), self.stories
        kind, agent, thing = (array[time, made.origin] for array in (stories.kind, stories.agent, stories.thing))
        whole = until(np.array([len(stories.kind) - 1]), made.words)
        some = np.flatnonzero((kind == EventKind.PLACE) | (kind == EventKind.MOVE))
        sent = made.sent[:, made.origin]
        _delete(made.puts, made.home, None, thing, time, some, whole, sent)
        walks = (kind == EventKind.ENTER) | (kind == EventKind.EXIT)
        looks, heeds = (walks | (kind == one) | (kind == other) for one, other in (_LOOKS, _HEEDS))
        _delete(made.walks, made.inside, made.room, agent, time, np.flatnonzero(walks), whole, sent)
        _delete(made.looks, made.watching, made.watched, agent, time, np.flatnonzero(looks), whole, sent)
        _delete(made.heeds, made.away[:, :, None], made.distracted, agent, time, np.flatnonzero(heeds), whole, sent)
        some = np.flatnonzero(kind >= EventKind.TELL)
        made.spoken[:, some] &= ~single(time[some], made.words)
        return made


_SETS = tuple(item.name for item in fields(Course) if item.name not in ("stories", "sent"))
_LOOKS = (EventKind.PEEK, EventKind.UNPEEK)
_HEEDS = (EventKind.DISTRACT, EventKind.ATTEND)


def _delete(
    events: Instants,
    state: Instants,
    then: Small | None,
    who: Small,
    time: Times,
    some: Columns,
    whole: Instants,
    sent: Times,
) -> None:
    """Delete an event of somebody or something in some columns: its state stays as it was until the next event.

    Args:
        events: When the state is set, [word, agent or object, column].
        state: When it has which value, [word, agent or object, value, column].
        then: The value when each message is sent, [message, agent, column]; NOBODY for none.
        who: Whose event is deleted.
        time: When it is.
        some: The columns.
        whole: All instants of a story.
        sent: When messages are sent.
    """
    some = some[who[some] >= 0]
    if not len(some):
        return
    who, time = who[some].astype(np.intp), time[some]
    left = events[:, who, some] & ~single(time, len(events))
    events[:, who, some] = left
    changed = span(time, left) & whole
    earlier = np.full(len(some), NOBODY, np.int8)
    for value in range(state.shape[2]):
        old = state[:, who, value, some]
        # What was so right before stays so.
        was_so = has(old, time - 1)
        earlier[was_so] = value
        state[:, who, value, some] = (old & ~changed) | np.where(was_so, changed, np.uint64(0))
    for number, at in enumerate(sent if then is not None else ()):
        assert then is not None
        during = np.flatnonzero(has(changed, at[some]))
        then[number, who[during], some[during]] = earlier[during]


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
