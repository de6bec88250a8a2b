"""What happens in a theory-of-mind story.

An event is one sentence. Rooms are resolved: a placing or a move says in which room the container stands, even though
the text leaves it to the reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The kinds of sentence a story is made of."""

    ENTER = 0  # "Ada entered the attic."
    EXIT = 1  # "Ada exited the attic."
    IS_IN = 2  # "Ada is in the attic." (was there already)
    PLACE = 3  # "The key is in the box."
    MOVE = 4  # "Ada moved the key to the jar."
    FEEL = 5  # "Ada likes the jar."
    NOISE = 6  # "Phone rang."


# Looking a member up in its class costs more than comparing it; these are for loops over events.
_ENTER, _EXIT, _IS_IN, _PLACE, _MOVE = Kind.ENTER, Kind.EXIT, Kind.IS_IN, Kind.PLACE, Kind.MOVE

FEELINGS = ("likes", "dislikes", "loves", "hates")
NOISE = "Phone rang."


class Event(NamedTuple):
    """One sentence of a story.

    Attributes:
        kind: What sort of thing happens.
        agent: Who does it (not for PLACE and NOISE).
        room: Where (not for FEEL and NOISE).
        thing: The object placed or moved, or whatever is liked.
        container: Where the object ends up (PLACE and MOVE).
        feeling: One of FEELINGS (FEEL only).
        observers: Who in fact notices. None, the usual case, means everybody in the room. A private event names them:
            somebody in the room who is missing did not look, and somebody elsewhere who is listed peeked. Those in the
            room take it that exactly those in the room noticed; a peeker takes it that nobody else peeked.
    """

    kind: Kind
    agent: str | None = None
    room: str | None = None
    thing: str | None = None
    container: str | None = None
    feeling: str | None = None
    observers: frozenset[str] | None = None


def presence(events: Sequence[Event]) -> list[dict[str, str]]:
    """Return for each event the room of every agent right after it, without those who are nowhere."""
    where: dict[str, str] = {}
    after = []
    for event in events:
        if event.agent is not None and event.room is not None:
            if event.kind in (Kind.ENTER, Kind.IS_IN):
                where[event.agent] = event.room
            elif event.kind is Kind.EXIT:
                where.pop(event.agent, None)
        after.append(dict(where))
    return after


def impossibilities(events: Sequence[Event]) -> list[tuple[int, str]]:
    """List what cannot happen, as (1-based sentence number, what is wrong)."""
    where: dict[str | None, str | None] = {}
    left: dict[str | None, tuple[str | None, str | None]] = {}  # object → room and container it was left in
    found: list[tuple[int, str]] = []
    for number, event in enumerate(events, start=1):
        kind, agent, room, thing = event.kind, event.agent, event.room, event.thing
        if kind == _ENTER or kind == _IS_IN:
            if kind == _ENTER and where.get(agent) == room:
                found.append((number, f"{agent} enters the {room}, being there already"))
            if kind == _IS_IN and where.get(agent, room) != room:
                found.append((number, f"{agent} is said to be in the {room} but went elsewhere"))
            where[agent] = room
        elif kind == _EXIT:
            if where.pop(agent, None) != room:
                found.append((number, f"{agent} exits the {room} without being there"))
        elif kind == _PLACE:
            place = room, event.container
            if left.setdefault(thing, place) != place:
                found.append((number, f"the {thing} is said to be in the {event.container} but was left elsewhere"))
            left[thing] = place
        elif kind == _MOVE:
            if thing not in left:
                found.append((number, f"{agent} moves the {thing}, which is nowhere yet"))
            elif where.get(agent) != left[thing][0]:
                found.append((number, f"{agent} moves the {thing} from another room"))
            left[thing] = room, event.container
    return found
