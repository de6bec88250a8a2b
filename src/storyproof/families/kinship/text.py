"""Kinship in words: what is told, what is asked, and how to read it back.

Synthetic text says one fact a line, always in the same way, and is read without help. Natural text is read with the
placeholder that each line was worded by: it says which relations the line tells, and where the people stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.families.kinship.placeholder_files import ours
from storyproof.families.kinship.placeholders import Key, Placeholders
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, Predicate

NAME = r"@?[^\W\d_](?:[\w-]*\w)?"
_SLOT = re.compile(r"ENT_(\d)_(male|female)")
_TOLD = re.compile(rf"({NAME}) is the ([a-z-]+) of ({NAME})\.")
_ASKED = re.compile(rf"What is ({NAME}) to ({NAME})\?")


class Told(NamedTuple):
    """A fact in words: what the second person is to the first, with their genders as far as the line shows them."""

    first: str
    word: str
    second: str
    first_gender: str | None


def ask(first: str, second: str) -> str:
    """Ask what the second person is to the first."""
    return f"What is {second} to {first}?"


def parse_question(question: str) -> tuple[str, str]:
    """Read who is asked about: first and second person.

    Raises:
        ParseError: If it is no such question.
    """
    match = _ASKED.fullmatch(question)
    if match is None:
        raise ParseError(f"'{question}' is no question of kinship; expected 'What is B to A?'.")
    return match[2], match[1]


def synthetic(predicates: Sequence[Predicate]) -> Placeholders:
    """Give one plain sentence for each relation and gender."""
    templates: dict[Key, tuple[str, ...]] = {}
    for predicate, first, second in product(predicates, GENDERS, GENDERS):
        key: Key = (predicate.male if second == MALE else predicate.female,), (first, second)
        templates[key] = (synthetic_line(key),)
    return Placeholders("synthetic", templates)


def synthetic_line(key: Key) -> str:
    """Give the plain sentence for one relation."""
    (word,), (first, second) = key
    return f"ENT_1_{second} is the {word} of ENT_0_{first}."


def parse_line(line: str, placeholder: str | None = None) -> list[Told]:
    """Read the facts that a line tells.

    Args:
        line: The line.
        placeholder: The placeholder that it was worded by, as recorded; None for synthetic text.

    Raises:
        ParseError: If the line is in no known form, or not in that of its placeholder.
    """
    if placeholder is None:
        match = _TOLD.fullmatch(line)
        if match is None:
            raise ParseError(f"'{line}' is no synthetic sentence; expected 'B is the son of A.' or the like.")
        return [Told(match[3], match[2], match[1], None)]
    words, genders, form = _form(placeholder)
    match = form.fullmatch(line)
    if match is None:
        raise ParseError(f"'{line}' is not worded as its placeholder '{placeholder}' says.")
    people = [match[f"e{number}"] for number in range(len(genders))]
    if len(set(people)) < len(people):
        raise ParseError(f"'{line}' has one person in two places of its placeholder '{placeholder}'.")
    return [Told(people[place], word, people[place + 1], genders[place]) for place, word in enumerate(words)]


def placeholder_id(key: Key, template: str) -> str:
    """Name a placeholder: by its number in our collection, or by its text if it is not one of ours.

    Relations, genders and number or text are kept apart by slashes: `son,wife/male,male,female/3`.
    """
    known = _numbers(key)
    return f"{','.join(key[0])}/{','.join(key[1])}/{known.get(template, template)}"


@cache
def _numbers(key: Key) -> dict[str, int]:
    return {template: number for number, template in enumerate(ours().templates.get(key, ()))}


def placeholder_of(recorded: str) -> tuple[Key, str]:
    """Look a recorded placeholder up; gives its key and its template.

    Raises:
        ParseError: If there is no such placeholder.
    """
    words, _, rest = recorded.partition("/")
    genders, _, which = rest.partition("/")
    key: Key = tuple(words.split(",")), tuple(genders.split(","))
    if not which or len(key[1]) != len(key[0]) + 1 or not set(key[1]) <= {MALE, FEMALE}:
        raise ParseError(f"'{recorded}' is no placeholder; expected relations/genders/number or text.")
    if not which.isdecimal():
        return key, which
    known = ours().templates.get(key, ())
    if int(which) >= len(known):
        raise ParseError(f"'{recorded}' is no placeholder of ours: there are {len(known)} for these relations.")
    return key, known[int(which)]


@cache
def _form(recorded: str) -> tuple[tuple[str, ...], tuple[str, ...], re.Pattern[str]]:
    """Give relations, genders, and the form in which a placeholder's lines come."""
    (words, genders), template = placeholder_of(recorded)
    parts, seen = [], set[str]()
    cut = _SLOT.split(template)
    for place in range(0, len(cut) - 1, 3):
        text, number, gender = cut[place : place + 3]
        if int(number) >= len(genders) or genders[int(number)] != gender:
            raise ParseError(f"'{recorded}' speaks of ENT_{number}_{gender}, who is not in it.")
        parts += [re.escape(text), f"(?P=e{number})" if number in seen else f"(?P<e{number}>{NAME})"]
        seen.add(number)
    if len(seen) < len(genders):
        raise ParseError(f"'{recorded}' does not mention everybody.")
    return words, genders, re.compile("".join(parts) + re.escape(cut[-1]))
