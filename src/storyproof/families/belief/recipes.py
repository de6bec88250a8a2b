"""What a benchmark's stories must look like besides being possible and rightly labelled.

A changed sentence can leave a story possible and its labels true of the new story; that it is no longer a story of its
benchmark then gives it away.
"""

from __future__ import annotations

from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.matched_recipe import departure
from storyproof.families.belief.plots import Plot


def breach(benchmark: str, plot: Plot, thing: int, *, ours: bool) -> str | None:
    """Say how a story with one object in view departs from its benchmark's recipe; None if it does not.

    Args:
        benchmark: Whose recipe.
        plot: What happens.
        thing: The local number of the object.
        ours: Whether storyproof made the story; others begin with somebody who "is in" a room.
    """
    key = benchmark, thing, ours
    if key not in plot.breaches:
        plot.breaches[key] = _find_breach(benchmark, plot, thing, ours)
    return plot.breaches[key]


def _find_breach(benchmark: str, plot: Plot, thing: int, ours: bool) -> str | None:
    if ours and not _always_announced(plot.events):
        return "somebody 'is in' a room without having come there"
    name = tuple(plot.names.things)[thing]
    if benchmark == "tomi-matched":
        return departure(plot.events, name)
    if benchmark == "tomi":
        moves = sum(event.kind is Kind.MOVE and event.thing == name for event in plot.events)
        return None if moves == 1 else f"the object is moved {moves} times, not once"
    scene = plot.scene(thing)
    if benchmark in ("tom-babi", "tom-babi-easy") and scene.mover != scene.leader:
        return "the object is not moved by the one who came into the scene first"
    return None


def _always_announced(events: list[Event]) -> bool:
    """Say whether "is in" is told only of those who are there already."""
    where: dict[str | None, str | None] = {}
    for event in events:
        if event.kind is Kind.IS_IN and where.get(event.agent) != event.room:
            return False
        if event.kind is Kind.ENTER:
            where[event.agent] = event.room
        elif event.kind is Kind.EXIT:
            where.pop(event.agent, None)
    return True
