"""The oracle of nested beliefs: where each chain of agents believes an object to be, for whole blocks at once.

A chain a₁ a₂ … aₖ *takes part* in an event if a₁ notices it and a₂ … aₖ belong to the group for whom it is common. A
belief along a chain is the place that the last event showed or said which the chain took part in and learnt from. It
learns from every sight, and from those messages that the last of the chain believes, as the others of the chain see it.

Therefore a chain, however long, comes down to its first agent, the set of the agents after the first, and the last and
the last but one agent. Who is with which object, and when, is kept as sets of instants, so that what a chain sees is an
intersection. Stories and questions have columns of their own.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import (
    NOBODY,
    STRANGER,
    Flags,
    Mask,
    PlotArrays,
    Small,
    distinct,
    set_type,
    starts_of_runs,
)
from storyproof.families.belief.readings import (
    ALWAYS,
    CLOSED,
    FLAT,
    FRESHER,
    HI_TOM,
    INFER_MOVER,
    NEVER_LIARS,
    OPEN,
    BeliefReading,
)
from storyproof.families.belief.time_sets import (
    Instants,
    Times,
    before,
    collect,
    delay,
    fill,
    first,
    has,
    is_later,
    last,
    members,
    one_of,
    pack,
    single,
    unpack,
    until,
)
from storyproof.families.belief.trajectories import Course, member
from storyproof.families.belief.world import EventKind

Columns = npt.NDArray[np.intp]

_SMALL = 16  # agents up to which a set of them is its own number
_SETS = 24  # bits of the number of a larger set


class Chains:
    """Chains of agents without repetitions side by side, one per column.

    Of chains that were picked from others, only what is asked for is looked up.

    Attributes:
        first: The first agent; NOBODY for a chain with a stranger, which takes part in nothing.
        rest: The set of all after the first.
        last: The last agent.
        length: How many agents; repetitions side by side count once.
        before_last: The last but one agent; NOBODY if there is none.
        prefix: The set of all after the first without the last one.
    """

    first: Small
    rest: Mask
    last: Small
    length: Small
    before_last: Small
    prefix: Mask

    def __init__(self, first: Small, rest: Mask, last: Small, length: Small, before_last: Small, prefix: Mask) -> None:
        self.first, self.rest, self.last, self.length = first, rest, last, length
        self.before_last, self.prefix = before_last, prefix
        self._whole, self._columns = self, np.zeros(0, np.intp)

    def pick(self, columns: Columns) -> Chains:
        """Return some of the chains."""
        picked = Chains.__new__(Chains)
        picked._whole = self._whole
        picked._columns = columns if self._whole is self else self._columns.take(columns)
        return picked

    def __getattr__(self, name: str) -> Any:
        if name not in Chains.__annotations__:
            raise AttributeError(name)
        found = getattr(self._whole, name).take(self._columns)
        setattr(self, name, found)
        return found

    def extend(self, agent: Small) -> Chains:
        """Return the chains with one agent more, who is not the last."""
        longer = self.rest | member(agent, self.rest.dtype.type)
        return Chains(self.first, longer, agent, self.length + np.int8(1), self.last, self.rest)

    def shorten(self) -> Chains:
        """Return the chains without their last agents; what comes before the last but one agent is not known."""
        return Chains(
            self.first,
            self.prefix,
            self.before_last,
            self.length - np.int8(1),
            np.full_like(self.last, NOBODY),
            np.zeros_like(self.prefix),
        )


def contract(chain: Small, agents: int) -> Chains:
    """Return chains without repetitions side by side: believing that one believes something is believing it.

    Args:
        chain: Local agent numbers [place in the chain, column]; shorter chains end in NOBODY, and who is not in the
            story is STRANGER, or has a number that is no agent's.
        agents: How many agents a story has at most.
    """
    kind = set_type(agents)
    chain = np.where(chain < agents, chain, np.int8(STRANGER))
    first = np.where((chain == STRANGER).any(axis=0), np.int8(NOBODY), chain[0])
    last, length = chain[0], np.ones_like(chain[0])
    before_last, rest, prefix = np.full_like(first, NOBODY), np.zeros(len(first), kind), np.zeros(len(first), kind)
    for agent in chain[1:]:
        new = (agent != NOBODY) & (agent != last)
        if not new.any():
            continue
        prefix = np.where(new, rest, prefix)
        rest = rest | np.where(new, member(agent, kind), kind(0))
        before_last, last = np.where(new, last, before_last), np.where(new, agent, last)
        length = length + new
    return Chains(first, rest, last, length, before_last, prefix)


def surprises(course: Course) -> tuple[Flags, Flags]:
    """Return who may infer who moved an object, [agent, object, column]; and who may hear of an object after that.

    To be surprised, an agent has seen an object or heard of it, returns to it, and since it was last seen it was put
    somewhere or spoken of. A surprise about any object may show that a speaker lied, who is then not believed later.
    """
    shown = course.sights
    heard = course.hearing.hearing[:, :, None] & course.about[:, None]
    stays = np.zeros_like(shown.present)
    for room in range(course.rooms):
        stays |= delay(course.inside[:, :, None, room]) & course.home[:, None, :, room]
    news = (course.puts[:, None] | heard) & ~shown.noticing
    unaware = fill(news, news | shown.noticing, course.sentences.whole)
    returns = course.walks[:, :, None] & shown.present & ~stays & delay(unaware)
    known = first(shown.noticing | heard)
    returns &= ~until(known, course.words)
    returns[:, known < 0] = 0
    surprised = first(np.bitwise_or.reduce(returns, axis=2))
    later = heard & ~until(surprised, course.words)[:, :, None]
    return (returns != 0).any(axis=0), (later != 0).any(axis=0) & (surprised >= 0)[:, None]


def _distinct(numbers: Columns) -> tuple[Columns, Columns]:
    """Return the distinct numbers in order, and the place of each among them: `np.unique` for small numbers."""
    occurs = np.zeros(1 + int(numbers.max(initial=0)), np.bool_)
    occurs[numbers] = True
    places = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), places[numbers]


def is_weighed(reading: BeliefReading) -> bool:
    """Return whether beliefs depend on more than what chains see and hear together: on trust, or on a surprise."""
    return reading.trust != ALWAYS or reading.sight == INFER_MOVER


@dataclass(frozen=True, slots=True)
class _Asked:
    """Chains that are asked about one object each, one per column.

    Attributes:
        story: Their stories.
        chain: The chains.
        thing: The objects.
        spot: The place of each object among those of all stories; that of another one if it is not in the story.
        node: The number of each chain among those who may catch liars.
        prefix: The number of the chain without its last agent.
    """

    story: Columns
    chain: Chains
    thing: Small
    spot: Columns
    node: Columns
    prefix: Columns

    @classmethod
    def of(cls, course: Course, story: Columns, chain: Chains, thing: Small, node: Columns, prefix: Columns) -> _Asked:
        """Return chains that are asked about objects."""
        spot = np.minimum(thing, course.objects - 1) * np.intp(course.count) + story
        return cls(story, chain, thing, spot, node, prefix)

    def pick(self, columns: Columns) -> _Asked:
        """Return some of the chains."""
        spot, node, prefix = (each[columns] for each in (self.spot, self.node, self.prefix))
        return _Asked(self.story[columns], self.chain.pick(columns), self.thing[columns], spot, node, prefix)


@dataclass(frozen=True, slots=True)
class _Informed:
    """When chains learn where their objects are: from what they are shown, and else from what they are told."""

    shown: Instants
    told: Instants

    def until(self, limit: Instants) -> _Informed:
        """Return what chains learn at some instants only."""
        return _Informed(self.shown & limit, self.told & limit)


class Minds:
    """What chains of agents believe under one reading, one column per question."""

    def __init__(self, course: Course, story: Columns, chain: Chains, thing: Small, sight: str) -> None:
        """Prepare to ask.

        Args:
            course: What happens in the stories.
            story: The column of each question's story.
            chain: The chain of each question.
            thing: The object of each question.
            sight: What people see; whom they believe is said with each question.
        """
        self._course, self._stories, self._sight, self._words = course, course.stories, sight, course.words
        nobody = np.zeros(len(story), np.intp)
        self._asked = _Asked.of(course, story, chain, thing, nobody, nobody)
        self._sights, self._hearing = course.sights, course.hearing
        self._nodes = np.zeros(0, np.int64)
        self._sets: Mask = np.zeros(0, course.stories.mask_type)
        self._caught = np.zeros((1, course.stories.agents), np.int16)

    def over_time(self, trust: str) -> Small:
        """Return where each chain believes its object to be after each event, [time, question]; NOBODY: no belief."""
        asked = self._find_liars(self._asked) if trust == NEVER_LIARS else self._asked
        informed = self._informed(asked, None, trust)
        shown, told = (unpack(each, len(self._stories.kind)) for each in (informed.shown, informed.told))
        steps = np.arange(len(shown))[:, None]
        puts = unpack(self._course.puts.reshape(len(self._course.puts), -1), len(shown))
        put = np.maximum.accumulate(np.where(puts, steps, -1), axis=0).take(asked.spot, axis=1)
        time = np.where(shown, put, steps)  # people believe what they see
        learnt = np.maximum.accumulate(np.where(shown | told, steps, -1), axis=0)
        time = np.where(learnt < 0, -1, np.take_along_axis(time, np.maximum(learnt, 0), axis=0))
        return self._course.place_at(time, np.broadcast_to(asked.story, time.shape)).astype(np.int8)

    def at_the_end(self, trust: str) -> Small:
        """Return where each chain believes its object to be at the end; NOBODY if it has no belief."""
        if trust != ALWAYS and self._sight == INFER_MOVER:  # what is a surprise depends on what was believed before
            asked = self._find_liars(self._asked) if trust == NEVER_LIARS else self._asked
            return self._places(asked, self._informed(asked, None, trust))
        if trust == ALWAYS:
            return self._trusting
        informed, found, some = self._credulous, self._trusting.copy(), np.flatnonzero(self.doubtful())
        if len(some):
            few = self._asked.pick(some)
            if trust == NEVER_LIARS:
                few = self._find_liars(few)
            shown, told = (each.take(some, axis=1) for each in (informed.shown, informed.told))
            found[some] = self._places(few, _Informed(shown, self._trusted(few, told, trust)))
        return found

    def doubtful(self) -> Flags:
        """Return which chains may believe something else if they do not trust: they were told the last thing they know.

        Distrust takes messages away. So who was shown the object after all messages believes the same if it trusts.
        """
        return is_later(self._credulous.told, self._credulous.shown)

    def decided(self) -> Times:
        """Return the event from which each chain has its belief at the end, if it always trusts; -1 if it has none."""
        return last(self._credulous.shown | self._credulous.told)

    def under(self, sight: str) -> Minds:
        """Return the same chains if people see something else; what they are told stays the same."""
        other = copy(self)
        other._sight = sight
        other.__dict__.pop("_trusting", None)
        if "_credulous" in self.__dict__ and (self._sight, sight) == (OPEN, CLOSED):
            known = self._credulous
            other._credulous = _Informed(known.shown & _at(self._course.puts, self._asked.spot), known.told)
        else:
            other.__dict__.pop("_credulous", None)
        return other

    @cached_property
    def _trusting(self) -> Small:
        """Where chains believe their objects to be at the end if they believe every message."""
        return self._places(self._asked, self._credulous)

    @cached_property
    def _credulous(self) -> _Informed:
        """What chains learn who believe every message."""
        return self._informed(self._asked, None, ALWAYS)

    def _places(self, asked: _Asked, informed: _Informed) -> Small:
        """Return what chains believe who learnt something; NOBODY if they have learnt nothing."""
        decided = last(informed.shown | informed.told)
        puts = _at(self._course.puts, asked.spot)
        put = last(puts & until(decided, self._words))
        time = np.where(has(informed.shown, decided), put, decided)  # people believe what they see
        return self._course.place_at(time, asked.story)

    def _known(self, thing: Small) -> Columns:
        """Return the numbers of objects; that of another one for objects that are not in the story."""
        found: Columns = np.minimum(thing, self._course.objects - 1).astype(np.intp)
        return found

    def _informed(self, asked: _Asked, limit: Instants | None, trust: str) -> _Informed:
        """Return from which events chains learn where an object is, within some instants.

        Args:
            asked: The chains.
            limit: The instants; None for all.
            trust: Which messages are believed.
        """
        shown = self._seen(asked.chain, asked)
        told = self._told(asked, limit, trust)
        if limit is not None:
            shown &= limit
        if self._sight == INFER_MOVER:
            pairs = np.flatnonzero((asked.chain.length == 2) & (asked.chain.first >= 0))
            if len(pairs):
                some = np.full_like(shown[:, pairs], ~shown.dtype.type(0)) if limit is None else limit[:, pairs]
                inferred = self._infer_movers(asked.pick(pairs), some, trust)
                shown[:, pairs] |= inferred
        return _Informed(shown, told)

    def _of(self, sets: Instants, agent: Small, asked: _Asked) -> Instants:
        """Return the sets of one agent per column, about the objects that are asked for; empty for NOBODY."""
        words, agents, objects, count = sets.shape
        index = np.maximum(agent, 0) * np.intp(objects) + self._known(asked.thing)
        found = one_of(sets.reshape(words, agents * objects, count), index, asked.story)
        absent = agent < 0
        if absent.any():
            found[:, absent] = 0
        return found

    def _together(self, noticing: Instants, group: Instants, chain: Chains, asked: _Asked) -> Instants:
        """Return when the first of each chain notices the objects that are asked for, and the rest are in the group."""
        words, agents, objects, count = group.shape
        flat = (words, agents, objects * count)
        found = _common(noticing.reshape(flat), group.reshape(flat), chain, asked.spot)
        strange = asked.thing >= objects
        if strange.any():
            found[:, strange] = 0
        return found

    def _seen(self, chain: Chains, asked: _Asked) -> Instants:
        """Return when chains see the objects that are asked for together."""
        seen = self._together(self._sights.noticing, self._sights.present, chain, asked)
        if self._sight == CLOSED:
            seen &= _at(self._course.puts, asked.spot)
        return seen

    def _is_stale(self, chain: Chains, asked: _Asked, agent: Small, time: npt.NDArray[Any]) -> Flags:
        """Return whether the last of each chain has seen the object later than an agent before some time.

        As the others of the chain know it: people who leave others with the object know that they see it later.
        """
        shown, known_by = self._sights, self._course.departures
        known = self._together(known_by.aware, known_by.witnesses, chain, asked) & before(time, self._words)
        if self._sight == CLOSED:
            known &= _at(self._course.puts, asked.spot)
        own, seen = self._of(shown.noticing, chain.first, asked), self._of(shown.present, chain.last, asked)
        sees = np.where(chain.length == 1, own, seen)
        return is_later(known & sees, known & self._of(shown.present, agent, asked))

    def _told(self, asked: _Asked, limit: Instants | None, trust: str) -> Instants:
        """Return when chains learn from messages, within some instants; None for all."""
        chain, course = asked.chain, self._course
        told = self._heard(chain, asked.story)
        told &= _at(course.about, asked.spot)
        if limit is not None:
            told &= limit
        alone = np.flatnonzero((chain.length == 1) & (chain.first >= 0))  # one's own words teach one nothing
        told[:, alone] &= ~course.by[:, chain.first[alone].astype(np.intp), asked.story[alone]]
        strange = asked.thing >= course.objects
        if strange.any():
            told[:, strange] = 0
        return self._trusted(asked, told, trust)

    def _trusted(self, asked: _Asked, told: Instants, trust: str) -> Instants:
        """Return which of the messages that chains hear they believe."""
        if trust == ALWAYS or not told.any():
            return told
        found = np.zeros_like(told)
        for number, sent in enumerate(self._course.messages.time):
            time = sent[asked.story]
            some = np.flatnonzero(has(told, time))
            if len(some):
                some = some[self._trusts(asked.pick(some), number, trust)]
                found[:, some] |= single(time[some], self._words)
        return found

    def _heard(self, chain: Chains, story: Columns) -> Instants:
        """Return which messages chains hear together."""
        return _common(self._hearing.hearing, self._hearing.group, chain, story)

    def _trusts(self, asked: _Asked, number: int, trust: str) -> Flags:
        """Return which chains, who hear a message about their objects, believe it."""
        chain, said = asked.chain, self._course.messages
        time, speaker = said.time[number, asked.story], said.speaker[number, asked.story]
        of_speaker = chain.last == speaker
        if trust in (HI_TOM, FLAT):
            # What the speaker believes is what the last but one takes its words for.
            judge, present = np.where(of_speaker, chain.before_last, chain.last), self._sights.present
            so_far = until(time, self._words)
            found: Flags = is_later(
                self._of(present, speaker, asked) & so_far, self._of(present, judge, asked) & so_far
            )
            if trust == FLAT:
                is_pair = chain.length == 2
                found &= (chain.length == 1) | (is_pair & of_speaker)
                found |= is_pair & (chain.first == speaker)
            return found
        if trust == FRESHER:
            return ~self._is_stale(chain, asked, speaker, time)  # nobody has seen it later than itself
        # What others think that the speaker believes depends on whether they take it for a liar.
        judge_node = np.where(of_speaker, asked.prefix, asked.node)
        caught: Flags = self._caught[judge_node, speaker] > number  # from the message on that gave it away
        return caught

    def _infer_movers(self, asked: _Asked, limit: Instants, trust: str) -> Instants:
        """Return when the first of two returns to an object that is not where it believed, as the mover may know.

        The second is somebody whom the first left behind in this room when it last saw them.
        """
        course, stories, words = self._course, self._stories, self._words
        agent, thing, story = asked.chain.first, self._known(asked.thing), asked.story
        there, back = np.zeros_like(limit), np.zeros_like(limit)
        for room in range(course.rooms):
            mine, home = course.inside[:, agent, room, story], course.home[:, thing, room, story]
            there |= mine & home
            back |= delay(mine) & home
        arrives = course.walks[:, agent, story] & there & ~back & ~course.away[:, agent, story] & limit
        arrives[:, asked.thing >= course.objects] = 0
        time, pair = members(arrives, len(stories.kind))
        comes = stories.kind[time, course.origin[story[pair]]] == EventKind.ENTER
        time, pair = time[comes], pair[comes]
        agent, thing, story, some = agent[pair], thing[pair], story[pair], asked.pick(pair)
        origin, past = course.origin[story], before(time, words)
        rooms = [course.inside[:, agent, room, story] for room in range(course.rooms)]
        together = np.zeros_like(past)
        for room, mine in enumerate(rooms):
            together |= mine & course.inside[:, some.chain.last, room, story]
        met = last(together & past)
        left = np.zeros(len(pair), np.bool_)
        for room, mine in enumerate(rooms):
            left |= has(mine, met) & has(course.home[:, thing, room, story], time)
        left &= stories.agent[np.minimum(met + 1, len(stories.kind) - 1), origin] == agent
        alone = replace(some, chain=some.chain.shorten(), node=some.prefix)
        known = _Informed(self._seen(alone.chain, alone) & limit[:, pair], self._told(alone, limit[:, pair], trust))
        remembered = self._places(alone, known.until(past))
        put = course.puts[:, thing, story] & until(time, words)
        place = stories.container[np.maximum(last(put), 0), origin]
        surprised = left & (remembered != NOBODY) & (remembered != place)
        return collect(time[surprised], pair[surprised], words, limit.shape[1])

    def _key(self, story: Columns, chain: Chains, rest: Mask, end: Small) -> Columns:
        """Return a number for each chain: its story, first and last agent, and the set of those after the first.

        Whether a chain catches a liar depends on nothing else.
        """
        agents = self._stories.agents
        first = np.where(chain.first < 0, agents, chain.first).astype(np.int64)  # nobody, for a chain with a stranger
        ends = (story * (agents + 1) + first) * agents + np.maximum(end, 0)
        found: Columns = (ends << self._set_bits) | self._number_sets(rest)
        return found

    def _number_sets(self, sets: Mask) -> Columns:
        """Return a number for each set of agents, always the same; of large sets those that occur are numbered."""
        if self._stories.agents <= _SMALL:
            return sets.astype(np.intp)
        values = distinct(sets)
        self._sets = np.concatenate([self._sets, values[~np.isin(values, self._sets)]])
        order = np.argsort(self._sets)
        found: Columns = order[np.searchsorted(self._sets, sets, sorter=order)]
        return found

    @property
    def _set_bits(self) -> int:
        return self._stories.agents if self._stories.agents <= _SMALL else _SETS

    def _chains_of(self, keys: Columns) -> tuple[Columns, Chains]:
        """Return the story and the chain of each key."""
        agents, kind = self._stories.agents, self._stories.mask_type
        numbers, ends = keys & ((1 << self._set_bits) - 1), keys >> self._set_bits
        rest = numbers.astype(kind) if agents <= _SMALL else self._sets[numbers]
        first = ends // agents % (agents + 1)
        first = np.where(first < agents, first, NOBODY).astype(np.int8)
        # Neighbours in a chain differ, so one agent after the first means a chain of two.
        length = np.where(rest == 0, 1, np.where(rest & (rest - kind(1)) == 0, 2, 3)).astype(np.int8)
        unknown, empty = np.full_like(first, NOBODY), np.zeros(len(keys), kind)
        chains = Chains(first, rest, (ends % agents).astype(np.int8), length, unknown, empty)
        return ends // agents // (agents + 1), chains

    def _find(self, keys: Columns) -> Columns:
        """Return the numbers of chains among those who may catch liars; that of nobody, the last, for all others."""
        if not len(self._nodes):
            return np.zeros(len(keys), np.intp)
        place = np.minimum(np.searchsorted(self._nodes, keys), len(self._nodes) - 1)
        return np.where(self._nodes[place] == keys, place, len(self._nodes))

    def _find_liars(self, asked: _Asked) -> _Asked:
        """Find out which chains take which speakers for liars, and from which message on.

        A chain catches a speaker who says what the chain thinks that the speaker does not believe, and what can be no
        news. What it thinks of the speaker rests on earlier messages, and so on whom a longer chain has caught by then.
        Hence the longer chains are listed first, as far as they matter; then messages are judged in their order.
        """
        said, chain = self._course.messages, asked.chain
        if not len(said.time):
            return asked
        own, shorter = (
            self._key(asked.story, chain, chain.rest, chain.last),
            self._key(asked.story, chain, chain.prefix, np.where(chain.length > 1, chain.before_last, chain.last)),
        )
        frontier = distinct(np.concatenate([own, shorter]))
        bound = np.full(len(frontier), len(said.time))
        known, until_message = frontier[:0], bound[:0]  # the chains that were examined, and up to which message
        suspicions: list[list[Columns]] = [[] for _ in said.time]
        while len(frontier):
            since = np.zeros_like(bound)
            if len(known):
                place = np.minimum(np.searchsorted(known, frontier), len(known) - 1)
                since = np.where(known[place] == frontier, until_message[place], 0)
            following = self._suspect(frontier, since, bound)
            for number, (keys, _) in enumerate(following):
                suspicions[number].append(keys)
            known, until_message = _latest(np.concatenate([known, frontier]), np.concatenate([until_message, bound]))
            longer = np.concatenate([frontier[:0], *(keys for _, keys in following)])
            needed = np.concatenate([bound[:0], *(np.full(len(keys), m) for m, (_, keys) in enumerate(following))])
            frontier, bound = _latest(longer, needed)
            place = np.minimum(np.searchsorted(known, frontier), len(known) - 1)
            is_new = (known[place] != frontier) | (until_message[place] < bound)
            frontier, bound = frontier[is_new], bound[is_new]
        suspecting = [np.concatenate(keys) for keys in suspicions]
        self._nodes = distinct(np.concatenate([known[:0], *suspecting]))
        never = np.iinfo(np.int16).max
        self._caught = np.full((len(self._nodes) + 1, self._stories.agents), never, np.int16)
        for number, keys in enumerate(suspecting):
            self._judge(keys, number)
        return replace(asked, node=self._find(own), prefix=self._find(shorter))

    def _suspect(self, keys: Columns, since: Columns, bound: Columns) -> list[tuple[Columns, Columns]]:
        """Return for each message which chains hear it and that it can be no news, and these with the speaker added.

        It can be none if they are looking at the object with the speaker, or have seen it since the speaker last did.
        """
        story, chain = self._chains_of(keys)
        said, found = self._course.messages, []
        numbers = np.arange(len(said.time))[:, None]
        hears = has(self._heard(chain, story), said.time[:, story])
        hears &= (said.speaker[:, story] != chain.last) & (since <= numbers) & (numbers < bound)
        for number, heard in enumerate(hears):
            some = np.flatnonzero(heard)
            if not len(some):
                found.append((keys[:0], keys[:0]))
                continue
            few, of = chain.pick(some), story[some]
            speaker, time, nodes = said.speaker[number, of], said.time[number, of], np.zeros(len(some), np.intp)
            longer = few.extend(speaker)
            asked = _Asked.of(self._course, of, few, said.thing[number, of], nodes, nodes)
            looks = has(self._seen(longer, asked), time)
            suspects = looks | self._is_stale(few, asked, speaker, time)
            found.append((keys[some][suspects], self._key(of, longer, longer.rest, longer.last)[suspects]))
        return found

    def _judge(self, keys: Columns, number: int) -> None:
        """Note which chains catch the speaker of a message, those of earlier messages being known."""
        if not len(keys):
            return
        story, chain = self._chains_of(keys)
        said = self._course.messages
        speaker, time = said.speaker[number, story], said.time[number, story]
        longer, node = chain.extend(speaker), self._find(keys)
        key = self._key(story, longer, longer.rest, longer.last)
        asked = _Asked.of(self._course, story, longer, said.thing[number, story], self._find(key), node)
        believed = self._places(asked, self._informed(asked, before(time, self._words), NEVER_LIARS))
        lies = (believed != NOBODY) & (believed != self._stories.container[time, self._course.origin[story]])
        earliest = self._caught[node[lies], speaker[lies]]
        self._caught[node[lies], speaker[lies]] = np.minimum(earliest, number)


def _at(sets: Instants, spot: Columns) -> Instants:
    """Return the sets of some objects, of [word, object, story] sets."""
    found: Instants = sets.reshape(len(sets), -1).take(spot, axis=1)
    return found


def _common(noticing: Instants, group: Instants, chain: Chains, index: Columns) -> Instants:
    """Return when the first of each chain notices something, and all the rest are in the group for whom it is common.

    Args:
        noticing: When an agent notices it, [word, agent, place].
        group: When an agent is in the group, [word, agent, place].
        chain: The chains.
        index: The place of each chain.
    """
    kind = chain.rest.dtype.type
    found = one_of(noticing, np.maximum(chain.first, 0), index)
    strange = chain.first < 0
    if strange.any():
        found[:, strange] = 0
    for agent in range(group.shape[1]):
        member = (chain.rest >> kind(agent)) & kind(1)
        if member.any():
            # All ones where the agent is not in the rest, so that nothing is asked of it.
            found &= group[:, agent].take(index, axis=1) | (member.astype(group.dtype) - group.dtype.type(1))
    return found


def _latest(keys: Columns, bounds: Columns) -> tuple[Columns, Columns]:
    """Return the distinct keys in order, each with its greatest bound."""
    if not len(keys):
        return keys, bounds
    order = np.argsort(keys)
    ordered = keys.take(order)
    starts = starts_of_runs(ordered)
    return ordered.take(starts), np.maximum.reduceat(bounds.take(order), starts)


def beliefs(course: Course, columns: Columns, thing: Small, chain: Small, reading: BeliefReading) -> Small:
    """Return where chains believe objects to be at the end, one question per column; NOBODY for no belief.

    Args:
        course: What happens in the stories.
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
        few = course if len(story) == course.count else course.pick(story)
        chains = contract(chain.take(asked, axis=1), course.stories.agents)
        found[asked] = Minds(few, places, chains, thing[asked], reading.sight).at_the_end(reading.trust)
    if real.any():
        found[real] = course.put(columns[real], thing[real], last)
    return found


def _puts(stories: PlotArrays, thing: Small) -> Flags:
    moved = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    found: Flags = moved & (stories.thing == thing)
    return found


def reality(stories: PlotArrays, thing: Small) -> Small:
    """Return where the object of each story really is at the end; NOBODY if nowhere."""
    time = last(pack(_puts(stories, thing)))
    place = stories.container[np.maximum(time, 0), np.arange(len(thing))]
    return np.where(time < 0, np.int8(NOBODY), place)
