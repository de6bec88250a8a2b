"""The people of a row, as the column `genders` lists them: `Name:gender`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from storyproof.errors import ParseError, quoted
from storyproof.families.kinship.relations import GENDERS

UNKNOWN = "unknown"  # in place of a gender that nothing shows
_MOST_OPEN = 8  # people of unknown gender; each doubles the number of choices


def split_person(text: str) -> tuple[str, str]:
    """Split `Name:gender`; the gender is empty if there is none."""
    name, colon, gender = text.rpartition(":")
    return (name, gender) if colon else (text, "")


def person_names(genders: Sequence[str] | None) -> list[str]:
    """Return the names in a column `genders`, without checking them."""
    return [split_person(each)[0] for each in genders or ()]


def parse_people(genders: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return everybody's names and genders.

    Raises:
        ParseError: If an entry is not `Name:male` or `Name:female`, or a name occurs twice.
    """
    pairs = [split_person(each) for each in genders]
    for given, (name, gender) in zip(genders, pairs, strict=True):
        if not name or gender not in GENDERS:
            raise ParseError(f"genders has {quoted(given)}; expected 'Name:male' or 'Name:female'.")
    names = tuple(name for name, _ in pairs)
    if len(set(names)) < len(names):
        raise ParseError(f"genders has a name twice: {', '.join(names)}.")
    return names, tuple(gender for _, gender in pairs)


def choose_genders(genders: Sequence[str]) -> list[list[str]]:
    """Return a column `genders` once for each choice of those that are unknown.

    Raises:
        ParseError: If there are too many.
    """
    people = [split_person(each) for each in genders]
    choices = [GENDERS if gender == UNKNOWN else (gender,) for _, gender in people]
    unknown = [name for name, gender in people if gender == UNKNOWN]
    if len(unknown) > _MOST_OPEN:
        raise ParseError(f"the story does not show the genders of {', '.join(unknown)}.")
    return [
        [f"{name}:{gender}" for (name, _), gender in zip(people, chosen, strict=True)] for chosen in product(*choices)
    ]
