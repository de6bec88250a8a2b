"""A story about nested beliefs that has nothing but its text: where it cannot be read, and what can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations

from storyproof.errors import ParseError
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.reading import PlotText, read_question, read_story
from storyproof.families.belief.nested.rows import places_of
from storyproof.families.belief.own_text import MOST_QUESTIONS, chains_of, check_order
from storyproof.families.family import ReadingProblem


def find_problems(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where story or question cannot be read, and sentences that cannot happen."""
    found = []
    try:
        asked = read_question(question)
    except ParseError as error:
        return [ReadingProblem(str(error), "question", 1)]
    try:
        text = read_story(story)
    except ParseError as error:
        number = re.match(r"sentence (\d+)", str(error))
        return [ReadingProblem(str(error), line=int(number[1]) if number else 0)]
    for line, what in text.problems:
        found.append(ReadingProblem(f"this cannot happen: {what}.", line=line, is_fatal=False))
    if not places_of(text.events, asked.thing):
        found.append(ReadingProblem(f"the story does not say where the {asked.thing} is.", "question", 1))
    for agent in dict.fromkeys(asked.chain):
        if agent not in text.cast:
            message = f"{agent} is not in the story, and so has no beliefs."
            found.append(ReadingProblem(message, "question", 1, is_fatal=False))
    return found


def list_questions(story: str, order: int) -> list[str]:
    """Return questions about the objects of a story up to an order, those about fewer minds first.

    Raises:
        ParseError: If the story cannot be read.
        DataError: If there is no such order.
    """
    text = read_story(story)
    things = list(dict.fromkeys(event.thing for event in text.events if event.thing and event.container))
    check_order(order)
    return list(islice((text.wording.ask(each) for each in _questions(text, things, order)), MOST_QUESTIONS))


def _questions(text: PlotText, things: Sequence[str], order: int) -> Iterator[NestedQuestion]:
    for thing in things:
        yield from (NestedQuestion(ask, thing) for ask in (Ask.MEMORY, Ask.REALITY))
    for thing in things:
        yield from (NestedQuestion(Ask.BELIEF, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.KNOWS_WHERE, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.SAYS, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.BELIEVERS, thing, (), place) for place in places_of(text.events, thing))
    for thing in things if order > 1 else ():
        yield from (NestedQuestion(Ask.BELIEF, thing, pair) for pair in permutations(text.cast, 2))
        yield from (NestedQuestion(Ask.KNOWS_WRONG, thing, pair) for pair in permutations(text.cast, 2))
        yield from (NestedQuestion(Ask.COMMON, thing, pair) for pair in combinations(sorted(text.cast), 2))
    for depth in range(3, order + 1):
        for thing in things:
            yield from (NestedQuestion(Ask.BELIEF, thing, chain) for chain in chains_of(text.cast, depth))
