"""Stories in running text: found among instructions, and divided into sentences and question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from storyproof.errors import ParseError
from storyproof.families.belief.events import FEELINGS, NOISE
from storyproof.families.belief.text import QUESTION_FORMS, SENTENCE_FORMS, parse_question, parse_sentence

_WORD = r"\w[\w'’-]*"
_WHO = rf"(?<![\w'’-])(?![a-z\d]){_WORD}"  # instructions speak of "who entered the room", stories of Ada
_FORMS = (
    rf"{_WHO} (?:entered|exited|is in) the {_WORD}\.",
    rf"{_WHO} moved the {_WORD} to the {_WORD}\.",
    rf"{_WHO} (?:{'|'.join(FEELINGS)}) the {_WORD}\.?",  # published files have no full stop here
    rf"(?<!\w)The {_WORD} is in the {_WORD}\.",
    NOISE.replace(".", r"\."),
)
_SENTENCE = re.compile("|".join(_FORMS).replace(" ", r"\s+"))
_QUESTION = re.compile(r"Where\s(?:(?!Where\s)[^.?!])*\?")
_BETWEEN = re.compile(r"\s*(?:(?:\d+|[-*•])[.):]?\s*)?")  # two sentences may have a number or a bullet between them
_PLACE = re.compile(r" (?:is in|to) the ([^\s.]+)\.?(?=\n|$)")


def has_story(text: str) -> bool:
    """Return whether there is a sentence of a story in a text."""
    return _SENTENCE.search(text) is not None


def last_question(text: str) -> tuple[str, int, int]:
    """Return the last question of a text: its words, where it begins and where it ends.

    Raises:
        ParseError: If it has none of the known forms.
    """
    found = list(_QUESTION.finditer(text))
    end = text.rfind("?") + 1
    if not found or found[-1].end() != end:
        last = re.split(r"[.?!\n]", text[: max(end - 1, 0)])[-1].strip()
        what = f"'{last[-80:]}?'" if end else f"no question mark in '{text.strip()[-80:]}'"
        raise ParseError(f"not a question about a story: {what}; expected one of: {QUESTION_FORMS}.")
    words = " ".join(found[-1][0].split())
    parse_question(words)
    return words, found[-1].start(), end


@lru_cache(maxsize=256)
def split_text(text: str) -> tuple[str, str]:
    """Divide a running text into the story, one sentence per line, and the question.

    Text before the story, and between it and the question, is taken for instructions unless it names the story's
    people or things. An earlier question ends an earlier story, given as an example.

    Raises:
        ParseError: If there is no question or no story, or something among the sentences cannot be read.
    """
    question, asked, _ = last_question(text)
    earlier = [match.end() for match in _QUESTION.finditer(text, 0, asked)]
    start = earlier[-1] if earlier and _SENTENCE.search(text, earlier[-1], asked) else 0
    found = list(_SENTENCE.finditer(text, start, asked))
    if not found:
        raise ParseError(f"no story before '{question}'; expected sentences such as: {SENTENCE_FORMS}.")
    sentences = _sentences(text, found)
    events = [parse_sentence(sentence) for sentence in sentences]
    names = {name for event in events for name in (event.agent, event.thing)}
    for around in (text[start : found[0].start()], text[found[-1].end() : asked]):
        if names.intersection(re.findall(_WORD, _QUESTION.sub("", around))):
            raise _unread(around)
    return "\n".join(sentences), question


def split_messages(messages: Sequence[str]) -> tuple[str, str]:
    """Divide the last of several messages as `split_text` does, or if it has no story all of them together."""
    return split_text(messages[-1] if has_story(messages[-1]) else "\n".join(messages))


def places_in(story: str) -> list[str]:
    """Return the containers and rooms in which something is said to be or to be put, in the order of the story."""
    return _PLACE.findall(story)


@lru_cache(maxsize=256)
def divide_story(text: str) -> str:
    """Return a story with one sentence per line, also if it is running text.

    Raises:
        ParseError: If something in it cannot be read.
    """
    try:
        for sentence in text.split("\n"):
            parse_sentence(sentence)
    except ParseError:
        found = list(_SENTENCE.finditer(text))
        around = [text[: found[0].start()], text[found[-1].end() :]] if found else [text]
        for each in around:
            if not found or not _BETWEEN.fullmatch(each):
                raise _unread(each) from None
        return "\n".join(_sentences(text, found))
    return text


def _sentences(text: str, found: Sequence[re.Match[str]]) -> list[str]:
    """Return the sentences found; raise ParseError if there is more between them than numbers and space."""
    for one, other in pairwise(found):
        between = text[one.end() : other.start()]
        if not _BETWEEN.fullmatch(between):
            raise _unread(between)
    return [" ".join(match[0].split()) for match in found]


def _unread(text: str) -> ParseError:
    return ParseError(f"not a sentence of a story: '{text.strip()[:80]}'; expected one of: {SENTENCE_FORMS}.")
