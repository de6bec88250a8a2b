"""The one pass over data behind `audit`.

A file is found, its format and family are looked up, and it is read once, with the places of its rows. The family's
judge then gets whole stories and yields findings. Rows that are not understood as they are get a second chance: they
are read as `storyproof.story` reads a user's own text, and judged again in the words that were found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storyproof.audits.duplicates import StorySource
from storyproof.audits.plain_checks import PlainChecks
from storyproof.audits.rewordings import Rewordings
from storyproof.audits.row_consistency import OrderOfRows, RowOrder
from storyproof.catalog import names
from storyproof.datasets.reading import Source, find_sources
from storyproof.errors import DataError, UnknownNameError, quoted
from storyproof.example import SCHEMA, Example, plain_schema
from storyproof.families.family import Family, family_of_table, load_family, own_example, recognise
from storyproof.families.file_judge import OWN_RULES, FileJudge, Subject
from storyproof.findings import INCONSISTENT, UNREAD, FileReport, Finding, add_up, most_common
from storyproof.formats.chunks import CHUNK_ROWS, in_parts, stories_of, story_starts
from storyproof.formats.columns import chosen_as, find_paths, folded, values_at
from storyproof.formats.format import (
    PLACE,
    WHOLE,
    Format,
    Part,
    expect_format,
    format_of,
    formats,
    joined,
    load_format,
    numbers_of,
    place_of,
    with_places,
)
from storyproof.formats.lines import find_bad_bytes
from storyproof.formats.published import CLUTRR_SETS
from storyproof.formats.records import BROKEN, RECORD, RecordFile
from storyproof.io.bounded_input import name_of
from storyproof.runtime.collection import without_collection
from storyproof.runtime.progress import beat

AUTO = "auto"
MOST_LISTED = 10_000  # rows of a file that are not understood; the others are counted
_MOST_ANSWERS = 50  # different ones that are candidates of every question
_PARTS = ("story", "question")  # of a row, with which reasons begin
_SENTENCE = re.compile(r"(?:story, line|story: sentence|sentence) (\d+)")  # with which reasons name a sentence
_PROBED = 256  # rows in which columns under names of ours are compared with what follows
_LEAST_PROBED, _OTHER = 5, 0.9  # how many of them must be judged, and the share that must differ


def examine(
    subject: Subject,
    *,
    family: str = "",
    says: str = "",
    progress: Callable[[int], None] = lambda rows: None,
    split: str | None = None,
) -> FileAudit:
    """Read a file and let the families of its rows judge them; large files are judged part by part.

    Args:
        subject: The file, and what users said about it.
        family: The only family that its rows may be of; by default any.
        says: What says so, for messages.
        progress: Called with how many rows were judged since the last call.
        split: The file's split, if that can be told.

    Raises:
        DataError: If the file cannot be read, or has rows of another family.
    """
    with naming_bad_bytes(subject):
        source = RowSource(subject)
        first, *others = source.parts()
    how: dict[str, Any] = {"family": family, "says": says, "progress": progress, "split": split}
    audit = examine_part(source, first, **how)
    if others:
        audit.absorb(examine_part(source, joined(others), **how))
    return audit


def examine_part(
    source: RowSource,
    part: Part,
    *,
    family: str = "",
    says: str = "",
    progress: Callable[[int], None] = lambda rows: None,
    split: str | None = None,
) -> FileAudit:
    """Read a part of a file; see `examine`.

    What is found does not depend on how the rows after the first part are divided.
    """
    audit = FileAudit(source, part, split)
    audit.read(source, part, family, says, progress)
    return audit


@contextmanager
def naming_bad_bytes(subject: Subject) -> Iterator[None]:
    """Name the line of a file that is not UTF-8, which its reader does not know."""
    try:
        yield
    except DataError as error:
        if isinstance(error.__cause__, UnicodeDecodeError):
            path = subject.path
            raise find_bad_bytes(path, *map(path.with_suffix, subject.format.beside)) or error from None
        raise


class FileAudit:
    """What is known of a file, or of some of its parts, once its rows were judged.

    It is the same for any division of the parts among processes: what follows from several of them is found when one
    absorbs the next, or at the end.

    Args:
        source: The file.
        part: The part that is read first.
        split: The file's split, if that can be told.

    Attributes:
        report: What was found in the rows.
        orders: What rows must have in common, part by part.
        checks: What is compared between rows of any family.
    """

    def __init__(self, source: RowSource, part: Part, split: str | None) -> None:
        subject = replace(source.subject, is_beginning=not part.first)
        self.report = FileReport(subject.name, subject.format.name)
        self.orders: list[OrderOfRows] = []
        self.checks = PlainChecks(subject.name, split, subject.is_foreign)
        self._bench = _Bench(subject)
        self._inconsistent: list[Finding] = []
        self._records: int | None = None
        self._split = split

    def read(self, source: RowSource, part: Part, family: str, says: str, progress: Callable[[int], None]) -> None:
        """Judge the rows of a part; see `examine`."""
        subject, report, bench = self._bench.subject, self.report, self._bench
        order, judged = RowOrder(self._split, subject.name), 0
        if subject.format.family:
            bench.judge_of(load_family(subject.format.family))
        with naming_bad_bytes(subject):
            for table in source.tables(part):
                findings = list(self.checks.check(table))
                for each, rows in source.by_family(bench.leave_out(table)):
                    if family and each.name != family:
                        raise _other_family(subject.path, rows, load_family(family), says)
                    for some in in_parts(rows) if rows.num_rows else ():
                        with without_collection():
                            findings += bench.judge(each, some)
                        progress(some.num_rows)
                        judged += some.num_rows
                        beat("rows", judged)
                findings += bench.take_unread()
                report.findings += sorted(findings, key=lambda each: each.row)
                report.records |= source.records_of(table, {each.row for each in findings if each.fix})
                if source.keeps_ids:
                    order.check(_whole_rows(table))
                report.questions += table.num_rows
                report.stories += len(story_starts(table))
            if (names := subject.settings.get("consistent")) and subject.is_beginning:
                self._inconsistent = list(check_consistent(subject, names))
        self.orders.append(order.summary())
        self._records = source.describe(report)
        bench.close()

    def absorb(self, other: FileAudit) -> None:
        """Take what was found in the parts that follow."""
        findings = other.report.findings
        more, left = self._bench.absorb(other._bench)
        if left:
            dropped = {each.row for each in [each for each in findings if each.kind == UNREAD][-left:]}
            findings = [each for each in findings if each.kind != UNREAD or each.row not in dropped]
        if more:
            findings = sorted([*more, *findings], key=lambda each: each.row)
        self.report.findings += findings
        self.report.records |= other.report.records
        self.report.questions += other.report.questions
        self.report.stories += other.report.stories
        self.report.notes = list(dict.fromkeys([*self.report.notes, *other.report.notes]))
        self.orders += other.orders
        self.checks.absorb(other.checks)
        self._inconsistent += other._inconsistent
        if self._records is not None:
            self._records += other._records or 0

    def conclude(self) -> FileReport:
        """Return the report with what is known once all rows were judged."""
        report = self.report
        self._bench.conclude(report)
        report.findings[:0] = self._inconsistent
        report.findings[:0] = self.checks.conclude([each for each in report.findings if each.kind != UNREAD])
        report.totals |= dict(self.checks.counts)
        if self._records is not None:
            report.totals["records"] = self._records
        return report


def _whole_rows(table: pa.Table) -> pa.Table:
    """Return rows without those of records that cannot be read, of which nothing is known."""
    if RECORD not in table.column_names:
        return table
    causes = pc.struct_field(table.column(RECORD), "cause")
    return table.filter(pc.fill_null(pc.not_equal(causes, BROKEN), True))


def examine_table(table: pa.Table, name: str = "table", **settings: object) -> FileReport:
    """Let the family of a table in memory judge its rows.

    Args:
        table: The rows, whole stories.
        name: What findings call it.
        **settings: What users said about the data, see `Subject`.
    """
    subject = Subject(Path(name), load_format("parquet"), name, settings)
    report = FileReport(name, subject.format.name, questions=table.num_rows, stories=len(story_starts(table)))
    bench = _Bench(subject)
    report.findings += bench.judge(family_of_table(table), with_places(table, 0))
    report.findings += bench.take_unread()
    bench.conclude(report)
    return report


class RowSource:
    """The rows of a file, in tables of whole stories and divided by family.

    Attributes:
        subject: The file, which may turn out to be somebody else's.
    """

    def __init__(self, subject: Subject) -> None:
        path, form = subject.path, subject.format
        self._file: RecordFile | None = None
        self._notes: list[str] = []
        given = subject.settings.get("columns") or {}
        is_quick = form.reads_arrays and not given and _is_ours(path, form)
        if given or (form.has_records and not is_quick):
            self._file = RecordFile(path, form, given, rewords=True)
            if not self._file.is_ours and (ignored := _other_meanings(subject, self._file)):
                self._file = RecordFile(path, form, given, ignored, rewords=True)
                named = " and ".join(f"'{name}'" for name in ignored)
                self._notes.append(f"{named} hold other values than the columns of ours, and are not compared")
        is_foreign = self._file is not None and not self._file.is_ours
        settings = dict(subject.settings)
        if self._file is not None and self._file.published is not None:
            self._notes.append(self._file.published.describe())
            settings |= {OWN_RULES: self._file.published.rules}
        self.subject = replace(subject, is_foreign=is_foreign, settings=settings)
        self._has_several = False  # rows in a record

    @property
    def keeps_ids(self) -> bool:
        """Whether rows have ids of their own, none of which may occur twice."""
        return self._file is None or self._file.keeps_ids

    def parts(self) -> Sequence[Part]:
        """Return parts of the file that can be read by themselves; they follow from the file alone.

        Raises:
            DataError: If the file cannot be read.
        """
        if self._file is not None:
            return self._file.parts()
        return self.subject.format.parts(self.subject.path, as_records=False)

    def tables(self, part: Part = WHOLE) -> Iterator[pa.Table]:
        """Read the stories that begin in a part of the file, with places."""
        path, form = self.subject.path, self.subject.format
        if self._file is not None:
            tables = self._file.tables(part=part)
        else:
            more: dict[str, Any] = {} if part == WHOLE else {"part": part}  # see Format.parts
            has_own = type(form).read_foreign is not Format.read_foreign
            tables = (
                form.read_foreign(path, CHUNK_ROWS, **more)
                if has_own
                else form.read(path, CHUNK_ROWS, places=True, **more)
            )
        return stories_of(tables, part.first, part.end)

    def by_family(self, table: pa.Table) -> Iterator[tuple[Family, pa.Table]]:
        """Yield the rows of each family: that of the format or of the columns, else that which reads the question."""
        form = self.subject.format
        if self._file is None:
            table = table.drop_columns([RECORD]) if RECORD in table.column_names else table
            yield (load_family(form.family) if form.family else family_of_table(table)), table
            return
        table = table.drop_columns([RECORD])
        if not table.num_rows:
            return
        questions = table.column("question").to_pylist()
        if self._file.is_ours:
            yield self._file.family or recognise((), questions[0]), table
            return
        names = [recognise((), each).name for each in questions]
        for name in dict.fromkeys(names):
            rows = table.filter(pa.array([each == name for each in names])) if len(set(names)) > 1 else table
            yield load_family(name), _as_rows_of(load_family(name), rows)

    def records_of(self, table: pa.Table, rows: Collection[int]) -> dict[int, int]:
        """Return the records of some rows, if records have several rows."""
        if self._file is None or not rows:
            return {}
        numbers = zip(numbers_of(table)[0], pc.struct_field(table.column(RECORD), "number").to_pylist(), strict=True)
        return {row: record for row, record in numbers if row in rows and row != record}

    def describe(self, report: FileReport) -> int | None:
        """Add how the file was read; return how many of its records were, if it has records."""
        folder = self.subject.path.absolute().parent.name
        if folder in CLUTRR_SETS:
            report.published = f"CLUTRR {folder} ({CLUTRR_SETS[folder]})"
        if self._file is None:
            return None
        report.columns = self._file.described()
        if self._file.published is not None:
            report.published, report.rules = self._file.published.name, self._file.published.rules
        report.notes += self._notes
        report.notes += [f"not part of the stories: {quoted(each)}" for each in sorted(self._file.instructions)]
        return self._file.count


def _as_rows_of(family: Family, table: pa.Table) -> pa.Table:
    """Return rows of somebody else's with the columns of a family, and answers in its form."""
    answers = [family.answer_in(each) for each in table.column("answer").to_pylist()]
    table = table.set_column(table.column_names.index("answer"), "answer", pa.array(answers, pa.string()))
    schema = plain_schema(family.schema)
    columns = [
        table.column(each.name) if each.name in table.column_names else pa.nulls(table.num_rows, each.type)
        for each in schema
    ]
    rows = pa.table([each.cast(field.type) for each, field in zip(columns, schema, strict=True)], schema=schema)
    return rows.append_column(table.schema.field(PLACE), table.column(PLACE))


def _line_of(reason: str, table: pa.Table, finding: Finding) -> int:
    """Return the line of the sentence that is not understood, in formats in which sentences have lines."""
    sentence = _SENTENCE.match(reason)
    if sentence is None:
        return finding.line
    numbers, _ = numbers_of(table)
    return place_of(table, numbers.index(finding.row)).line_of(int(sentence[1]))


def _other_meanings(subject: Subject, file: RecordFile) -> list[str]:
    """Return the columns under names of ours in which somebody else's file has something else.

    These are columns whose values differ from what follows in nearly all of the first rows that are understood.
    """
    if not file.names:
        return []
    source = object.__new__(RowSource)
    source.subject = replace(subject, is_foreign=True)
    source._file = file
    bench = _Bench(source.subject)
    first = file.beginning(_PROBED)
    wrong: Counter[str] = Counter()
    unread: set[int] = set()
    if first is None:
        return []
    first = bench.leave_out(first)
    rows = dict(zip(numbers_of(first)[0], first.to_pylist(), strict=True))
    for family, part in source.by_family(first):
        for each in bench.judge(family, part):
            wrong[each.field] += 1
    unread = {each.row for each in bench.take_unread()}
    wrongly_named = []
    for name in file.names:
        judged = sum(values[name] is not None for number, values in rows.items() if number not in unread)
        if judged >= _LEAST_PROBED and wrong[name] >= _OTHER * judged:
            wrongly_named.append(name)
    return wrongly_named


@dataclass(frozen=True, slots=True)
class RowsOfSource:
    """The rows of a split of somebody else's, for what compares texts; rows that lack something are left out.

    Attributes:
        source: The split.
        columns: What users said about its columns.
    """

    source: Source
    columns: Mapping[str, str]

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self.source.name

    @property
    def split(self) -> str | None:
        """Its split, if that can be told."""
        return self.source.split

    @property
    def is_foreign(self) -> bool:
        """Whether somebody else wrote its files, or some of them."""
        return any(rows.subject.is_foreign for rows in self._files())

    def tables(self) -> Iterator[pa.Table]:
        """Read the rows, whole stories each."""
        for rows in self._files():
            bench = _Bench(rows.subject)
            yield from (table for each in rows.tables() if (table := bench.leave_out(each)).num_rows)

    def _files(self) -> Iterator[RowSource]:
        for path in self.source.paths:
            form, _ = choose_format(path, has_columns=bool(self.columns))
            yield RowSource(Subject(path, form, path.name, {"columns": self.columns}))


def text_examples(source: StorySource, most_stories: int | None = None) -> list[Example]:
    """Return rows of which nothing is understood as examples: candidates are their choices, else all answers.

    The kind of a question is what the data say, else its first word.
    """
    rows: list[dict[str, Any]] = []
    stories: dict[str, str] = {}
    for table in source.tables():
        for row in table.to_pylist():
            if most_stories is not None and len(stories) >= most_stories and row["story"] not in stories:
                continue
            name = stories.setdefault(row["story"], str(len(stories)))
            choices = (row.get(RECORD) or {}).get("choices")
            kind = row.get("question_type") or next(iter(row["question"].casefold().split()), "")
            known = {name: row[name] for name in ("id", "story", "question", "answer")}
            rows.append({**known, "story_id": name, "candidates": choices, "question_type": kind})
    answers = sorted({row["answer"] for row in rows})
    listed = answers if len(answers) <= _MOST_ANSWERS else []
    return [own_example({**row, "candidates": row["candidates"] or listed}) for row in rows]


def check_consistent(subject: Subject, names: Sequence[str]) -> Iterator[Finding]:
    """Yield records in which columns that must agree differ; case, articles and signs around them do not matter.

    Raises:
        DataError: If the file has no such columns.
    """
    path, form = subject.path, subject.format
    if not form.has_records:
        form = next((each for each in formats() if each.has_records and path.suffix in each.suffixes), form)
    records = form.records(path)
    sample = list(islice(records, _PROBED))
    paths = find_paths([each.value for each in sample if each.value], names, f"{path}")
    for number, record in enumerate(chain(sample, records)):
        if record.value is None:
            continue
        first, *others = [values_at(record.value, each) for each in paths]
        for name, other in zip(names[1:], others, strict=True):
            if [*map(folded, other)] != [*map(folded, first)]:
                yield Finding(
                    file=subject.name,
                    row=number,
                    line=record.line,
                    kind=INCONSISTENT,
                    field=name,
                    found=", ".join(other),
                    expected=", ".join(first),
                    reason=f"'{names[0]}' and '{name}' should agree",
                )


@dataclass(slots=True)
class _Bench:
    """The judges of one file, by family, and what is counted besides.

    Attributes:
        subject: The file.
        judges: The judges of the families of its rows.
        unread: How many rows are not understood, by what is not.
        listed: Rows that are not understood and still to be reported.
        rewordings: Finds words that a family reads.
        rows: The rows at hand, if somebody else wrote them.
    """

    subject: Subject
    judges: dict[str, FileJudge] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    listed: list[Finding] = field(default_factory=list)
    rewordings: Rewordings = field(init=False)
    rows: pa.Table | None = None
    _beside: dict[int, dict[str, Any]] = field(default_factory=dict)  # of these rows, once any is asked for

    def __post_init__(self) -> None:
        self.rewordings = Rewordings(self.subject.format.family)

    def judge_of(self, family: Family) -> FileJudge:
        """Return the judge of a family's rows."""
        if family.name not in self.judges:
            self.judges[family.name] = family.judge(self.subject)
        return self.judges[family.name]

    def leave_out(self, table: pa.Table) -> pa.Table:
        """Return rows without those that lack something, which are counted as not understood."""
        if RECORD not in table.column_names:
            return table
        if self.subject.is_foreign:
            self.rows, self._beside = table, {}
        causes = pc.struct_field(table.column(RECORD), "cause")
        if causes.null_count == len(causes):
            return table
        left = table.filter(causes.is_valid())
        said = [pc.struct_field(left.column(RECORD), name).to_pylist() for name in ("cause", "problem")]
        for cause, problem, row, line, name in zip(
            *said, *numbers_of(left), left.column("id").to_pylist(), strict=True
        ):
            known: dict[str, Any] = {"file": self.subject.name, "row": row, "line": line, "id": name}
            self._add_unread(Finding(kind=UNREAD, field=cause, found=problem, expected="", **known))
        return table.filter(causes.is_null())

    def take_unread(self) -> list[Finding]:
        """Return the rows that were not understood since the last call, as far as they are listed."""
        findings, self.listed = self.listed, []
        return findings

    def close(self) -> None:
        """Forget what only judging needs."""
        self.rewordings, self.rows, self._beside = Rewordings(self.subject.format.family), None, {}

    def absorb(self, other: _Bench) -> tuple[list[Finding], int]:
        """Take what was counted in rows that follow.

        Returns:
            What only both together show, and how many rows too many are listed as not understood.
        """
        listed = [min(each.unread.total(), MOST_LISTED) for each in (self, other)]
        self.unread.update(other.unread)
        findings: list[Finding] = []
        for name, judge in other.judges.items():
            if name in self.judges:
                findings += self.judges[name].absorb(judge)
            else:
                self.judges[name] = judge
        return findings, max(sum(listed) - MOST_LISTED, 0)

    def _add_unread(self, finding: Finding) -> None:
        """Count a row that is not understood, and list it unless very many are listed already."""
        self.unread[finding.field] += 1
        if self.unread.total() <= MOST_LISTED:
            self.listed.append(finding)

    def judge(self, family: Family, table: pa.Table) -> list[Finding]:
        """Return what is wrong in rows; those that are not understood are judged again in other words, if there are."""
        findings = list(self.judge_of(family).judge(table))
        unread = {each.row for each in findings if each.kind == UNREAD}
        if unread:
            reworded = self.rewordings.find(table, unread)
            for name, rows in reworded.tables.items():
                other = load_family(name)
                again = [each for each in self.judge_of(other).judge(rows) if each.field not in other.facts]
                read = set(numbers_of(rows)[0]) - {each.row for each in again if each.kind == UNREAD}
                findings = [each for each in findings if each.kind != UNREAD or each.row not in read]
                findings += [each for each in again if each.kind != UNREAD]
            for each in findings:
                if each.kind == UNREAD:
                    reason = reworded.reasons.get(each.row, each.found)
                    part = next((part for part in _PARTS if reason.startswith((f"{part}:", f"{part},"))), each.field)
                    line = _line_of(reason, table, each) if part == "story" else each.line
                    self._add_unread(replace(each, found=reason, field=part, line=line))
            findings = [each for each in findings if each.kind != UNREAD]
        return list(map(self._as_written, findings)) if self.subject.is_foreign else findings

    def _about(self, row: int) -> dict[str, Any] | None:
        """Return what is known of a row besides the columns of examples."""
        if not self._beside and self.rows is not None:
            about = zip(self.rows.column(RECORD).to_pylist(), self.rows.column(PLACE).to_pylist(), strict=True)
            self._beside = {place["row"]: {**record, "at": place["answer"]} for record, place in about}
        return self._beside.get(row)

    def _as_written(self, finding: Finding) -> Finding:
        """Return a finding about an answer with what the file has there, and what a corrected copy has instead."""
        about = self._about(finding.row)
        if about is None or finding.field not in ("answer", "target", about["at"]):
            return finding
        if about["spaced"]:
            finding = replace(finding, expected=finding.expected.replace("_", " "))
        at = about["at"]
        written = json.loads(about["written"]) if about["written"] else finding.found
        choices = tuple(zip(about["labels"] or (), about["choices"] or (), strict=True))
        right = chosen_as(finding.expected, written, choices) if finding.expected else None
        reason = finding.reason
        if finding.expected and choices and right is None:
            reason = f"{reason}; it is none of the choices" if reason else "it is none of the choices"
        fix = at if finding.fix and right is not None else ""
        return replace(finding, field=at or "answer", fix=fix, reason=reason, rewrite=(written, right) if fix else None)

    def conclude(self, report: FileReport) -> None:
        """Add what is known once all rows were judged."""
        for name, judge in self.judges.items():
            report.family = report.family or name
            report.findings[:0] = judge.conclude()
            report.unchecked.update(judge.unchecked)
            report.proofs_checked += judge.proofs_checked
            report.proofs_derived += judge.proofs_derived
            report.statuses.update(judge.statuses)
            report.gone |= judge.gone
            report.unmarked.update(judge.unmarked)
            report.unsettled |= judge.unsettled
            report.declared |= judge.declared
        report.unread = self.unread
        unread = most_common(self.unread)
        judged = report.questions - self.unread.total()
        counts = {"rows": report.questions, "stories": report.stories, "judged": judged, "unread": unread}
        counts |= {"conflicts": 0, "wrong_answers": {}, "rule_dependent": {}}
        report.totals = add_up([counts, *(judge.totals() for judge in self.judges.values())])


def _is_ours(path: Path, form: Format) -> bool:
    """Return whether a file has all columns of examples, or those of one family; errors are left to its reader."""
    try:
        columns = frozenset(form.columns(path))
    except DataError:
        return False
    return bool(recognise(columns).marks) or columns.issuperset(SCHEMA.names)


def _other_family(path: Path, table: pa.Table, family: Family, says: str) -> DataError:
    lacking = sorted(family.marks - set(table.column_names))
    content = f"no column '{lacking[0]}'" if lacking else f"rows of {family_of_table(table).title}"
    return DataError(f"{path}: found {content}; expected rows of {family.title}, as {says} says.")


# Files and formats.


def format_names() -> tuple[str, ...]:
    """Return what users can call a format: auto, or a name in the catalog."""
    return (AUTO, *names("format"))


def choose_format(path: Path, name: str = AUTO, *, has_columns: bool = False) -> tuple[Format, str]:
    """Return the format to read a file in, and the only family that its rows may be of, if the user named one.

    A format of one family also names that family: rows of it may be in a file of any format that holds those of all.

    Args:
        path: The file.
        name: What users say.
        has_columns: Whether they say where its columns are, so that it is read by these.

    Raises:
        DataError: If the file is in no known format.
        UnknownNameError: If there is no such format.
    """
    if name not in format_names():
        raise UnknownNameError("format", name, format_names())
    if name == AUTO:
        form = expect_format(path)
        if has_columns and (form.makes_rows or not form.has_records):
            plain = [each for each in formats() if each.has_records and not each.makes_rows]
            form = next((each for each in plain if path.suffix in each.suffixes), form)
        return form, ""
    named = load_format(name)
    if named.family and path.suffix not in named.suffixes:
        own = format_of(path)
        if not own.family:
            return own, named.family
    return named, ""


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """Find the files to audit.

    Raises:
        DataError: If there is nothing to audit at a path.
    """
    if not paths:
        raise DataError("no files were given; name at least one.")
    return list(dict.fromkeys(file for path in paths for source in find_sources(path) for file in source.paths))


def names_of(files: Sequence[Path]) -> list[str]:
    """Return what reports call files: their names, with as many folders before them as it takes to distinguish them."""
    wholes = [file.absolute().parts for file in files]
    shown_names = []
    for parts in wholes:
        depth = 1
        while depth < len(parts) and sum(other[-depth:] == parts[-depth:] for other in set(wholes)) > 1:
            depth += 1
        shown_names.append(name_of("/".join(parts[-depth:])))
    return shown_names
