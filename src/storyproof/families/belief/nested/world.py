"""What happens in a story with secrets and messages, and what cannot happen.

An event is one sentence. Rooms are resolved: a placing or a move says in which room the container stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class EventKind(IntEnum):
    """The kinds of sentence that a story is made of."""

    NOISE = 0  # "Ada likes the jar."
    ENTER = 1  # "Ada entered the attic."
    EXIT = 2  # "Ada exited the attic."
    PLACE = 3  # "The key is in the box."
    MOVE = 4  # "Ada moved the key to the jar."
    PEEK = 5  # "Ada secretly began to watch the attic."
    UNPEEK = 6  # "Ada stopped watching."
    DISTRACT = 7  # "Ada got distracted."
    ATTEND = 8  # "Ada paid attention again."
    TELL = 9  # "Ada said that the key is in the box.", to all in her room
    WHISPER = 10  # "Ada told Bo in private that the key is in the box."
    ANNOUNCE = 11  # "Ada announced over the loudspeakers that the key is in the box."


MESSAGES = (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE)


class PlotEvent(NamedTuple):
    """One sentence of a story.

    Attributes:
        kind: What sort of thing happens.
        agent: Who does it; the speaker of a message (not for PLACE and NOISE).
        room: The room entered, left or watched, or where the container stands (PLACE and MOVE).
        thing: The object placed, moved or spoken of.
        container: Where the object ends up, or is said to be.
        hearer: Whom a WHISPER is for.
        lie: Whether the text calls a message a lie. Beliefs do not depend on it: the speaker does not believe what it
            says, and who else notices that follows from what they believe.
    """

    kind: EventKind
    agent: str | None = None
    room: str | None = None
    thing: str | None = None
    container: str | None = None
    hearer: str | None = None
    lie: bool = False


NOTHING = PlotEvent(EventKind.NOISE)


def cast_of(events: Sequence[PlotEvent]) -> tuple[str, ...]:
    """Return the agents of a story in order of appearance; everybody of the cast hears an announcement."""
    return tuple(dict.fromkeys(name for event in events for name in (event.agent, event.hearer) if name is not None))


class PlotState:
    """Who is where and does what, to see what can happen next."""

    def __init__(self) -> None:
        self.where: dict[str, str] = {}
        self.watching: dict[str, str] = {}
        self.distracted: set[str] = set()
        self.homes: dict[str, str] = {}  # container → room
        self.left: dict[str, tuple[str, str]] = {}  # object → room and container

    def problem(self, event: PlotEvent) -> str | None:
        """Return why an event cannot happen now, as a clause without a full stop; None if it can."""
        kind, agent, room = event.kind, event.agent, event.room
        if kind == EventKind.NOISE:
            return None
        missing = [name for name in _NEEDED[kind] if getattr(event, name) is None]
        if missing:
            return f"the sentence lacks its {' and '.join(missing)}"
        if kind == EventKind.PLACE:
            return self._problem_of_putting(event)
        assert agent is not None  # every other kind needs one
        if agent in self.distracted and kind not in (EventKind.EXIT, EventKind.ATTEND):
            return f"{agent} is distracted and must pay attention again first"
        here = self.where.get(agent)
        if kind == EventKind.ENTER and here is not None:
            return (
                f"{agent} enters the {room} but is in the {here}"
                if here != room
                else f"{agent} is in the {room} already"
            )
        if kind == EventKind.EXIT and here != room:
            return f"{agent} exits the {room} but is {f'in the {here}' if here else 'in no room'}"
        if kind == EventKind.MOVE:
            return self._problem_of_moving(event)
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
        return self._problem_of_talking(event) if kind in MESSAGES else None

    def _problem_of_putting(self, event: PlotEvent) -> str | None:
        thing, container, room = event.thing, event.container, event.room
        if thing in self.left:
            return f"the {thing} is placed a second time; it can only be moved"
        home = self.homes.get(str(container), room)
        return None if home == room else f"the {container} is in the {home}, not in the {room}"

    def _problem_of_moving(self, event: PlotEvent) -> str | None:
        thing, container, room = str(event.thing), str(event.container), event.room
        if thing not in self.left:
            return f"{event.agent} moves the {thing}, which is nowhere yet"
        if self.where.get(str(event.agent)) != self.left[thing][0] or room != self.left[thing][0]:
            return f"{event.agent} moves the {thing} from another room: it is in the {self.left[thing][0]}"
        home = self.homes.get(container, room)
        return None if home == room else f"the {container} is in the {home}, not in the {room}"

    def _problem_of_talking(self, event: PlotEvent) -> str | None:
        agent, hearer = str(event.agent), event.hearer
        if event.thing not in self.left:
            return f"{agent} speaks of the {event.thing}, which is nowhere yet"
        if event.kind == EventKind.ANNOUNCE:
            return None
        here = self.where.get(agent)
        if here is None:
            return f"{agent} speaks but is in no room"
        if event.kind == EventKind.TELL:
            alone = sum(room == here for room in self.where.values()) == 1
            return f"{agent} speaks but is alone in the {here}" if alone else None
        if hearer == agent:
            return f"{agent} speaks to itself"
        there = self.where.get(str(hearer))
        if there == here:
            return None
        place = f"in the {there}" if there else "in no room"
        return f"{agent} speaks to {hearer}, who is {place}, in private in the {here}"

    def advance(self, event: PlotEvent) -> None:
        """Let an event happen, possible or not."""
        kind, agent, room = event.kind, event.agent, event.room
        if kind in (EventKind.PLACE, EventKind.MOVE):
            if event.thing is not None and event.container is not None and room is not None:
                self.left[event.thing] = room, event.container
                self.homes.setdefault(event.container, room)
        elif agent is not None:
            if kind in (EventKind.ENTER, EventKind.EXIT):
                self.where.pop(agent, None)
                self.watching.pop(agent, None)
                self.distracted.discard(agent)
            if kind == EventKind.ENTER and room is not None:
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


def plot_problems(events: Sequence[PlotEvent]) -> list[tuple[int, str]]:
    """List what cannot happen, as (1-based sentence number, what is wrong)."""
    state, found = PlotState(), []
    for number, event in enumerate(events, start=1):
        problem = state.problem(event)
        if problem is not None:
            found.append((number, problem))
        state.advance(event)
    return found
