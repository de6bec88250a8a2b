"""How baselines answer questions about nested beliefs, and which answers they choose from."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from storyproof.example import Example
from storyproof.families.belief.baselines import apply_rules
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.rows import candidates_of, places_of, reading_of
from storyproof.families.belief.nested.world import EventKind
from storyproof.families.belief.text import Question

_RULED = {
    EventKind.ENTER: Kind.ENTER,
    EventKind.EXIT: Kind.EXIT,
    EventKind.PLACE: Kind.PLACE,
    EventKind.MOVE: Kind.MOVE,
}


@lru_cache(maxsize=256)
def worlds_of(story: str, reading: NestedReading) -> MindWorlds:
    """Return what everybody holds possible after a story, under a reading."""
    return MindWorlds(read_story(story).events, reading)


def checked_answer(
    example: Example, reading: NestedReading | None = None, question: NestedQuestion | None = None
) -> str:
    """Answer by the checker, in the words of the story; empty where nobody knows and that is not a candidate."""
    text = read_story(example.story)
    found = worlds_of(example.story, reading or reading_of(example.readings)).answer(
        question or read_question(example.question)
    )
    said = text.wording.answer(found)
    return said if found is not None or said in example.candidates else ""


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
    known = list(example.candidates) or candidates(example)
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS):
        return known
    places = [place for place in places_of(read_story(example.story).events, question.thing) if place in known]
    return [*places, *(each for each in known if each not in places)]


def rules_answer(example: Example) -> str:
    """Answer by the ToMi paper's rules: they know placings, moves and exits, and all agents believe the same."""
    question, text = read_question(example.question), read_story(example.story)
    plain = [
        Event(_RULED[event.kind], event.agent, event.room, event.thing, event.container)
        for event in text.events
        if event.kind in _RULED
    ]

    def place(order: int) -> str:
        asked = Question(question.thing, ("?",) * order, question.ask == Ask.MEMORY)
        return apply_rules(plain, asked)

    found: Reply = place(question.order)
    if question.ask == Ask.KNOWS_WHERE:
        found = "yes" if place(1) == place(0) else "no"
    elif question.ask == Ask.KNOWS_WRONG:
        found = "yes" if place(0) != place(1) != place(2) else "no"
    elif question.ask == Ask.BELIEVERS:
        found = tuple(sorted(text.cast)) if place(question.order) == question.place else ()
    elif question.ask == Ask.COMMON:
        found = place(2)
    return text.wording.answer(found)
