"""The audit of CLUTRR's CSV files: what is wrong in each row, and why.

A target is judged under strict kinship on all facts whose relation is recorded, and a proof by the published or the
strict rules. A row may itself declare, in a column `status`, that its target is ambiguous, contradicted or impossible.
If that is true, and no other target would be right, it is not an erratum.

Kinds of errata, besides the three statuses:

==================  ==================================================================================================
undefined           the row does not tell who is asked about
target              the target is not a kinship term, or follows by no rules at all
proof               the proof is not valid, or proves something other than the target
genders             a relation does not fit a person's gender
names               the question, the proof or the story mentions people who are not in `genders`, or omits some who are
edges               edges are about unknown people or not about those asked about, or a relation is not a kinship term
f_comb              the relations of the chain are not those of its edges
clean_story         somebody in the chain is not mentioned
revisit             the chain passes the same person twice
untyped_noise       noise whose relation is not recorded
missing_noise       noise that the story does not state
status              the column `status` is wrong
duplicate           an earlier row has the same story and question
small_test          a test file with few rows, labels or patterns; about the whole file
consequence         right for the wrong target, so it has to change together with it
==================  ==================================================================================================
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from storyproof.errata import Erratum, FileReport
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.clutrr_fixes import fixed_files
from storyproof.families.kinship.audit.rows import AuditedRow, audit_clutrr_row
from storyproof.families.kinship.audit.verdicts import UNDEFINED, Judge, Verdict
from storyproof.families.kinship.checker import STATUSES
from storyproof.families.kinship.clutrr_records import read_clutrr_row, read_records
from storyproof.families.kinship.relations import WORDS, predicate_of
from storyproof.families.kinship.rules import PUBLISHED

__all__ = ["audit_file", "fixed_files"]

LEAST_ROWS, LEAST_LABELS, LEAST_PATTERNS = 50, 5, 8  # a smaller test is not informative
_TOTALS = {
    UNDEFINED: UNDEFINED,
    "proof": "proof_errors",
    "target": "wrong_targets",
    "genders": "wrong_genders",
    "names": "wrong_names",
    "revisit": "revisits",
    "untyped_noise": "untyped_noise",
    "missing_noise": "missing_noise",
    "edges": "wrong_edges",
    "f_comb": "wrong_f_comb",
    "clean_story": "wrong_clean_stories",
    "status": "wrong_statuses",
    "small_test": "small_tests",
    "duplicate": "duplicates",
}
CHUNK = 2048  # rows that the oracle examines together
JUDGE = Judge()  # shared by all files, which have many structures in common


def audit_file(path: Path) -> FileReport:
    """Audit a file.

    Raises:
        DataError: If it cannot be read; the message says what was found where, and what was expected.
    """
    audit = FileAudit(path)
    with warnings.catch_warnings():  # Python warns about odd literals; they are checked here
        warnings.simplefilter("ignore")
        records = read_records(path)
        header = next(records).fields
        rows = (read_clutrr_row(path, record, header) for record in records if record.fields)
        while part := list(islice(rows, CHUNK)):
            audit.examine([audit_clutrr_row(row) for row in part])
    return audit.report()


class FileAudit:
    """The findings in a file, collected while it is read; `more` names the totals of further kinds of errata."""

    def __init__(self, path: Path, form: str = "clutrr", more: Mapping[str, str] | None = None) -> None:
        self._path, self._form = path, form
        self._totals = {**_TOTALS, **(more or {})}
        self._counts: Counter[str] = Counter()
        self._errata: list[Erratum] = []
        self._seen: dict[bytes, int] = {}  # the first row of each story and question
        self._labels: set[str] = set()
        self._patterns: set[tuple[str, ...]] = set()  # with genders, as f_comb has them
        self._test_rows = 0

    def examine(self, rows: list[AuditedRow]) -> None:
        """Audit some rows."""
        for audited, verdict in zip(rows, JUDGE.verdicts(rows), strict=True):
            self.add(audited, verdict, find_flaws(audited, verdict))

    def add(self, audited: AuditedRow, verdict: Verdict | None, found: Iterable[Flaw]) -> None:
        """Record the flaws of a row."""
        self._count(audited, verdict)
        flaws = list(chain(found, self._repeated(audited)))
        for kind in {flaw.kind for flaw in flaws} & set(self._totals):
            self._counts[self._totals[kind]] += 1
        self._errata += [self._erratum(audited, flaw) for flaw in flaws]

    def _count(self, audited: AuditedRow, verdict: Verdict | None) -> None:
        row = audited.row
        self._counts["rows"] += 1
        if verdict is not None:
            self._counts[verdict.status] += 1
            self._counts["two_targets"] += len(verdict.derived[PUBLISHED]) > 1
        self._labels.add(audited.label)
        self._patterns.add(row.words[: row.k])
        self._test_rows += audited.split == "test"

    def _repeated(self, audited: AuditedRow) -> Iterator[Flaw]:
        values = audited.given.values
        text = f"{values['story']}\n{values['query']}"
        first = self._seen.setdefault(hashlib.blake2b(text.encode(), digest_size=16).digest(), audited.number)
        if first != audited.number:
            yield Flaw("duplicate", "story", "", f"row {first} has the same story and question", f"row {first} again")

    def _erratum(self, audited: AuditedRow, flaw: Flaw) -> Erratum:
        return Erratum(
            file=self._path.name,
            row=audited.number,
            line=audited.line,
            id=audited.id or f"{self._path.stem}-{audited.number}",
            kind=flaw.kind,
            field=flaw.field,
            found=audited.given.values[flaw.field] if flaw.found is None else flaw.found,
            expected=flaw.expected,
            reason=flaw.reason.encode(errors="backslashreplace").decode(),  # literals may hold unpaired surrogates
            reading=flaw.reading,
            asked=audited.task_name,
        )

    def report(self) -> FileReport:
        """Return the report on the file."""
        rows, labels, patterns = self._counts["rows"], len(self._labels), len(self._patterns)
        is_test = self._path.stem.endswith("test") or (rows > 0 and self._test_rows == rows)
        errata = self._errata
        if is_test and (rows < LEAST_ROWS or labels < LEAST_LABELS or patterns < LEAST_PATTERNS):
            self._counts["small_tests"] = 1
            neutral = {
                tuple(predicate_of(each) if each in WORDS else each for each in words) for words in self._patterns
            }
            found = f"{rows} rows, {labels} labels, {patterns} patterns ({len(neutral)} regardless of gender)"
            least = f"{LEAST_ROWS} rows, {LEAST_LABELS} labels and {LEAST_PATTERNS} patterns"
            small = Erratum(
                file=self._path.name,
                row=-1,
                kind="small_test",
                field="rows",
                found=found,
                expected="",
                reason=f"a test of {found} is not informative; it should have at least {least}",
            )
            errata = [small, *errata]
        keys = ("rows", *STATUSES, *self._totals.values(), "two_targets")
        return FileReport(self._path.name, self._form, {key: self._counts[key] for key in keys}, errata)
