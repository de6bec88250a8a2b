"""First names by naming tradition, such as english or igbo."""

from __future__ import annotations

import re
from functools import cache

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.relations import GENDERS
from storyproof.io.bounded_input import load_shipped

NamesByGender = dict[str, tuple[str, ...]]

_NAME = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


@cache
def our_names() -> dict[str, NamesByGender]:
    """Return the names that ship with storyproof, by tradition and gender."""
    data = load_shipped("storyproof.families.kinship.language", "names.yaml")
    return {tradition: {each: tuple(names[each].split()) for each in GENDERS} for tradition, names in data.items()}


@cache
def genders_of_names() -> dict[str, str]:
    """Return the gender of each of the shipped names."""
    return {name: gender for pool in our_names().values() for gender, names in pool.items() for name in names}


@cache
def sure_first_names() -> frozenset[str]:
    """Return the shipped names that are no other English words."""
    return frozenset(genders_of_names()) - lx.NAMES_THAT_ARE_WORDS
