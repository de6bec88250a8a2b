"""First names by naming tradition, such as english or igbo."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from storyproof.errors import DataError
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE
from storyproof.io.bounded_input import DocumentError, parse_shipped, parse_yaml

NamesByGender = dict[str, tuple[str, ...]]

_NAME = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


@cache
def our_names() -> dict[str, NamesByGender]:
    """Return the names that ship with storyproof, by tradition and gender."""
    text = files("storyproof.families.kinship.language").joinpath("names.yaml").read_text(encoding="utf-8")
    # They have been checked, and there are thousands.
    data = parse_shipped(text)
    return {tradition: {each: tuple(names[each].split()) for each in GENDERS} for tradition, names in data.items()}


@cache
def genders_of_names() -> dict[str, str]:
    """Return the gender of each of the shipped names."""
    return {name: gender for pool in our_names().values() for gender, names in pool.items() for name in names}


def read_names(text: str, where: str) -> dict[str, NamesByGender]:
    """Read names.

    Args:
        text: YAML with a text of names for each gender of each tradition.
        where: What messages call it.

    Raises:
        DataError: If anything is not as expected, or a name occurs twice; the message says where.
    """
    try:
        data = parse_yaml(text)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise DataError(f"{where}{line}: not valid YAML: {error}.") from error
    if not isinstance(data, dict) or not data:
        raise DataError(f"{where}: expected naming traditions, each with names that are {MALE} and {FEMALE}.")
    seen: dict[str, str] = {}
    return {str(tradition): _by_gender(lists, f"{where}: '{tradition}'", seen) for tradition, lists in data.items()}


def _by_gender(lists: Any, where: str, seen: dict[str, str]) -> NamesByGender:
    if not isinstance(lists, dict) or set(lists) != set(GENDERS):
        raise DataError(f"{where}: expected names that are {MALE} and names that are {FEMALE}, found something else.")
    found = {}
    for gender in GENDERS:
        here = f"{where}, {gender}"
        if not isinstance(lists[gender], str) or not lists[gender].strip():
            raise DataError(f"{here}: expected names, separated by spaces, found {lists[gender]!r}.")
        found[gender] = tuple(lists[gender].split())
        for name in found[gender]:
            if not _NAME.fullmatch(name):
                raise DataError(f"{here}: '{name}' is not a name; names are single words of letters.")
            if name in seen:
                # A name of two lists would show neither gender nor tradition, and two casts could have the same names.
                raise DataError(f"{here}: '{name}' is also a name of {seen[name]}; leave one out.")
            seen[name] = here.removeprefix(f"{where.partition(': ')[0]}: ")
    return found
