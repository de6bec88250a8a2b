"""The checker of nested beliefs: the possible worlds of many stories as bit sets, a second derivation of every answer.

In every world each agent holds one world possible. A world is a history: which steps of the story happened in it, and
how they appear. The steps of all worlds are bits. Sentence t has two: 2 t for its words, if it is a message, and
2 t + 1 for the sight of an object after it. The world that an agent holds possible has those steps of a world that the
agent takes part in: in what really happens, those that the agent notices, and in what somebody thinks, those whose
group the agent belongs to. To follow a chain of agents is therefore one operation on machine words for each of them,
for all questions and steps at once. The place believed is what the last step shows or says.

Sights always assign a place. Whether words do depends on trust, and is found message by message, but only for worlds
in which a message about the object comes after the last sight of it. Under `infer-mover`, the world that the second of
two agents holds possible, in the mind of the first, also has the sights by which the first was surprised.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays
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
from storyproof.families.belief.world import MESSAGES, EventKind

Locals = npt.NDArray[np.integer[Any]]
Small = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.int64]
Steps = npt.NDArray[np.uint64]  # sets of steps, [machine word, row]; later steps are higher bits of later words

_NONE = -1
_UNWATCHED, _UNPLACED = -2, -9  # rooms of nobody's gaze and of no object; differ from any agent's room
_PER_BYTE, _PER_WORD = 4, 32  # sentences
_SIGHTS, _NO_STEPS = np.uint64(0xAAAA_AAAA_AAAA_AAAA), np.uint64(0)
_ONE = np.uint64(1)
_AT_ONCE = 1 << 15  # agents times objects times stories whose worlds are built together, so that they fit the cache
_MOST_CHAINS = 1 << 16  # that are followed together
_MOST_KEYS = 1 << 62  # that are told apart by one number
_BELIEF, _REALITY = ASKS.index(Ask.BELIEF), ASKS.index(Ask.REALITY)


class PlotEventBlock(NamedTuple):
    """Stories as [time, story] arrays of local numbers, -1 where a field does not apply.

    NOISE follows the end of shorter stories.
    """

    kind: npt.NDArray[np.uint8]
    agent: Locals
    room: Locals
    thing: Locals
    container: Locals
    hearer: Locals

    def between(self, start: int, end: int) -> PlotEventBlock:
        """Return the stories from one column up to another."""
        agent, room, thing, container, hearer = (each[:, start:end] for each in self[1:])
        return PlotEventBlock(self.kind[:, start:end], agent, room, thing, container, hearer)


class _Followed(NamedTuple):
    """Chains of agents that are followed from what really happens, one per row.

    Attributes:
        story: The story.
        thing: The object that is looked for.
        agents: The agents, outermost first, [place in the chain, row]; neighbours differ, and -1 after the last. All
            are known, and so is the object.
        length: How many there are.
    """

    story: Rows
    thing: Rows
    agents: Small
    length: Rows

    @classmethod
    def of(cls, story: Rows, thing: Rows, agents: Locals) -> _Followed:
        """Drop who stands beside itself: what I think of my own thoughts is what I think."""
        kept, is_named = agents.astype(np.int8), agents != _NONE
        length = is_named.sum(axis=0, dtype=np.intp)
        # Most chains stay as they are.
        odd = np.flatnonzero((is_named[1:] & ((kept[1:] == kept[:-1]) | ~is_named[:-1])).any(axis=0))
        if len(odd):
            kept[:, odd] = _NONE
            number, last = np.zeros(len(odd), np.intp), np.full(len(odd), _NONE, np.int8)
            for agent in agents.take(odd, axis=1):
                rows = np.flatnonzero((agent != _NONE) & (agent != last))
                kept[number[rows], odd[rows]] = last[rows] = agent[rows]
                number[rows] += 1
            length[odd] = number
        return cls(story, thing, kept[: max(1, int(length.max(initial=0)))], length)

    @property
    def last(self) -> Small:
        """The last agent of each chain."""
        found: Small = self.agents[self.length - 1, np.arange(len(self.story))]
        return found

    @property
    def last_but_one(self) -> Small:
        """The agent before the last one; any number where there is none."""
        found: Small = self.agents[self.length - 2, np.arange(len(self.story))]
        return found

    def pick(self, rows: Rows) -> _Followed:
        """Return some of the chains."""
        return _Followed(self.story[rows], self.thing[rows], self.agents.take(rows, axis=1), self.length[rows])

    def without_last(self, rows: Rows) -> _Followed:
        """Return all chains, some of them without their last agents."""
        agents, length = self.agents.copy(), self.length.copy()
        length[rows] -= 1
        agents[length[rows], rows] = _NONE
        return self._replace(agents=agents, length=length)

    def extended(self, agent: Small) -> _Followed:
        """Return the chains with one more agent each, who differs from the last."""
        agents = np.concatenate([self.agents, np.full((1, len(agent)), _NONE, np.int8)])
        agents[self.length, np.arange(len(agent))] = agent
        return self._replace(agents=agents, length=self.length + 1)


class MindBlock:
    """What everybody believes at the end of each of many stories, under `open` sight or another one (`under`)."""

    def __init__(self, plots: PlotEventBlock) -> None:
        """Build what happens in all stories, possible or not."""
        kind, agent, room, thing, container, hearer = _padded(plots)
        sentences, stories = kind.shape
        self._sight = OPEN
        self._people = people = 1 + int(max(0, agent.max(initial=0), hearer.max(initial=0)))
        self._things = things = 1 + int(max(0, _either(kind > EventKind.FEEL, thing, _NONE).max(initial=0)))
        self._stories, self._sentences, self._words = stories, sentences, -(-sentences // _PER_WORD)
        self._agent, self._thing = agent, thing
        who = np.arange(people, dtype=np.int8)[:, None]
        acts = agent[:, None] == who
        self._put = ((kind == EventKind.PLACE) | (kind == EventKind.MOVE))[:, None] & (
            thing[:, None] == np.arange(things, dtype=np.int8)[:, None]
        )
        self._enters, peeks = kind == EventKind.ENTER, kind == EventKind.PEEK
        comes = self._enters | (kind == EventKind.IS_IN)
        walks = comes | (kind == EventKind.EXIT)
        # Row 0 is before the first sentence, row t + 1 after sentence t.
        self._where = where = _run(_NONE, _either(comes, room, _NONE)[:, None], acts & walks[:, None])
        looks = acts & (peeks | (kind == EventKind.UNPEEK))[:, None]
        watched = _run(_UNWATCHED, _either(peeks, room, _UNWATCHED)[:, None], looks)
        drifts = kind == EventKind.DISTRACT
        wakes = acts & (drifts | (kind == EventKind.ATTEND))[:, None]
        self._attentive = attentive = _run(1, (~drifts).view(np.int8)[:, None], wakes).view(np.bool_)
        self._home = home = _run(_UNPLACED, _either(room >= 0, room, _UNPLACED)[:, None], self._put)
        place = _run(_NONE, container[:, None], self._put)
        self._build_sights(where, watched, attentive, home)
        says = (kind >= min(MESSAGES)) & (kind <= max(MESSAGES)) & (agent >= 0) & (thing >= 0)
        self._is_silent = not says.any()
        if not self._is_silent:
            self._build_messages(says, kind, hearer, acts, where[1:], watched[1:], attentive[1:])
        # What a step shows or says, by the number of the step from 1 on; 0 stands for no step.
        self._shown = np.full((2 * sentences + 1, things, stories), _NONE, np.int8)
        self._shown[1::2] = container[:, None]
        self._shown[2::2] = place[1:]
        steps = np.arange(2 * sentences + 1)
        bits = np.zeros((2 * sentences + 1, self._words), np.uint64)
        bits[steps[:-1], steps[:-1] // 64] = _ONE << (steps[:-1] % 64).astype(np.uint64)
        below = np.zeros_like(bits)
        np.cumsum(bits[:-1], axis=0, out=below[1:])  # sums of distinct bits
        self._below = np.ascontiguousarray(below.T)
        # What has happened when a message is heard: its sight, not its words.
        self._before: Steps = np.ascontiguousarray((below[:-1:2] | bits[1::2]).T)

    def under(self, sight: str) -> MindBlock:
        """Return the same stories under a sight; under `closed` objects are seen when they are placed or moved only."""
        other = copy(self)
        other._sight = sight
        if sight == CLOSED:
            shape = (self._words, self._things, self._people + 1, self._stories)
            words_and_puts = _pack(self._put, self._words).reshape(self._words, self._things, 1, -1) | ~_SIGHTS
            other._group, other._noticing = (
                (steps.reshape(shape) & words_and_puts).reshape(self._words, -1)
                for steps in (self._group, self._noticing)
            )
        return other

    def _build_sights(self, where: Small, watched: Small, attentive: Bools, home: Small) -> None:
        """Find out for each sight who is in its group, who notices it, and who in fact sees the object further on."""
        home = home[1:, :, None]
        inside = where[1:, None] == home
        before = where[:-1, None] == home
        leaves = before > inside  # knows who stays with the object, but does not see it any more
        notices = (inside | (watched[1:, None] == home)) & attentive[1:, None]
        notices |= leaves & attentive[:-1, None]
        self._group, self._noticing, self._present = (
            self._with_nobody(_pack(flags, self._words)) for flags in (inside | before, notices, inside)
        )

    def _with_nobody(self, steps: Steps) -> Steps:
        """Return the steps of agents by object, after those of nobody: all steps, so that chains may end anywhere."""
        found = np.full((self._words, self._things, self._people + 1, self._stories), ~np.uint64(0))
        found[:, :, 1:] = steps.reshape(self._words, self._things, self._people, self._stories)
        return found.reshape(self._words, -1)

    def _build_messages(
        self,
        says: Bools,
        kind: npt.NDArray[np.uint8],
        hearer: Small,
        acts: Bools,
        where: Small,
        watched: Small,
        attentive: Bools,
    ) -> None:
        """Find out for each message who is in its group and who notices it."""
        is_told, is_whispered, is_public = (
            (says & (kind == how))[:, None] for how in (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE)
        )
        hears = hearer[:, None] == np.arange(self._people, dtype=np.int8)[:, None]
        # The room of the speaker, who is the only one that acts.
        here = np.bitwise_or.reduce(where & np.negative(acts.view(np.int8)), axis=1)[:, None]
        is_inside = here >= 0
        near = (where == here) & is_inside
        group = near & (is_told | (is_whispered & (acts | hears)))
        group |= (where >= 0) & (is_inside & is_public)
        notices = (group | ((watched == here) & (is_inside & is_told))) & attentive
        about = self._thing[:, None] == np.arange(self._things, dtype=np.int8)[:, None]
        groups, noticing, self._said_by, self._about = (
            _pack(flags, self._words) >> _ONE for flags in (group, notices, acts & says[:, None], about & says[:, None])
        )
        shape = (self._words, self._things, self._people + 1, self._stories)
        for known, heard in ((self._group, groups), (self._noticing, noticing)):
            by_thing = known.reshape(shape)[:, :, 1:]
            by_thing |= heard.reshape(self._words, 1, self._people, self._stories)

    def _row(self, chains: _Followed, agent: Locals) -> Rows:
        """Return the rows of agents, or of nobody, in the sets of steps about the objects of chains."""
        found: Rows = (chains.thing * (self._people + 1) + 1 + agent) * self._stories + chains.story
        return found

    def _of_thing(self, chains: _Followed) -> Rows:
        """Return the rows of the objects of chains in sets of steps about objects."""
        found: Rows = chains.thing * self._stories + chains.story
        return found

    def _follow(self, chains: _Followed) -> Steps:
        """Return the steps of the worlds that one reaches from what really happens by following chains of agents."""
        first, *others = self._row(chains, chains.agents)
        steps: Steps = self._noticing.take(first, axis=1)
        for row in others:
            steps &= self._group.take(row, axis=1)
        return steps

    def _at(self, number: Rows, chains: _Followed) -> Small:
        """Return what a step shows or says about the objects of chains; `number` counts steps from 1, 0 for none."""
        at = number * (self._things * self._stories)
        at += self._of_thing(chains)
        found: Small = self._shown.reshape(-1).take(at)
        return found

    def _believe(self, chains: _Followed, trusts: Sequence[str], until: Steps | None = None) -> Small:
        """Return where chains believe their objects to be under each trust, [trust, row]; -1 for no belief.

        Args:
            chains: The chains, of at least one agent each.
            trusts: The trusts.
            until: The steps that have happened when the belief is asked for; all if None.
        """
        steps = self._follow(chains)
        if until is not None:
            steps &= until
        surprises = self._all_surprises(chains, trusts, until) if self._sight == INFER_MOVER else None
        if surprises is None:
            return self._conclude(chains, trusts, steps)
        is_surprised: Bools = np.logical_or.reduce(surprises, axis=(0, 1))
        calm, few = np.flatnonzero(~is_surprised), np.flatnonzero(is_surprised)
        places = np.empty((len(trusts), surprises.shape[-1]), np.int8)
        places[:, calm] = self._conclude(chains.pick(calm), trusts, steps[:, calm])
        chains, steps, surprises = chains.pick(few), steps[:, few], surprises[:, :, few]
        for place, trust in enumerate(trusts):
            places[place, few] = self._conclude(chains, (trust,), steps, surprises[place])[0]
        return places

    def _all_surprises(self, chains: _Followed, trusts: Sequence[str], until: Steps | None) -> Steps | None:
        """Return the sights that surprise the first of two agents, [trust, machine word, row]; None if none does."""
        pairs = np.flatnonzero(chains.length == 2)
        if not len(pairs):
            return None
        returns = self._returns(chains.pick(pairs))
        if until is not None:
            returns &= until[:, pairs]
        some = np.flatnonzero(returns.any(axis=0))
        returns, pairs = returns[:, some], pairs[some]
        few = chains.pick(pairs)
        # Where nobody speaks, nobody is trusted or distrusted.
        judged = trusts[:1] if self._is_silent else trusts
        each = self._surprises(few, returns, judged)
        if not each.any():
            return None
        found = np.zeros((len(trusts), self._words, len(chains.story)), np.uint64)
        found[:, :, pairs] = each
        return found

    def surprising(self, asked: QuestionArrays) -> Rows:
        """Return the questions whose answers may be others if people infer who moved an object.

        A surprise changes what the surprised agent thinks of one other agent. Whoever judges liars may judge them by
        that, so it also matters to what is said of the object after it. Everything rests on the first agent of a chain.
        """
        surprised, doubting = self._may_be_surprised()
        story, thing, chain = asked.story.astype(np.intp), asked.thing.astype(np.intp), asked.chain
        known = (thing >= 0) & (thing < self._things)
        thing = np.where(known, thing, 0)
        is_named = chain != _NONE
        # Chains of two agents, or those that become so because somebody stands beside themselves.
        pairs = (is_named.sum(axis=0) == 2) | (is_named[1:] & (chain[1:] == chain[:-1])).any(axis=0)
        is_open = np.isin(asked.ask, [ASKS.index(Ask.BELIEVERS), ASKS.index(Ask.COMMON)])  # anybody may be first
        by_anybody: Bools = np.logical_or.reduce(surprised | doubting, axis=0)
        changes = is_open & by_anybody[thing, story]
        for agent in chain[:2]:
            some = np.flatnonzero(~is_open & (agent >= 0) & (agent < self._people))
            at = agent[some].astype(np.intp), thing[some], story[some]
            changes[some] |= doubting[at] | (surprised[at] & pairs[some])
        return np.flatnonzero(known & changes)

    def _may_be_surprised(self) -> tuple[Bools, Bools]:
        """Return who may be surprised by an object; and who hears of it after any surprise, [agent, object, story].

        Whoever comes to an object is surprised only if it was put somewhere, or they heard of it, since they saw it.
        """
        people, things, stories = self._people, self._things, self._stories
        surprised, doubting = np.zeros((2, people, things, stories), np.bool_)
        first = np.full((people, stories), 2 * self._sentences, np.intp)  # the number of the first surprise by anything
        rows = np.flatnonzero(self._arrivals.any(axis=0))
        which, number = _members(self._arrivals[:, rows])
        thing, row = np.divmod(rows[which], people * stories)
        agent, story = np.divmod(row, stories)
        about, so_far = thing * stories + story, self._below.take(number, axis=1)
        noticed = self._noticing.take((thing * (people + 1) + 1 + agent) * stories + story, axis=1) & so_far
        seen, changes = noticed & _SIGHTS, _pack(self._put, self._words).take(about, axis=1) & _SIGHTS & so_far
        known = seen
        if not self._is_silent:
            told = noticed & self._about.take(about, axis=1)
            changes, known = changes | told, seen | told
        some = np.flatnonzero((_latest(changes) > _latest(seen)) & known.any(axis=0))
        thing, agent, story = thing[some], agent[some], story[some]
        surprised[agent, thing, story] = True
        np.minimum.at(first, (agent, story), number[some])
        if not self._is_silent:
            who, story = np.nonzero(first < 2 * self._sentences)
            later = ~self._below.take(first[who, story], axis=1)
            for each in range(things):
                told = self._noticing.take((each * (people + 1) + 1 + who) * stories + story, axis=1) & later
                told &= self._about.take(each * stories + story, axis=1)
                doubting[who, each, story] = told.any(axis=0)
        return surprised, doubting

    @cached_property
    def _arrivals(self) -> Steps:
        """The sights by which an agent comes to an object, [machine word, object, agent and story]."""
        who = np.arange(self._people, dtype=np.int8)[:, None]
        comes = (self._enters[:, None] & (self._agent[:, None] == who)) & self._attentive[1:]
        comes &= self._where[1:] != self._where[:-1]
        return _pack(comes[:, None] & (self._where[1:, None] == self._home[1:, :, None]), self._words)

    @cached_property
    def _rejoins(self) -> Steps:
        """The sights by which one agent comes into the room where it left another one, [machine word, pair and story].

        That is so if they were last in one room there, and the first then walked out.
        """
        people = self._people
        found = np.empty((self._sentences, people, people, self._stories), np.bool_)
        who = np.arange(people, dtype=np.int8)[:, None]
        met = np.full(found.shape[1:], _NONE, np.int8)  # the room where two last were together
        is_together, walked_out = np.zeros(met.shape, np.bool_), np.zeros(met.shape, np.bool_)
        for time, rejoins in enumerate(found):
            acts, now = (self._agent[time] == who)[:, None], self._where[time + 1][:, None]
            np.equal(met, now, out=rejoins)
            rejoins &= walked_out
            rejoins &= acts & self._enters[time]
            together = now == self._where[time + 1]
            together &= now >= 0
            walked_out |= is_together & acts
            walked_out &= ~together
            met ^= (met ^ now) & np.negative(together.view(np.int8))
            is_together = together
        return _pack(found, self._words)

    def _returns(self, chains: _Followed) -> Steps:
        """Return the sights by which the first of two agents returns to the object, having left the other there."""
        first, second = chains.agents[:2].astype(np.intp)
        returns: Steps = self._rejoins.take((first * self._people + second) * self._stories + chains.story, axis=1)
        returns &= self._arrivals.take((chains.thing * self._people + first) * self._stories + chains.story, axis=1)
        return returns

    def _surprises(self, chains: _Followed, returns: Steps, trusts: Sequence[str]) -> Steps:
        """Return which returns surprise the first agents: they believed the object to be in another place."""
        row, number = _members(returns)
        few, time = chains.pick(row), number // 2
        alone = few.without_last(np.arange(len(row)))
        alone = alone._replace(agents=alone.agents[:1])
        believed = self._believe(alone, trusts, self._below.take(2 * time, axis=1))
        place, found = self._at(number + 1, few), np.zeros((len(trusts), *returns.shape), np.uint64)
        for steps, places in zip(found, believed, strict=True):
            surprised = _differ(places, place)
            rows, numbers = row[surprised], number[surprised]
            np.bitwise_or.at(steps, (numbers // 64, rows), _ONE << (numbers % 64).astype(np.uint64))
        return found

    def _conclude(
        self, chains: _Followed, trusts: Sequence[str], steps: Steps, surprises: Steps | np.uint64 = _NO_STEPS
    ) -> Small:
        """Return where objects are under each trust in the worlds that chains lead to, [trust, row]; -1 for nowhere.

        Args:
            chains: The chains.
            trusts: The trusts.
            steps: The steps of the worlds that they lead to.
            surprises: Sights that only the first of the chain knows of.
        """
        seen = steps & _SIGHTS
        shown = seen | surprises
        if self._is_silent:
            return np.repeat(self._at(_latest(shown), chains)[None], len(trusts), axis=0)
        steps = steps & self._about.take(self._of_thing(chains), axis=1)
        # Words do not change the speaker's mind.
        alone = np.flatnonzero(chains.length == 1)
        speaker = chains.agents[0].take(alone).astype(np.intp)
        steps[:, alone] &= ~self._said_by.take(speaker * self._stories + chains.story[alone], axis=1)
        steps |= shown
        latest = _latest(steps)
        found = np.repeat(self._at(latest, chains)[None], len(trusts), axis=0)
        told = np.flatnonzero(latest & 1)
        judged = [place for place, trust in enumerate(trusts) if trust != ALWAYS]
        if not len(told) or not judged:
            return found
        # Trust matters only to who has heard of the object since the last sight of it.
        few, seen = chains.pick(told), seen[:, told]
        fallback = self._at(_latest(shown[:, told]), few)
        row, number = _latest_words(steps[:, told])
        spoken = few.pick(row)
        message = _Messages(seen, row, spoken, number // 2, self._agent[number // 2, spoken.story])
        said = self._at(number, spoken)
        persuades = {FRESHER: self._fresher, NEVER_LIARS: self._never_liars}
        persuades |= {HI_TOM: self._hi_tom, FLAT: self._flat}
        for place in judged:
            convinces = persuades[trusts[place]](message)
            places = fallback.copy()
            places[row[convinces]] = said[convinces]  # in order of time: the last one counts
            found[place, told] = places
        return found

    def _fresher(self, message: _Messages) -> Bools:
        """Return whether speakers have seen the object as late as the hearer, in the world that the hearer holds.

        All sights in that world are the hearer's own. (Who leaves does not see the object any more, but it did so until
        then, and those who saw it with the leaver stay.)
        """
        chains, speaker = message.chains, message.speaker
        its = message.seen[:, message.row] & self._present.take(self._row(chains, speaker), axis=1)
        own = _latest(message.seen)[message.row]
        found: Bools = (_latest(its) >= own) | (speaker == chains.last)
        return found

    def _hi_tom(self, message: _Messages) -> Bools:
        """Return whether speakers were with the object later than who judges them, as everybody knows."""
        chains, speaker = message.chains, message.speaker
        # A speaker's own belief is what the one before it in the chain takes its words for.
        judge = np.where(speaker == chains.last, chains.last_but_one, chains.last)
        upto = self._below.take(2 * message.time + 2, axis=1)
        stayed, its = (_latest(self._present.take(self._row(chains, who), axis=1) & upto) for who in (judge, speaker))
        found: Bools = its > stayed
        return found

    def _flat(self, message: _Messages) -> Bools:
        """Return whether words reach a world: that of a hearer who trusts, or one between speaker and hearer.

        In between, the hearer of whom the speaker thinks is never taken to doubt.
        """
        agents, depth = message.chains.agents, message.chains.length
        thought_of = depth == 2
        thought_of &= message.speaker == agents[0]
        ends_there = (depth == 1) | ((depth == 2) & (message.chains.last == message.speaker))
        found: Bools = thought_of | (ends_there & self._hi_tom(message))
        return found

    def _never_liars(self, message: _Messages) -> Bools:
        """Return whether who judges a speaker has not caught it saying what it does not believe, now or before."""
        speaker, chains = message.speaker, message.chains
        judges = chains.without_last(np.flatnonzero(speaker == chains.last))
        heard = self._follow(judges) & self._below.take(2 * message.time + 1, axis=1)
        heard &= self._said_by.take(speaker.astype(np.intp) * self._stories + judges.story, axis=1)
        row, number = _latest_words(heard)
        caught = self._catch(judges.pick(row), number // 2)
        found = np.ones(len(speaker), np.bool_)
        found[row[caught]] = False
        return found

    def _catch(self, judges: _Followed, time: Rows) -> Bools:
        """Return whether judges catch the speaker of a message, each of one, saying what it does not believe.

        What the speaker believes is the place of the object in the world that the speaker holds possible in the world
        that the judge holds possible. There it may rest on earlier messages, and on who was caught by them.
        """
        story = judges.story
        speaker, thing = self._agent[time, story], self._thing[time, story].astype(np.intp)
        judges = judges._replace(thing=thing)
        seen = self._follow(judges) & self._before.take(time, axis=1) & _SIGHTS
        its = _latest(seen & self._present.take(self._row(judges, speaker), axis=1))
        # Else the speaker may have seen the object since, so this may be news.
        no_news = np.flatnonzero((_latest(seen) > its) | (its == 2 * time + 2))
        found = np.zeros(len(time), np.bool_)
        if len(no_news):
            chains, heard = judges.pick(no_news).extended(speaker[no_news]), time[no_news]
            first, which = _distinct([chains.story, chains.thing, heard, *chains.agents])
            until = self._before.take(heard[first], axis=1)
            believed = self._believe(chains.pick(first), (NEVER_LIARS,), until)[0, which]
            said = self._at(2 * heard + 1, chains)
            found[no_news] = (believed != _NONE) & (believed != said)
        return found

    def _reality(self, story: Rows, thing: Rows) -> Small:
        known = (thing >= 0) & (thing < self._things)
        return np.where(known, self._shown[-1, np.where(known, thing, 0), story], np.int8(_NONE))

    def _memory(self, story: Rows, thing: Rows) -> Small:
        known = (thing >= 0) & (thing < self._things)
        put = self._put[:, np.where(known, thing, 0), story]
        number = 2 * put.argmax(axis=0) + 2
        return np.where(known & put.any(axis=0), self._shown[number, np.where(known, thing, 0), story], np.int8(_NONE))

    def answers(self, asked: QuestionArrays, trusts: Sequence[str]) -> Codes:
        """Return the answers to questions under some trusts, [trust, question]; see `QuestionArrays` for the codes."""
        story, thing, chain = asked.story.astype(np.intp), asked.thing.astype(np.intp), asked.chain
        is_belief = asked.ask == _BELIEF
        if (is_belief | (asked.ask == _REALITY)).all():  # a few questions about one story take much longer below
            believed = self._look_up(story, thing, chain, trusts)
            return np.where(is_belief, believed, self._reality(story, thing)).astype(np.int64)
        found = np.zeros((len(trusts), asked.count), np.int64)
        at = {ask: np.flatnonzero(asked.ask == code) for code, ask in enumerate(ASKS)}
        for ask, answer in ((Ask.REALITY, self._reality), (Ask.MEMORY, self._memory)):
            found[:, at[ask]] = answer(story[at[ask]], thing[at[ask]])
        places, wrong, where = np.concatenate([at[Ask.BELIEF], at[Ask.SAYS]]), at[Ask.KNOWS_WRONG], at[Ask.KNOWS_WHERE]
        whose, common = at[Ask.BELIEVERS], at[Ask.COMMON]
        members, size = _distinct_members(chain.take(common, axis=1))
        place, group = np.nonzero(members != _NONE)
        cast = np.repeat(np.arange(self._people, dtype=np.int8), len(whose))
        # All beliefs that questions come down to are looked up together.
        parts = [
            (places, chain.take(places, axis=1)),
            (where, chain.take(where, axis=1)),
            (wrong, chain[:1, wrong]),
            (wrong, chain[1:2, wrong]),
            (wrong, chain[:2, wrong]),
            (np.tile(whose, self._people), np.vstack([cast, np.tile(chain.take(whose, axis=1), self._people)])),
            (common[group], members[place, group][None]),
        ]
        question = np.concatenate([each for each, _ in parts])
        end = np.cumsum([len(each) for each, _ in parts]).tolist()
        agents = np.full((len(chain) + 1, len(question)), _NONE, np.int8)
        for stop, (_, each) in zip(end, parts, strict=True):
            agents[: len(each), stop - each.shape[1] : stop] = each
        believed = self._look_up(story[question], thing[question], agents, trusts)
        found[:, places], knows, own, others, thought, everybody, singly = np.split(believed, end[:-1], axis=1)
        found[:, where] = (knows != _NONE) & (knows == self._reality(story[where], thing[where]))
        real = self._reality(story[wrong], thing[wrong])
        found[:, wrong] = (own == real) & (thought == others) & _differ(others, real)
        named = asked.place[whose]
        believe = (everybody.reshape(len(trusts), self._people, len(whose)) == named) & (named >= 0)
        believe &= np.arange(self._people)[:, None] != chain[0, whose]  # who is asked about is not counted
        found[:, whose] = (believe * (np.int64(1) << np.arange(self._people)[:, None])).sum(axis=1)
        if len(common):
            shared = np.full((len(trusts), len(common)), _NONE, np.int8)
            shared[:, group] = singly  # of any member
            _deny(shared, group, singly)
            found[:, common] = self._common(story[common], thing[common], members, size, shared, trusts)
        return found

    def _look_up(self, story: Rows, thing: Rows, agents: Small, trusts: Sequence[str]) -> Small:
        """Return where chains, whose agents or objects may be unknown, believe objects to be under each trust."""
        known = (thing >= 0) & (thing < self._things) & (agents[0] != _NONE)
        for agent in agents:
            known &= (agent >= _NONE) & (agent < self._people)
        rows = np.flatnonzero(known)
        if len(rows) == len(story):
            return self._believe(_Followed.of(story, thing, agents), trusts)
        found = np.full((len(trusts), len(story)), _NONE, np.int8)
        found[:, rows] = self._believe(_Followed.of(story[rows], thing[rows], agents[:, rows]), trusts)
        return found

    def _common(
        self, story: Rows, thing: Rows, members: Small, size: Rows, shared: Small, trusts: Sequence[str]
    ) -> Small:
        """Return where groups commonly believe objects to be: in all worlds that steps of their members reach.

        Args:
            story: The story of each group.
            thing: The object.
            members: The members, each once, [place, group], -1 after the last.
            size: How many there are.
            shared: Where all members believe the object to be, [trust, group]; -1 if they differ or one has no belief.
            trusts: The trusts.
        """
        rows = np.flatnonzero((shared != _NONE).any(axis=0))
        rows = rows[~self._is_seen_together(story[rows], thing[rows], members.take(rows, axis=1))]
        if not len(rows):
            return shared
        # All chains of all groups, one after the other.
        walks = [_walks(count) for count in range(1 + int(size[rows].max()))]
        counts = np.array([len(each) for each in walks])
        table = np.full((int(counts.sum()), max(each.shape[1] for each in walks)), _NONE)
        starts = np.cumsum(counts) - counts
        for start, each in zip(starts.tolist(), walks, strict=True):
            table[start : start + len(each), : each.shape[1]] = each
        many, first = counts[size[rows]], starts[size[rows]]
        group = np.repeat(rows, many)
        walk = np.arange(len(group)) - np.repeat(np.cumsum(many) - many - first, many)
        members = np.concatenate([members, np.full((1, len(story)), _NONE, np.int8)])  # the last is nobody
        for start in range(0, len(group), _MOST_CHAINS):
            few = np.arange(start, min(start + _MOST_CHAINS, len(group)))
            few = few[(shared[:, group[few]] != _NONE).any(axis=0)]
            whose = group[few]
            agents = members[table[walk[few]].T, whose]
            _deny(shared, whose, self._believe(_Followed.of(story[whose], thing[whose], agents), trusts))
        return shared

    def _is_seen_together(self, story: Rows, thing: Rows, members: Small) -> Bools:
        """Return whether the last that any member of a group learns of an object is a sight that is common to them.

        Then this sight is the last step in all worlds that the group reaches.
        """
        chains = _Followed(story, thing, members, np.ones(len(story), np.intp))
        any_step = np.zeros((self._words, len(story)), np.uint64)
        all_steps = ~any_step
        for agent in members:
            row = self._row(chains, agent)
            noticed = self._noticing.take(row, axis=1)
            any_step |= np.where(agent == _NONE, np.uint64(0), noticed)
            all_steps &= noticed & self._group.take(row, axis=1)
        if not self._is_silent:
            any_step &= self._about.take(self._of_thing(chains), axis=1) | _SIGHTS
        found: Bools = _latest(any_step) == _latest(all_steps & _SIGHTS)
        return found


class _Messages(NamedTuple):
    """Messages that chains have heard since the last sight of their object, in order of time for each chain.

    Attributes:
        seen: The sights in the worlds that the chains lead to.
        row: Which of the chains each message is judged for.
        chains: These chains, one for each message.
        time: The sentence of each message.
        speaker: Who speaks.
    """

    seen: Steps
    row: Rows
    chains: _Followed
    time: Rows
    speaker: Small


def _padded(plots: PlotEventBlock) -> tuple[npt.NDArray[np.uint8], Small, Small, Small, Small, Small]:
    """Return the arrays of stories, with noise at the end so that sentences fill whole bytes."""
    sentences, stories = plots.kind.shape
    missing = -sentences % _PER_BYTE if sentences else _PER_BYTE
    kind, *others = plots.kind.astype(np.uint8, copy=False), *(each.astype(np.int8, copy=False) for each in plots[1:])
    if missing:
        kind = np.concatenate([kind, np.full((missing, stories), EventKind.NOISE, np.uint8)])
        others = [np.concatenate([each, np.full((missing, stories), _NONE, np.int8)]) for each in others]
    agent, room, thing, container, hearer = others
    return kind, agent, room, thing, container, hearer


def _run(start: int, value: Small, changes: Bools) -> Small:
    """Return what holds before the first sentence and after each, if it changes to a value at some."""
    found = np.empty((len(changes) + 1, *changes.shape[1:]), np.int8)
    found[0] = start
    masks = np.negative(changes.view(np.int8))
    change = np.empty_like(found[0])
    for time, mask in enumerate(masks):
        np.bitwise_xor(found[time], value[time], out=change)
        change &= mask
        np.bitwise_xor(found[time], change, out=found[time + 1])
    return found


def _either(flags: Bools, value: Small, other: int) -> Small:
    """Return values where flags are set, else another one; several times as fast as `np.where`."""
    found: Small = (value ^ np.int8(other)) & np.negative(flags.view(np.int8))
    found ^= np.int8(other)
    return found


def _pack(flags: Bools, words: int) -> Steps:
    """Return in which sights something is flagged, as sets of steps, [machine word, row]."""
    four = flags.view(np.uint8).reshape(len(flags) // _PER_BYTE, _PER_BYTE, -1)
    packed = four[:, -1].copy()
    for earlier in (2, 1, 0):
        packed += packed
        packed += packed
        packed |= four[:, earlier]
    packed += packed
    found = np.zeros((words, packed.shape[1], 8), np.uint8)
    for place, byte in enumerate(packed):
        found[place // 8, :, place % 8] = byte
    return found.view("<u8")[..., 0].astype(np.uint64, copy=False)


def _latest(steps: Steps) -> Rows:
    """Return the number of the last step of each set, from 1 on; 0 if it is empty."""
    # Without the bit below the highest one, the conversion cannot round up to the next power of two.
    exponent = (steps & ~(steps >> _ONE)).astype(np.float64).view(np.int64) >> 52
    exponent -= 1022
    found: Rows = np.maximum(exponent[0], 0)
    for word, above in enumerate(exponent[1:], start=1):
        found = np.where(steps[word] != 0, above + 64 * word, found)
    return found


def _members(steps: Steps) -> tuple[Rows, Rows]:
    """Return all steps of sets of steps: which set, and the number of the step from 0 on."""
    octets = steps.T.astype("<u8", order="C").view(np.uint8)
    number = np.flatnonzero(np.unpackbits(octets, bitorder="little"))  # much faster than np.nonzero of two axes
    which, step = np.divmod(number, 64 * len(steps))
    return which, step


def _latest_words(steps: Steps) -> tuple[Rows, Rows]:
    """Return the messages after the last sight in each set of steps: which set, and the number of the step.

    Those of one set are in order of time.
    """
    rows, numbers = [], []
    row, left = np.arange(steps.shape[1]), steps
    while True:
        number = _latest(left)
        some = np.flatnonzero(number & 1)
        if not len(some):
            break
        row, number, left = row[some], number[some], left[:, some]
        rows.append(row)
        numbers.append(number)
        left[(number - 1) // 64, np.arange(len(row))] ^= _ONE << ((number - 1) % 64).astype(np.uint64)
    none = np.zeros(0, np.intp)
    return np.concatenate([*rows[::-1], none]), np.concatenate([*numbers[::-1], none])


def _distinct(columns: Sequence[Locals]) -> tuple[Rows, Rows]:
    """Return a row of each distinct combination of values, which are -1 or more, and which of them each row has."""
    keys, most = np.zeros(len(columns[0]), np.intp), 1
    for column in columns:
        size = 2 + int(column.max(initial=_NONE))
        if most * size >= _MOST_KEYS:  # the combinations so far are numbered anew
            first, keys = _number(keys)
            most = len(first)
        keys = keys * size + (column + 1)
        most *= size
    return _number(keys)


def _number(keys: Rows) -> tuple[Rows, Rows]:
    """Return a row of each distinct key, and which of them each row has."""
    order = np.argsort(keys)  # without regard to the order of equal ones: much faster than np.lexsort
    ordered = keys[order]
    is_new = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    which = np.empty(len(order), np.intp)
    which[order] = np.cumsum(is_new) - 1
    return order[is_new], which


def _differ(one: Small, other: Small) -> Bools:
    """Return where two places are known and differ."""
    found: Bools = (one != _NONE) & (other != _NONE) & (one != other)
    return found


def _distinct_members(groups: Small) -> tuple[Small, Rows]:
    """Return the members of groups, each once, and how many there are."""
    members, size = np.full(groups.shape, _NONE, np.int8), np.zeros(groups.shape[1], np.intp)
    for agent in groups:
        rows = np.flatnonzero((agent != _NONE) & ~(members == agent).any(axis=0))
        members[size[rows], rows] = agent[rows]
        size[rows] += 1
    return members, size


def _deny(shared: Small, group: Rows, believed: Small) -> None:
    """Note that groups share no belief where one of theirs is another, [trust, belief]."""
    for common, places in zip(shared, believed, strict=True):
        common[group[places != common[group]]] = _NONE


@cache
def _walks(size: int) -> Rows:
    """Return chains of more than one member of a group that reach all its worlds, [chain, place], -1 after the last.

    Chains with the same first agent, the same set of agents between first and last, and the same last two agents lead
    to worlds with the same places, and so do their extensions; hence the search ends.
    """
    found: list[tuple[int, ...]] = [(member,) for member in range(size)]
    known = set()
    for chain in found:  # grows on the way
        for member in range(size):
            sign = chain[0], frozenset(chain[1:]), chain[-1], member
            if member != chain[-1] and sign not in known:
                known.add(sign)
                found.append((*chain, member))
    longer = np.full((len(found) - size, max(map(len, found), default=1)), _NONE)
    for row, chain in enumerate(found[size:]):
        longer[row, : len(chain)] = chain
    return longer


def answer_under(plots: PlotEventBlock, asked: QuestionArrays, readings: Sequence[BeliefReading]) -> Codes:
    """Return the answers to questions about stories under some readings, [reading, question].

    Args:
        plots: The stories.
        asked: The questions; `QuestionArrays` says what the codes of answers mean.
        readings: The readings.
    """
    stories = plots.kind.shape[1]
    wide = 1 + int(max(0, plots.agent.max(initial=0), plots.hearer.max(initial=0)))
    wide *= max(1 + int(max(0, plots.thing.max(initial=0))), wide // 4)  # pairs of many people are more than objects
    size = max(1, _AT_ONCE // wide)
    if stories <= size:
        return _answer_block(plots, asked, readings)
    found = np.zeros((len(readings), asked.count), np.int64)
    order = np.argsort(asked.story, kind="stable")
    starts = np.arange(0, stories + size, size)
    ends = np.searchsorted(asked.story[order], starts)
    for start, first, end in zip(starts.tolist(), ends.tolist(), ends[1:].tolist(), strict=False):
        if first < end:
            part = asked.pick(order[first:end])
            part.story[:] -= start
            found[:, order[first:end]] = _answer_block(plots.between(start, start + size), part, readings)
    return found


def _answer_block(plots: PlotEventBlock, asked: QuestionArrays, readings: Sequence[BeliefReading]) -> Codes:
    block, found = MindBlock(plots), np.zeros((len(readings), asked.count), np.int64)
    place_of = {reading: place for place, reading in enumerate(readings)}
    surprised: list[BeliefReading] = []
    for sight in dict.fromkeys(reading.sight for reading in readings):
        alike = [reading for reading in place_of if reading.sight == sight]
        if sight == INFER_MOVER and all(BeliefReading(OPEN, reading.trust) in place_of for reading in alike):
            surprised = alike
            continue
        places = [place_of[reading] for reading in alike]
        found[places] = block.under(sight).answers(asked, [reading.trust for reading in alike])
    if surprised:  # most answers are those of people who infer nothing
        places, some = [place_of[reading] for reading in surprised], block.surprising(asked)
        found[places] = found[[place_of[BeliefReading(OPEN, reading.trust)] for reading in surprised]]
        trusts = [reading.trust for reading in surprised]
        found[np.array(places)[:, None], some] = block.under(INFER_MOVER).answers(asked.pick(some), trusts)
    return found
