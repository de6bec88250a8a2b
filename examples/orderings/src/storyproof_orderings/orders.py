"""The world: people of different heights, and sentences that compare two of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from storyproof.errors import ParseError, quoted

YES, NO, UNKNOWN = "yes", "no", "not known"
COMPARE, TALLEST, SHORTEST = "compare", "tallest", "shortest"
MOST_PEOPLE = 8  # of whom the checker tries every order

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


def parse(story: str, question: str) -> tuple[list[Fact], Question]:
    """Read a story and a question about people in it.

    Raises:
        ParseError: If one of them is in no known form, or the question names somebody else.
    """
    facts, asked = parse_story(story), parse_question(question)
    for name in (asked.taller, asked.shorter):
        if name and name not in people_of(facts):
            raise ParseError(f"the question names {quoted(name)}; expected two people of the story.")
    return facts, asked


def parse_story(story: str) -> list[Fact]:
    """Read a story, one fact per line.

    Raises:
        ParseError: If a line is not a comparison of two people, or there are too many people to try all orders.
    """
    facts = []
    for number, line in enumerate(story.split("\n"), start=1):
        match = _FACT.fullmatch(line.strip())
        if match is None or match["first"] == match["second"]:
            raise ParseError(
                f"sentence {number} is {quoted(line)}; expected a sentence such as 'Ada is taller than Ben'."
            )
        pair = match["first"], match["second"]
        facts.append(Fact(*pair) if match["how"] == "taller" else Fact(*pair[::-1]))
    if len(people_of(facts)) > MOST_PEOPLE:
        raise ParseError(f"the story has {len(people_of(facts))} people; expected at most {MOST_PEOPLE}.")
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
    raise ParseError(
        f"the question is {quoted(question)}; expected one such as 'Is Ada taller than Ben?' or 'Who is the tallest?'."
    )


def people_of(facts: list[Fact]) -> list[str]:
    """Return everybody in a story, in order of appearance."""
    return list(dict.fromkeys(name for fact in facts for name in fact))
