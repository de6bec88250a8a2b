"""Random stories for property tests: any events, and come-and-go stories in which people return and wonder."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from storyproof.families.belief.events import FEELINGS, Event, Kind

AGENTS = ("Ada", "Bo", "Cy", "Di")
ROOMS = ("attic", "barn", "cellar")
BOXES = ("jar", "pot", "tin")
THING, OTHER_THING = "key", "coin"
CHAINS = [chain for order in range(1, 5) for chain in product(AGENTS, repeat=order)]


def observers() -> st.SearchStrategy[frozenset[str] | None]:
    return st.none() | st.frozensets(st.sampled_from(AGENTS))


def any_events(*, private: bool) -> st.SearchStrategy[list[Event]]:
    """Events in any order, possible or not, with any observers if `private`.

    A few are about another object, and a few put the object into a room that is not told.
    """
    agent, room, box = st.sampled_from(AGENTS), st.sampled_from(ROOMS[:2]), st.sampled_from(BOXES)
    somewhere = st.sampled_from([*ROOMS[:2] * 3, None])
    thing = st.sampled_from([THING] * 4 + [OTHER_THING])
    seen = observers() if private else st.none()
    walk = st.sampled_from([Kind.ENTER, Kind.ENTER, Kind.EXIT, Kind.IS_IN])
    event = st.one_of(
        st.builds(lambda kind, who, where, by: Event(kind, who, where, observers=by), walk, agent, room, seen),
        st.builds(
            lambda where, what, box, by: Event(Kind.PLACE, None, where, what, box, observers=by),
            somewhere,
            thing,
            box,
            seen,
        ),
        st.builds(
            lambda who, where, what, box, by: Event(Kind.MOVE, who, where, what, box, observers=by),
            agent,
            room,
            thing,
            box,
            seen,
        ),
    )
    return st.lists(event, max_size=12)


@st.composite
def returns(draw: st.DrawFn, *, private: bool = False) -> list[Event]:
    """Stories of two or three people who part, meet elsewhere and come back to an object that has been moved.

    Only such stories show what `infer-mover` concludes; among any events they are one in hundreds.
    """
    people = AGENTS[: draw(st.integers(2, 3))]
    home, away = ROOMS[:2]
    where: dict[str, str | None] = dict.fromkeys(people)
    events: list[Event] = []
    boxes = iter(BOXES * 4)

    def go(agent: str, room: str | None) -> None:
        here, seen = where[agent], draw(observers()) if private and draw(st.integers(0, 3)) == 0 else None
        where[agent] = room
        if room is not None:
            kind = Kind.IS_IN if draw(st.integers(0, 5)) == 0 else Kind.ENTER
            events.append(Event(kind, agent, room, observers=seen))
        elif here is not None:
            events.append(Event(Kind.EXIT, agent, here, observers=seen))

    def put(agent: str | None) -> None:
        kind, seen = Kind.PLACE if agent is None else Kind.MOVE, None
        if private and draw(st.integers(0, 3)) == 0:
            seen = draw(observers())
        events.append(Event(kind, agent, home, THING, next(boxes), observers=seen))

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
def possible_stories(draw: st.DrawFn, *, private: bool = False, asides: bool = False) -> list[Event]:
    """Stories that can happen: everybody starts in one room, and comes and goes while the object is moved about."""
    home = ROOMS[0]
    where: dict[str, str | None] = dict.fromkeys(AGENTS[: draw(st.integers(2, 4))], home)
    events = [Event(Kind.ENTER, agent, home) for agent in where]
    events.append(Event(Kind.PLACE, None, home, THING, BOXES[0]))
    for _ in range(draw(st.integers(1, 9))):
        agent = draw(st.sampled_from(sorted(where)))
        seen = draw(observers()) if private else None
        here = where[agent]
        if here == home and draw(st.booleans()):
            events.append(Event(Kind.MOVE, agent, home, THING, draw(st.sampled_from(BOXES)), observers=seen))
        elif here is not None:
            events.append(Event(Kind.EXIT, agent, here, observers=seen))
            where[agent] = None
        else:
            where[agent] = draw(st.sampled_from([home, home, *ROOMS[1:]]))
            events.append(Event(Kind.ENTER, agent, where[agent], observers=seen))
        if asides and draw(st.booleans()):
            feeling, thing = draw(st.sampled_from(FEELINGS)), draw(st.sampled_from((THING, *BOXES)))
            events.append(
                draw(st.sampled_from([Event(Kind.NOISE), Event(Kind.FEEL, agent, thing=thing, feeling=feeling)]))
            )
    return events
