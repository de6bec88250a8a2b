"""Decision 21 word by word, slowly: nested beliefs as the text of the record alone describes them.

It imports nothing of the provers, and its method is another: nothing is propagated forwards and no worlds are
enumerated. A question is answered *backwards*: the belief of a chain at sentence t is settled by the last sentence
u <= t that gave the chain a belief, and whether u did so is decided by the definitions of the record, which ask at most
for beliefs of (longer) chains at sentences before u. Every definition of the record is one short function here, in the
record's words, with the record's letters (V, N, M, H, W, A).

`Reference(story, reading)` evaluates chains literally, as tuples. With `classes=True` it uses the record's
remark that a belief depends only on the first agent, the set of those between and the last two; the results must be
the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

SIGHTS = ("open", "closed", "infer-mover")
TRUSTS = ("always", "fresher", "never-liars", "hi-tom", "flat")
MESSAGES = ("TELL", "WHISPER", "ANNOUNCE")
WALKS = ("IS_IN", "ENTER", "EXIT")
IDLE = ("NOISE", "FEEL")
KINDS = (*IDLE, *WALKS, "PLACE", "MOVE", "PEEK", "UNPEEK", "DISTRACT", "ATTEND", *MESSAGES)

Chain = tuple[str, ...]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Sentence:
    """One sentence: ``actor`` does something with ``thing``; what is not needed stays empty."""

    kind: str
    actor: str = ""
    room: str = ""
    """The room entered, left or watched, or where the container stands."""
    thing: str = ""
    """The object placed, moved or spoken of."""
    container: str = ""
    """Where the object is put, or said to be."""
    hearer: str = ""
    """To whom it is whispered."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of event: {self.kind!r}")


NOTHING = Sentence("NOISE")


@dataclass(frozen=True)
class Tale:
    """Sentences 1, 2, …, and the cast.

    The cast is everybody whom the sentences name, and ``also`` (those named by sentences that were deleted).
    """

    events: tuple[Sentence, ...]
    also: frozenset[str] = frozenset()

    @cached_property
    def cast(self) -> frozenset[str]:
        """Everybody whom the story names, also in sentences that were deleted."""
        acting = (event for event in self.events if event.kind not in IDLE)
        named = {name for event in acting for name in (event.actor, event.hearer) if name}
        return frozenset(named) | self.also

    def keeping(self, kept: Iterable[int]) -> Tale:
        """All sentences but ``kept`` (numbered from 1) replaced by noise; the cast stays."""
        numbers = set(kept)
        events = tuple(event if t in numbers else NOTHING for t, event in enumerate(self.events, 1))
        return Tale(events, self.cast)


@dataclass(frozen=True)
class State:
    """How things are right after a sentence."""

    where: Mapping[str, str] = field(default_factory=dict)
    """The room of each agent that is in one."""
    watches: Mapping[str, str] = field(default_factory=dict)
    """The room that each secret observer watches."""
    distracted: frozenset[str] = frozenset()
    place: Mapping[str, str] = field(default_factory=dict)
    """The container of each object that is somewhere."""
    home: Mapping[str, str] = field(default_factory=dict)
    """The room of each object that is in a known one."""

    def after(self, event: Sentence) -> State:
        """The table "what changes"."""
        who = event.actor
        match event.kind:
            case "IS_IN" | "ENTER" | "EXIT":
                where = {agent: room for agent, room in self.where.items() if agent != who}
                if event.kind != "EXIT":
                    where[who] = event.room
                return replace(self, where=where)
            case "PLACE" | "MOVE":
                home = {thing: room for thing, room in self.home.items() if thing != event.thing}
                if event.room:
                    home[event.thing] = event.room
                return replace(self, place={**self.place, event.thing: event.container}, home=home)
            case "PEEK":
                return replace(self, watches={**self.watches, who: event.room})
            case "UNPEEK":
                return replace(self, watches={agent: room for agent, room in self.watches.items() if agent != who})
            case "DISTRACT":
                return replace(self, distracted=self.distracted | {who})
            case "ATTEND":
                return replace(self, distracted=self.distracted - {who})
            case _:
                return self

    def inside(self, room: str | None) -> frozenset[str]:
        """Everybody in the room; nobody is in no room."""
        return frozenset(agent for agent, other in self.where.items() if room is not None and other == room)

    def watching(self, room: str | None) -> frozenset[str]:
        """Everybody who watches the room."""
        return frozenset(agent for agent, other in self.watches.items() if room is not None and other == room)


def without_repeats(chain: Iterable[str]) -> Chain:
    """Neighbours who are the same agent count once."""
    result: list[str] = []
    for agent in chain:
        if not result or result[-1] != agent:
            result.append(agent)
    return tuple(result)


def class_of(chain: Chain) -> tuple[str, frozenset[str], Chain]:
    """What a belief along the chain depends on: its first agent, the set of those between, the last two."""
    return chain[0], frozenset(chain[1:-1]), chain[-2:]


class Reference:
    """The answers to all questions about one story under one reading."""

    def __init__(self, tale: Tale, reading: str = "open+always", *, classes: bool = False) -> None:
        self.sight, _, self.trust = reading.partition("+")
        if self.sight not in SIGHTS or self.trust not in TRUSTS:
            raise ValueError(f"unknown reading: {reading!r}")
        self.tale = tale
        self.classes = classes
        self.end = len(tale.events)
        self.states = [State()]
        for event in tale.events:
            self.states.append(self.states[-1].after(event))
        self._beliefs: dict[tuple[object, str, int], str | None] = {}
        self._lies: dict[tuple[object, int], bool] = {}
        self._groups: dict[tuple[str, int], tuple[frozenset[str], frozenset[str]] | None] = {}

    def event(self, t: int) -> Sentence:
        """Sentence t, counted from 1."""
        return self.tale.events[t - 1]

    def place(self, thing: str, t: int) -> str | None:
        """The container of the object right after sentence t."""
        return self.states[t].place.get(thing)

    def room(self, thing: str, t: int) -> str | None:
        """The room of the object right after sentence t."""
        return self.states[t].home.get(thing)

    # Who notices what

    def shows(self, thing: str, t: int) -> tuple[frozenset[str], frozenset[str]] | None:
        """(V, N) of the sight of the object after sentence t; None if there is no sight of it."""
        key = (thing, t)
        if key not in self._groups:
            self._groups[key] = self._shows(thing, t)
        return self._groups[key]

    def _shows(self, thing: str, t: int) -> tuple[frozenset[str], frozenset[str]] | None:
        event, state, room = self.event(t), self.states[t], self.room(thing, t)
        if room is None:
            return None
        if self.sight == "closed" and not (event.kind in ("PLACE", "MOVE") and event.thing == thing):
            return None
        group = state.inside(room)
        return group, (group | state.watching(room)) - state.distracted

    def hears(self, t: int) -> tuple[frozenset[str], frozenset[str]]:
        """(M, H) of the message that sentence t is."""
        event, state = self.event(t), self.states[t]
        room = state.where.get(event.actor)
        watchers: frozenset[str] = frozenset()
        if room is None:
            group = frozenset()
        elif event.kind == "ANNOUNCE":
            group = frozenset(state.where)
        elif event.kind == "WHISPER":
            group = frozenset({event.actor, event.hearer}) & state.inside(room)
        else:
            group, watchers = state.inside(room), state.watching(room)
        return group, (group | watchers) - state.distracted

    @staticmethod
    def takes_part(chain: Chain, group: frozenset[str], noticing: frozenset[str]) -> bool:
        """The first in fact notices; the others belong to the group."""
        return chain[0] in noticing and group.issuperset(chain[1:])

    def sees(self, chain: Chain, thing: str, t: int) -> bool:
        """Whether the chain takes part in a sight of the object after sentence t."""
        sight = self.shows(thing, t)
        return sight is not None and self.takes_part(chain, *sight)

    # What a chain believes

    def belief(self, chain: Chain, thing: str, t: int) -> str | None:
        """What the chain (no equal neighbours) believes right after sentence t, None if unknown."""
        key = (class_of(chain) if self.classes else chain, thing, t)
        if key not in self._beliefs:
            self._beliefs[key] = self._belief(chain, thing, t)
        return self._beliefs[key]

    def _belief(self, chain: Chain, thing: str, t: int) -> str | None:
        for u in range(t, 0, -1):
            if self.sees(chain, thing, u) or self.infers(chain, thing, u):
                return self.place(thing, u)
            event = self.event(u)
            if event.kind in MESSAGES and event.thing == thing and self.learns(chain, u):
                return event.container
        return None

    def learns(self, chain: Chain, t: int) -> bool:
        """Whether the chain learns from the message that sentence t is."""
        speaker = self.event(t).actor
        if not self.takes_part(chain, *self.hears(t)):
            return False
        if self.trust == "flat":
            return self.learns_flatly(chain, speaker, t)
        if chain[-1] != speaker:
            return self.trusts(chain, t)
        return len(chain) >= 2 and self.finds_sincere(chain[:-1], t)

    def learns_flatly(self, chain: Chain, speaker: str, t: int) -> bool:
        """Whether a message that the chain takes part in changes what it believes under `flat`."""
        match [name == speaker for name in chain]:
            case [False] | [False, True]:
                thing = self.event(t).thing
                return self.with_it(speaker, thing, t) > self.with_it(chain[0], thing, t)
            case [True, False]:
                return True
            case _:
                return False

    def trusts(self, chain: Chain, t: int) -> bool:
        """Whether the chain, which does not end in the speaker of sentence t, trusts the speaker."""
        event = self.event(t)
        match self.trust:
            case "fresher":
                return not self.has_seen_later(chain, event.actor, event.thing, t)
            case "never-liars":
                return not self.is_known_liar(chain, event.actor, t)
            case "hi-tom":
                return self.with_it(event.actor, event.thing, t) > self.with_it(chain[-1], event.thing, t)
            case _:
                return True

    def finds_sincere(self, chain: Chain, t: int) -> bool:
        """Whether the chain, which does not end in the speaker of sentence t, takes the speaker to be sincere."""
        return self.trust == "fresher" or self.trusts(chain, t)

    def has_seen_later(self, chain: Chain, speaker: str, thing: str, t: int) -> bool:
        """The last of the chain has seen the object later than the speaker, as the chain knows, before sentence t."""
        return self.known_sight(chain, chain[-1], thing, t) > self.known_sight(chain, speaker, thing, t)

    def known_sight(self, chain: Chain, agent: str, thing: str, t: int) -> int:
        """The last sentence before t at which the chain knows that the agent sees the object, else 0."""
        return next((u for u in range(t - 1, 0, -1) if self.knows_seeing(chain, agent, thing, u)), 0)

    def knows_seeing(self, chain: Chain, agent: str, thing: str, t: int) -> bool:
        """Whether the chain knows at sentence t that the agent sees the object."""
        sight = self.shows(thing, t)
        if sight is None:
            return False
        group, noticing = sight
        if chain == (agent,):
            return agent in noticing
        before = self.states[t - 1]
        left = before.inside(self.room(thing, t)) - group
        known_group = group | left
        known_noticing = noticing | (left - before.distracted)
        return self.takes_part(chain, known_group, known_noticing) and agent in group

    def is_known_liar(self, chain: Chain, speaker: str, t: int) -> bool:
        """Whether the speaker is a known liar to the chain, by a message up to sentence t."""
        return any(
            self.event(u).kind in MESSAGES and self.event(u).actor == speaker and self.catches(chain, u)
            for u in range(1, t + 1)
        )

    def catches(self, chain: Chain, t: int) -> bool:
        """Whether the chain, which does not end in the speaker, takes the message that sentence t is for a lie."""
        key = (class_of((*chain, self.event(t).actor)) if self.classes else chain, t)
        if key not in self._lies:
            self._lies[key] = self._catches(chain, t)
        return self._lies[key]

    def _catches(self, chain: Chain, t: int) -> bool:
        event = self.event(t)
        if not self.takes_part(chain, *self.hears(t)):
            return False
        longer = (*chain, event.actor)
        no_news = self.has_seen_later(chain, event.actor, event.thing, t) or self.sees(longer, event.thing, t)
        return no_news and self.belief(longer, event.thing, t - 1) not in (None, event.container)

    def with_it(self, agent: str, thing: str, t: int) -> int:
        """The last sentence up to t after which the agent was in the room in which the object then was, else 0."""
        return next((u for u in range(t, 0, -1) if agent in self.states[u].inside(self.room(thing, u))), 0)

    def infers(self, chain: Chain, thing: str, t: int) -> bool:
        """The rule that `infer-mover` adds: somebody whom I left behind is taken to know of the change I find."""
        event, room = self.event(t), self.room(thing, t)
        if self.sight != "infer-mover" or len(chain) != 2 or room is None:
            return False
        first, second = chain
        if event.kind != "ENTER" or event.actor != first or event.room != room:
            return False
        if self.states[t - 1].where.get(first) == room or first in self.states[t].distracted:
            return False
        if self.belief((first,), thing, t - 1) in (None, self.place(thing, t)):
            return False
        for u in range(t - 1, 0, -1):
            where = self.states[u].where
            if first in where and where[first] == where.get(second):
                return where[first] == room and self.event(u + 1).actor == first
        return False

    # Questions

    def reality(self, thing: str) -> str | None:
        """Where the object is."""
        return self.place(thing, self.end)

    def memory(self, thing: str) -> str | None:
        """Where the object was put first."""
        return next((e.container for e in self.tale.events if e.kind in ("PLACE", "MOVE") and e.thing == thing), None)

    def believes(self, chain: Iterable[str], thing: str) -> str | None:
        """What a chain of any length believes at the end; a chain of nobody is a question for reality."""
        agents = without_repeats(chain)
        return self.belief(agents, thing, self.end) if agents else self.reality(thing)

    def would_say(self, agent: str, thing: str) -> str | None:
        """What the agent would say if it were asked."""
        return self.believes((agent,), thing)

    def knows_where(self, agent: str, thing: str) -> bool:
        """Whether the agent has a belief and it is right."""
        belief = self.believes((agent,), thing)
        return belief is not None and belief == self.reality(thing)

    def knows_wrong(self, agent: str, other: str, thing: str) -> bool:
        """Whether the agent knows that the other is wrong."""
        own, others, thought, real = self.compared(agent, other, thing)
        return own == real and thought == others and None not in (others, real) and others != real

    def compared(self, agent: str, other: str, thing: str) -> tuple[str | None, ...]:
        """What "does the agent know that the other is wrong" compares."""
        chains = ((agent,), (other,), (agent, other), ())
        return tuple(self.believes(chain, thing) for chain in chains)

    def who_believes(self, chain: Iterable[str], thing: str, place: str) -> frozenset[str]:
        """Everybody in the cast who believes that (the chain believes that) the object is in the place.

        The first of the chain is not counted.
        """
        rest = tuple(chain)
        cast = self.tale.cast.difference(rest[:1])
        return frozenset(agent for agent in cast if self.believes((agent, *rest), thing) == place)

    def common_belief(self, group: Iterable[str], thing: str) -> str | None:
        """The place that all chains of members believe, of any length; one shortest chain of each class is asked."""
        members = sorted(set(group))
        answers: set[str | None] = set()
        waiting: deque[Chain] = deque((agent,) for agent in members)
        met = {class_of(chain) for chain in waiting}
        while waiting:
            chain = waiting.popleft()
            answers.add(self.believes(chain, thing))
            if len(answers) > 1 or None in answers:
                return None
            for agent in members:
                longer = (*chain, agent)
                if agent != chain[-1] and class_of(longer) not in met:
                    met.add(class_of(longer))
                    waiting.append(longer)
        return answers.pop() if answers else None


def decisive(tale: Tale, value: Callable[[Tale], Value]) -> frozenset[int]:
    """The sentences (from 1) whose deletion changes the value of a question, which is given as a function."""
    everything, wanted = range(1, len(tale.events) + 1), value(tale)
    return frozenset(t for t in everything if value(tale.keeping(u for u in everything if u != t)) != wanted)


def proof(tale: Tale, value: Callable[[Tale], Value]) -> frozenset[int]:
    """The proof of a question's answer, word by word as the record's section on proofs has it."""
    needed, wanted = decisive(tale, value), value(tale)
    if value(tale.keeping(needed)) == wanted:
        return needed
    kept = set(range(1, len(tale.events) + 1))
    while True:
        before = set(kept)
        for t in sorted(before - needed):
            if value(tale.keeping(kept - {t})) == wanted:
                kept.remove(t)
        if kept == before:
            return frozenset(kept)
