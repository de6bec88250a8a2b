"""Kinship in sentences: how facts and questions are worded, and how to parse them.

Synthetic text states one fact per line, always in the same form, and can be parsed as it is. A line that was worded by
a placeholder is parsed with it: it says which relations the line states and where people occur. Natural text is read by
`language.reader`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from storyproof.errors import ParseError, quoted
from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, Predicate

NAME = r"@?[^\W\d_](?:[\w-]{0,62}\w)?"  # bounded, or adjacent slots would take cubic time on a long line
_MOST_DIGITS = 9  # of the number of a placeholder
_MOST_CACHED = 20_000  # placeholders; of a user's own there may be any number
_SLOT = re.compile(r"ENT_(\d)_(male|female)")
_STATED = re.compile(rf"({NAME}) is the ([a-z-]+) of ({NAME})\.")
_SHIPPED = re.compile(rf"\d{{1,{_MOST_DIGITS}}}")
_ASKED = re.compile(rf"What is ({NAME}) to ({NAME})\?")


class StatedFact(NamedTuple):
    """A fact as a line states it: what the second person is to the first, and the first's gender if shown."""

    first: str
    word: str
    second: str
    first_gender: str | None


def ask(first: str, second: str) -> str:
    """Return the question what the second person is to the first."""
    return f"What is {second} to {first}?"


def parse_question(question: str) -> tuple[str, str]:
    """Return who is asked about: first and second person.

    Raises:
        ParseError: If the question is in another form.
    """
    match = _ASKED.fullmatch(question)
    if match is None:
        raise ParseError(f"{quoted(question)} is not a kinship question; expected 'What is B to A?'.")
    return match[2], match[1]


def synthetic(predicates: Sequence[Predicate]) -> Placeholders:
    """Build a collection with one plain sentence for each relation and gender."""
    templates: dict[Key, tuple[str, ...]] = {}
    for predicate, first, second in product(predicates, GENDERS, GENDERS):
        key: Key = (predicate.male if second == MALE else predicate.female,), (first, second)
        templates[key] = (synthetic_line(key),)
    return Placeholders("synthetic", templates)


def synthetic_line(key: Key) -> str:
    """Return the plain sentence for one relation."""
    (word,), (first, second) = key
    return f"ENT_1_{second} is the {word} of ENT_0_{first}."


def is_synthetic(line: str) -> bool:
    """Return whether a line has the form of synthetic text."""
    return _STATED.fullmatch(line) is not None


def parse_line(line: str, placeholder: str | None = None) -> list[StatedFact]:
    """Return the facts that a line states.

    Args:
        line: The line.
        placeholder: The placeholder by which it was worded, as recorded; None for synthetic text.

    Raises:
        ParseError: If the line is not in the synthetic form, or not in that of its placeholder.
    """
    if placeholder is None:
        match = _STATED.fullmatch(line)
        if match is None:
            raise ParseError(f"{quoted(line)} is not a synthetic sentence; expected the form 'B is the son of A.'.")
        return [StatedFact(match[3], match[2], match[1], None)]
    words, genders, form = _form(placeholder)
    match = form.fullmatch(line)
    if match is None:
        raise ParseError(f"{quoted(line)} does not match its placeholder {quoted(placeholder)}.")
    people = [match[f"e{number}"] for number in range(len(genders))]
    if len(set(people)) < len(people):
        raise ParseError(f"{quoted(line)} has one person in two slots of its placeholder {quoted(placeholder)}.")
    return [StatedFact(people[place], word, people[place + 1], genders[place]) for place, word in enumerate(words)]


def placeholder_id(key: Key, template: str) -> str:
    """Return the id of a placeholder: with its number in the shipped collection, or with its text if it is not there.

    Relations, genders and number or text are separated by slashes: `son,wife/male,male,female/3`.
    """
    numbers = _numbers(key)
    return f"{','.join(key[0])}/{','.join(key[1])}/{numbers.get(template, template)}"


@lru_cache(maxsize=_MOST_CACHED)
def _numbers(key: Key) -> dict[str, str]:
    return {template: str(number) for number, template in enumerate(ours().templates.get(key, ()))}


def is_shipped(recorded: str) -> bool:
    """Return whether a recorded placeholder is one of the shipped collection."""
    return _SHIPPED.fullmatch(recorded.rpartition("/")[2]) is not None


def placeholder_of(recorded: str) -> tuple[Key, str]:
    """Return the key and the template of a recorded placeholder.

    Raises:
        ParseError: If there is no such placeholder.
    """
    words, _, rest = recorded.partition("/")
    genders, _, which = rest.partition("/")
    key: Key = tuple(words.split(",")), tuple(genders.split(","))
    if not which or len(key[1]) != len(key[0]) + 1 or not set(key[1]) <= {MALE, FEMALE}:
        raise ParseError(
            f"{quoted(recorded)} is not a placeholder id; expected relations/genders/number or relations/genders/text."
        )
    if _SHIPPED.fullmatch(which) is None:
        return key, which
    number, templates = int(which), ours().templates.get(key, ())
    if number >= len(templates):
        raise ParseError(
            f"{quoted(recorded)} is not in the shipped collection, which has {len(templates)} placeholders for these "
            "relations."
        )
    return key, templates[number]


@lru_cache(maxsize=_MOST_CACHED)
def _form(recorded: str) -> tuple[tuple[str, ...], tuple[str, ...], re.Pattern[str]]:
    """Return relations, genders and the pattern of a placeholder's lines."""
    (words, genders), template = placeholder_of(recorded)
    parts, seen = [], set[str]()
    cut = _SLOT.split(template)
    for place in range(0, len(cut) - 1, 3):
        text, number, gender = cut[place : place + 3]
        if int(number) >= len(genders) or genders[int(number)] != gender:
            raise ParseError(
                f"{quoted(recorded)} has the slot ENT_{number}_{gender}, which does not match its genders."
            )
        parts += [re.escape(text), f"(?P=e{number})" if number in seen else f"(?P<e{number}>{NAME})"]
        seen.add(number)
    if len(seen) < len(genders):
        raise ParseError(f"{quoted(recorded)} does not have a slot for everybody.")
    return words, genders, re.compile("".join(parts) + re.escape(cut[-1]))
