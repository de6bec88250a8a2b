"""The rungs of the ladder: what can be said of a reply beside the right answer, the most specific first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """What a reply is to the right answer.

    Attributes:
        kind: The most specific rung that it reaches.
        right: Whether that counts as right.
    """

    kind: str
    right: bool


EXACT = Match("exact_match", True)
NORMALIZED = Match("normalized_match", True)
PREFIX = Match("prefix_match", True)
SUFFIX = Match("suffix_match", True)
CONTAINED = Match("contained_match", True)
AMBIGUOUS = Match("ambiguous", False)
NEGATED = Match("negated", False)
NO_MATCH = Match("no_match", False)
RUNGS = (EXACT, NORMALIZED, PREFIX, SUFFIX, CONTAINED, AMBIGUOUS, NEGATED, NO_MATCH)
KINDS = tuple(rung.kind for rung in RUNGS)
