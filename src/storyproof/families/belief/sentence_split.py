"""Stories in running text: found among instructions, and divided into sentences and question.

Text in ToMi's wording is looked for first, by its sentences; text in our other wordings is divided at full stops.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby, pairwise

from storyproof.errors import ParseError, quoted
from storyproof.families.belief.conventions import is_rule
from storyproof.families.belief.read_text import is_question, read_story
from storyproof.families.belief.tomi_text import (
    FEELINGS,
    NOISE,
    QUESTION_FORMS,
    SENTENCE_FORMS,
    parse_question,
    parse_sentence,
)
from storyproof.families.belief.wording import find_language

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
_SENTENCE_END = re.compile(r"(?:(?<=[.!?。！？])|(?<=[.!?。！？][”“»」]))\s+")  # speech may end a sentence
_LABEL = re.compile(r": |：")  # after "Question" and the like
_ANY_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")
_PLACE = re.compile(r" (?:is in|to) the ([^\s.]+)\.?(?=\n|$)")


def has_story(text: str) -> bool:
    """Return whether there is a sentence of a story in a text."""
    return _SENTENCE.search(text) is not None


def last_question(text: str) -> str:
    """Return the last question of a text.

    Raises:
        ParseError: If it has none of the known forms.
    """
    try:
        return _last_plain_question(text)[0]
    except ParseError as error:
        try:
            return _last_worded_question(text)
        except ParseError:
            raise error from None


def split_messages(messages: Sequence[str]) -> tuple[str, str]:
    """Divide what a user says into the story, one sentence per line, and the question.

    Raises:
        ParseError: If there is no story or question, or something among the sentences cannot be read.
    """
    try:
        return _split_plain_text(messages[-1] if has_story(messages[-1]) else "\n".join(messages))
    except ParseError as error:
        try:
            return _split_worded_text("\n".join(messages))
        except ParseError:
            raise error from None


def _last_plain_question(text: str) -> tuple[str, int, int]:
    """Return the last question of a text: its words, where it begins and where it ends.

    Raises:
        ParseError: If it has none of the known forms.
    """
    questions = list(_QUESTION.finditer(text))
    end = text.rfind("?") + 1
    if not questions or questions[-1].end() != end:
        last = re.split(r"[.?!\n]", text[: max(end - 1, 0)])[-1].strip()
        what = f"'{last[-80:]}?'" if end else f"no question mark in '{text.strip()[-80:]}'"
        raise ParseError(f"not a question about a story: {what}; expected one of: {QUESTION_FORMS}.")
    words = " ".join(questions[-1][0].split())
    parse_question(words)
    return words, questions[-1].start(), end


@lru_cache(maxsize=256)
def _split_plain_text(text: str) -> tuple[str, str]:
    """Divide a running text into the story, one sentence per line, and the question.

    Text before the story, and between it and the question, is taken for instructions unless it names the story's
    people or things. An earlier question ends an earlier story, given as an example.

    Raises:
        ParseError: If there is no question or no story, or something among the sentences cannot be read.
    """
    question, question_start, _ = _last_plain_question(text)
    earlier = [match.end() for match in _QUESTION.finditer(text, 0, question_start)]
    start = earlier[-1] if earlier and _SENTENCE.search(text, earlier[-1], question_start) else 0
    matches = list(_SENTENCE.finditer(text, start, question_start))
    if not matches:
        raise ParseError(f"no story before '{question}'; expected sentences such as: {SENTENCE_FORMS}.")
    sentences = _sentences(text, matches)
    events = [parse_sentence(sentence) for sentence in sentences]
    names = {name for event in events for name in (event.agent, event.thing)}
    for around in (text[start : matches[0].start()], text[matches[-1].end() : question_start]):
        if names.intersection(re.findall(_WORD, _QUESTION.sub("", around))):
            raise _unread(around)
    return "\n".join(sentences), question


def places_in(story: str) -> list[str]:
    """Return the containers and rooms in which something is said to be or to be put, in the order of the story."""
    return _PLACE.findall(story)


@lru_cache(maxsize=256)
def divide_story(text: str) -> str:
    """Return a story with one sentence per line, also if it is running text.

    Raises:
        ParseError: If something in it cannot be read.
    """
    with suppress(ParseError):
        for sentence in text.split("\n"):
            parse_sentence(sentence)
        return text  # as most stories are: nothing else is needed to see that it can be read
    try:
        read_story(text)
    except ParseError:
        try:
            return _divide_plain_story(text)
        except ParseError as error:
            divided = "\n".join(_SENTENCE_END.split(" ".join(text.split())))
            try:
                read_story(divided)
            except ParseError:
                raise error from None
            return divided
    return text


def _divide_plain_story(text: str) -> str:
    sentences = list(_SENTENCE.finditer(text))
    around = [text[: sentences[0].start()], text[sentences[-1].end() :]] if sentences else [text]
    for each in around:
        if not sentences or not _BETWEEN.fullmatch(each):
            raise _unread(each)
    return "\n".join(_sentences(text, sentences))


def _sentences(text: str, sentences: Sequence[re.Match[str]]) -> list[str]:
    """Return the sentences found; raise ParseError if there is more between them than numbers and space."""
    for one, other in pairwise(sentences):
        between = text[one.end() : other.start()]
        if not _BETWEEN.fullmatch(between):
            raise _unread(between)
    return [" ".join(match[0].split()) for match in sentences]


def _unread(text: str) -> ParseError:
    return ParseError(f"not a sentence of a story: '{text.strip()[:80]}'; expected one of: {SENTENCE_FORMS}.")


def _last_worded_question(text: str) -> str:
    """Return the last question of a text.

    Raises:
        ParseError: If it has none of the known forms.
    """
    questions = [" ".join(match[0].split()) for match in _ANY_QUESTION.finditer(text)][-1:]
    questions += [_LABEL.split(each)[-1] for each in questions]
    for each in questions:
        if is_question(each):
            return each
    raise ParseError(f"not a question about a story: {quoted(text.strip()[-80:])}.")


def _is_sentence(line: str) -> bool:
    """Return whether a line is a sentence of a story in any language."""
    try:
        find_language(line)
    except ParseError:
        return False
    return True


def _split_worded_text(text: str) -> tuple[str, str]:
    """Divide what a user says into story, one sentence per line, and question.

    The story is the longest run of lines before the question that can be read. Other lines are taken for instructions
    unless they name the story's people or things. An earlier question ends an earlier story, given as an example.

    Raises:
        ParseError: If there is no story or question, or something beside the story cannot be read.
    """
    question = _last_worded_question(text)
    before = text[: text.rfind(question[:8])]
    lines = [line.strip() for line in _SENTENCE_END.sub("\n", before).split("\n")]
    lines = [re.sub(r"^(?:\d+[.):]|[-*•])\s+", "", line) for line in lines if line]
    best, begin = slice(0, 0), 0
    for is_known, run in groupby(lines, key=_is_sentence):
        end_of_run = begin + len(list(run))
        for start in range(begin, end_of_run) if is_known else ():
            for end in range(end_of_run, start + best.stop - best.start, -1):
                try:
                    read_story("\n".join(lines[start:end]))
                except ParseError:
                    continue
                best = slice(start, end)
                break
        begin = end_of_run
    story = "\n".join(lines[best])
    if not story:
        raise ParseError(f"no story before {quoted(question)}.")
    names = {name for event in read_story(story).events for name in (event.agent, event.hearer, event.thing)}
    earlier = [place for place, line in enumerate(lines[: best.start]) if _ANY_QUESTION.search(line)]
    for line in (*lines[earlier[-1] + 1 if earlier else 0 : best.start], *lines[best.stop :]):
        if names.intersection(re.findall(_WORD, _ANY_QUESTION.sub("", line))) and not is_rule(line):
            raise _unread(line)
    return story, question
