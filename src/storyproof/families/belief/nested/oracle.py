"""The oracle of nested beliefs: where each chain of agents believes an object to be, for whole blocks at once.

A chain a₁ a₂ … aₖ *takes part* in an event if a₁ notices it and a₂ … aₖ belong to the group for whom it is common. A
belief along a chain is the place that the last event showed or said which the chain took part in and learnt from. It
learns from every sight, and from those messages that the last of the chain believes, as the others of the chain see it.

Therefore a chain, however long, comes down to its first agent, the set of the agents after the first, and the last and
the last but one agent. Arrays are [time, column]; stories and questions have columns of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, Mask, Small
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.readings import ALWAYS, FRESHER, HI_TOM, NEVER_LIARS, NestedReading
from storyproof.families.belief.nested.world import EventKind
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.readings import CLOSED, INFER_MOVER

Instants = npt.NDArray[np.int16]
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


@dataclass(frozen=True, slots=True)
class Sights:
    """What the stories show of one object each, as [time, column] arrays.

    Attributes:
        place: The container that the object is in right after the event.
        put: Whether the event places or moves the object.
        present: Who is in the object's room right after the event: the group for whom a sight is common.
        noticing: Who in fact sees the object.
        witnesses: `present`, and whoever leaves the room by the event and so knows who stays: the group for whom it is
            common who sees the object; only under `fresher` and `never-liars`, like `aware`.
        aware: Who in fact knows who sees the object.
        latest: The last instant up to this one at which each agent was in the object's room, [time, agent, column];
            only under `hi-tom`.
        finding: Who enters the object's room from elsewhere, else NOBODY; only under `infer-mover`, like `parted`.
        parted: Whom the one in `finding` had left behind in this room when it last saw them.
    """

    place: Small
    put: Flags
    present: Mask
    noticing: Mask
    witnesses: Mask
    aware: Mask
    latest: Instants
    finding: Small
    parted: Mask


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of each story in order, [message, column]; `time` is -1 where a story has fewer.

    Attributes:
        time: When.
        speaker: Who speaks.
        thing: The object spoken of.
        said: The container that it is said to be in.
        group: For whom the message is common: the speaker and those who are seen to hear it.
        hearing: Who in fact hears it, with the speaker.
    """

    time: Instants
    speaker: Small
    thing: Small
    said: Small
    group: Mask
    hearing: Mask


@dataclass(frozen=True, slots=True)
class Chains:
    """Chains of agents without repetitions side by side, one per column.

    Attributes:
        first: The set of the first agent; empty for a chain with a stranger, which takes part in nothing.
        rest: The set of all after the first.
        last: The last agent.
        length: How many agents; repetitions side by side count once.
        prefix: The chains without their last agents; None where it is not needed.
    """

    first: Mask
    rest: Mask
    last: Small
    length: Small
    prefix: Chains | None = None

    def take_part(self, noticing: Mask, group: Mask) -> Flags:
        """Return whether the first notices and the rest are in the group."""
        found: Flags = ((noticing & self.first) != 0) & ((group & self.rest) == self.rest)
        return found

    def extend(self, agent: Small) -> Chains:
        """Return the chains with one agent more, who is not the last."""
        return Chains(self.first, self.rest | _member(agent, self.first.dtype.type), agent, self.length + 1, self)


def _member(agent: Small, kind: type[np.unsignedinteger]) -> Mask:
    """Return the set that has one agent; empty for NOBODY and STRANGER."""
    found: Mask = np.where(agent < 0, kind(0), kind(1) << np.maximum(agent, 0).astype(kind))
    return found


def contract(chain: Small, kind: type[np.unsignedinteger]) -> Chains:
    """Return chains of local agent numbers [place in the chain, column] without repetitions side by side.

    Shorter chains end in NOBODY. What somebody thinks of its own thoughts is what it thinks.
    """
    first = np.where((chain == STRANGER).any(axis=0), kind(0), _member(chain[0], kind))
    nobody = np.zeros_like(first)
    made = Chains(first, nobody, chain[0], np.ones_like(chain[0]))
    prefix = replace(made)
    for agent in chain[1:]:
        new = (agent != NOBODY) & (agent != made.last)
        longer = made.extend(agent)
        prefix = _choose(new, made, prefix)
        made = _choose(new, longer, made)
    return replace(made, prefix=prefix)


def _choose(where: Flags, one: Chains, other: Chains) -> Chains:
    names = [item.name for item in fields(Chains) if item.name != "prefix"]
    return Chains(*(np.where(where, getattr(one, name), getattr(other, name)) for name in names))


def _last_time(flags: Flags) -> Instants:
    """Return the last time at which each column's flag is set, or -1."""
    times = np.arange(1, flags.shape[0] + 1, dtype=np.int16)[:, None]
    latest: Instants = (flags * times).max(axis=0, initial=0) - np.int16(1)
    return latest


def _last_times_so_far(flags: Flags) -> Instants:
    """Return for each time the last time up to it at which the flag was set, or -1."""
    times = np.arange(flags.shape[0], dtype=np.int16).reshape(-1, *(1,) * (flags.ndim - 1))
    found = np.where(flags, times, np.int16(-1))
    for time in range(1, len(found)):  # whole rows: `np.maximum.accumulate` takes one column after the other
        np.maximum(found[time], found[time - 1], out=found[time])
    return found


def _at(array: npt.NDArray[Any], time: Instants, otherwise: int = NOBODY) -> npt.NDArray[Any]:
    """Look a [time, column] array up at one time per column or cell; `otherwise` where the time is -1."""
    columns = np.arange(array.shape[1])
    return np.where(time < 0, array.dtype.type(otherwise), array[np.maximum(time, 0), columns])


def whereabouts(stories: PlotArrays) -> Whereabouts:
    """Return who is where after each event; entering or leaving a room ends one's own watching and distraction."""
    steps, count = stories.kind.shape
    shape = (stories.agents, count)
    everybody = np.arange(stories.agents, dtype=np.int8)[:, None]
    kind, acts = stories.kind, stories.agent
    actor = _member(acts, stories.mask_type)
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


def _set_of(flags: Flags, kind: type[np.unsignedinteger]) -> Mask:
    """Return the sets of agents that [time, agent, column] or [agent, column] flags describe."""
    found = np.zeros((*flags.shape[:-2], flags.shape[-1]), kind)
    for agent in range(flags.shape[-2]):
        found |= flags[..., agent, :].astype(kind) << kind(agent)
    return found


def sights(stories: PlotArrays, where: Whereabouts, thing: Small, reading: NestedReading) -> Sights:
    """Return what stories show of one object each.

    Args:
        stories: The stories.
        where: Who is where in them.
        thing: The local number of each story's object.
        reading: The reading.
    """
    put = _puts(stories, thing)
    place, room = _last_put(put, stories.container, NOBODY), _last_put(put, stories.room, _NOWHERE)
    inside = where.room == room[:, None]
    present = _set_of(inside, stories.mask_type)
    noticing = (present | _set_of(where.watched == room[:, None], stories.mask_type)) & ~where.distracted
    witnesses = aware = present[:0]
    if reading.trust in (FRESHER, NEVER_LIARS):
        leaving = np.zeros_like(inside)
        leaving[1:] = (where.room[:-1] == room[1:, None]) & ~inside[1:]
        leaver = _set_of(leaving, stories.mask_type)
        witnesses, aware = present | leaver, noticing | leaver
        aware[1:] &= ~(leaver[1:] & where.distracted[:-1])
    stays = _last_times_so_far(inside) if reading.trust == HI_TOM else np.zeros((0, *place.shape[1:]), np.int16)
    finding, parted = _findings(stories, where, room) if reading.sight == INFER_MOVER else (place[:0], present[:0])
    return Sights(place, put, present, noticing, witnesses, aware, stays, finding, parted)


def _last_put(put: Flags, where: Small, otherwise: int) -> Small:
    """Return where each object was put last, up to each time."""
    found = np.empty_like(where)
    now = np.full(where.shape[1], otherwise, where.dtype)
    for time, puts in enumerate(put):
        now = np.where(puts, where[time], now)
        found[time] = now
    return found


def _findings(stories: PlotArrays, where: Whereabouts, room: Small) -> tuple[Small, Mask]:
    """Return who enters the object's room from elsewhere, and whom it had walked out on there when it last saw them."""
    earlier = np.full_like(where.room, NOBODY)
    earlier[1:] = where.room[:-1]
    steps, count = stories.kind.shape
    everybody = np.arange(stories.agents, dtype=np.int8)[:, None]
    finding = np.full((steps, count), NOBODY, np.int8)
    behind = np.zeros((steps, count), stories.mask_type)
    for agent in range(stories.agents):
        here, before = where.room[:, agent], earlier[:, agent]
        comes = (stories.kind == EventKind.ENTER) & (stories.agent == agent) & (here == room) & (before != here)
        together = (where.room == here[:, None]) & (here >= 0)[:, None]
        met = np.full_like(where.room, NOBODY, np.int16)
        met[1:] = _last_times_so_far(together)[:-1]
        columns = np.arange(count)
        ended = np.minimum(met + 1, steps - 1)
        there = here[np.maximum(met, 0), columns] == room[:, None]
        walked_out = stories.agent[ended, columns] == agent
        blamed = (met >= 0) & there & walked_out & (everybody != agent)
        finding = np.where(comes, np.int8(agent), finding)
        behind = np.where(comes, _set_of(blamed, stories.mask_type), behind)
    return finding, behind


def messages(stories: PlotArrays, where: Whereabouts) -> Messages:
    """Return the messages of each story, in order."""
    kind = stories.kind
    spoken = (kind == EventKind.TELL) | (kind == EventKind.WHISPER) | (kind == EventKind.ANNOUNCE)
    rank = np.cumsum(spoken, axis=0, dtype=np.int16)
    when, who = np.nonzero(spoken)
    time = np.full((int(rank.max(initial=0)), kind.shape[1]), -1, np.int16)
    time[rank[when, who] - 1, who] = when
    speaker, thing, said, hearer = (
        _at(array, time) for array in (stories.agent, stories.thing, stories.container, stories.hearer)
    )
    columns, at = np.arange(kind.shape[1]), np.maximum(time, 0)
    how = _at(kind, time, EventKind.NOISE)
    rooms = where.room[at[:, None], np.arange(stories.agents)[:, None], columns]
    here = np.take_along_axis(rooms, np.maximum(speaker, 0)[:, None].astype(np.intp), axis=1)
    here = np.where(here < 0, np.int8(_NOWHERE), here)
    in_room = _set_of(rooms == here, stories.mask_type)
    watching = _set_of(
        where.watched[at[:, None], np.arange(stories.agents)[:, None], columns] == here, stories.mask_type
    )
    two = _member(speaker, stories.mask_type) | _member(hearer, stories.mask_type)
    whispered, announced = how == EventKind.WHISPER, how == EventKind.ANNOUNCE
    everybody = stories.mask_type((1 << stories.agents) - 1)
    group = np.where(announced, everybody, np.where(whispered, in_room & two, in_room))
    secret = np.where(how == EventKind.TELL, watching, stories.mask_type(0))
    hearing = (group | secret) & ~_at(where.distracted, time, 0)
    return Messages(time, speaker, thing, said, group, hearing)


_Columned = TypeVar("_Columned", Messages, Sights, Whereabouts)


def _pick(arrays: _Columned, columns: Columns) -> _Columned:
    """Return some columns of all arrays."""
    return replace(arrays, **{item.name: getattr(arrays, item.name)[..., columns] for item in fields(arrays)})


def _row(array: npt.NDArray[Any], agent: Small) -> npt.NDArray[Any]:
    """Look an [agent, column] array up for one agent per column."""
    return array[np.maximum(agent, 0), np.arange(array.shape[1])]


def _distinct(numbers: Columns) -> tuple[Columns, Columns]:
    """Return the distinct numbers in order, and the place of each among them: `np.unique` for small numbers."""
    occurs = np.zeros(1 + int(numbers.max(initial=0)), np.bool_)
    occurs[numbers] = True
    places = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), places[numbers]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Chains that are asked about one object each, one per column.

    Attributes:
        said: The messages of their stories.
        chain: The chains.
        shown: What is seen of the objects.
        thing: The objects.
        node: The number of each chain among those who may catch liars.
        prefix: The number of the chain without its last agent.
    """

    said: Messages
    chain: Chains
    shown: Sights
    thing: Small
    node: Columns
    prefix: Columns


class Minds:
    """What chains of agents believe under one reading, one column per question."""

    def __init__(self, stories: PlotArrays, columns: Columns, chain: Small, reading: NestedReading) -> None:
        """Prepare to ask.

        Args:
            stories: The stories.
            columns: The story of each question.
            chain: Local agent numbers [place in the chain, question]; shorter chains end in NOBODY, and who is not in
                the story is STRANGER.
            reading: The reading.
        """
        self._stories, self._columns, self._reading = stories, columns, reading
        self.where = whereabouts(stories)
        self._said = messages(stories, self.where)
        self._chain = contract(chain, stories.mask_type)
        self._nodes = np.zeros(0, np.int64)
        self._caught = np.zeros((1, stories.agents), np.int16)
        if reading.trust == NEVER_LIARS:
            self._find_liars()

    def over_time(self, thing: Small) -> Small:
        """Return where each chain believes its object to be after each event, [time, question]; NOBODY: no belief."""
        flags, values = self._informed_of(thing)
        return _at(values, _last_times_so_far(flags))

    def at_the_end(self, thing: Small) -> Small:
        """Return where each chain believes its object to be at the end; NOBODY if it has no belief."""
        flags, values = self._informed_of(thing)
        return _at(values, _last_time(flags))

    def decided(self, thing: Small) -> Instants:
        """Return the event from which each chain has its belief at the end; -1 if it has none."""
        return _last_time(self._informed_of(thing)[0])

    def _informed_of(self, thing: Small) -> tuple[Flags, Small]:
        # Questions about the same object of the same story share what is seen of it.
        most = 1 + int(thing.max(initial=0))
        pairs, which = _distinct(self._columns * most + thing)
        story, things = pairs // most, (pairs % most).astype(np.int8)
        stories, where = self._stories, self.where
        if len(story) != stories.kind.shape[1] or (story[1:] == story[:-1]).any():
            stories, where = stories.pick(story), _pick(where, story)
        shown = _pick(sights(stories, where, things, self._reading), which)
        chain = self._chain
        node = prefix = np.zeros(len(thing), np.intp)
        if self._reading.trust == NEVER_LIARS:
            node, prefix = (self._find(self._key(self._columns, each)) for each in (chain, chain.prefix or chain))
        asked = _Asked(_pick(self._said, self._columns), chain, shown, thing, node, prefix)
        return self._informed(asked, len(self._said.time))

    def _informed(self, asked: _Asked, upto: int) -> tuple[Flags, Small]:
        """Return from which events chains learn where an object is, and what they learn, [time, column].

        Only the first messages count, up to a number.
        """
        flags, values = self._seen_and_heard(asked, upto)
        chain, shown = asked.chain, asked.shown
        if self._reading.sight == INFER_MOVER and chain.prefix is not None and (chain.length == 2).any():
            # The first of the two returns, and the object is not where the first, alone, believed it to be.
            known, places = self._seen_and_heard(replace(asked, chain=chain.prefix, node=asked.prefix), upto)
            remembered = np.full_like(places, NOBODY)
            remembered[1:] = _at(places, _last_times_so_far(known))[:-1]
            surprised = (remembered != NOBODY) & (remembered != shown.place)
            kind = chain.first.dtype.type
            returns = (_member(shown.finding, kind) & chain.first) != 0
            flags |= (chain.length == 2) & returns & surprised & ((shown.parted & _member(chain.last, kind)) != 0)
        return flags, values

    def _seen(self, chain: Chains, shown: Sights) -> Flags:
        """Return when chains see an object together."""
        seen = chain.take_part(shown.noticing, shown.present)
        return seen & shown.put if self._reading.sight == CLOSED else seen

    def _is_stale(self, chain: Chains, shown: Sights, agent: Small, time: Instants) -> Flags:
        """Return whether the last of each chain has seen the object later than an agent before some time.

        As the others of the chain know it: who leaves others with the object knows that they see it later.
        """
        kind = chain.first.dtype.type
        known = chain.take_part(shown.aware, shown.witnesses) & (np.arange(len(shown.put))[:, None] < time)
        if self._reading.sight == CLOSED:
            known &= shown.put
        sees = np.where(chain.length == 1, shown.noticing & chain.first, shown.present & _member(chain.last, kind)) != 0
        agent_sees = (shown.present & _member(agent, kind)) != 0
        return _last_time(known & agent_sees) < _last_time(known & sees)

    def _seen_and_heard(self, asked: _Asked, upto: int) -> tuple[Flags, Small]:
        """Return what chains learn by sights and messages, without what is concluded about a mover."""
        seen = self._seen(asked.chain, asked.shown)
        flags, values = seen.copy(), asked.shown.place.copy()
        columns = np.arange(flags.shape[1])
        for number in range(upto):
            time = np.maximum(asked.said.time[number], 0)
            # Who sees the object believes its eyes.
            learns = self._learns(asked, number) & ~seen[time, columns]
            flags[time, columns] |= learns
            values[time, columns] = np.where(learns, asked.said.said[number], values[time, columns])
        return flags, values

    def _learns(self, asked: _Asked, number: int) -> Flags:
        """Return whether chains come to believe a message about their object."""
        chain, shown, said, trust = asked.chain, asked.shown, asked.said, self._reading.trust
        speaker, time = said.speaker[number], said.time[number]
        of_speaker = chain.last == speaker
        part: Flags = (time >= 0) & (said.thing[number] == asked.thing)
        part &= chain.take_part(said.hearing[number], said.group[number])
        part &= ~(of_speaker & (chain.length == 1))  # one's own words teach one nothing
        if trust == ALWAYS or not part.any():
            return part
        if trust == HI_TOM:
            stays = shown.latest[np.maximum(time, 0), :, np.arange(len(time))].T
            # What the speaker believes is what the last but one takes its words for.
            judge = chain.last if chain.prefix is None else np.where(of_speaker, chain.prefix.last, chain.last)
            part &= _row(stays, speaker) > _row(stays, judge)
            return part
        if trust == FRESHER:
            part &= ~self._is_stale(chain, shown, speaker, time)  # nobody has seen it later than itself
            return part
        # What others think that the speaker believes depends on whether they take it for a liar.
        judge_node = np.where(of_speaker, asked.prefix, asked.node)
        part &= self._caught[judge_node, np.maximum(speaker, 0)] > number  # from the message on that gave it away
        return part

    def _key(self, story: Columns, chain: Chains) -> Columns:
        """Return a number for each chain: its story, first and last agent, and the set of those after the first.

        Whether a chain catches a liar depends on nothing else.
        """
        agents = self._stories.agents
        first = np.full(len(story), agents)  # nobody, for a chain with a stranger
        for agent in range(agents):
            first[chain.first == chain.first.dtype.type(1 << agent)] = agent
        last = (story * (agents + 1) + first) * agents + np.maximum(chain.last, 0)
        found: Columns = (last << agents) | chain.rest.astype(np.int64)
        return found

    def _chains_of(self, keys: Columns) -> tuple[Columns, Chains]:
        """Return the story and the chain of each key."""
        agents, kind = self._stories.agents, self._stories.mask_type
        rest, ends = keys & ((1 << agents) - 1), keys >> agents
        first = ends // agents % (agents + 1)
        first_set = _member(np.where(first < agents, first, NOBODY).astype(np.int8), kind)
        # Neighbours in a chain differ, so one agent after the first means a chain of two.
        length = np.where(rest == 0, 1, np.where(rest & (rest - 1) == 0, 2, 3)).astype(np.int8)
        chains = Chains(first_set, rest.astype(kind), (ends % agents).astype(np.int8), length)
        return ends // agents // (agents + 1), chains

    def _find(self, keys: Columns) -> Columns:
        """Return the numbers of chains among those who may catch liars; that of nobody, the last, for all others."""
        if not len(self._nodes):
            return np.zeros(len(keys), np.intp)
        place = np.minimum(np.searchsorted(self._nodes, keys), len(self._nodes) - 1)
        return np.where(self._nodes[place] == keys, place, len(self._nodes))

    def _find_liars(self) -> None:
        """Find out which chains take which speakers for liars, and from which message on.

        A chain catches a speaker who says what the chain thinks that the speaker does not believe, and what can be no
        news. What it thinks of the speaker rests on earlier messages, and so on whom a longer chain has caught by then.
        Hence the longer chains are listed first, as far as they matter; then messages are judged in their order.
        """
        said, chain = self._said, self._chain
        if not len(said.time):
            return
        shown = [sights(self._stories, self.where, thing, self._reading) for thing in said.thing]
        asked = [self._key(self._columns, each) for each in (chain, chain.prefix or chain)]
        frontier = np.unique(np.concatenate(asked))
        bound = np.full(len(frontier), len(said.time))
        known, until = frontier[:0], bound[:0]  # the chains that were examined, and up to which message
        suspicions: list[list[Columns]] = [[] for _ in said.time]
        while len(frontier):
            since = np.zeros_like(bound)
            old = np.isin(frontier, known)
            since[old] = until[np.searchsorted(known, frontier[old])]
            following = self._suspect(frontier, since, bound, shown)
            for number, (keys, _) in enumerate(following):
                suspicions[number].append(keys)
            known, until = _latest(np.concatenate([known, frontier]), np.concatenate([until, bound]))
            longer = np.concatenate([frontier[:0], *(keys for _, keys in following)])
            needed = np.concatenate([bound[:0], *(np.full(len(keys), m) for m, (_, keys) in enumerate(following))])
            frontier, bound = _latest(longer, needed)
            place = np.minimum(np.searchsorted(known, frontier), len(known) - 1)
            is_new = (known[place] != frontier) | (until[place] < bound)
            frontier, bound = frontier[is_new], bound[is_new]
        suspecting = [np.concatenate(keys) for keys in suspicions]
        self._nodes = np.unique(np.concatenate([known[:0], *suspecting]))
        never = np.iinfo(np.int16).max
        self._caught = np.full((len(self._nodes) + 1, self._stories.agents), never, np.int16)
        for number, keys in enumerate(suspecting):
            self._judge(keys, number, shown[number])

    def _suspect(
        self, keys: Columns, since: Columns, bound: Columns, shown: list[Sights]
    ) -> list[tuple[Columns, Columns]]:
        """Return for each message which chains hear it and that it can be no news, and these with the speaker added.

        It can be none if they are looking at the object with the speaker, or have seen it since the speaker last did.
        """
        story, chain = self._chains_of(keys)
        said, found = self._said, []
        numbers = np.arange(len(said.time))[:, None]
        hears = chain.take_part(said.hearing[:, story], said.group[:, story]) & (said.time[:, story] >= 0)
        hears &= (said.speaker[:, story] != chain.last) & (since <= numbers) & (numbers < bound)
        for number, heard in enumerate(hears):
            some = np.flatnonzero(heard)
            if not len(some):
                found.append((keys[:0], keys[:0]))
                continue
            speaker, time = said.speaker[number, story[some]], said.time[number, story[some]]
            few = Chains(chain.first[some], chain.rest[some], chain.last[some], chain.length[some])
            seen, longer = _pick(shown[number], story[some]), few.extend(speaker)
            looks = self._seen(longer, seen)[time, np.arange(len(some))]
            suspects = looks | self._is_stale(few, seen, speaker, time)
            found.append((keys[some][suspects], self._key(story[some], longer)[suspects]))
        return found

    def _judge(self, keys: Columns, number: int, shown: Sights) -> None:
        """Note which chains catch the speaker of a message, those of earlier messages being known."""
        if not len(keys):
            return
        story, chain = self._chains_of(keys)
        said = _pick(self._said, story)
        speaker, time = said.speaker[number], said.time[number]
        longer = chain.extend(speaker)
        node = self._find(keys)
        asked = _Asked(
            said, longer, _pick(shown, story), said.thing[number], self._find(self._key(story, longer)), node
        )
        flags, values = self._informed(asked, number)
        before = np.arange(len(flags), dtype=np.int16)[:, None] < time
        believed = _at(values, _last_time(flags & before))
        lies = (believed != NOBODY) & (believed != said.said[number])
        earliest = self._caught[node[lies], speaker[lies]]
        self._caught[node[lies], speaker[lies]] = np.minimum(earliest, number)


def _latest(keys: Columns, bounds: Columns) -> tuple[Columns, Columns]:
    """Return the distinct keys in order, each with its greatest bound."""
    order = np.lexsort((bounds, keys))
    keys, bounds = keys[order], bounds[order]
    last = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) if len(keys) else order
    return keys[last], bounds[last]


def beliefs(stories: PlotArrays, columns: Columns, thing: Small, chain: Small, reading: NestedReading) -> Small:
    """Return where chains believe objects to be at the end, one question per column; NOBODY for no belief.

    Args:
        stories: The stories.
        columns: The story of each question.
        thing: The local number of each question's object; one that is not in the story has a number of no object.
        chain: Local agent numbers [place in the chain, question]; shorter chains end in NOBODY, and who is not in the
            story is STRANGER. All NOBODY: where the object really is.
        reading: The reading.
    """
    found = np.full(len(columns), NOBODY, np.int8)
    real = chain[0] == NOBODY if len(chain) else np.ones(len(columns), np.bool_)
    asked = np.flatnonzero(~real)
    if len(asked):
        story, places = _distinct(columns[asked])
        minds = Minds(stories.pick(story), places, chain[:, asked], reading)
        found[asked] = minds.at_the_end(thing[asked])
    if real.any():
        found[real] = reality(stories.pick(columns[real]), thing[real])
    return found


def _puts(stories: PlotArrays, thing: Small) -> Flags:
    moved = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    found: Flags = moved & (stories.thing == thing)
    return found


def reality(stories: PlotArrays, thing: Small) -> Small:
    """Return where the object of each story really is at the end; NOBODY if nowhere."""
    return _at(stories.container, _last_time(_puts(stories, thing)))


def memory(stories: PlotArrays, thing: Small) -> Small:
    """Return where the object of each story was first put; NOBODY if nowhere."""
    put = _puts(stories, thing)
    first = np.where(put.any(axis=0), put.argmax(axis=0), -1).astype(np.int16)
    return _at(stories.container, first)
