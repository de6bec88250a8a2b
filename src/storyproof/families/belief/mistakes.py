"""Mistakes that lead to wrong answers about minds, derived from possible worlds.

Each mistake answers another question than the one asked. One answer may fit several of them, because an object is
rarely in more than two or three places; then the first of `MISTAKES` counts. What takes no thought of minds at all
comes before what confuses minds, and that before what only looks at the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from storyproof.example import Example
from storyproof.families.belief.baselines import events_of
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event
from storyproof.families.belief.readings import DEFAULT, READINGS
from storyproof.families.belief.text import Question, parse_question

MISTAKES = {
    "other_reading": "what follows under another reading",
    "reality": "where the object really is",
    "lower_order": "a belief of lower order: one mind of the chain is left out",
    "swapped_minds": "the belief with two minds of the chain swapped",
    "other_agent": "what somebody else believes",
    "first_mention": "where the object was first",
    "last_mention": "the container that the story mentions last",
    "earlier_place": "another place where the object was in between",
    "other_object": "a container of another object",
}

Chain = tuple[str, ...]


def mistaken_answers(example: Example) -> Mapping[str, Collection[str]]:
    """Return the answers to which each mistake leads.

    Raises:
        ParseError: If story or question cannot be parsed.
    """
    question, events = parse_question(example.question), events_of(example.story)
    worlds = Worlds(events, question.thing)
    puts = [event for event in events if event.container]
    places = [event.container for event in puts if event.thing == question.thing]
    found: dict[str, list[str | None]] = {
        "other_reading": [worlds.belief(question.chain, other) for other in READINGS if other != DEFAULT],
        "reality": [worlds.reality],
        **{name: [worlds.belief(chain, DEFAULT) for chain in chains] for name, chains in _chains(question, events)},
        "first_mention": [worlds.memory],
        "last_mention": [puts[-1].container] if puts else [],
        "earlier_place": places[1:-1],
        "other_object": [event.container for event in puts if event.thing != question.thing],
    }
    if not question.chain:
        del found["other_reading"]  # readings are about minds
    return {name: frozenset(filter(None, found[name])) for name in MISTAKES if name in found}


def _chains(question: Question, events: Sequence[Event]) -> Iterator[tuple[str, set[Chain]]]:
    """Yield the chains of minds for which that of a question can be mistaken, by mistake."""
    asked = question.chain
    agents = {event.agent for event in events if event.agent}
    shorter = (combinations(asked, length) for length in range(1, len(asked)))
    yield "lower_order", {chain for chains in shorter for chain in chains}
    pairs = combinations(range(len(asked)), 2)
    yield "swapped_minds", {_replaced(_replaced(asked, one, asked[other]), other, asked[one]) for one, other in pairs}
    if asked:
        places = range(len(asked))
        yield "other_agent", {_replaced(asked, place, agent) for place in places for agent in agents - {asked[place]}}
    else:
        yield "other_agent", {(agent,) for agent in agents}


def _replaced(chain: Chain, place: int, agent: str) -> Chain:
    return (*chain[:place], agent, *chain[place + 1 :])
