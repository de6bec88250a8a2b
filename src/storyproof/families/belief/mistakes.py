"""Mistakes that lead to wrong answers about nested beliefs, derived by the checker; see `belief.mistakes`."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from storyproof.example import Example
from storyproof.families.belief.baselines import checked_answers, checked_story
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import READINGS as SIGHTS
from storyproof.families.belief.readings import parse_reading
from storyproof.families.belief.rows import READINGS, reading_of
from storyproof.families.belief.world import EventKind

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


def mistaken_answers(example: Example) -> dict[str, Collection[str]]:
    """Return the answers to which mistakes lead, by the checker."""
    question, text = read_question(example.question), read_story(example.story)
    own = reading_of(example.readings)
    checked = checked_story(example.story)
    thing, chain = question.thing, question.chain
    readings = [parse_reading(name) for name in (READINGS if is_nested(example.story, example.question) else SIGHTS)]
    readings = [each for each in readings if each != own]
    if question.ask not in (Ask.BELIEF, Ask.SAYS, Ask.REALITY, Ask.MEMORY):
        return {"other_reading": frozenset(filter(None, checked_answers(example, readings)))}

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
    wanted: dict[str, list[tuple[str, ...]]] = {
        "other_reading": [chain] if chain else [],
        "reality": [()],
        "lower_order": [*shorter],
        "swapped_minds": [*swapped],
        "other_agent": [*(replaced or [(agent,) for agent in text.cast])],
    }
    # Readings under which people notice alike are asked about at once: many answers take hardly longer than one.
    alike = [own, *(each for each in readings if each.sight == own.sight)]
    beliefs = iter(checked.beliefs([each for chains in wanted.values() for each in chains], thing, alike)[own])
    believed = {name: [next(beliefs) for _ in chains] for name, chains in wanted.items()}
    if chain:
        believed["other_reading"] = [place for [place] in checked.beliefs([chain], thing, readings).values()]
    puts = [event for event in text.events if event.kind in (EventKind.PLACE, EventKind.MOVE)]
    places = [event.container for event in puts if event.thing == thing]
    said = [event.container for event in text.events if event.container]
    answers: dict[str, list[str | None]] = {
        **believed,
        "first_mention": [*places[:1]],
        "last_mention": [*said[-1:]],
        "earlier_place": [*places[1:-1]],
        "other_object": [event.container for event in text.events if event.thing != thing and event.container],
    }
    return {name: frozenset(text.wording.answer(place) for place in answers[name] if place) for name in answers}
