"""How baselines answer theory-of-mind questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from storyproof.example import Example
from storyproof.families.belief.checker import Worlds
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.readings import DEFAULT
from storyproof.families.belief.text import Question, parse, parse_question


@lru_cache(maxsize=64)  # the questions of a story are adjacent
def events_of(story: str) -> tuple[Event, ...]:
    """Return the events of a story; raise ParseError if it cannot be parsed."""
    return tuple(parse(story))


def places_of(example: Example) -> list[str]:
    """Return the containers in which the asked object was, in the order of the story."""
    thing = parse_question(example.question).thing
    places = [event.container for event in events_of(example.story) if event.thing == thing and event.container]
    return list(dict.fromkeys(places))


def oracle_answer(example: Example) -> str:
    """Answer by the checker; empty where there is no belief."""
    question = parse_question(example.question)
    worlds = Worlds(events_of(example.story), question.thing)
    if question.chain:
        return worlds.belief(question.chain, DEFAULT) or ""
    return (worlds.memory if question.memory else worlds.reality) or ""


def rules_answer(example: Example) -> str:
    """Answer by the ToMi paper's rules, which answer ToM-bAbI perfectly without looking at the agents."""
    return apply_rules(events_of(example.story), parse_question(example.question))


def apply_rules(events: Sequence[Event], question: Question) -> str:
    """Answer one question by lexical and ordinal patterns alone.

    Source: Le, Boureau and Nickel (2019), Algorithm 1. "First exited" is taken as the first after the last "object is
    in".
    """
    spoken_of = [
        (time, event.container or "")
        for time, event in enumerate(events)
        if event.container and event.thing == question.thing
    ]
    if not spoken_of:
        return ""
    if question.memory:
        return spoken_of[0][1]
    last_placed = max(
        (time for time, event in enumerate(events) if event.kind is Kind.PLACE and event.thing == question.thing),
        default=-1,
    )
    exits = [time for time, event in enumerate(events) if event.kind is Kind.EXIT and time > last_placed]
    if question.chain and exits:
        limit = exits[-1] if question.order == 1 else exits[0]
        before = [place for time, place in spoken_of if time < limit]
        return before[-1] if before else spoken_of[0][1]
    return spoken_of[-1][1]
