"""Beliefs that a chain of thought states about a story with secrets and messages.

Such statements look as in plain stories (`belief.statements`). They are compared with the oracle after each sentence,
under the reading of the row, and with the checker under all readings of trust.
"""

from __future__ import annotations

from functools import lru_cache, partial

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.nested.baselines import checked_answer
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.reading import read_question, read_story
from storyproof.families.belief.nested.readings import NestedReading, parse_reading
from storyproof.families.belief.nested.rows import READINGS, reading_of
from storyproof.families.belief.nested.timeline import ObjectFollower
from storyproof.families.belief.nested.wording import PlotWording
from storyproof.families.belief.statements import (
    HAPPENS,
    BeliefGrammar,
    StatedQuestion,
    StoryNames,
    compare,
    is_known,
    read_beliefs,
)
from storyproof.families.family import own_example
from storyproof.statements import Statement, StatementVerdict

_LANGUAGE = "en"  # that of the grammar
_HAPPENS = HAPPENS | frozenset(  # words of secrets and messages
    (
        *("told", "tells", "telling", "said", "says", "saying", "lied", "lies", "lying", "announced", "announces"),
        *("announcing", "whispered", "whispers", "whispering", "hears", "heard", "hearing", "watched", "watches"),
        *("watching", "watch", "peeks", "peeked", "spies", "spied", "spying", "distracted", "attention", "attentive"),
    )
)


def find_statements(text: str, example: Example) -> list[Statement]:
    """Return what a text says about minds, the beginning and the end of a story; nothing unless that is in English."""
    grammar = _grammar_of(example.story)
    return read_beliefs(text, example.story, grammar, _HAPPENS) if grammar is not None else []


@lru_cache(maxsize=64)  # several replies to one story come after each other
def _grammar_of(story: str) -> BeliefGrammar | None:
    try:
        text = read_story(story)
    except ParseError:
        return None
    if text.wording.language != _LANGUAGE:
        return None
    placed = [event for event in text.events if event.thing and event.container]
    names = StoryNames.of(
        text.cast,
        [event.thing for event in placed if event.thing],
        [event.container for event in placed if event.container],
    )
    return BeliefGrammar(names, partial(_word_question, text.wording))


def _word_question(wording: PlotWording, question: StatedQuestion) -> str:
    if question.knows_where:
        ask = Ask.KNOWS_WHERE
    elif question.chain:
        ask = Ask.BELIEF
    else:
        ask = Ask.MEMORY if question.memory else Ask.REALITY
    return wording.ask(NestedQuestion(ask, question.thing, question.chain))


def check_statement(statement: Statement, example: Example) -> StatementVerdict:
    """Compare a statement with both provers, under the reading of the example."""
    reading = reading_of(example.readings)
    return compare(statement, *_prove(example.story, statement.question, reading), str(reading))


@lru_cache(maxsize=512)
def _prove(story: str, asked: str, reading: NestedReading) -> tuple[tuple[str | None, ...], dict[str, str]]:
    """Return the answer after each sentence, by the oracle, and at the end under each reading, by the checker."""
    question = read_question(asked)
    follower = ObjectFollower(read_story(story).events, question.thing, reading)
    over_time = follower.believed(question.chain) if question.chain else follower.really()
    if question.ask == Ask.MEMORY:
        over_time = [next((place for place in over_time if place is not None), None)] * len(over_time)
    elif question.ask == Ask.KNOWS_WHERE:
        over_time = [is_known(place, real) for place, real in zip(over_time, follower.really(), strict=True)]
    row = own_example({"story": story, "question": asked})
    names = dict.fromkeys((str(reading), *READINGS))
    return tuple(over_time), {name: checked_answer(row, parse_reading(name)) for name in names}
