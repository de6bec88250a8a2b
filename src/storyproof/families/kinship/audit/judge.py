"""The judge of kinship rows: their labels against facts, text, families and rules, and why they are wrong.

`labels` compares what a row claims with what follows. `checks` and `corrections` explain what differs and say what
would be right, by strict kinship on all facts whose relation is recorded. They also look at what rows do not claim:
whether one answer follows at all, duplicates, and small tests. A row may itself declare, in a column `status`, that its
label is ambiguous, contradicted or impossible. If that is true, and no other label would be right, nothing is found.

In a corrected copy a contradicted label is replaced by the word that the story entails, if there is one, together with
the proof (by strict rules) and the sentence that states it. Genders, `edge_types`, `f_comb`, `query` and `query_edge`
are replaced by the values that the rest of the row implies, and an invalid proof by a valid one. Noise without types or
sentences, chains that pass somebody twice, and duplicates are kept. A row from which no answer follows cannot be fixed;
it is marked in the column `status`, with its label kept for comparison, or dropped. A CSV file is the same byte for
byte up to an added last column, so that a loader that selects columns by name reads it as before.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError, ParseError
from storyproof.families.file_judge import FileJudge, ProofSample, Subject
from storyproof.families.kinship.audit import corrections
from storyproof.families.kinship.audit.audit_verdicts import Verdict, Verdicts
from storyproof.families.kinship.audit.audited_row import AuditedRow, audit_clutrr_row, audit_example_row, text_of
from storyproof.families.kinship.audit.checks import Flaw, find_flaws
from storyproof.families.kinship.audit.fast_rows import find_proved_rows
from storyproof.families.kinship.audit.kinds import DUPLICATE, FLAWED, SMALL_TEST, UNCLAIMED, UNDEFINED
from storyproof.families.kinship.audit.labels import FACTS, Difference, check_proof, check_row, natural_text
from storyproof.families.kinship.baselines import decide_genders
from storyproof.families.kinship.checker import ENTAILED, STATUSES
from storyproof.families.kinship.clutrr_csv import FIELDS, PUBLISHED_NAMES, example_of, read_raw_rows
from storyproof.families.kinship.people import person_names
from storyproof.families.kinship.prove_labels import LabelJudgement, judge
from storyproof.families.kinship.relations import WORDS, predicate_of
from storyproof.families.kinship.row import KinshipRow, Structure, read_row
from storyproof.families.kinship.rules import PUBLISHED, load_rules
from storyproof.families.kinship.stated_facts import read_texts
from storyproof.findings import COLUMN, TEXT, UNREAD, Finding, most_common
from storyproof.formats.chunks import as_bytes, from_bytes
from storyproof.formats.format import PLACE, numbers_of, place_of, stem_of

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
_PLACE_NAMES = ["row", "line", "id", "asked"]
_CHUNK = 2048  # rows that the oracle examines together
_VERDICTS = Verdicts()  # shared by all files, which have many structures in common
Flags = npt.NDArray[np.bool_]
_ANSWERS = ("answer", "target")  # columns with the label
_OF_CSV = ("f_comb", "clean_story")  # kinds of flaws of columns that only CSV files have
_OF_PROOFS = ["id", "story", "placeholders", "proof", "answer", "k", "query", "genders", "edges", "edge_types"]
_CLAIMS = {"facts": TEXT, "story": TEXT, "answer": "target", "status": "status", "proof_steps": "proof"}


class _ComparedRow(NamedTuple):
    """A row, and how its labels differ from what follows.

    Attributes:
        audited: The row with corrections.
        differences: How its labels, as they are, differ; names are those of the columns of examples.
        judged: What oracle and checker say about its label; None if its columns do not fit together.
    """

    audited: AuditedRow
    differences: list[Difference]
    judged: LabelJudgement | None


class KinshipJudge(FileJudge):
    """Judges kinship rows of a file, of CLUTRR's CSV files and in the columns of examples."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        rules = subject.settings.get("rules")
        self._rules = None if rules is None else load_rules(rules)
        self._sample = ProofSample(subject)
        own = _TOTALS if subject.format.family else {k: v for k, v in _TOTALS.items() if k not in _OF_CSV}
        self._totals = own if subject.format.family else {**own, **corrections.TOTALS}
        self._counts: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()  # answers that are wrong under every reading, by task
        self._dependent: Counter[str] = Counter()  # answers that are right under another reading, by reading
        self._seen: dict[int, int] = {}  # the first row of each story and question, by hash
        self._repeats: set[int] = set()  # rows with the story and question of an earlier one
        self._places: list[pa.Table] = []  # of all rows: numbers, lines, ids and kinds of question
        self._labels: set[str] = set()
        self._patterns: set[str] = set()  # with genders, as f_comb has them
        self._test_rows = 0

    def judge(self, table: pa.Table) -> Iterator[Finding]:
        """Yield what is wrong in the next rows."""
        yield from self._find_repeated(table)
        if FIELDS in table.column_names:
            for start in range(0, table.num_rows, _CHUNK):
                yield from self._judge_records(table.slice(start, _CHUNK))
            return
        chosen, proved = self._sample.choose(table), self._find_proved(table)
        twice = _rows_where(table, proved & chosen)
        for start in range(0, twice.num_rows, _CHUNK):
            yield from self._check_proofs(twice.slice(start, _CHUNK))
        others, chosen = _rows_where(table, ~proved), chosen[~proved]
        for start in range(0, others.num_rows, _CHUNK):
            yield from self._judge_examples(others.slice(start, _CHUNK), chosen[start : start + _CHUNK])

    def _find_repeated(self, table: pa.Table) -> Iterator[Finding]:
        """Yield rows with the same story and question as an earlier one."""
        texts = _hashes_of(table)
        numbers, lines = numbers_of(table)
        names = [table.column(name) if name in table.column_names else None for name in ("id", "question_type")]
        kinds = pa.nulls(table.num_rows, pa.string()) if names[1] is None else names[1]
        self._places.append(pa.table([pa.array(numbers), pa.array(lines), names[0], kinds], _PLACE_NAMES))
        new = dict(zip(texts, numbers, strict=True))
        if len(new) == len(texts) and self._seen.keys().isdisjoint(new):  # as nearly always
            self._seen |= new
            return
        for number, text in zip(numbers, texts, strict=True):
            first = self._seen.setdefault(text, number)
            if first != number and number not in self._repeats:  # rows in other words are judged again
                self._repeats.add(number)
                yield self._repeated(number, first)

    def _repeated(self, row: int, first: int) -> Finding:
        """Return that a row has the same story and question as an earlier one."""
        self._counts[_TOTALS[DUPLICATE]] += 1
        flaw = Flaw(DUPLICATE, "story", "", f"row {first} has the same story and question", f"row {first} again")
        [at] = next(found for table in self._places if (found := _rows_numbered(table, row)))
        return self._finding(flaw, row, at["line"], at["id"], at["asked"] or "", is_claim=False)

    # Rows that hold all that they claim, found as arrays.

    def _find_proved(self, table: pa.Table) -> Flags:
        """Count the rows that hold all that they claim, and return which they are."""
        if self._rules is not None:
            return np.zeros(table.num_rows, np.bool_)
        proved = find_proved_rows(table)
        count = int(proved.sum())
        if count:
            self._add_status(ENTAILED, count)
            counted = [name for name in ("answer", "edge_types", "split") if name in table.column_names]
            rows = _rows_where(table.select(counted), proved)
            self._labels.update(pc.unique(rows.column("answer")).to_pylist())
            self._patterns.update(pc.unique(pc.binary_join(rows.column("edge_types"), " ")).to_pylist())
            splits = rows.column("split").value_counts().to_pylist() if "split" in rows.column_names else ()
            self._test_rows += sum(each["counts"] for each in splits if each["values"] == "test")
        return proved

    def _check_proofs(self, table: pa.Table) -> Iterator[Finding]:
        """Check by deletion the proofs of rows that hold all else that they claim."""
        rows = [read_row(values) for values in table.select(_OF_PROOFS).to_pylist()]
        readings = read_texts(natural_text(row) for row in rows)
        self.proofs_checked += len(rows)
        for number, (row, reading) in enumerate(zip(rows, readings, strict=True)):
            for name, value, _ in check_proof(row, reading):
                at = place_of(table, number)
                flaw = Flaw(COLUMN, name, "", _shown(value), _shown(row.values[name]))
                kind = table.column("question_type")[number].as_py() if "question_type" in table.column_names else ""
                yield self._finding(flaw, at.row, at.line, row.values["id"], kind, is_claim=True)

    # Rows one by one.

    def _judge_records(self, table: pa.Table) -> Iterator[Finding]:
        """Judge the rows of a CSV file."""
        read: list[tuple[AuditedRow, dict[str, Any] | str]] = []
        places = zip(*numbers_of(table), table.column("id").to_pylist(), strict=True)
        with warnings.catch_warnings():  # Python warns about odd literals; they are checked here
            warnings.simplefilter("ignore")
            for at, record in zip(places, read_raw_rows(self.subject.path, table), strict=True):
                if isinstance(record, DataError):
                    yield self._unread(*at, record)
                    continue
                described, is_numbered = record
                try:
                    values: dict[str, Any] | str = example_of(self.subject.path, described, is_numbered=is_numbered)
                except DataError as error:
                    values = self._reason(error)
                read.append((audit_clutrr_row(described), values))
        rows = self._compare(read, np.zeros(len(read), np.bool_))
        verdicts = self._verdicts_on(rows)
        for row, verdict in zip(rows, verdicts, strict=True):
            flaws = [] if self._rules is not None else list(find_flaws(row.audited, verdict))
            flaws += self._unexplained(row, flaws)
            yield from self._add(row, verdict, flaws)

    def _judge_examples(self, table: pa.Table, chosen: Flags) -> Iterator[Finding]:
        """Judge rows in the columns of examples; the proofs of the chosen ones are also checked by deletion."""
        read: list[tuple[AuditedRow, dict[str, Any] | str]] = []
        listed = table.to_pylist()
        places = [values.pop(PLACE) for values in listed]
        texts = read_texts(text_of(values, person_names(values.get("genders"))) for values in listed)
        kept = []
        for number, (values, at, reading) in enumerate(zip(listed, places, texts, strict=True)):
            try:
                decided = decide_genders(values)
                audited = audit_example_row(self.subject.path, decided, at["row"], at["line"], reading)
            except DataError as error:
                yield self._unread(at["row"], at["line"], values["id"], error)
                continue
            read.append((audited, decided))
            kept.append(number)
        rows = self._compare(read, chosen[kept])
        verdicts = self._verdicts_on(rows)
        flaws: Iterable[list[Flaw]] = ([] for _ in rows)
        if self._rules is None:
            differences = [row.differences for row in rows]
            audited_rows = [row.audited for row in rows]
            flaws = corrections.find_example_flaws(audited_rows, verdicts, differences, _VERDICTS.judge)
        for row, verdict, row_flaws in zip(rows, verdicts, flaws, strict=True):
            yield from self._add(
                row, verdict, [*row_flaws, *(self._unexplained(row, row_flaws) if self._rules else ())]
            )

    def _compare(self, read: Sequence[tuple[AuditedRow, dict[str, Any] | str]], chosen: Flags) -> list[_ComparedRow]:
        """Compare the labels of rows, as they are, with what follows."""
        rows: list[KinshipRow | str] = []
        for _, values in read:
            try:
                rows.append(values if isinstance(values, str) else read_row(values, self._rules))
            except ParseError as error:
                rows.append(str(error))
        whole = [row for row in rows if isinstance(row, KinshipRow)]
        judged = iter(self._ask(row.structure for row in whole))
        texts = iter(read_texts(natural_text(row) for row in whole))
        differences = []
        for (audited, _), row, check in zip(read, rows, chosen.tolist(), strict=True):
            if isinstance(row, str):
                differences.append(_ComparedRow(audited, [(FACTS, row, "facts that fit together")], None))
                continue
            judgement, reading = next(judged), next(texts)
            deleted: Counter[str] | None = Counter() if check else None
            compared = check_row(row, judgement, self.unchecked, self._rules, reading, deleted=deleted)
            differences.append(_ComparedRow(audited, list(compared), judgement))
            self.proofs_checked += 0 if deleted is None else deleted["proof"]
        return differences

    def _ask(self, structures: Iterable[Structure]) -> list[LabelJudgement]:
        return _VERDICTS.judge(structures) if self._rules is None else judge(structures, self._rules)

    def _verdicts_on(self, rows: Sequence[_ComparedRow]) -> list[Verdict | None]:
        """Return verdicts; none on data that were made by rules of their own."""
        return _VERDICTS.on([row.audited for row in rows]) if self._rules is None else [None] * len(rows)

    def _unexplained(self, row: _ComparedRow, flaws: Sequence[Flaw]) -> Iterator[Flaw]:
        """Yield differences that no flaw is about; of corrected rows only those that the correction does not settle."""
        columns = {flaw.field for flaw in flaws}
        is_corrected = any(flaw.expected for flaw in flaws)
        for name, value, expected in row.differences:
            column = self._column(name)
            if column in columns or (is_corrected and name in (*corrections.FOLLOWING, "proof_steps")):
                continue
            if name != FACTS or not flaws:
                kind, reason = _CLAIMS.get(name, COLUMN), f"the rest of the row gives {_shown(expected)}"
                yield Flaw(kind, column, _shown(expected), reason, _shown(value), is_fixable=False)

    def _column(self, name: str) -> str:
        """Return what the file calls a column of examples."""
        return PUBLISHED_NAMES.get(name, name) if self.subject.format.family else name

    def _unread(self, row: int, line: int, name: str | None, error: DataError) -> Finding:
        """Return that a row is not understood."""
        place: dict[str, Any] = {"row": row, "line": line, "id": name or f"{stem_of(self.subject.path)}-{row}"}
        return Finding(
            file=self.subject.name, kind=UNREAD, field=FACTS, found=self._reason(error), expected="", **place
        )

    def _reason(self, error: DataError) -> str:
        """Return what a message says, without the place."""
        return str(error).removeprefix(str(self.subject.path)).partition(": ")[2].rstrip(".")

    def _add(self, row: _ComparedRow, verdict: Verdict | None, flaws: Sequence[Flaw]) -> Iterator[Finding]:
        """Count the flaws of a row, and yield them as findings."""
        audited = row.audited
        self._count(row, verdict)
        for kind in {flaw.kind for flaw in flaws} & set(self._totals):
            self._counts[self._totals[kind]] += 1
        wrong = [flaw for flaw in flaws if flaw.field in _ANSWERS and flaw.kind not in UNCLAIMED]
        if any(not flaw.reading for flaw in wrong):
            self._wrong[audited.task_name] += 1
        elif wrong:
            self._dependent[wrong[0].reading] += 1
        claimed = {self._column(name) for name, _, _ in row.differences}
        beside = UNCLAIMED if FACTS in claimed else (*UNCLAIMED, *FLAWED)  # kinds, unless they are about what differs
        claims = [flaw.field in claimed or flaw.kind not in beside for flaw in flaws]
        if claimed and not any(claims):  # what differs follows from what is corrected
            claims = [bool(flaw.expected) for flaw in flaws]
        for flaw, is_claim in zip(flaws, claims, strict=True):
            if flaw.kind in FLAWED and not flaw.expected:
                self.unsettled[audited.number] = flaw.kind
            value = audited.given.values[flaw.field] if flaw.found is None else flaw.found
            at = (audited.number, audited.line, audited.id, audited.task_name)
            yield self._finding(flaw._replace(found=value), *at, is_claim=is_claim)
        if audited.status in FLAWED:
            self.declared[audited.number] = audited.status

    def _count(self, compared: _ComparedRow, verdict: Verdict | None) -> None:
        audited, row = compared.audited, compared.audited.row
        status = verdict.status if verdict is not None else UNDEFINED
        if verdict is None and compared.judged is not None:
            status = compared.judged.status or UNDEFINED
        self._add_status(status)
        self._counts[status] -= verdict is None and self._rules is None  # counted as a flaw
        if not audited.status:
            self.unmarked.update([status] if status in FLAWED else [])
            self._counts["two_targets"] += verdict is not None and len(verdict.derived[PUBLISHED]) > 1
        self._labels.add(audited.label)
        self._patterns.add(" ".join(row.words[: row.k]))
        self._test_rows += audited.split == "test"

    def _add_status(self, status: str, count: int = 1) -> None:
        self._counts["judged"] += count
        self._counts[status] += count
        self.statuses[status] += count

    def _finding(self, flaw: Flaw, row: int, line: int, name: str | None, asked: str, *, is_claim: bool) -> Finding:
        return Finding(
            file=self.subject.name,
            row=row,
            line=line,
            id=name or f"{stem_of(self.subject.path)}-{row}",
            kind=flaw.kind,
            field=flaw.field,
            found=flaw.found or "",
            expected=flaw.expected,
            reason=flaw.reason.encode(errors="backslashreplace").decode(),  # literals may hold unpaired surrogates
            reading=flaw.reading,
            asked=asked,
            is_claim=is_claim,
            fix=flaw.field if flaw.expected and flaw.is_fixable else "",
        )

    def absorb(self, other: FileJudge) -> Iterator[Finding]:
        """Take what another judge counted, and yield its rows with the same story and question as earlier ones."""
        yield from super().absorb(other)
        if not isinstance(other, KinshipJudge):
            return
        self._places += other._places
        self._counts.update(other._counts)
        self._wrong.update(other._wrong)
        self._dependent.update(other._dependent)
        self._labels |= other._labels
        self._patterns |= other._patterns
        self._test_rows += other._test_rows
        known = {text: self._seen[text] for text in other._seen if text in self._seen}
        for text in sorted(known, key=other._seen.__getitem__):
            yield self._repeated(other._seen[text], known[text])
        self._seen.update(other._seen)  # in place, since there may be millions, in many parts
        self._seen.update(known)
        self._repeats |= other._repeats

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs; of tables, only the rows that they have, rather than whole buffers."""
        return {**vars(self), "_places": as_bytes(self._places)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what another process sent."""
        vars(self).update(state, _places=from_bytes(state["_places"]))

    def conclude(self) -> Iterator[Finding]:
        """Yield a finding if the file is a test that is too small."""
        path, rows = self.subject.path, self._counts["judged"]
        labels, patterns = len(self._labels), len(self._patterns)
        is_test = path.stem.endswith("test") or (rows > 0 and self._test_rows == rows)
        is_small = rows < LEAST_ROWS or labels < LEAST_LABELS or patterns < LEAST_PATTERNS
        if not rows or not is_test or not is_small:
            return
        self._counts["small_tests"] = 1
        chains = [words.split(" ") for words in self._patterns]
        neutral = {tuple(predicate_of(each) if each in WORDS else each for each in words) for words in chains}
        extent = f"{rows} rows, {labels} labels, {patterns} patterns ({len(neutral)} regardless of gender)"
        least = f"{LEAST_ROWS} rows, {LEAST_LABELS} labels and {LEAST_PATTERNS} patterns"
        reason = f"a test of {extent} is not informative; it should have at least {least}"
        common: dict[str, Any] = {"file": self.subject.name, "kind": SMALL_TEST, "field": "rows", "reason": reason}
        yield Finding(found=extent, expected="", is_claim=False, **common)

    def totals(self) -> dict[str, Any]:
        """Return how many rows have which status, and how many have a flaw of which kind."""
        counts = {key: self._counts[key] for key in (*STATUSES, *self._totals.values(), "two_targets")}
        wrong, dependent = most_common(self._wrong), most_common(self._dependent)
        return {"wrong_answers": wrong, "rule_dependent": dependent, **counts}


def _hashes_of(table: pa.Table) -> list[int]:
    """Return 64 bits of each story and question: of a million rows no two are mistaken for each other."""
    columns = (table.column(name).cast(pa.string()).fill_null("") for name in ("story", "question"))
    texts = pc.binary_join_element_wise(*columns, "\0").cast(pa.binary()).to_pylist()
    digests = b"".join([blake2b(each, digest_size=8).digest() for each in texts])
    hashes: list[int] = np.frombuffer(digests, "<u8").tolist()
    return hashes


def _rows_numbered(table: pa.Table, row: int) -> list[dict[str, Any]]:
    """Return the row of a number, if a table has it."""
    numbers = table.column("row").to_numpy()
    place = int(np.searchsorted(numbers, row))
    found: list[dict[str, Any]] = table.slice(place, 1).to_pylist()
    return found if found and found[0]["row"] == row else []


def _rows_where(table: pa.Table, chosen: Flags) -> pa.Table:
    return table if chosen.all() else table.filter(pa.array(chosen))


def _shown(value: object) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list | tuple) else str(value)
