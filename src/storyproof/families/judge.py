"""How a family judges the rows of a file: the protocol behind `verify` and `audit`.

Both read a file once and pass its rows, with their places, to one judge, which yields findings. They ask different
questions, and a judge answers the one that its subject has: see `VERIFY_ASKS` and `AUDIT_ASKS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from storyproof.findings import Finding

if TYPE_CHECKING:
    from storyproof.formats.format import Format

VERIFY_ASKS = "verify asks: do the data hold what they claim? (labels under their readings, manifest, ids, order)"
AUDIT_ASKS = "audit asks: what is wrong with the data? (also rows without one right answer, causes, duplicates)"


@dataclass(frozen=True, slots=True)
class Subject:
    """A file that is judged.

    Attributes:
        path: Where it is.
        format: Its format.
        name: What findings call it.
        is_audit: Whether to find all that is wrong, with reasons and fixes (`AUDIT_ASKS`), rather than what contradicts
            the data's own claims (`VERIFY_ASKS`).
        settings: What users said about the data: `rules`, a file of rules that they were made by; `readings`, the only
            ones that make a wrong label rule-dependent.
    """

    path: Path
    format: Format
    name: str
    is_audit: bool
    settings: Mapping[str, Any] = field(default_factory=dict)

    def called(self, file: str) -> str:
        """Return what findings call the file, or one beside it."""
        return self.name.removesuffix(self.path.name) + file if self.name.endswith(self.path.name) else self.name


class FileJudge(ABC):
    """Judges the rows of one file, part by part; each row is parsed once and judged once.

    Attributes:
        subject: The file.
        unchecked: How many rows had no value to compare with the proof, by column.
        statuses: How many rows have which status; empty if an answer follows from every row of the family.
        gone: Rows that a corrected copy must leave out.
        unmarked: How many rows have which status, of those from which no answer follows and which do not say so.
        unsettled: In an audit, the status of each such row; verify holds nothing that grows with the number of rows.
        declared: The status of rows that say themselves that no answer follows.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.unchecked: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.gone: set[int] = set()
        self.unmarked: Counter[str] = Counter()
        self.unsettled: dict[int, str] = {}
        self.declared: dict[int, str] = {}

    @abstractmethod
    def judge(self, table: pa.Table) -> Iterable[Finding]:
        """Yield what is wrong in the next rows: whole stories, with the column `place`.

        Raises:
            DataError: If rows cannot be judged at all.
        """

    def conclude(self) -> Iterable[Finding]:
        """Yield what is wrong with the file as a whole, once all rows were judged.

        Raises:
            DataError: If the file had no rows, and that is an error.
        """
        return ()

    def totals(self) -> dict[str, Any]:
        """Return counts for the report of an audit; nested counts are dictionaries."""
        return {}
