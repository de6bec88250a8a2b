"""The audit of CLUTRR's CSV files: row by row, what is wrong and why.

A target is judged under strict kinship on all facts whose relation the file tells, and a proof by the published rules
or the strict ones. A row may say itself, in a column `status`, that its target is ambiguous, contradicted or
impossible; if that is so, and no other target would be right, it is no erratum.

Kinds of errata, besides the three statuses:

==================  ==================================================================================================
undefined           nothing in the row tells who is asked about
target              the target is no word of kinship, or follows by no rules at all
proof               the proof does not replay, or proves something else than the target
genders             a relation does not fit the gender of whom it is said
names               the question, the proof and the story speak of other people than `genders`
edges               the edges lead out of the row's people or not to those asked about; or a relation is none
f_comb              the relations of the chain are not those of its edges
clean_story         somebody of the chain is not in it
revisit             the chain passes the same person twice
untyped_noise       noise whose relation is not told
missing_noise       noise that the story does not tell
status              the column `status` is wrong
duplicate           an earlier row has the same story and question
small_test          a test file with few rows, labels or patterns; about the whole file
consequence         what is right beside the wrong target, and has to change with it
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
from storyproof.families.kinship.audit.cases import Judge, Puzzle, Verdict, understand
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.clutrr_fixes import UNDEFINED, fixed_files
from storyproof.families.kinship.checker import STATUSES
from storyproof.families.kinship.clutrr_records import Row, read_records, read_row
from storyproof.families.kinship.relations import WORDS, predicate_of
from storyproof.families.kinship.rules import PUBLISHED

__all__ = ["audit_file", "fixed_files"]

LEAST_ROWS, LEAST_LABELS, LEAST_PATTERNS = 50, 5, 8  # a test with less says little
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
CHUNK = 2048  # rows that the oracle looks at together
JUDGE = Judge()  # one for all files, which have many structures in common


def audit_file(path: Path) -> FileReport:
    """Find what is wrong in a file.

    Raises:
        DataError: If it cannot be read; the message says what was found where, and what was expected.
    """
    audit = Audit(path)
    with warnings.catch_warnings():  # Python warns of odd literals, which are for us to judge
        warnings.simplefilter("ignore")
        records = read_records(path)
        header = next(records).fields
        rows = (read_row(path, record, header) for record in records if record.fields)
        while part := list(islice(rows, CHUNK)):
            audit.take(part)
    return audit.report()


class Audit:
    """What is found in a file, while it is read; `more` names counts of further kinds of errata."""

    def __init__(self, path: Path, form: str = "clutrr", more: Mapping[str, str] | None = None) -> None:
        self._path, self._form = path, form
        self._totals = {**_TOTALS, **(more or {})}
        self._counts: Counter[str] = Counter()
        self._errata: list[Erratum] = []
        self._seen: dict[bytes, int] = {}  # the first row of each story and question
        self._labels: set[str] = set()
        self._patterns: set[tuple[str, ...]] = set()  # with genders, as f_comb has them
        self._test_rows = 0

    def take(self, rows: list[Row]) -> None:
        """Look at some rows."""
        puzzles = [understand(row) for row in rows]
        for puzzle, verdict in zip(puzzles, JUDGE.verdicts(puzzles), strict=True):
            self.add(puzzle, verdict, find_flaws(puzzle, verdict))

    def add(self, puzzle: Puzzle, verdict: Verdict | None, found: Iterable[Flaw]) -> None:
        """Note what was found in a row."""
        self._count(puzzle, verdict)
        flaws = list(chain(found, self._repeated(puzzle.row)))
        for kind in {flaw.kind for flaw in flaws} & set(self._totals):
            self._counts[self._totals[kind]] += 1
        self._errata += [self._erratum(puzzle.row, flaw) for flaw in flaws]

    def _count(self, puzzle: Puzzle, verdict: Verdict | None) -> None:
        row = puzzle.row
        self._counts["rows"] += 1
        if verdict is not None:
            self._counts[verdict.status] += 1
            self._counts["two_targets"] += len(verdict.derived[PUBLISHED]) > 1
        self._labels.add(row.fields["target"])
        self._patterns.add(puzzle.words[: row.k])
        self._test_rows += row.fields["task_split"] == "test"

    def _repeated(self, row: Row) -> Iterator[Flaw]:
        text = f"{row.fields['story']}\n{row.fields['query']}"
        first = self._seen.setdefault(hashlib.blake2b(text.encode(), digest_size=16).digest(), row.record.row)
        if first != row.record.row:
            yield Flaw("duplicate", "story", "", f"row {first} has the same story and question", f"row {first} again")

    def _erratum(self, row: Row, flaw: Flaw) -> Erratum:
        return Erratum(
            file=self._path.name,
            row=row.record.row,
            line=row.record.line,
            id=row.fields["id"] or f"{self._path.stem}-{row.record.row}",
            kind=flaw.kind,
            field=flaw.field,
            found=row.fields[flaw.field] if flaw.found is None else flaw.found,
            expected=flaw.expected,
            reason=flaw.reason.encode(errors="backslashreplace").decode(),  # a literal may hold half a character
            reading=flaw.reading,
            asked=row.fields["task_name"],
        )

    def report(self) -> FileReport:
        """Sum up."""
        rows, labels, patterns = self._counts["rows"], len(self._labels), len(self._patterns)
        is_test = self._path.stem.endswith("test") or (rows > 0 and self._test_rows == rows)
        errata = self._errata
        if is_test and (rows < LEAST_ROWS or labels < LEAST_LABELS or patterns < LEAST_PATTERNS):
            self._counts["small_tests"] = 1
            neutral = {tuple(predicate_of(each) if each in WORDS else each for each in told) for told in self._patterns}
            found = f"{rows} rows, {labels} labels, {patterns} patterns ({len(neutral)} regardless of gender)"
            least = f"{LEAST_ROWS} rows, {LEAST_LABELS} labels and {LEAST_PATTERNS} patterns"
            small = Erratum(
                file=self._path.name,
                row=-1,
                kind="small_test",
                field="rows",
                found=found,
                expected="",
                reason=f"a test of {found} says little; it should have at least {least}",
            )
            errata = [small, *errata]
        keys = ("rows", *STATUSES, *self._totals.values(), "two_targets")
        return FileReport(self._path.name, self._form, {key: self._counts[key] for key in keys}, errata)
