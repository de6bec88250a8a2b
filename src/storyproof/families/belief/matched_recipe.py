"""How a story departs from what `tomi-matched` tells, seen from its events."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.labels import STORY_TYPES
from storyproof.families.belief.matched_plots import AGENTS, TYPE_OF

_WALK = (Kind.EXIT, Kind.ENTER, Kind.EXIT)


def departure(events: Sequence[Event], thing: str) -> str | None:
    """Say how a story about an object is none of `tomi-matched`; None if it is one.

    Args:
        events: What happens, without likes and dislikes.
        thing: The object.
    """
    moves = [event for event in events if event.kind is Kind.MOVE and event.thing == thing]
    if len(moves) != 1:
        return f"the object is moved {len(moves)} times, not once"
    rooms = {event.room for event in events}
    if len(rooms) > 1:
        return f"it happens in {len(rooms)} rooms, not in one"
    opening, rest = events[:AGENTS], events[AGENTS:]
    people = {event.agent for event in opening if event.kind is Kind.ENTER}
    mover = moves[0].agent
    if len(people) < AGENTS or mover not in people:
        return f"it does not begin with the entries of {AGENTS} people, the mover among them"
    companions = people - {mover}
    if [event for event in rest if event.agent not in companions] != _marks(moves[0], rest[0]):
        return "mover and object do not what they do in every story"
    if rest[0].container == moves[0].container:
        return "the object is moved to where it was"
    return _wrong_companions(rest, companions)


def _marks(move: Event, placing: Event) -> list[Event]:
    """Say what mover and object must do after the entries, whatever their names."""
    leaves, returns = (Event(kind, move.agent, move.room) for kind in (Kind.EXIT, Kind.ENTER))
    there = Event(Kind.PLACE, None, move.room, move.thing, move.container)
    placed = there._replace(container=placing.container)
    return [placed, leaves, returns, move, there, leaves, there]


def _wrong_companions(events: Sequence[Event], companions: set[str | None]) -> str | None:
    """Say which companion does something else than companions do, or which of the types they do not make."""
    stretch = -1
    walks: dict[str | None, list[tuple[Kind, int]]] = {agent: [] for agent in sorted(map(str, companions))}
    for event in events:
        if event.agent in walks:
            walks[event.agent].append((event.kind, stretch))
        else:
            stretch += 1
    types = []
    for agent, walk in walks.items():
        kinds, when = tuple(kind for kind, _ in walk), tuple(stretch for _, stretch in walk)
        if kinds != _WALK or when not in TYPE_OF:
            return f"{agent} does not leave, come back and leave as a companion does"
        types.append(TYPE_OF[when])
    missing = sorted(set(STORY_TYPES) - set(types))
    return f"no companion makes it a story of {missing[0]}" if missing else None
