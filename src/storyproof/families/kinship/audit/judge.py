"""The judge of kinship rows: their labels against facts, text, families and rules.

`verify` compares what rows claim with what follows (`labels`). An audit judges a label under strict kinship on all
facts whose relation is recorded, and a proof by the published or the strict rules. It also looks at what rows do not
claim: whether one answer follows at all, duplicates, and small tests. A row may itself declare, in a column `status`,
that its label is ambiguous, contradicted or impossible. If that is true, and no other label would be right, nothing is
found.

In a corrected copy a contradicted label is replaced by the word that the story entails, if there is one, together with
the proof (by strict rules) and the sentence that states it. Genders, `edge_types`, `f_comb`, `query` and `query_edge`
are replaced by the values that the rest of the row implies, and an invalid proof by a valid one. Noise without types or
sentences, chains that pass somebody twice, and duplicates are kept. A row from which no answer follows cannot be fixed;
it is marked in the column `status`, with its label kept for comparison, or dropped. A CSV file is the same byte for
byte up to an added last column, so that a loader that selects columns by name reads it as before.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ParseError
from storyproof.families.judge import FileJudge, ProofSample, Subject
from storyproof.families.kinship.audit import corrections
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.kinds import DUPLICATE, FLAWED, SMALL_TEST, UNCLAIMED, UNDEFINED
from storyproof.families.kinship.audit.labels import check_proof, check_row, natural_text
from storyproof.families.kinship.audit.proved_rows import find_proved_rows
from storyproof.families.kinship.audit.rows import AuditedRow, audit_clutrr_row, audit_example_row, text_of
from storyproof.families.kinship.audit.verdicts import Verdict, Verdicts
from storyproof.families.kinship.checker import ENTAILED, STATUSES
from storyproof.families.kinship.clutrr_csv import FIELDS, read_raw_rows
from storyproof.families.kinship.clutrr_records import STATUS
from storyproof.families.kinship.judgement import judge
from storyproof.families.kinship.people import person_names
from storyproof.families.kinship.relations import WORDS, predicate_of
from storyproof.families.kinship.row import KinshipRow, read_row
from storyproof.families.kinship.rules import PUBLISHED, load_rules
from storyproof.families.kinship.story import read_texts
from storyproof.findings import COLUMN, TEXT, Finding
from storyproof.formats.format import PLACE, place_of, stem_of

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
    SMALL_TEST: "small_tests",
    DUPLICATE: "duplicates",
}
_CHUNK = 2048  # rows that the oracle examines together
_VERDICTS = Verdicts()  # shared by all files, which have many structures in common
Flags = npt.NDArray[np.bool_]
_OF_PROOFS = ["id", "story", "placeholders", "proof", "answer", "k", "query", "genders", "edges", "edge_types"]
_CLAIMS = {"facts": TEXT, "story": TEXT, "answer": "target", "status": "status", "proof_steps": "proof"}


class KinshipJudge(FileJudge):
    """Judges kinship rows of a file, of CLUTRR's CSV files and in the columns of examples."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        rules = subject.settings.get("rules")
        self._rules = None if rules is None else load_rules(rules)
        self._sample = ProofSample(subject)
        self._totals = _TOTALS if subject.format.holds_text else {**_TOTALS, **corrections.TOTALS}
        self._counts: Counter[str] = Counter()
        self._seen: dict[bytes, int] = {}  # the first row of each story and question
        self._labels: set[str] = set()
        self._patterns: set[tuple[str, ...]] = set()  # with genders, as f_comb has them
        self._test_rows = 0

    def judge(self, table: pa.Table) -> Iterator[Finding]:
        """Yield what is wrong in the next rows."""
        if self.subject.is_audit:
            for start in range(0, table.num_rows, _CHUNK):
                yield from self._find_flaws(table.slice(start, _CHUNK))
            return
        chosen, proved = self._sample.choose(table), self._find_proved(table)
        twice = _rows_where(table, proved & chosen)
        for start in range(0, twice.num_rows, _CHUNK):
            yield from self._check_proofs(twice.slice(start, _CHUNK))
        others, chosen = _rows_where(table, ~proved), chosen[~proved]
        for start in range(0, others.num_rows, _CHUNK):
            yield from self._find_broken_claims(others.slice(start, _CHUNK), chosen[start : start + _CHUNK])

    # Verify: what rows claim.

    def _find_proved(self, table: pa.Table) -> Flags:
        """Count the rows that hold all that they claim, and return which they are."""
        if self._rules is not None:
            return np.zeros(table.num_rows, np.bool_)
        proved = find_proved_rows(table)
        if proved.any():
            self.statuses[ENTAILED] += int(proved.sum())
        return proved

    def _check_proofs(self, table: pa.Table) -> Iterator[Finding]:
        """Check by deletion the proofs of rows that hold all else that they claim."""
        rows = [read_row(values) for values in table.select(_OF_PROOFS).to_pylist()]
        readings = read_texts(natural_text(row) for row in rows)
        self.proofs_checked += len(rows)
        for number, (row, reading) in enumerate(zip(rows, readings, strict=True)):
            for disagreement in check_proof(row, reading):
                yield self._claim(table, number, row.values, *disagreement)

    def _find_broken_claims(self, table: pa.Table, chosen: Flags) -> Iterator[Finding]:
        """Compare rows one by one with what follows; also check the proofs of the chosen ones by deletion."""
        rows: list[tuple[int, KinshipRow]] = []
        for number, values in enumerate(table.drop_columns([PLACE]).to_pylist()):
            try:
                rows.append((number, read_row(values, self._rules)))
            except ParseError as error:
                yield self._claim(table, number, values, "facts", error, "facts that fit together")
        judged = judge((row.structure for _, row in rows), self._rules)
        readings = read_texts(natural_text(row) for _, row in rows)
        for (number, row), each, reading in zip(rows, judged, readings, strict=True):
            status = each.status or UNDEFINED
            self.statuses[status] += 1
            if status in FLAWED and row.values.get(STATUS) is None:
                self.unmarked[status] += 1
            deleted: Counter[str] | None = Counter() if chosen[number] else None
            for disagreement in check_row(row, each, self.unchecked, self._rules, reading, deleted=deleted):
                yield self._claim(table, number, row.values, *disagreement)
            self.proofs_checked += 0 if deleted is None else deleted["proof"]

    def _claim(self, table: pa.Table, number: int, values: Any, field: str, found: object, expected: object) -> Finding:
        place = place_of(table, number)
        at = {"row": place.row, "line": place.line, "id": values["id"], "kind": _CLAIMS.get(field, COLUMN)}
        return Finding(file=self.subject.name, field=field, found=_shown(found), expected=_shown(expected), **at)

    # Audit: what is wrong.

    def _find_flaws(self, table: pa.Table) -> Iterator[Finding]:
        rows = self._read(table)
        verdicts = _VERDICTS.on(rows)
        pairs = zip(rows, verdicts, strict=True)
        found: Iterable[Iterable[Flaw]]
        if FIELDS in table.column_names:
            found = (find_flaws(*pair) for pair in pairs)
        else:
            found = corrections.find_example_flaws(rows, verdicts)
        for audited, verdict, flaws in zip(rows, verdicts, found, strict=True):
            yield from self._add(audited, verdict, flaws)

    def _read(self, table: pa.Table) -> list[AuditedRow]:
        path = self.subject.path
        if FIELDS not in table.column_names:
            rows = table.to_pylist()
            places = [row.pop(PLACE) for row in rows]
            readings = read_texts(text_of(row, person_names(row.get("genders"))) for row in rows)
            return [
                audit_example_row(path, row, place["row"], place["line"], reading)
                for row, place, reading in zip(rows, places, readings, strict=True)
            ]
        with warnings.catch_warnings():  # Python warns about odd literals; they are checked here
            warnings.simplefilter("ignore")
            return [audit_clutrr_row(row) for row in read_raw_rows(path, table)]

    def _add(self, audited: AuditedRow, verdict: Verdict | None, found: Iterable[Flaw]) -> Iterator[Finding]:
        """Count the flaws of a row, and yield them as findings."""
        self._count(audited, verdict)
        flaws = list(chain(found, self._repeated(audited)))
        for kind in {flaw.kind for flaw in flaws} & set(self._totals):
            self._counts[self._totals[kind]] += 1
        for flaw in flaws:
            if flaw.kind in FLAWED and not flaw.expected:
                self.unmarked[flaw.kind] += audited.number not in self.unsettled
                self.unsettled[audited.number] = flaw.kind
            yield self._finding(audited, flaw)
        if audited.status in FLAWED:
            self.declared[audited.number] = audited.status

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
            yield Flaw(DUPLICATE, "story", "", f"row {first} has the same story and question", f"row {first} again")

    def _finding(self, audited: AuditedRow, flaw: Flaw) -> Finding:
        holds = flaw.kind in UNCLAIMED or (flaw.kind in FLAWED and flaw.reading != "")
        return Finding(
            file=self.subject.name,
            row=audited.number,
            line=audited.line,
            id=audited.id or f"{stem_of(self.subject.path)}-{audited.number}",
            kind=flaw.kind,
            field=flaw.field,
            found=audited.given.values[flaw.field] if flaw.found is None else flaw.found,
            expected=flaw.expected,
            reason=flaw.reason.encode(errors="backslashreplace").decode(),  # literals may hold unpaired surrogates
            reading=flaw.reading,
            asked=audited.task_name,
            is_claim=not holds,
            fix=flaw.field if flaw.expected else "",
        )

    def conclude(self) -> Iterator[Finding]:
        """Yield a finding if the file is a test that is too small."""
        path, rows = self.subject.path, self._counts["rows"]
        labels, patterns = len(self._labels), len(self._patterns)
        is_test = path.stem.endswith("test") or (rows > 0 and self._test_rows == rows)
        is_small = rows < LEAST_ROWS or labels < LEAST_LABELS or patterns < LEAST_PATTERNS
        if not self.subject.is_audit or not is_test or not is_small:
            return
        self._counts["small_tests"] = 1
        neutral = {tuple(predicate_of(each) if each in WORDS else each for each in words) for words in self._patterns}
        found = f"{rows} rows, {labels} labels, {patterns} patterns ({len(neutral)} regardless of gender)"
        least = f"{LEAST_ROWS} rows, {LEAST_LABELS} labels and {LEAST_PATTERNS} patterns"
        reason = f"a test of {found} is not informative; it should have at least {least}"
        known: dict[str, Any] = {"file": self.subject.name, "kind": SMALL_TEST, "field": "rows", "reason": reason}
        yield Finding(found=found, expected="", is_claim=False, **known)

    def totals(self) -> dict[str, Any]:
        """Return how many rows have which status, and how many have a flaw of which kind."""
        return {key: self._counts[key] for key in ("rows", *STATUSES, *self._totals.values(), "two_targets")}


def _rows_where(table: pa.Table, chosen: Flags) -> pa.Table:
    return table if chosen.all() else table.filter(pa.array(chosen))


def _shown(value: object) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list | tuple) else str(value)
