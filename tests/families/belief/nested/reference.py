"""Decision 21 word by word, slowly: beliefs by recursion over sentences, with sets of names.

A third derivation, which shares nothing with the two in the package. It takes any sentences, also those in which a
container stands in two rooms, and answers questions about beliefs; `backward_reference` answers all questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import MESSAGES, EventKind, PlotEvent

Names = frozenset[str]


@dataclass
class State:
    """What holds right after a sentence."""

    room: dict[str, str] = field(default_factory=dict)
    watched: dict[str, str] = field(default_factory=dict)
    distracted: set[str] = field(default_factory=set)
    place: dict[str, str] = field(default_factory=dict)
    home: dict[str, str] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            *map(type(self.room), (self.room, self.watched)), set(self.distracted), dict(self.place), dict(self.home)
        )

    def inside(self, room: str | None) -> Names:
        return frozenset(agent for agent, there in self.room.items() if there == room)

    def watching(self, room: str | None) -> Names:
        return frozenset(agent for agent, there in self.watched.items() if there == room)


class Reference:
    """The beliefs of all chains after every sentence of a story."""

    def __init__(self, events: Sequence[PlotEvent], reading: NestedReading) -> None:
        self.events, self.reading = events, reading
        self.cast = {name for event in events for name in (event.agent, event.hearer) if name}
        self.states = [State()]
        for event in events:
            self.states.append(self._after(event))
        self._beliefs: dict[tuple[tuple[str, ...], str, int], str | None] = {}

    def _after(self, event: PlotEvent) -> State:
        state, agent = self.states[-1].copy(), event.agent or ""
        if event.kind in (EventKind.ENTER, EventKind.EXIT):
            state.room.pop(agent, None)
            state.watched.pop(agent, None)
            state.distracted.discard(agent)
            if event.kind == EventKind.ENTER:
                state.room[agent] = str(event.room)
        elif event.kind in (EventKind.PLACE, EventKind.MOVE):
            state.place[str(event.thing)] = str(event.container)
            state.home[str(event.thing)] = str(event.room)
        elif event.kind == EventKind.PEEK:
            state.watched[agent] = str(event.room)
        elif event.kind == EventKind.UNPEEK:
            state.watched.pop(agent, None)
        elif event.kind == EventKind.DISTRACT:
            state.distracted.add(agent)
        elif event.kind == EventKind.ATTEND:
            state.distracted.discard(agent)
        return state

    @cached_property
    def is_closed(self) -> bool:
        return self.reading.sight == "closed"

    def sight(self, thing: str, time: int) -> tuple[Names, Names] | None:
        """Return V and N of the sight of an object after a sentence, if there is one."""
        state, event = self.states[time], self.events[time - 1]
        if thing not in state.home:
            return None
        puts = event.kind in (EventKind.PLACE, EventKind.MOVE) and event.thing == thing
        if self.is_closed and not puts:
            return None
        group = state.inside(state.home[thing])
        return group, (group | state.watching(state.home[thing])) - state.distracted

    def message(self, time: int) -> tuple[Names, Names]:
        """Return M and H of a message."""
        state, event = self.states[time], self.events[time - 1]
        speaker = str(event.agent)
        here = state.room.get(speaker)
        if event.kind == EventKind.ANNOUNCE:
            group = frozenset(self.cast)
        elif here is None:
            group = frozenset()
        else:
            group = state.inside(here)
            if event.kind == EventKind.WHISPER:
                group &= {speaker, str(event.hearer)}
        watchers = state.watching(here) if event.kind == EventKind.TELL and here is not None else frozenset()
        return group, (group | watchers) - state.distracted

    @staticmethod
    def takes_part(chain: tuple[str, ...], sets: tuple[Names, Names] | None) -> bool:
        return sets is not None and chain[0] in sets[1] and all(agent in sets[0] for agent in chain[1:])

    def belief(self, chain: Sequence[str], thing: str, time: int | None = None) -> str | None:
        """Return what a chain believes after a sentence, the last one if none is given."""
        time = len(self.events) if time is None else time
        short = tuple(agent for place, agent in enumerate(chain) if place == 0 or agent != chain[place - 1])
        if any(agent not in self.cast for agent in short):
            return None
        for now in range(time + 1):  # so that the recursion stays flat
            self._belief(short, thing, now)
        return self._belief(short, thing, time)

    def _belief(self, chain: tuple[str, ...], thing: str, time: int) -> str | None:
        if time == 0:
            return None
        key = chain, thing, time
        if key not in self._beliefs:
            found = self._belief(chain, thing, time - 1)
            event = self.events[time - 1]
            if event.kind in MESSAGES and event.thing == thing and self.learns(chain, time):
                found = event.container
            if self.takes_part(chain, self.sight(thing, time)) or self.blames(chain, thing, time):
                found = self.states[time].place[thing]
            self._beliefs[key] = found
        return self._beliefs[key]

    def learns(self, chain: tuple[str, ...], time: int) -> bool:
        speaker = str(self.events[time - 1].agent)
        if not self.takes_part(chain, self.message(time)):
            return False
        if chain[-1] != speaker:
            return self.trusts(chain, time)
        return len(chain) >= 2 and self.takes_to_be_sincere(chain[:-1], time)

    def trusts(self, chain: tuple[str, ...], time: int) -> bool:
        event = self.events[time - 1]
        thing, speaker = str(event.thing), str(event.agent)
        if self.reading.trust == "fresher":
            return not self.is_later(chain, speaker, thing, time)
        return self.takes_to_be_sincere(chain, time)

    def takes_to_be_sincere(self, chain: tuple[str, ...], time: int) -> bool:
        event = self.events[time - 1]
        thing, speaker = str(event.thing), str(event.agent)
        if self.reading.trust == "never-liars":
            return not any(self.catches(chain, speaker, now) for now in range(1, time + 1))
        if self.reading.trust == "hi-tom":
            return self.stayed(speaker, thing, time) > self.stayed(chain[-1], thing, time)
        return True

    def catches(self, chain: tuple[str, ...], speaker: str, time: int) -> bool:
        event = self.events[time - 1]
        if event.kind not in MESSAGES or event.agent != speaker or not self.takes_part(chain, self.message(time)):
            return False
        thing, longer = str(event.thing), (*chain, speaker)
        believed = self._belief(longer, thing, time - 1)
        if believed is None or believed == event.container:
            return False
        return self.is_later(chain, speaker, thing, time) or self.takes_part(longer, self.sight(thing, time))

    def knows_seeing(self, chain: tuple[str, ...], agent: str, thing: str, time: int) -> bool:
        sets = self.sight(thing, time)
        if sets is None:
            return False
        before, after, home = self.states[time - 1], self.states[time], self.states[time].home[thing]
        leavers = before.inside(home) - after.inside(home)
        witnesses, aware = sets[0] | leavers, sets[1] | (leavers - before.distracted)
        if len(chain) == 1 and agent == chain[0]:
            return agent in sets[1]
        return self.takes_part(chain, (witnesses, aware)) and agent in sets[0]

    def is_later(self, chain: tuple[str, ...], speaker: str, thing: str, time: int) -> bool:
        times = [
            max([now for now in range(1, time) if self.knows_seeing(chain, agent, thing, now)], default=0)
            for agent in (chain[-1], speaker)
        ]
        return times[0] > times[1]

    def stayed(self, agent: str, thing: str, time: int) -> int:
        with_it = [
            now
            for now in range(1, time + 1)
            if thing in self.states[now].home and self.states[now].room.get(agent) == self.states[now].home[thing]
        ]
        return max(with_it, default=0)

    def blames(self, chain: tuple[str, ...], thing: str, time: int) -> bool:
        event, before, after = self.events[time - 1], self.states[time - 1], self.states[time]
        if self.reading.sight != "infer-mover" or len(chain) != 2 or event.kind != EventKind.ENTER:
            return False
        x, y = chain
        home = after.home.get(thing)
        if event.agent != x or after.room[x] != home or before.room.get(x) == home:
            return False
        if self._belief((x,), thing, time - 1) in (None, after.place[thing]):
            return False
        met = [now for now in range(1, time) if self.states[now].room.get(x, "no") == self.states[now].room.get(y)]
        return bool(met) and self.states[met[-1]].room[x] == home and self.events[met[-1]].agent == x
