"""Rows of published sets, restated in words that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Restated(NamedTuple):
    """A row of a record.

    Attributes:
        record: The record with what is read in place of what its set has.
        story: The story as it was published; None if there is none.
        question: The question as it was published; None if there is none.
        problem: Why the row cannot be judged; empty if it can.
        keeps_answer: Whether the answer is where it was, so that it can be corrected there.
    """

    record: Mapping[str, Any]
    story: str | None
    question: str | None
    problem: str = ""
    keeps_answer: bool = False


def as_word(name: str) -> str:
    """Return a name of several words as one word; a comma would end it."""
    return name.replace(",", "").replace(" ", "_")
