"""Stories and questions read from their text alone, in whatever language and style they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.families.belief.events import Event, Kind, impossibilities
from storyproof.families.belief.nested.language.pack import NARRATIVE, PLAIN, load_pack
from storyproof.families.belief.nested.questions import NestedQuestion
from storyproof.families.belief.nested.wording import LANGUAGES, PlotWording, find_language, find_wording
from storyproof.families.belief.nested.world import EventKind, PlotEvent, cast_of, plot_problems
from storyproof.families.belief.text import parse, parse_question

_KINDS = {
    Kind.ENTER: EventKind.ENTER,
    Kind.EXIT: EventKind.EXIT,
    Kind.PLACE: EventKind.PLACE,
    Kind.MOVE: EventKind.MOVE,
}
_REMEMBERED = 4096  # stories; the questions of a story stand side by side
_QUESTIONS = 1 << 15  # questions: those of a block are gone through several times


class PlotText(NamedTuple):
    """A story that was read.

    Attributes:
        events: What happens.
        wording: The words that it is in; answers are in the same.
        problems: What cannot happen, as (1-based sentence number, what is wrong).
    """

    events: tuple[PlotEvent, ...]
    wording: PlotWording
    problems: tuple[tuple[int, str], ...]

    @property
    def cast(self) -> tuple[str, ...]:
        """Its agents, in order of appearance."""
        return cast_of(self.events)


@lru_cache(maxsize=_REMEMBERED)
def read_story(story: str) -> PlotText:
    """Read a story with one sentence per line.

    Raises:
        ParseError: If it is in no language and style.
    """
    try:
        wording = find_wording(find_language(story))
        events = tuple(wording.read(story))
    except ParseError:
        try:  # the published files have sentences of their own, such as "Ada is in the attic."
            plain = parse(story)
        except ParseError:
            plain = []
        if not plain:
            raise
        return PlotText(tuple(_as_plots(plain)), find_wording(), tuple(impossibilities(plain)))
    return PlotText(events, wording, tuple(plot_problems(events)))


def _as_plots(events: Sequence[Event]) -> Iterator[PlotEvent]:
    """Yield the events of a story in ToMi's wording, whose rooms were inferred."""
    where: dict[str | None, str | None] = {}
    for event in events:
        kind = _KINDS.get(event.kind, EventKind.NOISE)
        if event.kind is Kind.IS_IN and where.get(event.agent) != event.room:
            kind = EventKind.ENTER
        if kind in (EventKind.ENTER, EventKind.EXIT):
            where[event.agent] = event.room if kind == EventKind.ENTER else None
        yield PlotEvent(kind, event.agent, event.room, event.thing, event.container)


@lru_cache(maxsize=_QUESTIONS)
def read_question(question: str) -> NestedQuestion:
    """Read a question in any language.

    Raises:
        ParseError: If it has none of the known forms.
    """
    errors = []
    for language in LANGUAGES:
        try:
            return find_wording(language).read_question(question)
        except ParseError as error:
            errors.append(error)
    raise errors[0]


def is_question(question: str) -> bool:
    """Return whether a question can be read in any language."""
    try:
        read_question(question)
    except ParseError:
        return False
    return True


@lru_cache(maxsize=_REMEMBERED)
def is_nested(story: str, question: str) -> bool:
    """Return whether story or question needs more than plain stories have: secrets, messages, other questions.

    What can be read neither way is taken for plain.

    Args:
        story: One sentence per line.
        question: What is asked; empty if only the story counts.
    """
    try:
        if question:
            parse_question(question)
    except ParseError:
        if is_question(question):
            return True
    return _needs_more(story)


@lru_cache(maxsize=_REMEMBERED)
def _needs_more(story: str) -> bool:
    try:
        parse(story)
    except ParseError:
        try:
            read_story(story)
        except ParseError:
            return False
        return True
    return False


def reads_further(story: str) -> bool:
    """Return whether a story that cannot be read is understood further with secrets and messages than without."""

    def first_unread(read: Callable[[str], object]) -> int:
        try:
            read(story)
        except ParseError as error:
            number = re.match(r"sentence (\d+)", str(error))
            return int(number[1]) if number else 0
        return story.count("\n") + 2

    return first_unread(read_story) > first_unread(parse)


def style_of(story: str) -> str:
    """Return the style of a story: narrative if a sentence begins with a connective or a time."""
    pack = load_pack(read_story(story).wording.language)
    openings = (*pack.connectives, *pack.times)
    return NARRATIVE if any(line.startswith(openings) for line in story.split("\n")) else PLAIN
