"""Random stories for property tests: any events, and come-and-go stories in which people return and wonder."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from storyproof.families.belief.tomi_text import FEELINGS
from storyproof.families.belief.world import EventKind, PlotEvent

AGENTS = ("Ada", "Bo", "Cy", "Di")
ROOMS = ("attic", "barn", "cellar")
BOXES = ("jar", "pot", "tin")
THING, OTHER_THING = "key", "coin"
CHAINS = [chain for order in range(1, 5) for chain in product(AGENTS, repeat=order)]


def any_events() -> st.SearchStrategy[list[PlotEvent]]:
    """Events in any order, possible or not.

    A few are about another object, and a few put the object into a room that is not told.
    """
    agent, room, box = st.sampled_from(AGENTS), st.sampled_from(ROOMS[:2]), st.sampled_from(BOXES)
    somewhere = st.sampled_from([*ROOMS[:2] * 3, None])
    thing = st.sampled_from([THING] * 4 + [OTHER_THING])
    walk = st.sampled_from([EventKind.ENTER, EventKind.ENTER, EventKind.EXIT, EventKind.IS_IN])
    event = st.one_of(
        st.tuples(walk, agent, room),
        st.tuples(st.just(EventKind.PLACE), st.none(), somewhere, thing, box),
        st.tuples(st.just(EventKind.MOVE), agent, room, thing, box),
    )
    return st.lists(event.map(lambda words: PlotEvent(*words)), max_size=12)  # `builds` would fill in all fields


@st.composite
def returns(draw: st.DrawFn) -> list[PlotEvent]:
    """Stories of two or three people who part, meet elsewhere and come back to an object that has been moved.

    Only such stories show what `infer-mover` concludes; among any events they are one in hundreds.
    """
    people = AGENTS[: draw(st.integers(2, 3))]
    home, away = ROOMS[:2]
    where: dict[str, str | None] = dict.fromkeys(people)
    events: list[PlotEvent] = []
    boxes = iter(BOXES * 4)

    def go(agent: str, room: str | None) -> None:
        here = where[agent]
        where[agent] = room
        if room is not None:
            kind = EventKind.IS_IN if draw(st.integers(0, 5)) == 0 else EventKind.ENTER
            events.append(PlotEvent(kind, agent, room))
        elif here is not None:
            events.append(PlotEvent(EventKind.EXIT, agent, here))

    def put(agent: str | None) -> None:
        kind = EventKind.PLACE if agent is None else EventKind.MOVE
        events.append(PlotEvent(kind, agent, home, THING, next(boxes)))

    for agent in people:
        go(agent, home)
    if draw(st.booleans()):
        put(None)
    for _ in range(draw(st.integers(2, 4))):
        for agent in draw(st.permutations(people))[: draw(st.integers(1, 2))]:
            go(agent, draw(st.sampled_from([None, away])))
        stayers = [agent for agent in people if where[agent] == home]
        put(draw(st.sampled_from([None, *stayers])))
        for agent in stayers:
            if draw(st.booleans()):
                go(agent, draw(st.sampled_from([None, away])))
        back = draw(st.sampled_from(people))
        if where[back] == away and draw(st.booleans()):
            go(back, None)
        go(back, home)
    return events


@st.composite
def possible_stories(draw: st.DrawFn, *, asides: bool = False) -> list[PlotEvent]:
    """Stories that can happen: everybody starts in one room, and comes and goes while the object is moved about."""
    home = ROOMS[0]
    where: dict[str, str | None] = dict.fromkeys(AGENTS[: draw(st.integers(2, 4))], home)
    events = [PlotEvent(EventKind.ENTER, agent, home) for agent in where]
    events.append(PlotEvent(EventKind.PLACE, None, home, THING, BOXES[0]))
    for _ in range(draw(st.integers(1, 9))):
        agent = draw(st.sampled_from(sorted(where)))
        here = where[agent]
        if here == home and draw(st.booleans()):
            events.append(PlotEvent(EventKind.MOVE, agent, home, THING, draw(st.sampled_from(BOXES))))
        elif here is not None:
            events.append(PlotEvent(EventKind.EXIT, agent, here))
            where[agent] = None
        else:
            where[agent] = draw(st.sampled_from([home, home, *ROOMS[1:]]))
            events.append(PlotEvent(EventKind.ENTER, agent, where[agent]))
        if asides and draw(st.booleans()):
            feeling, thing = draw(st.sampled_from(FEELINGS)), draw(st.sampled_from((THING, *BOXES)))
            events.append(
                draw(
                    st.sampled_from(
                        [PlotEvent(EventKind.NOISE), PlotEvent(EventKind.FEEL, agent, thing=thing, feeling=feeling)]
                    )
                )
            )
    return events
