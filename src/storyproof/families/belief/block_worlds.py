"""The checker for whole blocks: the showings of one object in each of many stories, found with arrays.

Stories are followed in step, one sentence at a time, as `checker` follows one story. Stories with the same showings
share their possible worlds, which come from `checker` and are built once. Private events are left to `checker.Worlds`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.checker import NOWHERE, Showing, possible_worlds
from storyproof.families.belief.events import Kind
from storyproof.families.belief.readings import OPEN, READINGS

Numbers = npt.NDArray[np.int64]
Locals = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

TYPES = ("true_belief", "false_belief", "second_order_false_belief")
_NONE = -1
_UNPLACED = -9  # the room of an object that has none; differs from any agent's
_WIDE = 1 << 30  # more values than this are numbered first; with fewer than 2³² rows, products fit into 63 bits


class EventBlock(NamedTuple):
    """Stories as [time, story] arrays of local numbers, -1 where a field does not apply; rooms are resolved."""

    kind: npt.NDArray[np.uint8]
    agent: Locals
    room: Locals
    thing: Locals
    container: Locals


class BlockWorlds:
    """What everybody believes at the end about one object each, one row per question.

    Attributes:
        reality: The container that each object really is in, -1 if it is nowhere.
        memory: The container that it was first placed in.
    """

    def __init__(self, events: EventBlock, story: Locals, thing: Locals, until: Locals | None = None) -> None:
        """Find the showings of an object in each row's story.

        Args:
            events: The stories.
            story: The story of each row.
            thing: The object of each row.
            until: How many sentences of its story each row knows; all if None.
        """
        rows, agents = len(story), 1 + max(0, int(events.agent.max(initial=0)))
        where, behind = _follow(events, agents)
        time, row, is_put, home = _showings(events, story, thing, until)
        seen_in = story[row]
        present = where[time, seen_in] == home[:, None]
        suspected = (behind[time, seen_in] == home[:, None]) & ~is_put[:, None]
        places, self._containers = _number_places(row, events.container[time, seen_in], is_put, rows)
        self._ranks = _rank_agents(row, present | suspected, rows)
        ranks = self._ranks[row]
        suspects = _masks(suspected, ranks)
        finder = np.take_along_axis(ranks, np.maximum(events.agent[time, seen_in], 0)[:, None].astype(np.intp), axis=1)
        columns = [~is_put, places, _masks(present, ranks), np.where(suspects > 0, finder[:, 0], 0), suspects]
        first, which = _distinct(columns)
        kinds: list[Showing] = [
            (bool(arrival), place, those, those, who, others)
            for arrival, place, those, who, others in zip(
                *(np.asarray(column)[first].tolist() for column in columns), strict=True
            )
        ]
        counts = np.bincount(row, minlength=rows)
        starts = np.cumsum(counts) - counts
        shown = np.full((int(counts.max(initial=0)), rows), _NONE)
        shown[np.arange(len(row)) - starts[row], row] = which
        first, self._which = _distinct(list(shown)) if len(shown) else _distinct([np.zeros(rows, np.int64)])
        self._answers = [
            possible_worlds(tuple([kinds[number] for number in numbers if number >= 0]))
            for numbers in shown[:, first].T.tolist()
        ]
        last = np.zeros(rows, np.int64)
        last[row] = places  # in order of time: the last one counts
        self._real = last
        self.reality = self._named(last)
        self.memory = self._named(np.minimum(counts, 1))  # places are numbered from 1 in order of time

    def _named(self, places: Numbers) -> Numbers:
        return self._containers[np.arange(len(places)), places]

    def _believed(self, chain: Locals) -> Numbers:
        """Return where chains believe their objects to be under each of READINGS, by number of place."""
        ranks = self._ranks
        known = np.where(chain < ranks.shape[1], np.maximum(chain, 0), 0).astype(np.intp)
        numbers = np.take_along_axis(ranks, known.T, axis=1).T
        numbers = np.where((chain >= 0) & (chain < ranks.shape[1]), numbers, _NONE)
        lengths = (chain != _NONE).sum(axis=0)
        first, which = _distinct([self._which, lengths, *numbers])
        found = np.zeros((len(READINGS), len(first)), np.int64)
        for entry, (worlds, length, *agents) in enumerate(
            zip(self._which[first].tolist(), lengths[first].tolist(), *numbers[:, first].tolist(), strict=True)
        ):
            asked = tuple(agents[:length])
            for slot, answers in enumerate(self._answers[worlds]):
                found[slot, entry] = answers[asked]
        return found[:, which]

    def beliefs(self, chain: Locals) -> Numbers:
        """Return where chains believe their objects to be, [reading, row]; -1 where there is no belief.

        Args:
            chain: Local agent numbers [place in the chain, row]; shorter chains end in -1, and an agent who is not in
                the story has another negative number. The empty chain asks for reality.
        """
        return np.stack([self._named(places) for places in self._believed(chain)])

    def story_types(self, mover: Locals, other: Locals) -> Numbers:
        """Return the type of each story for two agents, as an index into TYPES (see `checker.Worlds.story_type`)."""
        alone = [self._believed(agent[None])[READINGS.index(OPEN)] for agent in (mover, other)]
        both = [self._believed(np.stack(pair))[READINGS.index(OPEN)] for pair in ((other, mover), (mover, other))]
        wrong = (alone[0] != self._real) | (alone[1] != self._real)
        misjudged = (both[0] != alone[0]) | (both[1] != alone[1])
        return np.where(wrong, 1, np.where(misjudged, 2, 0))


def _follow(events: EventBlock, agents: int) -> tuple[Locals, Locals]:
    """Return who is where after each sentence, and in which room whoever enters had walked out on the others.

    Both are [time, story, agent] arrays of rooms; the second has -1 where nobody enters, or enters from elsewhere.
    """
    steps, count = events.kind.shape
    where = np.full((steps, count, agents), _NONE, np.int8)
    behind = np.full((steps, count, agents), _NONE, np.int8)
    now = np.full((count, agents), _NONE, np.int8)
    left = np.full((count, agents, agents), _NONE, np.int8)  # [story, x, y]: where x last saw y, if x walked out on y
    for time in range(steps):
        kind = events.kind[time]
        comes = ((kind == Kind.ENTER) | (kind == Kind.IS_IN)) & (events.room[time] >= 0)
        stories = np.flatnonzero((comes | (kind == Kind.EXIT)) & (events.agent[time] >= 0))
        who = events.agent[time, stories].astype(np.intp)
        before = now[stories, who]
        after = np.where(comes[stories], events.room[time, stories], _NONE).astype(np.int8)
        now[stories, who] = after
        moved = np.flatnonzero((before != after) & (before >= 0))
        gone, walker = stories[moved], who[moved]
        for other in range(agents):
            stays = now[gone, other] == before[moved]
            abandoned, by = gone[stays], walker[stays]
            left[abandoned, by, other] = before[moved][stays]
            left[abandoned, other, by] = _NONE
        enters = np.flatnonzero((kind[stories] == Kind.ENTER) & (before != after))
        behind[time, stories[enters]] = left[stories[enters], who[enters]]
        where[time] = now
    return where, behind


def _showings(
    events: EventBlock, story: Locals, thing: Locals, until: Locals | None
) -> tuple[Numbers, Numbers, Bools, Locals]:
    """Return when each row's object is shown, which row, whether by a placing or move, and the object's room.

    Showings are sorted by row, then by time.
    """
    kind = events.kind
    steps, rows = len(kind), len(story)
    put = ((kind == Kind.PLACE) | (kind == Kind.MOVE)) & (events.container >= 0)
    things = np.where(put, events.thing, _UNPLACED)
    comes = np.where((kind == Kind.ENTER) | (kind == Kind.IS_IN), events.room, _NONE)
    home = np.full(rows, _UNPLACED, np.int8)
    homes = np.empty((rows, steps), np.int8)
    puts, shows = np.empty((rows, steps), np.bool_), np.empty((rows, steps), np.bool_)
    for time in range(steps):
        puts_now = things[time, story] == thing
        room = events.room[time, story]
        home = np.where(puts_now, np.where(room < 0, _UNPLACED, room), home)
        homes[:, time], puts[:, time] = home, puts_now
        shows[:, time] = puts_now | (comes[time, story] == home)
    if until is not None:
        shows &= np.arange(steps) < until[:, None]
    row, when = np.nonzero(shows)
    return when, row, puts[row, when], homes[row, when]


def _number_places(row: Numbers, container: Locals, is_put: Bools, rows: int) -> tuple[Numbers, Numbers]:
    """Number the containers of each row in order of time from 1; return that of each showing, and what they are.

    What they are is [row, number]; number 0 is nowhere.
    """
    puts = np.flatnonzero(is_put)
    most = 1 + int(container.max(initial=0))
    keys, first, which = np.unique(row[puts] * most + container[puts], return_index=True, return_inverse=True)
    order = np.argsort(first)
    owner = keys[order] // most
    counts = np.bincount(owner, minlength=rows)
    starts = np.cumsum(counts) - counts
    number = np.empty(len(keys), np.int64)
    number[order] = 1 + np.arange(len(keys)) - starts[owner]
    known = np.full((rows, 2 + int(counts.max(initial=0))), _NONE)
    known[owner, number[order]] = keys[order] % most
    known[:, NOWHERE] = _NONE
    latest = np.maximum.accumulate(np.where(is_put, np.cumsum(is_put) - 1, 0))  # a row's first showing is a placing
    return number[which.reshape(-1)][latest] if len(puts) else np.zeros(len(row), np.int64), known


def _rank_agents(row: Numbers, matters: Bools, rows: int) -> Numbers:
    """Number the agents of each row by the showing in which they first matter, [row, agent]; -1 for who never does."""
    agents = matters.shape[1]
    first = np.full((rows, agents), len(row), np.int64)
    for agent in range(agents):
        when = np.flatnonzero(matters[:, agent])[::-1]
        first[row[when], agent] = when  # the earliest is written last
    order = np.argsort(first, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(agents), order.shape), axis=1)
    return np.where(first < len(row), ranks, _NONE)


def _masks(flags: Bools, ranks: Numbers) -> npt.NDArray[np.uint64]:
    """Return sets of ranked agents as bit masks."""
    bits = np.uint64(1) << np.maximum(ranks, 0).astype(np.uint64)
    found = np.zeros(len(flags), np.uint64)
    for agent in range(flags.shape[1]):
        found |= np.where(flags[:, agent], bits[:, agent], np.uint64(0))
    return found


def _distinct(columns: list[npt.NDArray[Any]]) -> tuple[Numbers, Numbers]:
    """Return where each distinct combination of values first occurs, and which of them each row has."""
    key, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        low, high = (int(bound) for bound in (column.min(initial=0), column.max(initial=0)))
        codes, width = column, high - low + 1
        if width >= _WIDE:  # sets of many agents
            values, codes = np.unique(column, return_inverse=True)
            low, width = 0, len(values)
        if size * width >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key, size = key * width + (codes.astype(np.int64) - low), size * width
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which.reshape(-1)
