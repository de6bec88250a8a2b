"""Annotations of the original files besides the text: the trace of ToMi, the observers of ToM-bAbI."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.belief.world import EventKind, PlotEvent


def trace(events: Sequence[PlotEvent], mover: str | None, other: str | None) -> list[str]:
    """Return the actions of a ToMi story as its trace file names them."""
    tokens: list[str] = []
    home: dict[str | None, str | None] = {}
    for event in events:
        number = 0 if event.agent == mover else 1 if event.agent == other else 2
        if event.kind is EventKind.MOVE:
            tokens.append(f"agent_{number}_moves_obj")
        elif event.kind is EventKind.EXIT:
            tokens.append(f"agent_{number}_exits")
        elif event.kind in (EventKind.ENTER, EventKind.IS_IN):
            if number == 2:
                tokens.append("agent_2_enters")
            elif event.agent not in home:
                tokens.append(f"enter_agent_{number}")
            else:
                tokens.append(f"agent_{number}_reenters_{'loc' if event.room == home[event.agent] else 'alt_loc'}")
            home.setdefault(event.agent, event.room)
    return tokens


def observers(events: Sequence[PlotEvent]) -> list[list[str]]:
    """Return who sees each sentence, in the order in which they entered the room; who leaves still sees it."""
    rooms: dict[str | None, list[str]] = {}
    where: dict[str, str | None] = {}
    seen: list[list[str]] = []
    for event in events:
        agent = event.agent
        if event.kind in (EventKind.ENTER, EventKind.IS_IN) and agent is not None and where.get(agent) != event.room:
            if agent in where:
                rooms[where[agent]].remove(agent)
            where[agent] = event.room
            rooms.setdefault(event.room, []).append(agent)
        room = where.get(agent) if event.kind is EventKind.FEEL and agent is not None else event.room
        seen.append(list(rooms.get(room, ())) if room is not None else [])
        if event.kind is EventKind.EXIT and agent in where:
            rooms[where.pop(agent)].remove(agent)
    return seen
