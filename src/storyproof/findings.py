"""What is wrong with data: one finding per problem, and one report per file.

`verify` and `audit` are two views of the same pass over the rows (`audits.examination`) and report the same type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storyproof.notebook import NotebookView

COLUMN = "column"  # the kind of a wrong value in a column that follows from the others
TEXT = "text"  # the kind of a text that cannot be parsed, or does not fit the rest of its row
PROOF_SAMPLE = 100  # different questions per file whose proofs verify checks by deletion, unless all are asked for
_SHOWN = 1000  # characters of a value
_LISTED = ("file", "row", "line", "id", "kind", "field", "found", "expected", "reason", "reading", "sentences", "asked")


def cut(text: str) -> str:
    """Return a value as lists for people show it: very long ones are cut, and are whole in JSON and CSV."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem in a row, or in a file.

    Attributes:
        file: What reports call the file or split.
        row: The row's number in the file, from 0; -1 if the finding is about the whole file, or the row has no number.
        line: The line of the file that holds the value, or where its row begins, from 1; 0 if there is no such line.
        id: The row's id; empty if the finding is about the file.
        kind: The class of problem, one of `Family.kinds`.
        field: Which field is wrong.
        found: What the file says.
        expected: What is right; empty if nothing is.
        reason: Why, in a sentence: the mechanism where it is known.
        reading: A reading under which what was found is right (rule-dependent); empty if there is none.
        sentences: The deciding sentences of the story, from 1.
        asked: What kind of question the row asks.
        is_claim: Whether the row itself claims what is wrong. If not, all that it claims may hold, and yet it cannot be
            used as it is: no single answer follows, or an earlier row is the same.
        fix: The name of the value in the file that becomes `expected` in a corrected copy; empty if the problem cannot
            be fixed.
    """

    file: str
    row: int = -1
    line: int = 0
    id: str = ""
    kind: str = ""
    field: str
    found: str
    expected: str
    reason: str = ""
    reading: str = ""
    sentences: tuple[int, ...] = ()
    asked: str = ""
    is_claim: bool = True
    fix: str = ""

    def __str__(self) -> str:
        row = f" {self.id}" if self.id else ""
        return f"{self.file}{row}: {self.field}: found {cut(self.found)}, expected {cut(self.expected)}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {name: getattr(self, name) for name in _LISTED}


@dataclass(slots=True)
class FileReport:
    """What was found in one file.

    Attributes:
        file: What reports call it: its name, with folders before it if another audited file has the same.
        format: The name of its format.
        family: The name of the family of its rows.
        totals: Counts, as the audit's JSON has them; nested counts are dictionaries.
        findings: All problems; those of the whole file first, then by part of the file.
        questions: How many rows it has.
        stories: How many stories.
        unchecked: How many rows had no value to compare with the proof, by column.
        proofs_checked: How many proofs were checked by deletion.
        statuses: How many rows have which status, in families in which an answer need not follow.
        gone: Rows that a corrected copy leaves out, because nothing in their place would be right.
        unmarked: How many rows have which status, of those from which no answer follows and which do not say so.
        unsettled: In an audit, the status of each such row; a corrected copy marks or drops them.
        declared: The status of rows that say so themselves.
    """

    file: str
    format: str
    totals: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    family: str = ""
    questions: int = 0
    stories: int = 0
    unchecked: Counter[str] = field(default_factory=Counter)
    proofs_checked: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    gone: set[int] = field(default_factory=set)
    unmarked: Counter[str] = field(default_factory=Counter)
    unsettled: dict[int, str] = field(default_factory=dict)
    declared: dict[int, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        listed = [each.as_dict() for each in self.findings]
        return {"file": self.file, "format": self.format, "totals": self.totals, "errata": listed}


@dataclass(slots=True)
class AuditReport(NotebookView):
    """What was found in all files."""

    files: list[FileReport]

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not any(each.findings for each in self.files)

    @property
    def totals(self) -> dict[str, Any]:
        """The counts of all files, added up."""
        return add_up(each.totals for each in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"files": [each.as_dict() for each in self.files], "totals": self.totals}


def add_up(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of counts, also of nested ones."""
    found: dict[str, Any] = {}
    for each in counts:
        for name, value in each.items():
            if isinstance(value, Mapping):
                found[name] = add_up([found.get(name, {}), value])
            else:
                found[name] = found.get(name, 0) + value
    return found


def tally(findings: Iterable[Finding]) -> Counter[str]:
    """Return how many findings there are of each kind."""
    return Counter(each.kind for each in findings)
