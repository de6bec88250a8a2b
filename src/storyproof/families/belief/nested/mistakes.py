"""Mistakes that lead to wrong answers about nested beliefs, derived by the checker; see `belief.mistakes`."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from storyproof.example import Example
from storyproof.families.belief.nested.baselines import checked_answer, worlds_of
from storyproof.families.belief.nested.questions import Ask
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import parse_reading
from storyproof.families.belief.nested.rows import READINGS, places_of, reading_of


def mistaken_answers(example: Example) -> dict[str, Collection[str]]:
    """Return the answers to which mistakes lead, by the checker."""
    question, text = read_question(example.question), read_story(example.story)
    own = reading_of(example.readings)
    worlds = worlds_of(example.story, own)
    thing, chain = question.thing, question.chain
    if question.ask not in (Ask.BELIEF, Ask.SAYS, Ask.REALITY, Ask.MEMORY):
        others = {checked_answer(example, parse_reading(name)) for name in READINGS if name != str(own)}
        return {"other_reading": frozenset(filter(None, others))}

    def believed(chains: Collection[tuple[str, ...]]) -> list[str | None]:
        return [worlds.belief(each, thing) for each in chains]

    shorter = {each for length in range(1, len(chain)) for each in combinations(chain, length)}
    swapped = {
        (*chain[:one], chain[other], *chain[one + 1 : other], chain[one], *chain[other + 1 :])
        for one, other in combinations(range(len(chain)), 2)
    }
    replaced = {
        (*chain[:place], agent, *chain[place + 1 :])
        for place in range(len(chain))
        for agent in text.cast
        if agent != chain[place]
    }
    places = places_of(text.events, thing)
    said = [event.container for event in text.events if event.thing == thing and event.container]
    found: dict[str, list[str | None]] = {
        "other_reading": [worlds_of(example.story, parse_reading(name)).belief(chain, thing) for name in READINGS],
        "reality": [worlds.reality(thing)],
        "lower_order": believed(shorter),
        "swapped_minds": believed(swapped),
        "other_agent": believed(replaced or {(agent,) for agent in text.cast}),
        "first_mention": [worlds.memory(thing)],
        "last_mention": [*said[-1:]],
        "earlier_place": [*places[1:-1]],
        "other_object": [event.container for event in text.events if event.thing != thing and event.container],
    }
    if not chain:
        del found["other_reading"]
    return {name: frozenset(text.wording.answer(place) for place in found[name] if place) for name in found}
