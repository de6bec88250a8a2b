"""Random stories with secrets and messages, drawn as arrays: no recipe, only what can happen next.

All stories of a block are drawn in step, one sentence at a time. At every step a story chooses among the kinds of
sentence that are possible now, the likelier the more of a kind are still to come; then among those who can do it. What
everybody believes (under `open+always`) is followed on the way, so that honest speakers say it and liars do not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.families.belief.arrays import NOBODY, Flags
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.world import EventKind
from storyproof.seeds import Draws, Indices

CONTAINERS = 3  # in every room; those of room r have the local numbers 3 r, 3 r + 1 and 3 r + 2
_MOST = {"agents": 8, "rooms": 6, "objects": 6, "moves": 40, "tells": 40, "lies": 40, "peeks": 40, "distractions": 40}
_LEAST = {"agents": 2, "rooms": 1, "objects": 1}
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
        noise: How many sentences change nothing.
        walks: How often people enter and exit, besides coming in at first.
    """

    agents: int = 4
    rooms: int = 2
    objects: int = 1
    moves: int = 2
    tells: int = 0
    lies: int = 0
    peeks: int = 0
    distractions: int = 0
    noise: int = 0
    walks: int = 6

    def __post_init__(self) -> None:
        for item in fields(self):
            value, least, most = getattr(self, item.name), _LEAST.get(item.name, 0), _MOST.get(item.name, 60)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ConfigError(f"{item.name} is {value}; use a whole number from {least} to {most}.")

    @property
    def sentences(self) -> int:
        """How many sentences a story has."""
        counts = (self.objects, self.moves, self.tells, self.lies, self.peeks, self.distractions, self.noise)
        return self.agents + self.walks + sum(counts)


class _Token(IntEnum):
    """The kinds of choice; all but WALK are used up."""

    WALK = 0
    PLACE = 1
    MOVE = 2
    TELL = 3
    LIE = 4
    PEEK = 5
    DISTRACT = 6
    NOISE = 7


class _Drawing:
    """A block of stories that are being drawn."""

    def __init__(self, dials: PlotDials, draws: Draws, count: int) -> None:
        agents, objects = dials.agents, dials.objects
        self.dials, self.draws, self.count = dials, draws, count
        self.columns = np.arange(count)
        self.room = np.full((agents, count), NOBODY, np.int8)
        self.watched = np.full((agents, count), NOBODY, np.int8)
        self.distracted = np.zeros((agents, count), np.bool_)
        self.named = np.zeros((agents, count), np.bool_)
        self.place = np.full((objects, count), NOBODY, np.int8)
        self.belief = np.full((agents, objects, count), NOBODY, np.int8)
        left = (0, objects, dials.moves, dials.tells, dials.lies, dials.peeks, dials.distractions, dials.noise)
        self.left = np.repeat(np.array(left, np.int16)[:, None], count, axis=1)
        shape = (dials.sentences, count)
        self.kind = np.zeros(shape, np.uint8)
        names = ("agent", "room", "thing", "container", "hearer")
        self.fields = {name: np.full(shape, NOBODY, np.int8) for name in names}
        self.lie = np.zeros(shape, np.bool_)

    def draw(self) -> None:
        """Draw all sentences."""
        for time in range(self.dials.sentences):
            self._step(time)
            self._see()

    def _below(self, limit: int | Indices, at: Indices) -> Indices:
        """Draw a number for every story, and return those of some, so that draws do not depend on one another."""
        return self.draws.below(limit, self.count, at)

    def _pick(self, possible: Flags, at: Indices) -> Indices:
        """Choose one of the possible rows for each of some stories; the first where none is possible."""
        count = np.zeros(len(at), np.int16)
        for row in possible:
            count += row
        chosen = self._below(np.maximum(count, 1).astype(np.int64), at).astype(np.int16)
        passed, found = np.zeros(len(at), np.int16), np.zeros(len(at), np.int64)
        for row in possible:  # how many rows there are up to the chosen one
            passed += row
            found += passed <= chosen
        return np.where(count > 0, found, 0)

    def _company(self) -> Flags:
        """Return who is not alone in a room."""
        found = np.zeros(self.room.shape, np.bool_)
        for room in range(self.dials.rooms):
            inside = self.room == np.int8(room)
            people = np.zeros(self.count, np.int8)
            for row in inside:
                people += row
            found |= inside & (people > 1)
        return found

    def _step(self, time: int) -> None:
        """Choose a kind of sentence for each story, and let it happen."""
        inside, attentive = self.room >= 0, ~self.distracted
        able = inside & attentive
        home = np.where(self.place < 0, np.int8(NOBODY), self.place // np.int8(CONTAINERS))
        beside = (self.room[:, None] == home) & able[:, None]  # [agent, object, story]: can move it
        company = self._company() & able
        told = (self.belief != NOBODY) & company[:, None]
        placed = (self.place != NOBODY).any(axis=0)
        free = attentive & (self.watched < 0)
        possible = np.stack(
            [
                np.ones(self.count, np.bool_),
                inside.any(axis=0)
                if time < self.dials.sentences - self.dials.objects
                else np.ones(self.count, np.bool_),
                beside.any(axis=(0, 1)),
                told.any(axis=(0, 1)),
                company.any(axis=0) & placed,
                free.any(axis=0) & placed & (self.dials.rooms > 1),
                able.any(axis=0) & placed,
                np.ones(self.count, np.bool_),
            ]
        )
        to_come = self.dials.sentences - time
        self.left[_Token.WALK] = to_come - self.left[1:].sum(axis=0)
        weight = np.maximum(self.left, 0) * possible
        weight[_Token.PLACE] *= 6  # little can happen without objects
        weight[_Token.WALK] += weight[_Token.WALK] * 3 * (time < self.dials.agents)  # nor without people
        total = weight.sum(axis=0, dtype=np.int32)
        chosen = self.draws.below(np.maximum(total, 1).astype(np.int64), self.count).astype(np.int32)
        passed, token = np.zeros(self.count, np.int32), np.zeros(self.count, np.int64)
        for row in weight:
            passed += row
            token += passed <= chosen
        token = np.where(total == 0, _Token.WALK, token)
        self.left[token, self.columns] -= 1
        self._walk(time, np.flatnonzero(token == _Token.WALK))
        self._put(time, np.flatnonzero((token == _Token.PLACE) | (token == _Token.MOVE)), token, beside)
        self._speak(time, np.flatnonzero((token == _Token.TELL) | (token == _Token.LIE)), token, told, company)
        self._hide(time, np.flatnonzero((token == _Token.PEEK) | (token == _Token.DISTRACT)), token, free, able)

    def _write(self, time: int, at: Indices, kind: npt.ArrayLike, **values: npt.NDArray[Any]) -> None:
        self.kind[time, at] = kind
        for name, value in values.items():
            self.fields[name][time, at] = value
            if name in ("agent", "hearer"):
                self.named[value, at] = True

    def _walk(self, time: int, at: Indices) -> None:
        """Let somebody come or go, pay attention again, or stop watching."""
        # Often somebody who has not been mentioned yet: who is not named is not in the story.
        new = ~self.named[:, at] & (self._below(2, at) == 0)
        agent = self._pick(np.where(new.any(axis=0), new, True), at)
        here, watched, away = self.room[agent, at], self.watched[agent, at], self.distracted[agent, at]
        coin = self._below(2, at) == 0
        target = self._below(self.dials.rooms, at).astype(np.int8)
        attends, stops = away & coin, ~away & (watched >= 0) & coin
        enters = ~attends & ~stops & (here < 0)
        exits = ~attends & ~stops & (here >= 0)
        kind = np.select(
            [attends, stops, enters], [EventKind.ATTEND, EventKind.UNPEEK, EventKind.ENTER], EventKind.EXIT
        )
        self._write(time, at, kind, agent=agent)
        self._write(time, at[enters], EventKind.ENTER, room=target[enters])
        self._write(time, at[exits], EventKind.EXIT, room=here[exits])
        self.distracted[agent, at] = False  # who stops watching was not
        self.watched[agent, at] = np.where(attends, watched, np.int8(NOBODY))
        self.room[agent, at] = np.where(enters, target, np.where(exits, np.int8(NOBODY), here))

    def _put(self, time: int, at: Indices, token: Indices, beside: Flags) -> None:
        """Place the next object where somebody is, or let somebody move one."""
        beside, moves = beside[:, :, at], token[at] == _Token.MOVE
        which = self._pick(np.asarray(beside.any(axis=0)), at)
        mover = self._pick(beside[:, which, np.arange(len(at))], at)
        new = np.argmax(self.place[:, at] < 0, axis=0)
        witness = self._pick(self.room[:, at] >= 0, at)
        seen = self.room[witness, at]
        room = np.where(seen >= 0, seen, self._below(self.dials.rooms, at)).astype(np.int8)
        first = room * CONTAINERS + self._below(CONTAINERS, at).astype(np.int8)
        old = self.place[which, at]
        shift = 1 + self._below(CONTAINERS - 1, at)
        other = (old // CONTAINERS * CONTAINERS + (old + shift) % CONTAINERS).astype(np.int8)
        thing, container = np.where(moves, which, new), np.where(moves, other, first)
        kind = np.where(moves, EventKind.MOVE, EventKind.PLACE)
        self._write(time, at, kind, room=np.where(moves, old // CONTAINERS, room), thing=thing, container=container)
        self._write(time, at[moves], EventKind.MOVE, agent=mover[moves])
        self.place[thing, at] = container

    def _speak(self, time: int, at: Indices, token: Indices, told: Flags, company: Flags) -> None:
        """Let somebody tell a room, one person or everybody where an object is, or where it is not."""
        columns, tells = np.arange(len(at)), token[at] == _Token.TELL
        told, rooms = told[:, :, at], self.room[:, at]
        thing = self._pick(np.where(tells, told.any(axis=0), self.place[:, at] != NOBODY), at)
        speaker = self._pick(np.where(tells, told[:, thing, columns], company[:, at]), at)
        here = rooms[speaker, columns]
        near = (rooms == here) & (here >= 0)
        near[speaker, columns] = False
        hearer = self._pick(near, at)
        kinds = np.array([EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE], np.uint8)
        kind = kinds[self._below(3, at)]
        believed, place = self.belief[speaker, thing, at], self.place[thing, at]
        home = np.maximum(place, 0) // CONTAINERS * CONTAINERS
        wrong = home + (np.maximum(believed, 0) - home + 1 + self._below(CONTAINERS - 1, at)) % CONTAINERS
        anything = home + self._below(CONTAINERS, at)
        false = np.where(believed == NOBODY, anything, wrong)
        said = np.where(tells, believed, false).astype(np.int8)
        self._write(time, at, kind, agent=speaker, thing=thing, container=said)
        whispers = kind == EventKind.WHISPER
        self._write(time, at[whispers], EventKind.WHISPER, hearer=hearer[whispers])
        self.lie[time, at] = ~tells
        hears = near | (kind == EventKind.ANNOUNCE)
        hears &= ~whispers | (np.arange(self.dials.agents)[:, None] == hearer)
        hears |= (self.watched[:, at] == here) & (here >= 0) & (kind == EventKind.TELL)
        hears &= ~self.distracted[:, at]
        hears[speaker, columns] = False
        self.belief[:, thing, at] = np.where(hears, said, self.belief[:, thing, at])

    def _hide(self, time: int, at: Indices, token: Indices, free: Flags, able: Flags) -> None:
        """Let somebody watch a room that it is not in, or get distracted."""
        peeks = token[at] == _Token.PEEK
        agent = self._pick(np.where(peeks, free[:, at], able[:, at]), at)
        here = self.room[agent, at]
        room = self._below(self.dials.rooms, at)
        shifted = (here + 1 + room % max(1, self.dials.rooms - 1)) % self.dials.rooms
        room = np.where(here == room, shifted, room).astype(np.int8)
        self._write(time, at, np.where(peeks, EventKind.PEEK, EventKind.DISTRACT), agent=agent)
        self._write(time, at[peeks], EventKind.PEEK, room=room[peeks])
        self.watched[agent[peeks], at[peeks]] = room[peeks]
        self.distracted[agent[~peeks], at[~peeks]] = True

    def _see(self) -> None:
        """Let everybody believe its eyes."""
        home = np.where(self.place < 0, np.int8(-2), self.place // np.int8(CONTAINERS))
        sees = ((self.room[:, None] == home) | (self.watched[:, None] == home)) & ~self.distracted[:, None]
        self.belief = np.where(sees, self.place, self.belief)


@dataclass(frozen=True, slots=True)
class DrawnPlots:
    """Random stories, and which of their messages are lies, [time, story]."""

    stories: PlotArrays
    lie: Flags


def draw_plots(dials: PlotDials, draws: Draws, count: int) -> DrawnPlots:
    """Draw stories in which everybody and everything that the dials ask for occurs, and nothing that cannot happen.

    Args:
        dials: How much happens.
        draws: The source of randomness; the stories depend on it alone.
        count: How many stories.

    Raises:
        ConfigError: If hardly any story can have all that the dials ask for.
    """
    found: list[tuple[npt.NDArray[np.int8], ...]] = []
    missing = count
    for _ in range(_ROUNDS):
        drawing = _Drawing(dials, draws, 64 + int(_SURPLUS * missing))
        drawing.draw()
        complete = np.flatnonzero((drawing.left[1:] == 0).all(axis=0) & drawing.named.all(axis=0))[:missing]
        arrays = (drawing.kind.view(np.int8), *drawing.fields.values(), drawing.lie.view(np.int8))
        found.append(tuple(array[:, complete] for array in arrays))
        missing -= len(complete)
        if not missing:
            break
    else:
        raise ConfigError("hardly any story can have all that is asked for; ask for less, or for more walks.")
    kind, agent, room, thing, container, hearer, lie = (
        np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)
    )
    stories = PlotArrays(kind.view(np.uint8), agent, room, thing, container, hearer, dials.agents)
    return DrawnPlots(stories, lie.view(np.bool_))
