"""Results of a search for duplicates: pairs by kind and by split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

STORY, QUESTION, CONFLICT, STRUCTURAL, NEAR = KINDS = ("story", "question", "conflict", "structural", "near")
MEANINGS = {
    STORY: "the same story",
    QUESTION: "the same story and question",
    CONFLICT: "the same story and question with another answer",
    STRUCTURAL: "the same story apart from its names",
    NEAR: "nearly the same story",
}


@dataclass(frozen=True, slots=True)
class Twins:
    """Two stories or questions that are the same, by id, and how alike they are."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Conflict(Twins):
    """Two rows that ask the same about the same text, and what each has for the answer."""

    first_answer: str
    second_answer: str


@dataclass(frozen=True, slots=True)
class SplitOverlap:
    """What two splits share, or what a split holds twice (then first and second are the same).

    Attributes:
        kind: One of KINDS.
        first: One split.
        second: The other.
        first_total: How many stories (for `question` and `conflict`, questions) of the first were compared.
        second_total: How many of the second.
        first_affected: How many of the first have a twin in the second.
        second_affected: How many of the second have one in the first.
        pairs: How many pairs of twins there are; for near ones, of different texts.
        examples: Some of them; conflicts one per question, structural ones with different texts, near ones the nearest
            first.
    """

    kind: str
    first: str
    second: str
    first_total: int
    second_total: int
    first_affected: int
    second_affected: int
    pairs: int
    examples: list[Twins]

    @property
    def share(self) -> float:
        """How much of the second, such as the test split, is affected."""
        return self.second_affected / self.second_total if self.second_total else 0.0


@dataclass(frozen=True, slots=True)
class OverlapReport:
    """What was found.

    Attributes:
        parts: How many stories and questions each split has.
        overlaps: By kind, each split with itself and each two with one another, the earlier first.
        near: How near ones were looked for, and how many texts were compared; empty if they were not. Twins of stories
            that were not compared (see the totals) are not found, which makes shares lower bounds.
    """

    parts: dict[str, dict[str, int]]
    overlaps: list[SplitOverlap]
    near: dict[str, Any]

    def conflicts(self) -> Iterator[tuple[SplitOverlap, Conflict]]:
        """Return the examples of conflicts, each with its splits."""
        for each in self.overlaps:
            for twins in each.examples:
                if isinstance(twins, Conflict):
                    yield each, twins

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        found = [{**asdict(each), "share": each.share} for each in self.overlaps]
        return {"parts": self.parts, "overlaps": found, "near": self.near}
