"""The world: people of different heights, and sentences that compare two of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from storyproof.errors import ParseError

YES, NO, UNKNOWN = "yes", "no", "not known"
COMPARE, TALLEST, SHORTEST = "compare", "tallest", "shortest"

_FACT = re.compile(r"(?P<first>[A-Z]\w*) is (?P<how>taller|shorter) than (?P<second>[A-Z]\w*)\.")
_COMPARED = re.compile(r"Is (?P<first>[A-Z]\w*) (?P<how>taller|shorter) than (?P<second>[A-Z]\w*)\?")
_EXTREME = re.compile(r"Who is the (?P<which>tallest|shortest)\?")


class Fact(NamedTuple):
    """One sentence: the first person is taller than the second."""

    taller: str
    shorter: str


class Question(NamedTuple):
    """What is asked: whether `taller` is taller than `shorter`, or who is the tallest or shortest."""

    kind: str
    taller: str = ""
    shorter: str = ""


def parse_story(story: str) -> list[Fact]:
    """Read a story, one fact per line.

    Raises:
        ParseError: If a line is not a comparison of two people; the message names the line.
    """
    facts = []
    for number, line in enumerate(story.split("\n"), start=1):
        match = _FACT.fullmatch(line.strip())
        if match is None or match["first"] == match["second"]:
            raise ParseError(f"sentence {number} is {line!r}; expected 'A is taller than B.'")
        pair = match["first"], match["second"]
        facts.append(Fact(*pair) if match["how"] == "taller" else Fact(*pair[::-1]))
    return facts


def parse_question(question: str) -> Question:
    """Read a question.

    Raises:
        ParseError: If it is in no known form.
    """
    if (match := _COMPARED.fullmatch(question.strip())) is not None:
        pair = match["first"], match["second"]
        return Question(COMPARE, *(pair if match["how"] == "taller" else pair[::-1]))
    if (match := _EXTREME.fullmatch(question.strip())) is not None:
        return Question(match["which"])
    raise ParseError(f"the question is {question!r}; expected 'Is A taller than B?' or 'Who is the tallest?'")


def people_of(facts: list[Fact]) -> list[str]:
    """Return everybody in a story, in order of appearance."""
    return list(dict.fromkeys(name for fact in facts for name in fact))
