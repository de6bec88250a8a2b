"""A story that has nothing but its text, as rows: its facts and genders are read from the text."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

from storyproof.errors import ParseError, quoted
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE
from storyproof.families.kinship.text import NAME

_ASKED = re.compile(rf"(?:what|who|how) is ({NAME})(?: related)? to ({NAME})\?", re.IGNORECASE)
_MOST_OPEN = 8  # people whose gender is not shown; each doubles the number of rows


def rows_of_text(story: str, question: str) -> list[dict[str, Any]]:
    """Return the columns of a row for each choice of the genders that a text does not show.

    Args:
        story: A story in plain English, see `language.reader`.
        question: "What is B to A?" or "How is B related to A?".

    Raises:
        ParseError: If one of them is not understood, or the text does not show a gender on which the answer depends.
    """
    from storyproof.families.kinship.language.reader import read  # takes a while to import

    match = _ASKED.fullmatch(question.strip())
    if match is None:
        raise ParseError(f"{quoted(question)} is not a kinship question; expected 'What is B to A?'.")
    second, first = match.groups()
    reading = read(story)
    names = sorted(reading.people)
    for name in (first, second):
        if name not in reading.people:
            raise ParseError(f"the story does not name '{name}'; it names {', '.join(names)}.")
    if second not in reading.genders:
        raise ParseError(f"the story does not show whether {second} is {MALE} or {FEMALE}; the answer depends on it.")
    number = {name: place for place, name in enumerate(names)}
    facts = {(fact.first, fact.second): fact.word for fact in reading.facts}
    shown = _add_spouses(facts, dict(reading.genders))
    unknown = [name for name in names if name not in shown]
    if len(unknown) > _MOST_OPEN:
        raise ParseError(f"the story does not show the genders of {', '.join(unknown)}.")
    found = []
    for chosen in product(GENDERS, repeat=len(unknown)):
        genders = {**shown, **dict(zip(unknown, chosen, strict=True))}
        found.append(
            {
                "genders": [f"{name}:{genders[name]}" for name in names],
                "edges": [[number[one], number[other]] for one, other in facts],
                "edge_types": list(facts.values()),
                "query": [first, second],
                "k": len(facts),
            }
        )
    return found


def _add_spouses(facts: dict[tuple[str, str], str], genders: dict[str, str]) -> dict[str, str]:
    """Return genders with those of people whose wife or husband a text names."""
    for (first, _), relation in facts.items():
        if relation in ("wife", "husband"):
            genders.setdefault(first, MALE if relation == "wife" else FEMALE)
    return genders
