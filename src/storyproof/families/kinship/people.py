"""The people of a row, as the column `genders` lists them: `Name:gender`."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.errors import ParseError, quoted
from storyproof.families.kinship.relations import GENDERS


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
