"""Kinds of matches between a reply and the right answer, the most specific first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """How a reply matches the right answer.

    Attributes:
        kind: The most specific kind that applies.
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
MATCHES = (EXACT, NORMALIZED, PREFIX, SUFFIX, CONTAINED, AMBIGUOUS, NEGATED, NO_MATCH)
KINDS = tuple(match.kind for match in MATCHES)
MEANINGS = {
    EXACT.kind: "the reply is the answer and nothing else",
    NORMALIZED.kind: "the reply is the answer, but for articles and signs",
    PREFIX.kind: "the reply begins with the answer",
    SUFFIX.kind: "the reply ends with the answer",
    CONTAINED.kind: "the answer occurs in the reply",
    AMBIGUOUS.kind: "the reply names several possible answers",
    NEGATED.kind: "the reply denies all possible answers that it names",
    NO_MATCH.kind: "the reply does not give the right answer",
}
