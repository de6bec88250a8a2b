"""What happens in a story with secrets and messages, and what cannot happen.

An event is one sentence. Rooms are resolved: a placing or a move says in which room the container stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class EventKind(IntEnum):
    """The kinds of sentence that a story is made of."""

    NOISE = 0  # "The phone rang."
    FEEL = 1  # "Ada likes the jar."
    IS_IN = 2  # "Ada is in the attic."
    ENTER = 3  # "Ada entered the attic."
    EXIT = 4  # "Ada exited the attic."
    PLACE = 5  # "The key is in the box."
    MOVE = 6  # "Ada moved the key to the jar."
    PEEK = 7  # "Ada secretly began to watch the attic."
    UNPEEK = 8  # "Ada stopped watching."
    DISTRACT = 9  # "Ada got distracted."
    ATTEND = 10  # "Ada paid attention again."
    TELL = 11  # "Ada said that the key is in the box.", to all in her room
    WHISPER = 12  # "Ada told Bo in private that the key is in the box."
    ANNOUNCE = 13  # "Ada announced over the loudspeakers that the key is in the box."


IDLE = (EventKind.NOISE, EventKind.FEEL)  # change nothing, and bring neither people nor objects into a story
WALKS = (EventKind.IS_IN, EventKind.ENTER, EventKind.EXIT)
MESSAGES = (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE)


class PlotEvent(NamedTuple):
    """One sentence of a story.

    Attributes:
        kind: What sort of thing happens.
        agent: Who does it; the speaker of a message (not for PLACE and NOISE).
        room: The room entered, left or watched, or where the container stands (PLACE and MOVE).
        thing: The object placed, moved or spoken of; what is liked, which need not be an object (FEEL).
        container: Where the object ends up, or is said to be.
        hearer: Whom a WHISPER is for.
        lie: Whether the text calls a message a lie. Beliefs do not depend on it: speakers do not believe something
            because they said it, and who else notices a lie follows from what they believe.
        feeling: likes, dislikes, loves or hates (FEEL).
    """

    kind: EventKind
    agent: str | None = None
    room: str | None = None
    thing: str | None = None
    container: str | None = None
    hearer: str | None = None
    lie: bool = False
    feeling: str | None = None


NOTHING = PlotEvent(EventKind.NOISE)


def cast_of(events: Sequence[PlotEvent]) -> tuple[str, ...]:
    """Return the agents of a story in order of appearance: everybody who does something or is spoken to."""
    acting = (event for event in events if event.kind not in IDLE)
    return tuple(dict.fromkeys(name for event in acting for name in (event.agent, event.hearer) if name is not None))


class PlotState:
    """Who is where and does what, to see what can happen next."""

    def __init__(self, *, tells_rooms: bool = True) -> None:
        """Begin before the first sentence.

        Args:
            tells_rooms: Whether the story tells in which rooms containers stand. ToMi's wording does not; there the
                rooms are inferred, may be unknown, and no container is in a wrong one.
        """
        self._tells_rooms = tells_rooms
        self.where: dict[str, str] = {}
        self.watching: dict[str, str] = {}
        self.distracted: set[str] = set()
        self.homes: dict[str, str] = {}  # container → room
        self.left: dict[str, tuple[str | None, str]] = {}  # object → room and container

    def problem(self, event: PlotEvent) -> str | None:
        """Return why an event cannot happen now, as a clause without a full stop; None if it can."""
        kind, agent = event.kind, event.agent
        missing = [name for name in _NEEDED.get(kind, ()) if getattr(event, name) is None]
        if not self._tells_rooms and kind in (EventKind.PLACE, EventKind.MOVE):
            missing = [name for name in missing if name != "room"]
        if missing:
            return f"the sentence lacks its {' and '.join(missing)}"
        if kind in IDLE:
            return None
        if kind == EventKind.PLACE:
            return self._problem_of_placing(event)
        if kind == EventKind.IS_IN and self.where.get(str(agent)) == event.room:
            return None  # says again what is so
        if agent in self.distracted and kind != EventKind.ATTEND:
            return f"{agent} is distracted and must pay attention again first"
        if kind in WALKS:
            return self._problem_of_walking(event)
        if kind == EventKind.MOVE:
            return self._problem_of_moving(event)
        return self._problem_of_talking(event) if kind in MESSAGES else self._problem_of_attention(event)

    def _problem_of_placing(self, event: PlotEvent) -> str | None:
        thing, container, room = str(event.thing), str(event.container), event.room
        if self.left.get(thing, (room, container)) != (room, container):
            return f"the {thing} is said to be in the {container} but was left elsewhere"
        return self._problem_of_container(container, room)

    def _problem_of_walking(self, event: PlotEvent) -> str | None:
        agent, room = str(event.agent), event.room
        here = self.where.get(agent)
        if agent in self.watching:
            return f"{agent} watches the {self.watching[agent]} and must stop watching first"
        if event.kind == EventKind.ENTER and here == room:
            return f"{agent} is in the {room} already"
        if event.kind == EventKind.IS_IN and here is not None:
            return f"{agent} is said to be in the {room} but is in the {here}"
        if event.kind == EventKind.EXIT and here != room:
            return f"{agent} exits the {room} but is {f'in the {here}' if here else 'in no room'}"
        return None

    def _problem_of_moving(self, event: PlotEvent) -> str | None:
        thing, container, room = str(event.thing), str(event.container), event.room
        if thing not in self.left:
            return f"{event.agent} moves the {thing}, which is nowhere yet"
        home, _ = self.left[thing]
        if self.where.get(str(event.agent)) != home or (self._tells_rooms and room != home):
            return f"{event.agent} moves the {thing} from another room: it is in the {home}"
        return self._problem_of_container(container, room)

    def _problem_of_container(self, container: str, room: str | None) -> str | None:
        home = self.homes.get(container, room) if self._tells_rooms else room
        return None if home == room else f"the {container} is in the {home}, not in the {room}"

    def _problem_of_attention(self, event: PlotEvent) -> str | None:
        """Return why somebody cannot begin or stop to watch, get distracted or pay attention again."""
        kind, agent, room = event.kind, str(event.agent), event.room
        here = self.where.get(agent)
        if kind == EventKind.PEEK and here is None:
            return f"{agent} peeks into the {room} but is in no room"
        if kind == EventKind.PEEK and here == room:
            return f"{agent} peeks into the {room} but is in it"
        if kind == EventKind.PEEK and agent in self.watching:
            return f"{agent} already watches the {self.watching[agent]}"
        if kind == EventKind.UNPEEK and agent not in self.watching:
            return f"{agent} stops watching but watches no room"
        if kind == EventKind.DISTRACT and here is None:
            return f"{agent} gets distracted but is in no room"
        if kind == EventKind.ATTEND and agent not in self.distracted:
            return f"{agent} pays attention again but is not distracted"
        return None

    def _problem_of_talking(self, event: PlotEvent) -> str | None:
        agent, hearer = str(event.agent), event.hearer
        if event.thing not in self.left:
            return f"{agent} speaks of the {event.thing}, which is nowhere yet"
        here = self.where.get(agent)
        if here is None:
            return f"{agent} speaks but is in no room"
        if event.kind == EventKind.TELL:
            others = {name for name, room in self.where.items() if room == here} - {agent}
            if not others:
                return f"{agent} speaks but is alone in the {here}"
            is_heard = bool(others - self.distracted)
            return None if is_heard else f"{agent} speaks but everybody else in the {here} is distracted"
        if event.kind == EventKind.ANNOUNCE:
            return None
        if hearer == agent:
            return f"{agent} speaks to {agent} in private"
        there = self.where.get(str(hearer))
        if there != here:
            place = f"in the {there}" if there else "in no room"
            return f"{agent} speaks to {hearer}, who is {place}, in private in the {here}"
        return f"{agent} speaks to {hearer}, who is distracted, in private" if hearer in self.distracted else None

    def advance(self, event: PlotEvent) -> None:
        """Let an event happen, possible or not."""
        kind, agent, room = event.kind, event.agent, event.room
        if kind in (EventKind.PLACE, EventKind.MOVE):
            if event.thing is not None and event.container is not None:
                self.left[event.thing] = room, event.container
                if room is not None:
                    self.homes.setdefault(event.container, room)
        elif agent is not None:
            if kind in WALKS:
                self.where.pop(agent, None)
                if kind != EventKind.EXIT and room is not None:
                    self.where[agent] = room
            elif kind == EventKind.PEEK and room is not None:
                self.watching[agent] = room
            elif kind == EventKind.UNPEEK:
                self.watching.pop(agent, None)
            elif kind == EventKind.DISTRACT:
                self.distracted.add(agent)
            elif kind == EventKind.ATTEND:
                self.distracted.discard(agent)


_NEEDED: dict[EventKind, tuple[str, ...]] = {
    EventKind.FEEL: ("agent", "thing"),
    EventKind.IS_IN: ("agent", "room"),
    EventKind.ENTER: ("agent", "room"),
    EventKind.EXIT: ("agent", "room"),
    EventKind.PLACE: ("thing", "container", "room"),
    EventKind.MOVE: ("agent", "thing", "container", "room"),
    EventKind.PEEK: ("agent", "room"),
    EventKind.UNPEEK: ("agent",),
    EventKind.DISTRACT: ("agent",),
    EventKind.ATTEND: ("agent",),
    EventKind.TELL: ("agent", "thing", "container"),
    EventKind.WHISPER: ("agent", "hearer", "thing", "container"),
    EventKind.ANNOUNCE: ("agent", "thing", "container"),
}


def plot_problems(events: Sequence[PlotEvent], *, tells_rooms: bool = True) -> list[tuple[int, str]]:
    """List what cannot happen, as (1-based sentence number, what is wrong); see `PlotState`."""
    state, problems = PlotState(tells_rooms=tells_rooms), []
    for number, event in enumerate(events, start=1):
        problem = state.problem(event)
        if problem is not None:
            problems.append((number, problem))
        state.advance(event)
    return problems
