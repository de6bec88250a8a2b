"""What is wrong with data: one finding per problem, and one report per file.

A finding that says that a value is not what the row itself claims is a *disagreement*. The others list what makes a row
hard to use although all that it claims may hold, such as a label that follows by published rules only, or a duplicate.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storyproof.runtime.notebook import NotebookView

COLUMN = "column"  # the kind of a wrong value in a column that follows from the others
TEXT = "text"  # the kind of a text that does not fit the rest of its row, or its benchmark
UNREAD = "unread"  # the kind of a row that is not understood
CONFLICT, INCONSISTENT, NO_CHOICE = "conflict", "inconsistent", "not_a_choice"  # what no text is needed to see
TWICE, NOT_IN_STORY = "choice_twice", "not_in_story"
KNOWN = "known_erratum"  # the kind of findings that errata say
ORDER = "row_order"  # the kind of rows that do not fit each other
MANIFEST = "manifest"  # the kind of files that differ from their manifest
COMMON_KINDS = {  # of rows of all families
    UNREAD: "The row is not understood, so nothing that it says is judged.",
    CONFLICT: "Rows with the same story and question have different answers.",
    NO_CHOICE: "The answer is not among the choices.",
    INCONSISTENT: "Columns that should agree differ.",
    TWICE: "A choice occurs twice.",
    NOT_IN_STORY: "The answer does not occur in the story, though most answers of the file do.",
    KNOWN: "The value is wrong according to a file of errata.",
    ORDER: "Rows do not fit each other: an id occurs twice, or one story has several texts or ids.",
    MANIFEST: "The files are not as the manifest describes them.",
}
PROOF_SAMPLE = 100  # different questions per file whose proofs are checked by deletion, unless all are asked for
SAMPLES = 10_000  # draws from a generator, unless users say how many
_SHOWN = 1000  # characters of a value
_LISTED = (
    *("file", "row", "line", "id", "kind", "field", "found", "expected", "reason", "reading", "sentences", "asked"),
    "is_claim",
)


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
        rewrite: What stands there and what a corrected copy has instead, where these are not `found` and `expected`,
            such as the letters of choices.
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
    rewrite: tuple[Any, Any] | None = None

    def __str__(self) -> str:
        row = f" row {self.row}" if self.row >= 0 else ""
        name = f" ({self.id})" if self.id else ""
        if self.kind == UNREAD:
            line = f", line {self.line}" if self.line else ""
            what = "" if self.found.startswith((f"{self.field}:", f"{self.field},")) else f"{self.field}: "
            return f"{self.file}{row}{line}{name}: {what}{cut(self.found)}"
        expected = f", expected {cut(self.expected)}" if self.expected else ""
        reading = f" (right under '{self.reading}')" if self.reading else ""
        reason = f"; {cut(self.reason)}" if self.reason else ""
        return f"{self.file}{row}{name}: {self.field}: found {cut(self.found)}{expected}{reading}{reason}"

    @property
    def is_disagreement(self) -> bool:
        """Whether what the row claims is wrong; a row that is not understood claims nothing that can be judged."""
        return self.is_claim and self.kind != UNREAD

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {name: getattr(self, name) for name in _LISTED}


@dataclass(slots=True)
class FileReport:
    """What was found in one file.

    Attributes:
        file: What reports call it: its name, with folders before it if another audited file has the same.
        format: The name of its format; empty if it has no rows.
        family: The name of the family of its rows.
        totals: Counts, as the audit's JSON has them; nested counts are dictionaries.
        findings: All problems; those of the whole file first, then by part of the file.
        questions: How many rows it has; of a file without rows, how many entries.
        stories: How many stories.
        unread: How many rows are not understood, by what is not: story, question, answer, facts, record or columns.
        columns: Where the file has what rows need, if its columns have other names.
        notes: What readers of the report should know about how the file was read.
        records: The record of each row that is to be corrected, where records have several rows.
        unchecked: How many rows had no value to compare with the proof, by column.
        proofs_checked: How many proofs were checked by deletion.
        proofs_derived: How many of these were derived here, because their rows have none.
        statuses: How many rows have which status, in families in which an answer need not follow.
        gone: Rows that a corrected copy leaves out, because nothing in their place would be right.
        unmarked: How many rows have which status, of those from which no answer follows, or another than they say, and
            which do not say so.
        unsettled: The status of each such row for which there is no right answer; a corrected copy marks or drops them.
        declared: The status of rows that say so themselves.
        published: The published set that it was recognised as; empty if it was not.
        rules: The readings that this set's own prompt allows.
    """

    file: str
    format: str
    totals: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    family: str = ""
    questions: int = 0
    stories: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    proofs_checked: int = 0
    proofs_derived: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    gone: set[int] = field(default_factory=set)
    unmarked: Counter[str] = field(default_factory=Counter)
    unsettled: dict[int, str] = field(default_factory=dict)
    declared: dict[int, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    records: dict[int, int] = field(default_factory=dict)
    published: str = ""
    rules: tuple[str, ...] = ()

    @property
    def disagreements(self) -> list[Finding]:
        """The findings that say that what the data claim is wrong."""
        return [each for each in self.findings if each.is_disagreement]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        listed = [each.as_dict() for each in self.findings]
        read = {"columns": self.columns, "notes": self.notes}
        return {"file": self.file, "format": self.format, **read, "totals": self.totals, "errata": listed}


@dataclass(slots=True)
class AuditReport(NotebookView):
    """What was found in all files.

    Attributes:
        files: What was found in each file.
        manifest: How folders differ from their manifests.
        lacks_manifest: Whether a folder has no manifest, so that its files cannot be checked against what was written.
        shared: What splits share: `first` and `second`, and how many `stories`, `questions` and `conflicts` (the same
            story and question with different answers).
        left_out: Files of folders in which no question was found.
    """

    files: list[FileReport]
    manifest: list[Finding] = field(default_factory=list)
    lacks_manifest: bool = False
    shared: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All findings: those about manifests, then those of each file."""
        return [*self.manifest, *(finding for each in self.files for finding in each.findings)]

    @property
    def disagreements(self) -> list[Finding]:
        """The findings that say that what the data claim is wrong."""
        return [each for each in self.findings if each.is_disagreement]

    @property
    def ok(self) -> bool:
        """Whether every row is understood and holds what it claims."""
        return not self.unread and not self.disagreements

    @property
    def clean(self) -> bool:
        """Whether nothing is found at all, also no duplicates or labels that follow under some readings only."""
        return not self.findings

    @property
    def questions(self) -> int:
        """How many rows there are."""
        return sum(each.questions for each in self.files)

    @property
    def stories(self) -> int:
        """How many stories there are."""
        return sum(each.stories for each in self.files)

    @property
    def unread(self) -> Counter[str]:
        """How many rows are not understood, by what is not."""
        return _count(each.unread for each in self.files)

    @property
    def unchecked(self) -> Counter[str]:
        """How many rows had no value to compare with the proof, by column."""
        return _count(each.unchecked for each in self.files)

    @property
    def proofs_checked(self) -> int:
        """How many proofs were checked by leaving out sentences."""
        return sum(each.proofs_checked for each in self.files)

    @property
    def proofs_derived(self) -> int:
        """How many of these proofs were derived here, because their rows have none."""
        return sum(each.proofs_derived for each in self.files)

    @property
    def statuses(self) -> Counter[str]:
        """How many rows have which status, in families in which an answer need not follow."""
        return _count(each.statuses for each in self.files)

    @property
    def unsettled(self) -> Counter[str]:
        """The statuses of rows whose answer does not follow by the standard of their family, and that do not say so."""
        return _count(each.unmarked for each in self.files)

    def by_field(self) -> dict[str, int]:
        """Return how many disagreements there are about each field."""
        return most_common(Counter(each.field for each in self.disagreements))

    @property
    def totals(self) -> dict[str, Any]:
        """The counts of all files, added up; those of rows are there even if no file has any."""
        no_rows = {"rows": 0, "judged": 0, "unread": {}, "conflicts": 0, "wrong_answers": {}, "rule_dependent": {}}
        return add_up([no_rows, *(each.totals for each in self.files)])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "totals": self.totals,
            "disagreements": len(self.disagreements),
            "by_field": self.by_field(),
            "unchecked": {name: count for name, count in most_common(self.unchecked).items() if count},
            "proofs_checked": self.proofs_checked,
            "statuses": most_common(self.statuses),
            "manifest": [each.as_dict() for each in self.manifest],
            "lacks_manifest": self.lacks_manifest,
            "shared": self.shared,
            "left_out": self.left_out,
            "files": [each.as_dict() for each in self.files],
        }


def _count(counters: Iterable[Counter[str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in counters:
        counts.update(each)
    return counts


def most_common(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts, the highest first, and equal ones by name, so that nobody sees how the rows were divided."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def add_up(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of counts, also of nested ones."""
    sums: dict[str, Any] = {}
    for each in counts:
        for name, value in each.items():
            if isinstance(value, Mapping):
                sums[name] = add_up([sums.get(name, {}), value])
            else:
                sums[name] = sums.get(name, 0) + value
    return sums


def tally(findings: Iterable[Finding]) -> Counter[str]:
    """Return how many findings there are of each kind."""
    return Counter(each.kind for each in findings)


def written(value: Any) -> str:
    """Return a value as findings show it: texts as they are, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
