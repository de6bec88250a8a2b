"""Nested beliefs as possible worlds: a second, independent derivation of every answer.

A model has worlds, and in every world each agent holds one world possible. At first there is a single world, in which
no object is known to be anywhere. An event is an action model: points, which may assign a place to an object, and for
every point and agent the point that the agent takes it for. For messages, that depends on what the agent thinks of the
speaker in the world at hand (an edge-conditioned action model). An event leads from a world to a world with a longer
history: the old world and a point. What a thinks that b believes is the place that is assigned in the world reached by
a step of a and then one of b.

Worlds are built when they are first reached. A point that an agent takes for nothing leads back to the old world, so
models stay small without a search for bisimilar worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.readings import ALWAYS, CLOSED, FRESHER, HI_TOM, INFER_MOVER, NEVER_LIARS, BeliefReading
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of

_START = 0  # the world before all events
_REAL, _GROUP = -1, -2  # minds that are no agent's
_NO_PLACE = -1
_ENTER, _EXIT, _IS_IN, _PUTTINGS = EventKind.ENTER, EventKind.EXIT, EventKind.IS_IN, (EventKind.PLACE, EventKind.MOVE)
_TELL, _WHISPER, _ANNOUNCE = EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE


class Point(NamedTuple):
    """How an event appears in a world.

    Attributes:
        mind: To whom it appears so: an agent, `_REAL` for what happens in fact, or `_GROUP` for what the group of a
            sight takes to happen.
        assigns: Whether the object is then where the event shows it, or says that it is.
        doubts: Whether the speaker's words are not taken for what the speaker believes.
    """

    mind: int
    assigns: bool
    doubts: bool = False


class Sighting(NamedTuple):
    """People see an object: its place, the group for whom that is common, and who in fact notices.

    Whoever leaves the room knows who stays and sees the object further on, but does not see it any more.
    """

    thing: int
    place: int
    group: int
    noticing: int
    leaver: int = -1


class Speech(NamedTuple):
    """A message: what is said by whom, the group for whom it is common, who in fact hears it, and who stayed longer.

    Under `hi-tom` everybody knows that those in `stayed` have been with the object at least as late as the speaker.
    `sight` is the number of the step by which people see the object while they speak of it, if they can.
    """

    thing: int
    place: int
    group: int
    noticing: int
    speaker: int
    stayed: int
    sight: int


class Suspicion(NamedTuple):
    """The thought of a finder, unnoticed, that each suspect knows where the object is."""

    thing: int
    place: int
    finder: int
    suspects: int


Learning = Sighting | Speech | Suspicion


class _Stage:
    """Follows people and objects through a story and lists the steps in which something is learnt."""

    def __init__(self, events: Sequence[PlotEvent], sight: str) -> None:
        self.cast = {name: number for number, name in enumerate(cast_of(events))}
        self.places: dict[str, int] = {}
        self.things: dict[str, int] = {}
        self.steps: list[Learning] = []
        self.first: dict[int, int] = {}  # object → the place where it was first put
        self.spot: dict[int, tuple[str | None, int]] = {}  # object → room and place
        self._sight = sight
        self._where: dict[int, str | None] = dict.fromkeys(self.cast.values())
        self._watched: dict[int, str | None] = {}
        self._distracted = 0
        self._stayed: dict[tuple[int, int], int] = {}  # (object, agent) → when the agent was last in its room
        self._left: dict[tuple[int, int], str] = {}  # (x, y) → the room in which x walked out on y when they last met
        self._last: dict[int, Sighting | None] = {}  # the sight of each object that nothing has changed since
        for time, event in enumerate(events):
            self._happen(time, event)

    def _happen(self, time: int, event: PlotEvent) -> None:
        kind = event.kind
        agent = self.cast.get(event.agent, -1) if event.agent is not None else -1  # who only feels is not in the cast
        returns, put, left = False, -1, ""
        absent = self._distracted
        if kind == _ENTER or kind == _EXIT or kind == _IS_IN:
            target = event.room if kind != _EXIT else None
            before = self._where[agent]
            if target != before:
                self._part(agent, before)
                left = before or ""
                returns = kind == _ENTER and target is not None and not absent >> agent & 1
            self._where[agent] = target
        elif kind == EventKind.PEEK:
            self._watched[agent] = event.room
        elif kind == EventKind.UNPEEK:
            self._watched.pop(agent, None)
        elif kind == EventKind.DISTRACT:
            self._distracted |= 1 << agent
        elif kind == EventKind.ATTEND:
            self._distracted &= ~(1 << agent)
        elif kind in _PUTTINGS:
            put, place = self._spoken_of(event)
            self.spot[put] = event.room, place
            self.first.setdefault(put, place)
        for thing, (room, _) in self.spot.items():
            for other, there in self._where.items():
                if there == room and room is not None:
                    self._stayed[thing, other] = time
        if kind == _TELL or kind == _WHISPER or kind == _ANNOUNCE:
            self._speak(event, agent)
        for thing, (room, place) in self.spot.items():
            if returns and self._sight == INFER_MOVER and self._where[agent] == room:
                suspects = self._mask(y for (x, y), there in self._left.items() if x == agent and there == room)
                self.steps.append(Suspicion(thing, place, agent, suspects))
            if self._sight != CLOSED and left == room:
                self._show(thing, room, place, agent, not absent >> agent & 1)
            elif self._sight != CLOSED or thing == put:
                self._show(thing, room, place)

    def _spoken_of(self, event: PlotEvent) -> tuple[int, int]:
        """Return the numbers of an event's object and container."""
        thing = self.things.setdefault(str(event.thing), len(self.things))
        return thing, self.places.setdefault(str(event.container), len(self.places))

    def _mask(self, agents: Iterable[int]) -> int:
        return sum(1 << agent for agent in agents)

    def _inside(self, room: str | None) -> int:
        return self._mask(agent for agent, there in self._where.items() if there == room and room is not None)

    def _watchers(self, room: str | None) -> int:
        return self._mask(agent for agent, there in self._watched.items() if there == room and room is not None)

    def _part(self, agent: int, room: str | None) -> None:
        """Note on whom an agent walks out, and that they did not walk out on the agent."""
        for other, there in self._where.items():
            if other != agent and room is not None and there == room:
                self._left[agent, other] = room
                self._left.pop((other, agent), None)

    def _show(
        self, thing: int, room: str | None, place: int, leaver: int = -1, is_leaver_attentive: bool = False
    ) -> None:
        group = self._inside(room)
        noticing = (group | self._watchers(room)) & ~self._distracted
        if leaver >= 0:
            group |= 1 << leaver
            noticing |= is_leaver_attentive << leaver
        sight = Sighting(thing, place, group, noticing, leaver)
        # The same people seeing the same thing again learn nothing; only words may have changed their minds.
        if sight != self._last.get(thing):
            self._last[thing] = sight
            self.steps.append(sight)

    def _speak(self, event: PlotEvent, speaker: int) -> None:
        thing, place = self._spoken_of(event)
        room = self._where[speaker]
        group = self._inside(room)
        if event.kind == _ANNOUNCE and room is not None:
            group = self._mask(agent for agent, there in self._where.items() if there is not None)
        if event.kind == _WHISPER:
            group &= 1 << speaker | 1 << self.cast[str(event.hearer)]
        noticing = (group | self._watchers(room) if event.kind == _TELL else group) & ~self._distracted
        stayed = [self._stayed.get((thing, agent), -1) for agent in range(len(self.cast))]
        longer = self._mask(agent for agent, time in enumerate(stayed) if time >= stayed[speaker])
        sight = -1
        if self._sight != CLOSED and thing in self.spot:
            sight = len(self.steps)
            self._last[thing] = None
            self._show(thing, *self.spot[thing])
        self.steps.append(Speech(thing, place, group, noticing, speaker, longer, sight))
        self._last[thing] = None


class MindWorlds:
    """What everybody believes at the end of a story, under one reading."""

    def __init__(self, events: Sequence[PlotEvent], reading: BeliefReading) -> None:
        """Apply all events of a story, possible or not."""
        stage = _Stage(events, reading.sight)
        self._persuades = {
            ALWAYS: self._always,
            FRESHER: self._fresher,
            NEVER_LIARS: self._never_liars,
            HI_TOM: self._hi_tom,
        }[reading.trust]
        self._trust = reading.trust
        self._cast, self._things, self._names = stage.cast, stage.things, tuple(stage.places)
        self._real = {thing: place for thing, (_, place) in stage.spot.items()}
        self._first = stage.first
        self._steps = stage.steps
        # A world is a history: the world before, the number of a step, and the point of the step that it appears as.
        self._worlds: list[tuple[int, int, Point]] = [(_START, -1, Point(_REAL, False))]
        self._liars = [0]  # for each world, whose words have been doubted there
        self._numbers: dict[tuple[int, int, Point], int] = {}
        self._successors: dict[tuple[int, int], int] = {}
        actual = _START
        for number, step in enumerate(self._steps):
            if isinstance(step, Suspicion):
                believed = self._place(self._successor(actual, step.finder), step.thing)
                if believed in (_NO_PLACE, step.place):
                    continue
            actual = self._extend(actual, number, Point(_REAL, isinstance(step, Sighting)))
        self._actual = actual

    def _extend(self, world: int, number: int, point: Point) -> int:
        """Return the world to which a step leads from a world, if it appears as a point."""
        key = world, number, point
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._worlds)
            self._worlds.append(key)
            step = self._steps[number]
            caught = 1 << step.speaker if isinstance(step, Speech) and point.doubts else 0
            self._liars.append(self._liars[world] | caught)
        return found

    def _place(self, world: int, thing: int) -> int:
        """Return where an object is in a world."""
        while world != _START:
            world, number, point = self._worlds[world]
            step = self._steps[number]
            if point.assigns and step.thing == thing:
                return step.place
        return _NO_PLACE

    def _successor(self, world: int, agent: int) -> int:
        """Return the world that an agent holds possible in a world."""
        pending = []
        while world != _START and (world, agent) not in self._successors:
            pending.append(world)
            world = self._worlds[world][0]
        held = _START if world == _START else self._successors[world, agent]
        for later in reversed(pending):
            _, number, point = self._worlds[later]
            step = self._steps[number]
            taken: Point | None
            if isinstance(step, Sighting):
                taken = self._see(step, point, agent)
            elif isinstance(step, Speech):
                taken = self._hear(step, point, agent, held)
            else:
                taken = self._suspect(step, point, agent)
            if taken is not None:
                held = self._extend(held, number, taken)
            self._successors[later, agent] = held
        return held

    def _see(self, step: Sighting, point: Point, agent: int) -> Point | None:
        """Return what an agent takes a sight for; None for nothing at all."""
        if point.mind == agent:  # a secret observer knows what it sees
            return point
        audience = step.noticing if point.mind == _REAL else step.group
        if not audience >> agent & 1:
            return None
        return Point(_GROUP if step.group >> agent & 1 else agent, True)

    def _hear(self, step: Speech, point: Point, agent: int, held: int) -> Point | None:
        """Return what an agent takes a message for, who held a world possible before it."""
        if point.mind == agent:
            return point
        audience = step.noticing if point.mind == _REAL else step.group
        if not audience >> agent & 1:
            return None
        if agent == step.speaker:
            # Words do not change the speaker's mind. Others take them for its mind, if they take it to be honest.
            return Point(agent, point.mind != _REAL and not point.doubts)
        persuaded = self._persuades(step, agent, held)
        return Point(agent, persuaded, not persuaded and self._trust in (NEVER_LIARS, HI_TOM))

    def _suspect(self, step: Suspicion, point: Point, agent: int) -> Point | None:
        """Return what an agent takes a suspicion for."""
        if point.mind == agent:
            return point
        if point.mind == _REAL:
            return Point(agent, False) if agent == step.finder else None
        return Point(agent, True) if point.mind == step.finder and step.suspects >> agent & 1 else None

    def _always(self, step: Speech, agent: int, held: int) -> bool:
        return True

    def _last_sight(self, world: int, thing: int, agent: int, *, is_own: bool) -> int:
        """Return the number of the step by which an agent last saw an object in a world, or -1.

        Args:
            world: The world.
            thing: The object.
            agent: The agent.
            is_own: Whether the world is what the agent itself holds possible, so that it knows of its secret sights.
        """
        while world != _START:
            world, number, _ = self._worlds[world]
            step = self._steps[number]
            sees = isinstance(step, Sighting) and step.leaver != agent and (is_own or step.group >> agent & 1)
            if sees and step.thing == thing:
                return number
        return -1

    def _fresher(self, step: Speech, agent: int, held: int) -> bool:
        """Return whether the speaker saw the object at least as late as the hearer, as the hearer takes it."""
        own = self._last_sight(held, step.thing, agent, is_own=True)
        return self._last_sight(held, step.thing, step.speaker, is_own=False) >= own

    def _never_liars(self, step: Speech, agent: int, held: int) -> bool:
        """Return whether the hearer has not caught the speaker saying what it does not believe, now or before."""
        if self._liars[held] >> step.speaker & 1:
            return False
        its = self._last_sight(held, step.thing, step.speaker, is_own=False)
        if self._fresher(step, agent, held) and (its < 0 or its != step.sight):
            return True  # the speaker may have seen the object since, so this may be news
        believed = self._place(self._successor(held, step.speaker), step.thing)
        return believed in (_NO_PLACE, step.place)

    def _hi_tom(self, step: Speech, agent: int, held: int) -> bool:
        return not step.stayed >> agent & 1

    def _name(self, place: int) -> str | None:
        return None if place == _NO_PLACE else self._names[place]

    def reality(self, thing: str) -> str | None:
        """Return the container that an object is in; None if it is nowhere."""
        return self._name(self._real.get(self._things.get(thing, -1), _NO_PLACE))

    def memory(self, thing: str) -> str | None:
        """Return the container that an object was first put into; None if it is nowhere."""
        return self._name(self._first.get(self._things.get(thing, -1), _NO_PLACE))

    def belief(self, chain: Sequence[str], thing: str) -> str | None:
        """Return where the first agent thinks that the next … thinks that the last believes an object to be.

        Args:
            chain: The agents, outermost first; the empty chain asks for reality.
            thing: The object.

        Returns:
            The container; None if there is no belief.
        """
        if not chain:
            return self.reality(thing)
        world = self._actual
        for name in chain:
            if name not in self._cast:
                return None
            world = self._successor(world, self._cast[name])
        return self._name(self._place(world, self._things.get(thing, -1)))

    def knows_where(self, agent: str, thing: str) -> bool:
        """Return whether an agent knows where an object is: it believes so, and is right."""
        believed = self.belief((agent,), thing)
        return believed is not None and believed == self.reality(thing)

    def knows_wrong(self, agent: str, other: str, thing: str) -> bool:
        """Return whether an agent knows that another is wrong: is right about the object and about the other."""
        real, believed = self.reality(thing), self.belief((other,), thing)
        is_wrong = None not in (real, believed) and real != believed
        return is_wrong and self.belief((agent,), thing) == real and self.belief((agent, other), thing) == believed

    def believers(self, thing: str, place: str, chain: Sequence[str] = ()) -> frozenset[str]:
        """Return who believes that an object is at a place, or who else thinks that a chain of others believes so."""
        names = (name for name in self._cast if name not in chain[:1])
        return frozenset(name for name in names if self.belief((name, *chain), thing) == place)

    def answer(self, question: BeliefQuestion) -> Reply:
        """Return the answer to a question."""
        thing, chain = question.thing, question.chain
        if question.ask in (Ask.BELIEF, Ask.SAYS):
            return self.belief(chain, thing)
        if question.ask == Ask.REALITY:
            return self.reality(thing)
        if question.ask == Ask.MEMORY:
            return self.memory(thing)
        if question.ask == Ask.BELIEVERS:
            return tuple(sorted(self.believers(thing, str(question.place), chain)))
        if question.ask == Ask.COMMON:
            return self.common(chain, thing)
        is_known = (
            self.knows_where(chain[0], thing)
            if question.ask == Ask.KNOWS_WHERE
            else self.knows_wrong(chain[0], chain[1], thing)
        )
        return "yes" if is_known else "no"

    def common(self, group: Sequence[str], thing: str) -> str | None:
        """Return where a group commonly believes an object to be: in all worlds that steps of its members reach."""
        if not group or any(name not in self._cast for name in group):
            return None
        members = [self._cast[name] for name in group]
        reached = [self._successor(self._actual, agent) for agent in members]
        seen = set(reached)
        for world in reached:  # grows on the way
            for agent in members:
                following = self._successor(world, agent)
                if following not in seen:
                    seen.add(following)
                    reached.append(following)
        places = {self._place(world, self._things.get(thing, -1)) for world in reached}
        return self._name(places.pop()) if len(places) == 1 else None
