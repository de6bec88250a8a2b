"""The course of stories as sets of instants: who is where, who watches or is distracted, and where objects are.

What the sentences of a story say is kept as sets of instants, one per agent, room or object. Where somebody is follows
from them with a few operations on whole words. So a story without some of its sentences costs no more than the story
itself, which is how proofs are found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, Mask, PlotArrays, Small
from storyproof.families.belief.time_sets import (
    Columns,
    Instants,
    Times,
    Words,
    delay,
    fill,
    has,
    one_of,
    single,
    until,
)
from storyproof.families.belief.world import EventKind


def member(agent: Small, kind: type[np.unsignedinteger]) -> Mask:
    """Return the set that has one agent; empty for negative numbers."""
    found: Mask = np.where(agent < 0, kind(0), kind(1) << np.maximum(agent, 0).astype(kind))
    return found


@dataclass(frozen=True, slots=True)
class Sights:
    """When the agents of each story are with its objects, as sets of instants [word, agent, object, column].

    Attributes:
        present: When an agent is in the object's room: the group for whom a sight is common.
        noticing: When it in fact sees the object.
    """

    present: Instants
    noticing: Instants


@dataclass(frozen=True, slots=True)
class Departures:
    """When it is known who sees an object: like `Sights`, and also whenever somebody leaves who so knows who stays.

    Attributes:
        witnesses: The group for whom it is common.
        aware: Who in fact knows it.
    """

    witnesses: Instants
    aware: Instants


@dataclass(frozen=True, slots=True)
class Hearing:
    """When the agents of each story hear messages, as sets of instants [word, agent, column].

    Attributes:
        group: When an agent is seen to hear one, or speaks: the group for whom a message is common.
        hearing: When it in fact hears one, or speaks.
    """

    group: Instants
    hearing: Instants


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of each story in order, [message, column]; `time` is -1 where a story has fewer.

    Attributes:
        time: When.
        speaker: Who speaks.
        thing: The object spoken of.
    """

    time: Times
    speaker: Small
    thing: Small


class PlotSentences:
    """What the sentences of stories say, as sets of instants.

    Attributes:
        stories: The stories.
        objects: How many objects a story has at most.
        rooms: How many rooms.
        words: What a set consists of.
        sets: The sets by part, [word, part, story]; `Course` says what the parts are.
    """

    def __init__(self, stories: PlotArrays) -> None:
        """Collect what the sentences of stories say."""
        self.stories = stories
        things = np.where(stories.kind > EventKind.FEEL, stories.thing, np.int8(NOBODY))  # anything may be liked
        self.objects, self.rooms = (1 + max(0, int(array.max(initial=0))) for array in (things, stories.room))
        agents, rooms, objects = (stories.agents,), (self.rooms,), (self.objects,)
        shapes = {
            **{"enters": agents + rooms, "peeks": agents + rooms, "placed": objects + rooms, "walks": agents},
            **{"looks": agents, "distracts": agents, "heeds": agents, "puts": objects, "by": agents, "to": agents},
            **{"about": objects, "told": (1,), "announced": (1,)},
        }
        self._places, begin = dict[str, tuple[slice, tuple[int, ...]]](), 0
        for name, shape in shapes.items():
            self._places[name] = slice(begin, begin + math.prod(shape)), shape
            begin += math.prod(shape)
        steps, count = stories.kind.shape
        self.words = Words.of(steps)
        self.sets: Instants = np.zeros((self.words.number, begin, count), self.words.kind)
        self._collect()
        self.is_watched = bool(self.of(self.sets, "peeks").any())

    def _collect(self) -> None:
        """Add each sentence to the sets that it belongs to: a bit that no other sentence of its story has."""
        stories, flat = self.stories, self.sets.reshape(-1)
        (steps, count), (_, parts, _) = stories.kind.shape, self.sets.shape
        kinds = stories.kind.reshape(-1)
        order = np.argsort(kinds, kind="stable")
        bounds = np.searchsorted(kinds.take(order), np.arange(len(EventKind) + 1))
        word, bit = np.divmod(np.arange(steps), 64)
        bits = np.left_shift(self.words.kind(1), bit.astype(self.words.kind))
        shift = (word * parts - np.arange(steps)) * count  # from a sentence to the first part of its story
        times = np.repeat(np.arange(steps, dtype=np.int16), count)

        def note(name: str, first: EventKind, last: EventKind, *about: Small) -> None:
            """Note the sentences from one kind to another by what they are about; NOBODY and nothing are left out."""
            place, shape = self._places[name]
            at = order[bounds[first] : bounds[last + 1]]
            known = [each.reshape(-1).take(at) for each in about]
            if any(each.min(initial=0) < 0 for each in known):
                some = np.flatnonzero(np.all([each >= 0 for each in known], axis=0))
                at, known = at.take(some), [each.take(some) for each in known]
            row = np.full(len(at), 0, np.intp) if not known else known[0].astype(np.intp)
            for number, size in zip(known[1:], shape[1:], strict=True):
                row = row * size + number
            row += place.start
            row *= count
            row += at
            time = times.take(at)
            row += shift.take(time)
            np.add.at(flat, row, bits.take(time))

        note("enters", EventKind.IS_IN, EventKind.ENTER, stories.agent, stories.room)
        note("peeks", EventKind.PEEK, EventKind.PEEK, stories.agent, stories.room)
        note("placed", EventKind.PLACE, EventKind.MOVE, stories.thing, stories.room)
        note("puts", EventKind.PLACE, EventKind.MOVE, stories.thing)
        note("walks", EventKind.IS_IN, EventKind.EXIT, stories.agent)
        note("looks", EventKind.PEEK, EventKind.UNPEEK, stories.agent)
        note("heeds", EventKind.DISTRACT, EventKind.ATTEND, stories.agent)
        note("distracts", EventKind.DISTRACT, EventKind.DISTRACT, stories.agent)
        note("by", EventKind.TELL, EventKind.ANNOUNCE, stories.agent)
        note("about", EventKind.TELL, EventKind.ANNOUNCE, stories.thing)
        note("to", EventKind.WHISPER, EventKind.WHISPER, stories.hearer)
        note("told", EventKind.TELL, EventKind.TELL)
        note("announced", EventKind.ANNOUNCE, EventKind.ANNOUNCE)

    def of(self, sets: Instants, name: str) -> Instants:
        """Return a view of the sets of one part, [word, …, column]."""
        place, shape = self._places[name]
        return sets[:, place].reshape(len(sets), *shape, sets.shape[2])

    @cached_property
    def whole(self) -> Instants:
        """All instants of a story, [word]."""
        found: Instants = until(np.array([len(self.stories.kind) - 1]), self.words)[:, 0]
        return found

    @cached_property
    def sent(self) -> Times:
        """When messages are sent, in order, [message, story]; -1 where a story has fewer."""
        return _message_times(self.stories.kind >= EventKind.TELL)


class Course:
    """What holds in stories and when, as sets of instants; one column per story, which may lack some sentences.

    Attributes:
        sentences: What the sentences say, as they were written.
        origin: The story of each column.
        kept: The sentences that are there, [word, column].
    """

    def __init__(self, sentences: PlotSentences, origin: Columns, kept: Instants) -> None:
        """Prepare to follow stories."""
        self.sentences, self.origin, self.kept = sentences, origin, kept

    @classmethod
    def of(cls, stories: PlotArrays) -> Course:
        """Follow stories from beginning to end."""
        sentences, count = PlotSentences(stories), stories.kind.shape[1]
        course = cls(sentences, np.arange(count), np.repeat(sentences.whole[:, None], count, axis=1))
        course._sets = sentences.sets  # without a copy, as nothing is left out
        return course

    def pick(self, columns: Columns) -> Course:
        """Return some of the columns, in that order."""
        return self.keep(columns, self.kept.take(columns, axis=1))

    def keep(self, columns: Columns, kept: Instants) -> Course:
        """Return some of the columns, with these sentences only."""
        return Course(self.sentences, self.origin[columns], kept)

    def without(self, columns: Columns, time: npt.NDArray[Any]) -> Course:
        """Return some of the columns, each without one sentence."""
        return self.keep(columns, self.kept.take(columns, axis=1) & ~single(time, self.words))

    def place_at(self, time: Times, column: Columns) -> Small:
        """Return the containers that sentences name, one for each pair of time and column; NOBODY for a time of -1."""
        containers = self.stories.container
        place = containers.reshape(-1).take(np.maximum(time, 0) * containers.shape[1] + self.origin.take(column))
        found: Small = np.where(time < 0, np.int8(NOBODY), place)
        return found

    def put(self, column: Columns, thing: Small, which: Callable[[Instants], Times]) -> Small:
        """Return where objects were put first or last; NOBODY if they were not."""
        time = which(one_of(self.puts, np.minimum(thing, self.objects - 1), column))
        return self.place_at(np.where(thing < self.objects, time, -1), column)

    @property
    def stories(self) -> PlotArrays:
        """The stories as they were written."""
        return self.sentences.stories

    @property
    def words(self) -> Words:
        """What a set of instants consists of."""
        return self.sentences.words

    @property
    def count(self) -> int:
        """The number of columns."""
        return len(self.origin)

    @property
    def objects(self) -> int:
        """How many objects a story has at most."""
        return self.sentences.objects

    @property
    def rooms(self) -> int:
        """How many rooms a story has at most."""
        return self.sentences.rooms

    @cached_property
    def _sets(self) -> Instants:
        found: Instants = self.sentences.sets.take(self.origin, axis=2)
        found &= self.kept[:, None]
        return found

    def _said(self, name: str) -> Instants:
        return self.sentences.of(self._sets, name)

    @property
    def walks(self) -> Instants:
        """When an agent enters or exits, or is said to be somewhere, [word, agent, column]."""
        return self._said("walks")

    @property
    def looks(self) -> Instants:
        """When an agent begins or stops to watch a room, [word, agent, column]."""
        return self._said("looks")

    @property
    def heeds(self) -> Instants:
        """When an agent gets distracted or pays attention again, [word, agent, column]."""
        return self._said("heeds")

    @property
    def puts(self) -> Instants:
        """When an object is placed or moved, [word, object, column]."""
        return self._said("puts")

    @property
    def by(self) -> Instants:
        """When an agent sends a message, [word, agent, column]."""
        return self._said("by")

    @property
    def to(self) -> Instants:
        """When something is whispered to an agent, [word, agent, column]."""
        return self._said("to")

    @property
    def about(self) -> Instants:
        """When a message is about an object, [word, object, column]."""
        return self._said("about")

    @property
    def told(self) -> Instants:
        """When a message is for everybody in the room, [word, 1, column]."""
        return self._said("told")

    @property
    def announced(self) -> Instants:
        """When a message is for everybody who is in any room, [word, 1, column]."""
        return self._said("announced")

    @cached_property
    def inside(self) -> Instants:
        """When an agent is in a room, [word, agent, room, column]."""
        return self._last("enters", self.walks)

    @cached_property
    def watching(self) -> Instants:
        """When an agent secretly watches a room, [word, agent, room, column]."""
        return self._last("peeks", self.looks) if self.sentences.is_watched else np.zeros_like(self._said("peeks"))

    @cached_property
    def home(self) -> Instants:
        """When an object is in a room, [word, object, room, column]."""
        return self._last("placed", self.puts)

    @cached_property
    def away(self) -> Instants:
        """When an agent is distracted, [word, agent, column]."""
        return fill(self._said("distracts"), self.heeds, self.sentences.whole)

    @cached_property
    def sights(self) -> Sights:
        """When the agents of each story are with its objects."""
        inside, watching, home = self.inside, self.watching, self.home
        present = np.zeros((*inside.shape[:2], self.objects, self.count), inside.dtype)
        secret = np.zeros_like(present)
        for room in range(self.rooms):
            present |= inside[:, :, None, room] & home[:, None, :, room]
            if self.sentences.is_watched:
                secret |= watching[:, :, None, room] & home[:, None, :, room]
        return Sights(present, (present | secret) & ~self.away[:, :, None])

    @cached_property
    def departures(self) -> Departures:
        """When it is known who sees an object."""
        shown = self.sights
        leaving = np.zeros_like(shown.present)
        for room in range(self.rooms):
            leaving |= delay(self.inside[:, :, None, room]) & self.home[:, None, :, room]
        leaving &= ~shown.present
        away = delay(self.away[:, :, None])
        return Departures(shown.present | leaving, shown.noticing | (leaving & ~away))

    @cached_property
    def hearing(self) -> Hearing:
        """When the agents of each story hear messages."""
        by, told = self.by, self.told
        near, watched, anywhere = np.zeros_like(by), np.zeros_like(by), np.zeros_like(by)
        spoken = np.zeros_like(told)  # by somebody who is in a room
        for room in range(self.rooms):
            inside = self.inside[:, :, room]
            here = np.bitwise_or.reduce(by & inside, axis=1)[:, None]  # the messages of those who are in the room
            near |= inside & here
            anywhere |= inside
            spoken |= here
            if self.sentences.is_watched:
                watched |= self.watching[:, :, room] & here
        group = (near & (told | by | self.to)) | (anywhere & self.announced & spoken)
        return Hearing(group, (group | (watched & told)) & ~self.away)

    @cached_property
    def messages(self) -> Messages:
        """The messages of each story, in order; deleted ones have no time."""
        stories, origin = self.stories, self.origin
        sent = self.sentences.sent[:, origin]
        time = np.where(has(self.kept, sent), sent, -1)
        at = np.maximum(time, 0)
        return Messages(time, stories.agent[at, origin], stories.thing[at, origin])

    def _last(self, name: str, events: Instants) -> Instants:
        """Return since when an event of each room is the last of those of each agent or object."""
        return fill(self._said(name), events[:, :, None], self.sentences.whole)


def _message_times(spoken: Flags) -> Times:
    """Return the times of the set flags of each column in order, [number, column]; -1 where a column has fewer."""
    rank = np.cumsum(spoken, axis=0, dtype=np.int16)
    time, column = np.nonzero(spoken)
    found = np.full((int(rank[-1].max(initial=0)), spoken.shape[1]), -1, np.int64)
    found[rank[time, column] - 1, column] = time
    return found
