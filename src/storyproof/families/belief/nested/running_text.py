"""Stories about nested beliefs in running text: found among instructions, and divided into sentences and question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from storyproof.errors import ParseError, quoted
from storyproof.families.belief.nested.reading import is_question, read_story

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


def divide_story(text: str) -> str:
    """Return a story with one sentence per line, also if it is running text.

    Raises:
        ParseError: If it cannot be read.
    """
    try:
        read_story(text)
    except ParseError:
        divided = "\n".join(_SENTENCE_END.split(" ".join(text.split())))
        read_story(divided)
        return divided
    return text


def last_question(text: str) -> str:
    """Return the last question of a text.

    Raises:
        ParseError: If it has none of the known forms.
    """
    found = [" ".join(match[0].split()) for match in _QUESTION.finditer(text)][-1:]
    found += [each.rpartition(": ")[2] for each in found]  # without a label, such as "Question:"
    for each in found:
        if is_question(each):
            return each
    raise ParseError(f"not a question about a story: {quoted(text.strip()[-80:])}.")


def split_messages(messages: Sequence[str]) -> tuple[str, str]:
    """Divide what a user says into story, one sentence per line, and question.

    The story is the longest run of lines before the question that can be read.

    Raises:
        ParseError: If there is no story or question.
    """
    text = "\n".join(messages)
    question = last_question(text)
    before = text[: text.rfind(question[:8])]
    lines = [line.strip() for line in _SENTENCE_END.sub("\n", before).split("\n")]
    lines = [re.sub(r"^(?:\d+[.):]|[-*•])\s+", "", line) for line in lines if line]
    best: list[str] = []
    for start in range(len(lines)):
        for end in range(len(lines), start + len(best), -1):
            try:
                read_story("\n".join(lines[start:end]))
            except ParseError:
                continue
            best = lines[start:end]
            break
    if not best:
        raise ParseError(f"no story before {quoted(question)}.")
    return "\n".join(best), question
