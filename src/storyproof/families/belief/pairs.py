"""Which two agents a story is about: agent 0, who moves the object, and agent 1, the other one asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from storyproof.families.belief.events import Event, Kind


def mover_of(events: Sequence[Event], thing: str) -> str | None:
    """Say who moves the object; of several the last."""
    return next((event.agent for event in reversed(events) if event.kind is Kind.MOVE and event.thing == thing), None)


def other_of(mover: str | None, chains: Iterable[Sequence[str]]) -> str | None:
    """Say whom the questions ask about besides the mover, if it is one person."""
    others = {agent for chain in chains for agent in chain if agent != mover}
    return others.pop() if len(others) == 1 else None


def pair_on_stage(events: Sequence[Event], thing: str) -> tuple[str | None, str | None]:
    """Say who came into the scene, for stories whose question names nobody, in order.

    These are the agents of the two sentences nearest before the object's last placing that tell of somebody's being in
    a room.
    """
    placed = max(
        (time for time, event in enumerate(events) if event.kind is Kind.PLACE and event.thing == thing), default=0
    )
    near = [event.agent for event in events[:placed] if event.kind in (Kind.ENTER, Kind.IS_IN)]
    return (near[-2], near[-1]) if len(near) > 1 else (None, None)
