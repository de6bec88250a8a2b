"""Random stories for property tests: any events, and come-and-go stories in which people return and wonder."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from storyproof.families.belief.events import FEELINGS, Event, Kind

AGENTS = ("Ada", "Bo", "Cy", "Di")
ROOMS = ("attic", "barn", "cellar")
BOXES = ("jar", "pot", "tin")
THING = "key"
CHAINS = [chain for order in range(1, 5) for chain in product(AGENTS, repeat=order)]


def observers() -> st.SearchStrategy[frozenset[str] | None]:
    return st.none() | st.frozensets(st.sampled_from(AGENTS))


def any_events(*, private: bool) -> st.SearchStrategy[list[Event]]:
    """Events in any order, possible or not, with any observers if `private`."""
    agent, room, box = st.sampled_from(AGENTS), st.sampled_from(ROOMS[:2]), st.sampled_from(BOXES)
    seen = observers() if private else st.none()
    walk = st.sampled_from([Kind.ENTER, Kind.ENTER, Kind.EXIT, Kind.IS_IN])
    event = st.one_of(
        st.builds(lambda kind, who, where, by: Event(kind, who, where, observers=by), walk, agent, room, seen),
        st.builds(lambda where, box, by: Event(Kind.PLACE, None, where, THING, box, observers=by), room, box, seen),
        st.builds(
            lambda who, where, box, by: Event(Kind.MOVE, who, where, THING, box, observers=by), agent, room, box, seen
        ),
    )
    return st.lists(event, max_size=12)


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
