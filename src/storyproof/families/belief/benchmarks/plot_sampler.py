"""Random stories with secrets and messages, drawn as arrays: no recipe, only what can happen next.

All stories of a block are drawn in step, one sentence at a time. At every step a story chooses among the kinds of
sentence that are possible now, the likelier the more of a kind are still to come; then among those who can do it. What
everybody believes (under `open+always`) is followed on the way, so that honest speakers say it and liars do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small, join_plots
from storyproof.families.belief.world import EventKind
from storyproof.generation.seeds import Draws, Indices

Bytes = npt.NDArray[np.uint8]

CONTAINERS = 3  # in every room; those of room r have the local numbers 3 r, 3 r + 1 and 3 r + 2
_MOST = {
    "agents": 8,
    "rooms": 6,
    "objects": 6,
    "moves": 40,
    "tells": 40,
    "lies": 40,
    "peeks": 40,
    "distractions": 40,
    "restatements": 40,
    "walks": 120,
    "gathering": 4,
}
_LEAST = {"agents": 2, "rooms": 1, "objects": 1}
# Everybody believes an announcement, so who knows only these would know too much if there were many.
_MESSAGES = np.repeat(np.array([EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE], np.uint8), (128, 96, 32))
_SURPLUS = 1.3  # stories drawn for each that is needed at first
_ROUNDS = 200  # draws after which too few complete stories are given up


@dataclass(frozen=True, slots=True)
class PlotDials:
    """How much happens in a story.

    Attributes:
        agents: How many people there are.
        rooms: How many rooms.
        objects: How many objects, each placed once.
        moves: How often an object is moved.
        tells: How many honest messages there are: to a room, in private, or to everybody.
        lies: How many messages the speaker does not believe.
        peeks: How often somebody secretly watches a room.
        distractions: How often somebody gets distracted.
        restatements: How often it is said again where an object is, while somebody is there.
        noise: How many sentences change nothing.
        walks: How often people enter and exit, besides coming in at first.
        gathering: Of four who return, how many go where people meet; the others go anywhere. The room in which they
            meet changes once.
    """

    agents: int = 4
    rooms: int = 2
    objects: int = 1
    moves: int = 2
    tells: int = 0
    lies: int = 0
    peeks: int = 0
    distractions: int = 0
    restatements: int = 0
    noise: int = 0
    walks: int = 6
    gathering: int = 3

    def __post_init__(self) -> None:
        for item in fields(self):
            value, least, most = getattr(self, item.name), _LEAST.get(item.name, 0), _MOST.get(item.name, 60)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ConfigError(f"{item.name} is {value}; use a whole number from {least} to {most}.")

    @property
    def sentences(self) -> int:
        """How many sentences a story has."""
        talk = self.tells + self.lies + self.restatements
        return self.agents + self.walks + self.objects + self.moves + talk + self.peeks + self.distractions + self.noise


class _Choice(IntEnum):
    """The kinds of choice; all but WALK are used up."""

    WALK = 0
    PLACE = 1
    MOVE = 2
    TELL = 3
    LIE = 4
    PEEK = 5
    DISTRACT = 6
    NOISE = 7
    RESTATE = 8  # the last: a story without it is drawn as if there were no such kind


def _picks() -> Bytes:
    """Return which bit of a mask a random byte chooses, by 256 mask + byte; 0 of an empty mask."""
    picks = np.zeros((256, 256), np.uint8)
    for mask in range(1, 256):
        members = [bit for bit in range(8) if mask >> bit & 1]
        picks[mask] = [members[byte * len(members) >> 8] for byte in range(256)]
    return picks.reshape(-1)


# Little can happen without objects; and for what needs company or a near object, there may be no later occasion.
_FAVOURED = {_Choice.PLACE: 6, _Choice.MOVE: 2, _Choice.TELL: 4, _Choice.LIE: 16}
_PICKS = _picks()
_BITS = (1 << np.arange(8)).astype(np.uint8)
_ABSENT = 255  # the number of a kind of choice that is never made
_HOMES = np.arange(126, dtype=np.int8) // np.int8(CONTAINERS)  # of containers
_MEETINGS = 2  # rooms in which people meet one after the other
_RETURNING = np.array([0, 14, 16, 16, 16, 16, 16, 16, 16], np.uint8)  # of 16 walks, by how many are missing
_DRAWN = 8  # random bytes for each sentence


def _other_containers() -> Small:
    """Return which other container of the same room a random byte chooses, by 256 old + byte."""
    old, byte = np.arange(126)[:, None], np.arange(256)
    shift = 1 + (byte * (CONTAINERS - 1) >> 8)
    others: Small = (old - old % CONTAINERS + (old + shift) % CONTAINERS).astype(np.int8).reshape(-1)
    return others


_OTHER = _other_containers()


def pick_members(masks: Bytes, chance: Bytes) -> Bytes:
    """Choose a member of each set; the first number where a set is empty."""
    members: Bytes = _PICKS.take((masks.astype(np.uint16) << 8) | chance)
    return members


def _pick_container(old: Small, chance: Bytes) -> Small:
    """Choose another container of the same room; any if there is none."""
    containers: Small = _OTHER.take((old.astype(np.int16) << 8) | chance)
    return containers


def _bit(number: Bytes) -> Bytes:
    """Return the sets that have one member each."""
    bits: Bytes = np.uint8(1) << number
    return bits


def _below(limit: int, chance: Bytes) -> Small:
    """Return random numbers below a limit."""
    return ((chance.astype(np.uint16) * np.uint16(limit)) >> 8).astype(np.int8)


def _filled(flags: Flags) -> Bytes:
    """Return all bits where a flag is set, none elsewhere."""
    filled: Bytes = np.negative(flags.view(np.uint8))
    return filled


def _take(array: npt.NDArray[Any], at: Indices) -> npt.NDArray[Any]:
    """Return some columns; several times as fast as indexing."""
    return array.take(at, axis=-1)


def select(flags: Flags, one: npt.NDArray[Any], other: npt.NDArray[Any] | np.uint8 | np.int8) -> npt.NDArray[Any]:
    """Return one value where a flag is set, and else the other: `np.where` for bytes, without guessing at flags."""
    selected: npt.NDArray[Any] = other ^ ((one ^ other) & _filled(flags).view(one.dtype))
    return selected


def _union(masks: Bytes, axis: int = 0) -> Bytes:
    union: Bytes = np.bitwise_or.reduce(masks, axis=axis)
    return union


@dataclass(frozen=True, slots=True)
class DrawnPlots:
    """Random stories, and which of their messages are lies, [time, story]."""

    stories: PlotArrays
    lie: Flags

    def pick(self, columns: Indices) -> DrawnPlots:
        """Return some of the stories."""
        return DrawnPlots(self.stories.pick(columns), self.lie.take(columns, axis=1))


class _Drawing:
    """Stories that are being drawn side by side; sets of agents are the bits of a byte.

    They differ at most in how many agents they have, and how often these move an object or walk.
    """

    def __init__(self, sizes: Sequence[PlotDials], draws: Draws, tries: Sequence[int]) -> None:
        dials, count = sizes[0], sum(tries)
        agents, objects, rooms = max(each.agents for each in sizes), dials.objects, dials.rooms
        self.dials, self.count = dials, count
        self.sizes = sizes
        ends = np.cumsum(tries).tolist()
        self.columns = [slice(end - tried, end) for end, tried in zip(ends, tries, strict=True)]
        each_time = tries if len(sizes) > 1 else [1]  # one value is enough for stories of one size
        self.sentences = np.repeat(np.array([each.sentences for each in sizes], np.int16), each_time)
        self.people = np.repeat(np.array([each.agents for each in sizes], np.uint8), each_time)
        self.everybody = ((1 << self.people.astype(np.uint16)) - 1).astype(np.uint8)
        # Who is in each room, and who watches it; before the rooms, who is in none and watches none.
        self.inside = np.zeros((rooms + 1, count), np.uint8)
        self.watching = np.zeros((rooms + 1, count), np.uint8)
        self.inside[0] = self.watching[0] = self.everybody
        self.distracted = np.zeros(count, np.uint8)
        self.named = np.zeros(count, np.uint8)
        self.place = np.full((objects, count), NOBODY, np.int8)
        self.home = np.zeros((objects, rooms, count), np.uint8)  # all bits of the room in which an object is
        self.belief = np.full((agents, objects, count), NOBODY, np.int8)
        self.known = np.zeros((objects, count), np.uint8)  # who has a belief
        left = {
            _Choice.WALK: [0 for _ in sizes],
            _Choice.PLACE: [each.objects for each in sizes],
            _Choice.MOVE: [each.moves for each in sizes],
            _Choice.TELL: [each.tells for each in sizes],
            _Choice.LIE: [each.lies for each in sizes],
            _Choice.PEEK: [each.peeks for each in sizes],
            _Choice.DISTRACT: [each.distractions for each in sizes],
            _Choice.NOISE: [each.noise for each in sizes],
            _Choice.RESTATE: [each.restatements for each in sizes],
        }
        self.tokens = [token for token, numbers in left.items() if any(numbers) or token == _Choice.WALK]
        self._numbers = {token: self.tokens.index(token) if token in self.tokens else _ABSENT for token in _Choice}
        self._spans = [
            (min(self._numbers[token] for token in pair), max(self.tokens.index(t) for t in pair if t in self.tokens))
            if any(token in self.tokens for token in pair)
            else (_ABSENT, _ABSENT)
            for pair in ((_Choice.PLACE, _Choice.MOVE), (_Choice.TELL, _Choice.LIE), (_Choice.PEEK, _Choice.DISTRACT))
        ]
        self._speaks = _Choice.TELL in self.tokens or _Choice.LIE in self.tokens
        self.left = np.repeat(np.array([left[token] for token in self.tokens], np.uint16), tries, axis=1)
        self.to_come = self.left.sum(axis=0, dtype=np.int16)  # of all but comings and goings
        shape = (max(each.sentences for each in sizes), count)
        self.chance = np.zeros((shape[0] if len(sizes) > 1 else 0, _DRAWN, count), np.uint8)
        self.meeting = np.zeros((_MEETINGS, count), np.uint8)
        for each, columns, tried in zip(sizes, self.columns, tries, strict=True):
            chance = draws.bytes(each.sentences, _DRAWN, tried)
            if len(sizes) > 1:
                self.chance[: each.sentences, :, columns] = chance
            else:
                self.chance = chance
            # Where people meet: for some time in one room, then in another.
            shift = draws.below(max(1, rooms - 1), _MEETINGS * tried).reshape(_MEETINGS, tried)
            self.meeting[:, columns] = 1 + (np.cumsum(1 + shift, axis=0) % rooms)
        self.kind = np.zeros(shape, np.uint8)
        self.agent, self.room, self.thing, self.container, self.hearer = (
            np.full(shape, NOBODY, np.int8) for _ in range(5)
        )
        self.lie = np.zeros(shape, np.bool_)
        # People who gather have later occasions to move something, when more of them have met.
        favoured = _FAVOURED | ({_Choice.MOVE: 1} if dials.gathering else {})
        self._favours = np.array([favoured.get(token, 1) for token in self.tokens], np.uint16)[:, None]
        self._rows = np.arange(len(self.tokens), dtype=np.uint8)[:, None]
        self._agents = np.arange(agents, dtype=np.uint8)[:, None]
        self._rooms = np.arange(rooms + 1, dtype=np.uint8)[:, None]
        self._objects = np.arange(objects, dtype=np.uint8)[:, None]

    def draw(self) -> list[DrawnPlots]:
        """Draw all sentences, and return the stories of each size in which everybody and everything occurs."""
        complete = np.zeros(self.count, np.bool_)
        for time in range(len(self.kind)):
            self._step(time)
            # What is drawn after the end of shorter stories does not count.
            ends = self.sentences == time + 1
            complete |= ends & (self.to_come == 0) & (self.named == self.everybody)
        return [
            self._pick(each, columns.start + np.flatnonzero(complete[columns]))
            for each, columns in zip(self.sizes, self.columns, strict=True)
        ]

    def _pick(self, size: PlotDials, columns: Indices) -> DrawnPlots:
        """Return some of the stories, which are of one size."""
        arrays = (self.kind, self.agent, self.room, self.thing, self.container, self.hearer, self.lie)
        kind, agent, room, thing, container, hearer, lie = (_take(array[: size.sentences], columns) for array in arrays)
        return DrawnPlots(PlotArrays(kind, agent, room, thing, container, hearer, size.agents), lie)

    def _step(self, time: int) -> None:
        """Choose a kind of sentence for each story, and let it happen."""
        heeding = ~self.distracted
        rooms, watching = self.inside[1:] & heeding, self.watching[1:]
        beside = _union(self.home & rooms, axis=1)  # who can move each object
        if self._speaks:  # what people believe is followed only where somebody says so
            self._learn(beside | (_union(self.home & watching, axis=1) & heeding), self.place)
        inside = self.inside[0] ^ self.everybody
        able = inside & heeding
        company = _union(rooms & _filled(rooms & (rooms - 1) != 0))  # who has somebody to talk to
        # Words about an object that its hearers see change nothing: such are left for the end of a story. Only those
        # lie who know better.
        told = self.known & company & ~(beside & _filled(3 * time < 2 * self.sentences))
        lied = self._informed() & company & ~beside
        free = self.watching[0] & able
        placed = _filled(self.place[0] >= 0)
        token = self._choose(
            time,
            {
                _Choice.PLACE: inside | _filled(time >= self.sentences - self.dials.objects),
                _Choice.MOVE: _union(beside),
                _Choice.TELL: _union(told),
                _Choice.LIE: _union(lied),
                _Choice.PEEK: free & placed & np.uint8(255 * (self.dials.rooms > 1)),
                _Choice.DISTRACT: able & placed,
                _Choice.RESTATE: _union(beside),
            },
        )

        self._walk(time, token == 0)
        puts, speaks, hides = (np.flatnonzero((token >= first) & (token <= last)) for first, last in self._spans)
        if len(puts):
            self._put(time, puts, token.take(puts) == self._numbers[_Choice.MOVE], beside, inside)
        if len(speaks):
            self._speak(time, speaks, token.take(speaks) == self._numbers[_Choice.TELL], told, lied)
        if len(hides):
            self._hide(time, hides, token.take(hides) == self._numbers[_Choice.PEEK], free, able)
        if _Choice.RESTATE in self.tokens:
            self._restate(time, np.flatnonzero(token == self._numbers[_Choice.RESTATE]), beside)

    def _informed(self) -> Bytes:
        """Return who knows where each object is, [object, story]."""
        if _Choice.LIE not in self.tokens:
            return np.zeros_like(self.known)
        right = (self.belief == self.place) & (self.place >= 0)
        return _union(_filled(right) & _bit(self._agents)[:, :, None])  # shifting by an array is slow

    def _learn(self, who: Bytes, place: Small) -> None:
        """Let some agents believe each object to be somewhere."""
        learns = np.negative((who >> self._agents[:, :, None]) & 1).view(np.int8)
        self.belief ^= (self.belief ^ place) & learns
        self.known |= who

    def _choose(self, time: int, possible: Mapping[_Choice, Bytes | None]) -> Bytes:
        """Choose the next kind of sentence, as places in `tokens`; it is possible for those who are named."""
        weight = self.left * self._favours
        weight[0] = np.maximum(self.sentences - np.int16(time) - self.to_come, 0)
        if time < self.dials.agents or len(self.sizes) > 1:  # nothing can happen without people
            weight[0] *= np.where(time < self.people, np.uint16(4), np.uint16(1))
        for number, each in enumerate(self.tokens):
            who = possible.get(each)
            if who is not None:
                weight[number] *= who != 0
            if number:
                weight[number] += weight[number - 1]
        chance = self.chance[time, 0].astype(np.uint32) << 8 | self.chance[time, 1]
        chosen = ((chance * weight[-1]) >> 16).astype(np.uint16)
        token: Bytes = np.add.reduce((weight <= chosen).view(np.uint8), axis=0, dtype=np.uint8)
        token *= weight[-1] != 0  # who can do nothing else walks
        self.left -= token == self._rows
        self.to_come -= token != 0
        return token

    def _row_of(self, masks: Bytes, who: Bytes) -> Bytes:
        """Return in which row the bit of each story's agent is set."""
        return _union(((masks & who) != 0) * self._rooms)

    def _walk(self, time: int, walks: Flags) -> None:
        """Let somebody come or go, pay attention again, or stop watching."""
        chance = self.chance[time]
        # Often somebody who has not been mentioned yet: people who are not named are not in the story.
        new = (self.named ^ self.everybody) & np.negative(chance[2] & 1)
        agent = pick_members(select(new != 0, new, self._restless(time)), chance[3])
        bit = _bit(agent) & _filled(walks)
        # Nobody walks while distracted or watching.
        attends = (self.distracted & bit) != 0
        stops = ~attends & (((self.watching[0] ^ self.everybody) & bit) != 0)
        outside = (self.inside[0] & bit) != 0
        target = _below(self.dials.rooms, chance[4]).view(np.uint8) + np.uint8(1)
        if self.dials.gathering:  # long chains of minds need all of them in one room
            gathers = ((chance[2] >> 2) & 3 < self.dials.gathering) | ((self.named & bit) == 0)
            target = select(gathers, self._meeting_room(time), target)
        enters = outside & ~(attends | stops)
        exits = walks & ~(outside | attends | stops)
        here = self._row_of(self.inside, bit)
        self.kind[time] = (
            enters * np.uint8(EventKind.ENTER)
            + exits * np.uint8(EventKind.EXIT)
            + attends * np.uint8(EventKind.ATTEND)
            + stops * np.uint8(EventKind.UNPEEK)
        )
        self.agent[time] = select(walks, agent.view(np.int8), np.int8(NOBODY))
        self.room[time] = (enters * target + exits * here).view(np.int8) - np.int8(1)
        goes = bit & _filled(enters | exits)
        self.inside &= ~goes
        self.inside |= goes & _filled(self._rooms == enters * target)
        looks_off = bit & _filled(~attends)
        self.watching &= ~looks_off
        self.watching[0] |= looks_off
        self.distracted &= ~bit
        self.named |= bit

    def _meeting_room(self, time: int) -> Bytes:
        """Return the row of the room in which people meet now."""
        first, second = self.meeting
        rooms: Bytes = select(_MEETINGS * time < self.sentences, first, second)
        return rooms

    def _restless(self, time: int) -> Bytes:
        """Return who may walk next: those who are missing where people meet, or else those who are there.

        So all of a long chain meet again and again, and often all but one.
        """
        if not self.dials.gathering:
            return self.everybody
        here = _union(self.inside[1:] & _filled(self._rooms[1:] == self._meeting_room(time))) & ~self.distracted
        missing = self.named & ~here
        returns = self.chance[time, 2] >> 4 < _RETURNING.take(np.bitwise_count(missing))
        walkers: Bytes = select(returns, missing, select(here != 0, here, self.everybody))
        return walkers

    def _put(self, time: int, at: Indices, moves: Flags, beside: Bytes, inside: Bytes) -> None:
        """Place the next object where somebody is, or let somebody move one."""
        chance, near, here = _take(self.chance[time], at), _take(beside, at), _take(inside, at)
        which = pick_members(_union((near != 0) * _BITS[: len(near), None]), chance[2])
        spot = self._spot(which, at)
        mover = pick_members(beside.reshape(-1).take(spot), chance[3])
        new = np.uint8(self.dials.objects - 1) - _take(self.left[1], at).astype(np.uint8)
        witness = _bit(pick_members(here, chance[4])) & here
        seen = self._row_of(_take(self.inside, at), witness)
        room = select(seen > 0, seen.view(np.int8) - np.int8(1), _below(self.dials.rooms, chance[5]))
        first = room * np.int8(CONTAINERS) + _below(CONTAINERS, chance[6])
        other = _pick_container(self.place.reshape(-1).take(spot), chance[7])
        thing, container = select(moves, which, new), select(moves, other, first)
        home = _HOMES.take(container)
        # A row is taken first, as two indices at once are slower.
        self.kind[time][at] = moves * np.uint8(EventKind.MOVE - EventKind.PLACE) + np.uint8(EventKind.PLACE)
        self.agent[time][at] = select(moves, mover.view(np.int8), np.int8(NOBODY))
        self.room[time][at], self.thing[time][at], self.container[time][at] = home, thing, container
        self.place.reshape(-1)[self._spot(thing, at)] = container
        # Objects stay in their rooms.
        self.home.reshape(-1)[self._spot(thing * np.uint8(self.dials.rooms) + home.view(np.uint8), at)] = 255

    def _restate(self, time: int, at: Indices, beside: Bytes) -> None:
        """Say again where an object is that somebody sees."""
        near = _take(beside, at)
        thing = pick_members(_union((near != 0) * _BITS[: len(near), None]), _take(self.chance[time, 2], at))
        container = self.place.reshape(-1).take(self._spot(thing, at))
        self.kind[time][at], self.thing[time][at], self.container[time][at] = EventKind.PLACE, thing, container
        self.room[time][at] = _HOMES.take(container)

    def _spot(self, row: Bytes, at: Indices) -> Indices:
        """Return places in an array of several rows as if it had one: much faster to look up than by two indices."""
        return row * np.int64(self.count) + at

    def _speak(self, time: int, at: Indices, tells: Flags, told: Bytes, lied: Bytes) -> None:
        """Let somebody tell a room, one person or everybody where an object is, or where it is not."""
        chance, columns = _take(self.chance[time], at), np.arange(len(at))
        heeding = ~_take(self.distracted, at)
        rooms = _take(self.inside[1:], at) & heeding
        able = select(tells, _take(told, at), _take(lied, at))
        # Who sees an object believes their eyes, so words count where it is not.
        apart = able & ~_union(_take(self.home, at) & rooms, axis=1)
        able = select((_union(apart) != 0) & (chance[5] & 3 != 0), apart, able)
        thing = pick_members(_union((able != 0) * _BITS[: len(able), None]), chance[2])
        speaker = pick_members(able.reshape(-1).take(thing * np.int64(len(at)) + columns), chance[3])
        own = _bit(speaker)
        here = _filled(rooms & own != 0)
        near = _union(rooms & here) & ~own
        hearer = pick_members(near, chance[4])
        kind = _MESSAGES.take(chance[5])
        believed = self.belief.reshape(-1).take(self._spot(speaker * np.uint8(self.dials.objects) + thing, at))
        said = select(tells, believed, _pick_container(believed, chance[6]))
        whispers, tells_room = kind == np.uint8(EventKind.WHISPER), kind == np.uint8(EventKind.TELL)
        self.kind[time][at], self.agent[time][at], self.thing[time][at] = kind, speaker, thing
        self.container[time][at], self.lie[time][at] = said, ~tells
        self.hearer[time][at] = select(whispers, hearer.view(np.int8), np.int8(NOBODY))
        around = near | (_union(_take(self.watching[1:], at) & here) & heeding)
        hears = select(whispers, _bit(hearer), select(tells_room, around, _union(rooms)))
        learns, where = np.zeros((self.dials.objects, self.count), np.uint8), np.zeros(self.count, np.int8)
        learns.reshape(-1)[self._spot(thing, at)] = hears & ~own
        where[at] = said
        self._learn(learns, where)

    def _hide(self, time: int, at: Indices, peeks: Flags, free: Bytes, able: Bytes) -> None:
        """Let somebody watch another room, or get distracted."""
        chance, rooms = _take(self.chance[time], at), self.dials.rooms
        agent = pick_members(select(peeks, _take(free, at), _take(able, at)), chance[2])
        bit = _bit(agent)
        here = self._row_of(_take(self.inside, at), bit)
        room = (here + _below(max(1, rooms - 1), chance[3]).view(np.uint8)) % np.uint8(rooms) + np.uint8(1)
        self.kind[time][at] = np.where(peeks, np.uint8(EventKind.PEEK), np.uint8(EventKind.DISTRACT))
        self.agent[time][at] = agent
        self.room[time][at] = select(peeks, room.view(np.int8) - np.int8(1), np.int8(NOBODY))
        watches, target = np.zeros((2, self.count), np.uint8)
        watches[at], target[at] = bit & _filled(peeks), room
        self.watching &= ~watches
        self.watching |= watches & _filled(self._rooms == target)
        self.distracted[at] |= bit & _filled(~peeks)
        self.named[at] |= bit


def draw_some(dials: PlotDials, draws: Draws, tries: int) -> DrawnPlots:
    """Draw stories, and return those in which everybody and everything that the dials ask for occurs."""
    (drawn,) = _Drawing([dials], draws, [tries]).draw()
    return drawn


def draw_plots_of_sizes(sizes: Sequence[PlotDials], draws: Draws, count: int) -> list[DrawnPlots]:
    """Draw stories of several sizes side by side: what as many calls of `draw_plots` draw, much faster.

    Args:
        sizes: How much happens; they may differ in how many agents there are, and in how often these walk or move
            objects.
        draws: The source of randomness; the stories depend on it alone.
        count: How many stories of each size.

    Raises:
        ConfigError: If hardly any story can have all that the dials ask for.
    """
    place = draws.place
    found = _Drawing(sizes, draws, [_tries(count)] * len(sizes)).draw()
    if any(each.stories.count < count for each in found):  # there are too few of one; it draws again before the next
        draws.return_to(place)
        return [draw_plots(each, draws, count) for each in sizes]
    return [each.pick(np.arange(count)) for each in found]


def _tries(missing: int) -> int:
    """Return how many stories are drawn if some are missing."""
    return 64 + int(_SURPLUS * missing)


def draw_plots(dials: PlotDials, draws: Draws, count: int) -> DrawnPlots:
    """Draw stories in which everybody and everything that the dials ask for occurs, and nothing that cannot happen.

    Args:
        dials: How much happens.
        draws: The source of randomness; the stories depend on it alone.
        count: How many stories.

    Raises:
        ConfigError: If hardly any story can have all that the dials ask for.
    """
    plots: list[DrawnPlots] = []
    missing = count
    for _ in range(_ROUNDS):
        drawn = draw_some(dials, draws, _tries(missing))
        kept = np.arange(min(missing, drawn.stories.count))
        plots.append(drawn.pick(kept))
        missing -= len(kept)
        if not missing:
            break
    else:
        raise ConfigError("hardly any story can have all that is asked for; ask for less, or for more walks.")
    return DrawnPlots(
        join_plots([each.stories for each in plots]), np.concatenate([each.lie for each in plots], axis=1)
    )
