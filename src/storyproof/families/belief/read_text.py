"""Stories and questions read from their text alone, in whatever language and style they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.families.belief.language.pack import load_pack
from storyproof.families.belief.questions import BeliefQuestion
from storyproof.families.belief.tomi_text import parse, parse_question
from storyproof.families.belief.wording import LANGUAGES, PlotWording, find_language, find_wording
from storyproof.families.belief.world import PlotEvent, cast_of, plot_problems

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


def read_story(story: str) -> PlotText:
    """Read a story with one sentence per line: in ToMi's wording, or in any of our languages and styles.

    Raises:
        ParseError: If it is in no language and style; what the reader says that understood more of it.
    """
    text = _read_or_refuse(story)
    if isinstance(text, ParseError):
        raise ParseError(*text.args)
    return text


@lru_cache(maxsize=_REMEMBERED)
def _read_or_refuse(story: str) -> PlotText | ParseError:
    """Return a story that was read, or why it cannot be: what is refused is tried in several ways, as is each row."""
    try:
        events = parse(story)
    except ParseError as error:
        try:
            return _read_worded(story)
        except ParseError as other:
            return ParseError(*(other if _unread(other) > _unread(error) else error).args)
    return PlotText(tuple(events), find_wording(), tuple(plot_problems(events, tells_rooms=False)))


def _read_worded(story: str) -> PlotText:
    """Read a story in one of our languages and styles."""
    wording = find_wording(find_language(story))
    events = tuple(wording.read(story))
    return PlotText(events, wording, tuple(plot_problems(events)))


def _unread(error: ParseError) -> int:
    """Return the number of the sentence that could not be read, 0 if none is named."""
    number = re.match(r"sentence (\d+)", str(error))
    return int(number[1]) if number else 0


@lru_cache(maxsize=_QUESTIONS)
def read_question(question: str) -> BeliefQuestion:
    """Read a question in any language.

    Raises:
        ParseError: If it has none of the known forms.
    """
    errors = []
    for text in dict.fromkeys((question, _tidy(question))):
        for read in _question_readers():
            try:
                return read(text)
            except ParseError as error:
                errors.append(error)
    raise errors[0]


def _question_readers() -> Iterator[Callable[[str], BeliefQuestion]]:
    """Yield what reads questions: in ToMi's words, which need no language pack, then in each language."""
    yield parse_question
    for language in LANGUAGES:
        yield find_wording(language).read_question


def _tidy(question: str) -> str:
    """Return a question as it is usually written: one capital, no spaces around hyphens and its mark, and a mark."""
    text = re.sub(r"(?<=\w) - (?=\w)", "-", " ".join(question.split()))
    text = text[:1].upper() + text[1:].rstrip(" ?.")
    return text if text.endswith("？") else f"{text}?"


def is_question(question: str) -> bool:
    """Return whether a question can be read in any language."""
    try:
        read_question(question)
    except ParseError:
        return False
    return True


def reads_further(story: str) -> bool:
    """Return whether a story that cannot be read is understood further in other wordings than in ToMi's."""

    def first_unread(read: Callable[[str], object]) -> int:
        try:
            read(story)
        except ParseError as error:
            return _unread(error)
        return story.count("\n") + 2

    return first_unread(_read_worded) > first_unread(parse)


def is_nested(story: str, question: str) -> bool:
    """Return whether story or question is in another wording than ToMi's; what cannot be read at all is not.

    Args:
        story: One sentence per line.
        question: What is asked; empty if only the story counts.
    """
    return (bool(question) and _is_other(question, parse_question, read_question)) or _is_other(
        story, parse, read_story
    )


@lru_cache(maxsize=_REMEMBERED)
def _is_other(text: str, plainly: Callable[[str], object], anyhow: Callable[[str], object]) -> bool:
    for read, result in ((plainly, False), (anyhow, True)):
        try:
            read(text)
        except ParseError:
            continue
        return result
    return False


def paragraphs(story: str) -> str:
    """Return a story with an empty line before each scene but the first: before sentences that begin with a time."""
    try:
        times = load_pack(read_story(story).wording.language).times
    except ParseError:
        return story
    first, *rest = story.split("\n")
    return "\n".join([first, *(f"\n{line}" if line.startswith(times) else line for line in rest)])
