"""What is wrong, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement.

    Attributes:
        where: The split or file it is in.
        id: The row's id; empty if it is about the file.
        field: What is wrong.
        found: What the data say.
        expected: What follows from the text.
    """

    where: str
    id: str
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        row = f" {self.id}" if self.id else ""
        return f"{self.where}{row}: {self.field}: found {self.found}, expected {self.expected}"


@dataclass(slots=True)
class TableReport:
    """What was seen in one table.

    Attributes:
        findings: What is wrong.
        unchecked: How many rows had no value to hold against the proof, by column.
        statuses: Kinship: how many labels are entailed, ambiguous, contradicted or impossible.
    """

    findings: list[Finding] = field(default_factory=list)
    unchecked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
