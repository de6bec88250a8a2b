"""The one pass over data behind `audit`.

A file is found, its format and family are looked up, and it is read once, with the places of its rows. The family's
judge then gets whole stories and yields findings. Rows that are not understood as they are get a second chance: they
are read as `storyproof.story` reads a user's own text, and judged again in the words that were found.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from storyproof.audits.rewordings import Rewordings
from storyproof.catalog import names
from storyproof.datasets.reading import find_sources
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import SCHEMA
from storyproof.families.family import Family, family_of_table, load_family, recognise
from storyproof.families.file_judge import FileJudge, Subject
from storyproof.findings import UNREAD, FileReport, Finding, add_up
from storyproof.formats.chunks import CHUNK_ROWS, in_parts, story_starts, whole_stories
from storyproof.formats.format import Format, expect_format, format_of, load_format, numbers_of, with_places
from storyproof.formats.lines import find_bad_bytes
from storyproof.io.bounded_input import name_of
from storyproof.runtime.progress import beat

AUTO = "auto"


def examine(
    subject: Subject,
    *,
    family: str = "",
    says: str = "",
    watch: Callable[[pa.Table], Iterable[Finding]] = lambda table: (),
    seams: list[int] | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> FileReport:
    """Read a file once and let the family of its rows judge them.

    Args:
        subject: The file, and what users said about it.
        family: The only family that its rows may be of; by default any.
        says: What says so, for messages.
        watch: Yields what is wrong with rows of any family, table by table.
        seams: Takes how many findings there are before those of `watch`, table by table.
        progress: Called with how many rows were judged since the last call.

    Raises:
        DataError: If the file cannot be read, or has rows of another family.
    """
    path, form = subject.path, subject.format
    report = FileReport(subject.name, form.name)
    bench = _Bench(subject)
    judged = 0
    if form.family:
        bench.judge_of(load_family(form.family))
    try:
        for table in story_tables(subject):
            rows_family = _family_of(table, form)
            if family and rows_family.name != family:
                raise _other_family(path, table, load_family(family), says)
            for part in in_parts(table):
                with _no_collection():
                    report.findings += bench.judge(rows_family, part)
                progress(part.num_rows)
                judged += part.num_rows
                beat("rows", judged)
            if seams is not None:
                seams.append(len(report.findings))
            report.findings += watch(table)
            report.questions += table.num_rows
            report.stories += len(story_starts(table))
    except DataError as error:
        if isinstance(error.__cause__, UnicodeDecodeError):  # the reader does not say in which line
            raise find_bad_bytes(path, *map(path.with_suffix, form.beside)) or error from None
        raise
    bench.conclude(report)
    return report


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
    bench.conclude(report)
    return report


@dataclass(slots=True)
class _Bench:
    """The judges of one file, by family, and what is counted besides.

    Attributes:
        subject: The file.
        judges: The judges of the families of its rows.
        unread: How many rows are not understood, by what is not.
        rewordings: Finds words that a family reads.
    """

    subject: Subject
    judges: dict[str, FileJudge] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    rewordings: Rewordings = field(init=False)

    def __post_init__(self) -> None:
        self.rewordings = Rewordings(self.subject.format.family)

    def judge_of(self, family: Family) -> FileJudge:
        """Return the judge of a family's rows."""
        if family.name not in self.judges:
            self.judges[family.name] = family.judge(self.subject)
        return self.judges[family.name]

    def judge(self, family: Family, table: pa.Table) -> list[Finding]:
        """Return what is wrong in rows; those that are not understood are judged again in other words, if there are."""
        findings = list(self.judge_of(family).judge(table))
        unread = {each.row for each in findings if each.kind == UNREAD}
        if not unread:
            return findings
        reworded = self.rewordings.find(table, unread)
        for name, rows in reworded.tables.items():
            other = load_family(name)
            again = [each for each in self.judge_of(other).judge(rows) if each.field not in other.facts]
            read = set(numbers_of(rows)[0]) - {each.row for each in again if each.kind == UNREAD}
            findings = [each for each in findings if each.kind != UNREAD or each.row not in read]
            findings += [each for each in again if each.kind != UNREAD]
        for place, each in enumerate(findings):
            if each.kind == UNREAD and each.row in reworded.reasons:
                findings[place] = replace(each, found=reworded.reasons[each.row])
        self.unread.update(each.field for each in findings if each.kind == UNREAD)
        return sorted(findings, key=lambda each: each.row)

    def conclude(self, report: FileReport) -> None:
        """Add what is known once all rows were judged."""
        for name, judge in self.judges.items():
            report.family = report.family or name
            report.findings[:0] = judge.conclude()
            report.unchecked.update(judge.unchecked)
            report.proofs_checked += judge.proofs_checked
            report.statuses.update(judge.statuses)
            report.gone |= judge.gone
            report.unmarked.update(judge.unmarked)
            report.unsettled |= judge.unsettled
            report.declared |= judge.declared
        report.unread = self.unread
        unread = dict(self.unread.most_common())
        judged = report.questions - self.unread.total()
        counts = {"rows": report.questions, "stories": report.stories, "judged": judged, "unread": unread}
        report.totals = add_up([counts, *(judge.totals() for judge in self.judges.values())])


def story_tables(subject: Subject) -> Iterator[pa.Table]:
    """Read a file with places, in tables of whole stories."""
    return whole_stories(_tables(subject))


def _tables(subject: Subject) -> Iterator[pa.Table]:
    """Read a file with places; one that storyproof wrote strictly, others as far as their values fit."""
    path, form = subject.path, subject.format
    if type(form).read_foreign is Format.read_foreign or (not form.family and _is_ours(path, form)):
        return form.read(path, CHUNK_ROWS, places=True)
    return form.read_foreign(path, CHUNK_ROWS)


def _is_ours(path: Path, form: Format) -> bool:
    """Return whether a file has all columns of examples, or those of one family; errors are left to its reader."""
    try:
        columns = frozenset(form.columns(path))
    except DataError:
        return False
    return bool(recognise(columns).marks) or columns.issuperset(SCHEMA.names)


def _family_of(table: pa.Table, form: Format) -> Family:
    return load_family(form.family) if form.family else family_of_table(table)


def _other_family(path: Path, table: pa.Table, family: Family, says: str) -> DataError:
    lacking = sorted(family.marks - set(table.column_names))
    content = f"no column '{lacking[0]}'" if lacking else f"rows of {family_of_table(table).title}"
    return DataError(f"{path}: found {content}; expected rows of {family.title}, as {says} says.")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the cyclic collector out: parsing makes many small objects and no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# Files and formats.


def format_names() -> tuple[str, ...]:
    """Return what users can call a format: auto, or a name in the catalog."""
    return (AUTO, *names("format"))


def choose_format(path: Path, name: str = AUTO) -> tuple[Format, str]:
    """Return the format to read a file in, and the only family that its rows may be of, if the user named one.

    A format of one family also names that family: rows of it may be in a file of any format that holds those of all.

    Raises:
        DataError: If the file is in no known format.
        UnknownNameError: If there is no such format.
    """
    if name not in format_names():
        raise UnknownNameError("format", name, format_names())
    if name == AUTO:
        return expect_format(path), ""
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
