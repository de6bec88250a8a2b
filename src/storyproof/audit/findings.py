"""What is wrong, and where."""

from __future__ import annotations

from dataclasses import dataclass


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
