"""Which rules the answer to a question about beliefs rests on; conventions.yaml has their texts.

What the rules mean exactly is stated in docs/decisions/0021-nested-beliefs.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import ALWAYS, CLOSED, FRESHER, HI_TOM, INFER_MOVER, NEVER_LIARS, BeliefReading
from storyproof.families.belief.rows import reading_of
from storyproof.families.belief.wording import LANGUAGES
from storyproof.families.belief.world import MESSAGES, WALKS, EventKind, PlotEvent
from storyproof.families.family import load_conventions

TEXTS = Path(__file__).with_name("conventions.yaml")
_OF_MESSAGES = {EventKind.WHISPER: "whisper", EventKind.ANNOUNCE: "announce"}


def conventions(example: Example, language: str) -> list[str]:
    """Return the rules that an answer rests on, in a language; nothing for a row that cannot be read."""
    try:
        text, question = read_story(example.story), read_question(example.question)
    except ParseError:
        return []
    unknown = text.wording.answer(None)
    names = find_rules(
        text.events,
        question,
        reading_of(example.readings),
        tells_rooms=is_nested(example.story, ""),
        may_be_unknown=unknown in (*example.candidates, example.answer),
    )
    texts = load_conventions(TEXTS, language)
    return [texts[each].format(name=next(iter(question.chain), ""), unknown=unknown) for each in names]


@lru_cache(maxsize=1)
def _any_rule() -> re.Pattern[str]:
    texts = {text for language in LANGUAGES for text in load_conventions(TEXTS, language).values()}
    return re.compile("|".join(re.sub(r"\\\{\w+\\\}", ".*", re.escape(text)) for text in texts))


def is_rule(line: str) -> bool:
    """Return whether a line is one of the rules, and so no sentence of a story."""
    return _any_rule().fullmatch(line) is not None


def find_rules(
    events: tuple[PlotEvent, ...],
    question: BeliefQuestion,
    reading: BeliefReading,
    *,
    tells_rooms: bool = True,
    may_be_unknown: bool = False,
) -> list[str]:
    """Return the names of the rules that a question about a story needs, those of the story first.

    Args:
        events: The story.
        question: The question.
        reading: The reading under which it is answered.
        tells_rooms: Whether the text says in which rooms containers stand.
        may_be_unknown: Whether "unknown" is a possible answer.
    """
    if question.ask in (Ask.MEMORY, Ask.REALITY):
        return []
    kinds = {event.kind for event in events}
    speak = not kinds.isdisjoint(MESSAGES)
    # A common belief that there is, is what each of the group believes.
    about_others = question.order > 1 and (question.ask != Ask.COMMON or may_be_unknown)
    # Whether somebody is believed may depend on what hearers think of others.
    weighs_others = about_others or (speak and reading.trust in (FRESHER, NEVER_LIARS))
    rules = [
        *(["rooms"] if not tells_rooms and _leaves_room_open(events) else []),
        *_of_attention(kinds, reading),
        *(_of_messages(reading) if speak else ()),
        *(_of_others(kinds, reading, question) if about_others or (speak and reading.trust == NEVER_LIARS) else ()),
        *_of_question(events, question, may_be_unknown=may_be_unknown),
        *(["unknown"] if may_be_unknown and question.ask in (Ask.BELIEF, Ask.SAYS, Ask.COMMON) else []),
    ]
    return [name for name in rules if weighs_others or not name.endswith("-others")]


def _leaves_room_open(events: tuple[PlotEvent, ...]) -> bool:
    """Return whether an object is put somewhere although the two sentences about rooms before name another room."""
    named: list[str | None] = []
    for event in events:
        if event.kind in WALKS:
            named = [*named[-1:], event.room]
        elif event.kind == EventKind.PLACE and any(room != event.room for room in named):
            return True
    return False


def _of_attention(kinds: set[EventKind], reading: BeliefReading) -> Iterator[str]:
    """Yield the rules of what people notice."""
    yield from ("closed", "own-room") if reading.sight == CLOSED else ("open",)
    if EventKind.PEEK in kinds:
        yield from ("watching", "watching-others")
    if EventKind.DISTRACT in kinds:
        yield from ("distraction", "distraction-others")
    if EventKind.ATTEND in kinds and reading.sight != CLOSED:
        yield "attention"
    yield from (name for kind, name in _OF_MESSAGES.items() if kind in kinds)


def _of_messages(reading: BeliefReading) -> Iterator[str]:
    """Yield the rules of whom people believe."""
    yield "told"
    if reading.sight != CLOSED:
        yield from ("in-view", "in-view-others")
    if reading.trust != ALWAYS:
        yield reading.trust
    if reading.trust == HI_TOM:
        yield "all-know"
    if reading.trust == NEVER_LIARS:
        yield "caught"
    if reading.trust in (FRESHER, NEVER_LIARS):
        yield "distrust-others"
        if reading.sight != CLOSED:
            yield "leaving"


def _of_others(kinds: set[EventKind], reading: BeliefReading, question: BeliefQuestion) -> Iterator[str]:
    """Yield the rules of what people believe of each other."""
    speak = not kinds.isdisjoint(MESSAGES)
    length = "pair" if question.order <= 2 and question.ask != Ask.COMMON else "chain"
    yield f"{'told' if speak else 'seen'}-{length}"
    if speak and reading.trust != HI_TOM:
        yield "sincere" if reading.sight == CLOSED else "sincere-unless-seen"
    if reading.sight == INFER_MOVER and (question.order <= 2 or question.ask == Ask.COMMON):
        yield "infer-mover"
    if speak:
        yield "no-more"


def _of_question(events: tuple[PlotEvent, ...], question: BeliefQuestion, *, may_be_unknown: bool) -> Iterator[str]:
    """Yield what the question means, where that is not plain."""
    is_needed = {
        Ask.SAYS: any(event.lie for event in events),
        Ask.BELIEVERS: bool(question.chain),
        Ask.BELIEF: False,
        Ask.COMMON: may_be_unknown,
    }
    if is_needed.get(question.ask, True):
        yield str(question.ask)
