"""How baselines answer questions about nested beliefs, and which answers they choose from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from storyproof.example import Example
from storyproof.families.belief.provers import CheckedStory
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.rows import candidates_of, places_of, reading_of
from storyproof.families.belief.world import EventKind, PlotEvent


def apply_rules(events: Sequence[PlotEvent], thing: str, order: int, *, is_memory: bool) -> str:
    """Answer one question by lexical and ordinal patterns alone; empty if the object is nowhere.

    Source: Le, Boureau and Nickel (2019), Algorithm 1. "First exited" is taken as the first after the last "object is
    in".

    Args:
        events: Comings, goings, placings and moves.
        thing: The object.
        order: Through how many minds the question goes.
        is_memory: Whether it asks for the beginning.
    """
    spoken_of = [
        (time, event.container or "") for time, event in enumerate(events) if event.container and event.thing == thing
    ]
    if not spoken_of:
        return ""
    if is_memory:
        return spoken_of[0][1]
    last_placed = max(
        (time for time, event in enumerate(events) if event.kind is EventKind.PLACE and event.thing == thing),
        default=-1,
    )
    exits = [time for time, event in enumerate(events) if event.kind is EventKind.EXIT and time > last_placed]
    if order and exits:
        limit = exits[-1] if order == 1 else exits[0]
        before = [place for time, place in spoken_of if time < limit]
        return before[-1] if before else spoken_of[0][1]
    return spoken_of[-1][1]


@lru_cache(maxsize=256)
def checked_story(story: str) -> CheckedStory:
    """Return what the checker says about a story."""
    return CheckedStory(read_story(story).events)


def checked_answer(
    example: Example, reading: BeliefReading | None = None, question: BeliefQuestion | None = None
) -> str:
    """Answer by the checker, in the words of the story; empty where nobody knows and that is not a candidate."""
    return checked_answers(example, [reading or reading_of(example.readings)], question)[0]


def checked_answers(
    example: Example, readings: Sequence[BeliefReading], question: BeliefQuestion | None = None
) -> list[str]:
    """Answer by the checker under each of some readings."""
    wording, question = read_story(example.story).wording, question or read_question(example.question)
    replies = checked_story(example.story).answers([question], readings)
    answers = []
    for reading in readings:
        [reply] = replies[reading]
        said = wording.answer(reply)
        answers.append(said if reply is not None or said in example.candidates else "")
    return answers


def candidates(example: Example) -> list[str]:
    """Return the possible answers, as the text gives them."""
    text = read_story(example.story)
    unknown = text.wording.answer(None) in (*example.candidates, example.answer)
    return candidates_of(text.events, read_question(example.question), text.wording, unknown=unknown)


def answer_parts(example: Example) -> dict[str, tuple[str, ...]]:
    """Return the people of each candidate if the question asks who believes something; else nothing."""
    if read_question(example.question).ask != Ask.BELIEVERS:
        return {}
    text = read_story(example.story)
    sets = (names for size in range(len(text.cast) + 1) for names in combinations(sorted(text.cast), size))
    return {text.wording.answer(names): names for names in sets}


def positions(example: Example) -> list[str]:
    """Return the candidates in an order that means the same in all examples: places in the order of the story."""
    question = read_question(example.question)
    choices = list(example.candidates) or candidates(example)
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS):
        return choices
    places = places_of(read_story(example.story).events, question.thing)
    if not places:
        return []  # the object is nowhere
    places = [place for place in places if place in choices]
    return [*places, *(each for each in choices if each not in places)]


def rules_answer(example: Example) -> str:
    """Answer by the ToMi paper's rules: they know placings, moves and exits, and all agents believe the same."""
    question, text = read_question(example.question), read_story(example.story)
    ruled = [event for event in text.events if EventKind.FEEL < event.kind < EventKind.PEEK]

    def place(order: int) -> str:
        return apply_rules(ruled, question.thing, order, is_memory=question.ask == Ask.MEMORY)

    reply: Reply = place(question.order)
    if question.ask == Ask.KNOWS_WHERE:
        reply = "yes" if place(1) == place(0) else "no"
    elif question.ask == Ask.KNOWS_WRONG:
        reply = "yes" if place(0) != place(1) != place(2) else "no"
    elif question.ask == Ask.BELIEVERS:
        reply = tuple(sorted(text.cast)) if place(question.order) == question.place else ()
    elif question.ask == Ask.COMMON:
        reply = place(2)
    return text.wording.answer(reply) if reply != "" else ""
