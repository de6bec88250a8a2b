"""Random stories with secrets and messages, and both provers asked about many of them at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import numpy as np

from storyproof.families.belief import oracle
from storyproof.families.belief import trajectories as course
from storyproof.families.belief.arrays import NOBODY, STRANGER, encode_plots
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.world import MESSAGES, WALKS, EventKind, PlotEvent, PlotState
from tests.families.belief.possible_worlds import MindWorlds

PEOPLE = ("Ada", "Bo", "Cy", "Di", "Ed")
ROOMS = ("attic", "barn")
THINGS = ("key", "coin")
BOXES = {("attic", "key"): ("jar", "pot", "tin"), ("attic", "coin"): ("jar", "pot"), ("barn", "coin"): ("bin", "bag")}
ALL_BOXES = ("jar", "pot", "tin", "bin", "bag")

Plot = list[PlotEvent]
Chain = tuple[str, ...]

_WALKS = (EventKind.ENTER,) * 4 + (EventKind.EXIT,) * 3 + (EventKind.IS_IN,)
_PUTS = (EventKind.PLACE,) * 2 + (EventKind.MOVE,) * 4
_SECRETS = (EventKind.PEEK, EventKind.UNPEEK, EventKind.DISTRACT, EventKind.ATTEND)
_WORDS = (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE) * 2
KINDS = (*_WALKS, *_PUTS, *_SECRETS, *_WORDS, EventKind.NOISE, EventKind.FEEL)
PLAIN = (*_WALKS, *_PUTS)


def chains(people: Sequence[str], order: int) -> list[Chain]:
    """Return all chains up to an order, repetitions included."""
    return [chain for depth in range(1, order + 1) for chain in product(people, repeat=depth)]


def any_event(rng: random.Random, people: Sequence[str], kinds: Sequence[EventKind] = KINDS) -> PlotEvent:
    """Return an event that need not be possible."""
    kind, agent, thing = rng.choice(kinds), rng.choice(people), rng.choice((*THINGS, THINGS[0]))
    room, box, hearer = rng.choice((*ROOMS, ROOMS[0])), rng.choice(ALL_BOXES), rng.choice(people)
    if kind in (*WALKS, EventKind.PEEK):
        return PlotEvent(kind, agent, room)
    if kind in (EventKind.UNPEEK, EventKind.DISTRACT, EventKind.ATTEND):
        return PlotEvent(kind, agent)
    if kind == EventKind.PLACE:
        return PlotEvent(kind, None, room, thing, box)
    if kind == EventKind.MOVE:
        return PlotEvent(kind, agent, room, thing, box)
    if kind in MESSAGES:
        return PlotEvent(kind, agent, None, thing, box, hearer if kind == EventKind.WHISPER else None)
    if kind == EventKind.FEEL:
        return PlotEvent(kind, rng.choice((*people[1:], "Zoe")), None, rng.choice((thing, box, "hat")), feeling="likes")
    return PlotEvent(kind)


def any_plot(rng: random.Random, people: Sequence[str], length: int) -> Plot:
    """Return a story whose events need not be possible."""
    return [any_event(rng, people) for _ in range(length)]


def possible_plot(rng: random.Random, people: Sequence[str], length: int, kinds: Sequence[EventKind] = KINDS) -> Plot:
    """Return a story that can happen."""
    state, plot = PlotState(), Plot()

    def happen(event: PlotEvent) -> None:
        if state.problem(event) is None:
            state.advance(event)
            plot.append(event)

    for agent in people:
        if rng.random() < 0.7:
            happen(PlotEvent(EventKind.ENTER, agent, ROOMS[0]))
    happen(PlotEvent(EventKind.PLACE, None, "attic", "key", "jar"))
    while len(plot) < length:
        event = any_event(rng, people, kinds)
        if event.kind == EventKind.EXIT:
            event = event._replace(room=state.where.get(str(event.agent)))
        elif event.kind in (EventKind.PLACE, EventKind.MOVE):
            room = "attic" if event.thing == "key" else str(event.room)
            if event.kind == EventKind.MOVE and event.thing in state.left:
                room = state.left[event.thing][0]
            event = event._replace(room=room, container=rng.choice(BOXES[room, str(event.thing)]))
        happen(event)
    return plot


def plots(seed: int, count: int, people: int = 4, length: int = 16) -> list[Plot]:
    """Return random stories of four kinds: any events, possible ones, people who return, and people who gossip.

    In every other one sentences are deleted, as proofs do it.
    """
    rng = random.Random(seed)
    found = []
    for number in range(count):
        cast = PEOPLE[: rng.randint(2, people)]
        if number % 4 == 0:
            found.append(any_plot(rng, cast, rng.randint(4, length)))
        elif number % 4 == 1:
            found.append(possible_plot(rng, cast, rng.randint(6, length)))
        else:
            found.append(returning_plot(rng) if number % 4 == 2 else gossiping_plot(rng, cast))
        if number // 4 % 2:
            found[-1] = [each._replace(kind=EventKind.NOISE) if rng.random() < 0.12 else each for each in found[-1]]
    return found


def returning_plot(rng: random.Random) -> Plot:
    """Return a story of three in which people part, hear things, meet elsewhere and come back to a moved object.

    Only such stories show what `infer-mover` concludes; among any events they are one in hundreds.
    """
    people = rng.sample(PEOPLE[:3], 3)
    x, y, z = people
    state, plot = PlotState(), Plot()

    def happen(
        kind: EventKind,
        agent: str | None = None,
        room: str | None = None,
        box: str | None = None,
        hearer: str | None = None,
    ) -> None:
        event = PlotEvent(kind, agent, room, "key" if box else None, box, hearer)
        if rng.random() < 0.85 and state.problem(event) is None:
            state.advance(event)
            plot.append(event)

    for agent in people:
        happen(EventKind.ENTER, agent, "attic")
    happen(EventKind.PLACE, None, "attic", "jar")
    for more in range(rng.randint(0, 2), -1, -1):
        if rng.random() < 0.3:
            happen(EventKind.EXIT, z, "attic")
        happen(EventKind.EXIT, x, "attic")
        watcher = rng.choice((x, z, z, None, None))
        if watcher:
            happen(EventKind.ENTER, watcher, "barn")
            happen(EventKind.PEEK, watcher, "attic")
            if rng.random() < 0.3:
                happen(EventKind.UNPEEK, watcher)
        happen(EventKind.MOVE, y, "attic", rng.choice(("jar", "pot", "tin")))
        happen(EventKind.EXIT, y, "attic")
        if rng.random() < 0.5:
            happen(EventKind.ENTER, y, "barn")
        if rng.random() < 0.4:
            happen(EventKind.ENTER, x, "barn")
            happen(EventKind.TELL, rng.choice(people), None, rng.choice(("jar", "pot", "tin")))
            happen(EventKind.WHISPER, z, None, state.left.get("key", ("", "jar"))[1], x)
            happen(EventKind.EXIT, rng.choice((x, y)), "barn")
            happen(EventKind.EXIT, x, "barn")
        if rng.random() < 0.3:
            happen(EventKind.ANNOUNCE, rng.choice(people), None, rng.choice(("jar", "pot", "tin")))
        if watcher:
            happen(EventKind.UNPEEK, watcher)
        if rng.random() < 0.1:
            happen(EventKind.DISTRACT, x)
        happen(rng.choice((EventKind.ENTER,) * 5 + (EventKind.IS_IN,)), x, "attic")
        if more:
            happen(EventKind.EXIT, y, "barn")
            happen(EventKind.ENTER, y, "attic")
    return plot


def gossiping_plot(rng: random.Random, people: Sequence[str]) -> Plot:
    """Return a story in which people leave the objects one after the other, gather elsewhere and say many things.

    Only such stories show who catches whom lying, and who knows of that; others have too few messages.
    """
    state, plot = PlotState(), Plot()

    def happen(event: PlotEvent) -> None:
        if state.problem(event) is None:
            state.advance(event)
            plot.append(event)

    for agent in rng.sample(people, len(people)):
        happen(PlotEvent(EventKind.ENTER, agent, "attic"))
    for thing in THINGS:
        happen(PlotEvent(EventKind.PLACE, None, "attic", thing, rng.choice(ALL_BOXES[:2])))
    for agent in rng.sample(people, len(people)):
        if rng.random() < 0.3:
            happen(PlotEvent(EventKind.MOVE, agent, "attic", rng.choice(THINGS), rng.choice(ALL_BOXES[:2])))
        if rng.random() < 0.25:
            happen(PlotEvent(EventKind.DISTRACT, agent))
        if rng.random() < 0.5:
            happen(PlotEvent(EventKind.ATTEND, agent))
        if rng.random() < 0.9:
            happen(PlotEvent(EventKind.EXIT, agent, "attic"))
    for agent in rng.sample(people, len(people)):
        happen(PlotEvent(EventKind.ENTER, agent, "barn"))
    kinds = (EventKind.TELL, EventKind.TELL, EventKind.WHISPER, EventKind.WHISPER, EventKind.ANNOUNCE)
    for _ in range(rng.choice((2, 3, 4, 5, 5, 8))):
        kind, (speaker, hearer) = rng.choice(kinds), rng.sample(people, 2)
        said = rng.choice((*THINGS, THINGS[0])), rng.choice(ALL_BOXES[:2])
        happen(PlotEvent(kind, speaker, None, *said, hearer if kind == EventKind.WHISPER else None))
        secret, other = rng.choice(_SECRETS), rng.choice(people)
        if rng.random() < 0.3:
            happen(PlotEvent(EventKind.ENTER, other, "attic"))
            happen(PlotEvent(EventKind.PEEK, other, "barn"))
        elif rng.random() < 0.2:
            happen(PlotEvent(EventKind.EXIT, other, state.where.get(other)))
        if rng.random() < 0.4:
            room = rng.choice(ROOMS) if secret == EventKind.PEEK else None
            happen(PlotEvent(secret, other, room))
        if rng.random() < 0.15:
            happen(PlotEvent(EventKind.MOVE, other, "attic", "key", rng.choice(ALL_BOXES[:2])))
            happen(PlotEvent(EventKind.ENTER, other, rng.choice(ROOMS)))
        if rng.random() < 0.15:
            happen(PlotEvent(EventKind.EXIT, speaker, "barn"))
            happen(PlotEvent(EventKind.ENTER, speaker, "attic"))
            happen(PlotEvent(EventKind.EXIT, speaker, "attic"))
            happen(PlotEvent(EventKind.ENTER, speaker, "barn"))
    return plot


def ask_oracle(
    stories: Sequence[Plot], asked: Sequence[Chain], thing: str, reading: BeliefReading
) -> list[list[str | None]]:
    """Return the oracle's beliefs, for each story a list by chain; all stories are asked in one block."""
    arrays, names = encode_plots(stories)
    depth = max(map(len, asked))
    chain = np.full((depth, len(stories) * len(asked)), NOBODY, np.int8)
    for story, known in enumerate(names):
        for place, agents in enumerate(asked):
            chain[: len(agents), story * len(asked) + place] = [known.agents.get(agent, STRANGER) for agent in agents]
    things = np.repeat(np.array([known.things.get(thing, 99) for known in names], np.int8), len(asked))
    columns = np.repeat(np.arange(len(stories)), len(asked))
    flat = oracle.beliefs(course.Course.of(arrays), columns, things, chain, reading)
    found = flat.reshape(len(stories), len(asked)).tolist()
    boxes = [tuple(known.containers) for known in names]
    return [
        [None if place == NOBODY else words[place] for place in row] for row, words in zip(found, boxes, strict=True)
    ]


def ask_checker(story: Plot, asked: Sequence[Chain], thing: str, reading: BeliefReading) -> list[str | None]:
    """Return the checker's beliefs by chain."""
    worlds = MindWorlds(story, reading)
    return [worlds.belief(chain, thing) for chain in asked]


def describe(story: Plot) -> str:
    """Return a story for messages of failing tests, one event per line."""
    lines = []
    for number, event in enumerate(story, start=1):
        words = [word for word in event[1:6] if word]
        lines.append(f"{number} {event.kind.name} {' '.join(map(str, words))}")
    return "\n".join(lines)
