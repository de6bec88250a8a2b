"""Editions of the words that ship with storyproof.

A version of clutrr keeps the names and placeholders that it began with, and data record placeholders by edition. So
files of an older edition never change; they have its number in their names.
"""

from __future__ import annotations

FIRST, LATEST = EDITIONS = (1, 2)


def file_of(stem: str, edition: int) -> str:
    """Return the name of the file with an edition of some words."""
    return f"{stem}.yaml" if edition == LATEST else f"{stem}-{edition}.yaml"
