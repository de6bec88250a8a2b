"""The one pass over data behind `verify` and `audit`.

A file is found, its format and family are looked up, and it is read once, with the places of its rows. The family's
judge then gets whole stories and yields findings. The verbs are two views of the result: `verify` asks
`families.judge.VERIFY_ASKS`, and `audit` asks `families.judge.AUDIT_ASKS`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from storyproof.catalog import names
from storyproof.datasets.reading import data_files
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.family import Family, family_of_table, load_family, recognise
from storyproof.families.judge import FileJudge, Subject
from storyproof.findings import FileReport, Finding, add_up
from storyproof.formats.chunks import CHUNK_ROWS, in_parts, story_starts, whole_stories
from storyproof.formats.format import Format, expect_format, format_of, load_format, suffixes, with_places
from storyproof.formats.lines import find_bad_bytes
from storyproof.heartbeat import beat
from storyproof.inputs import FILE, kind_of, name_of

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
        subject: The file, and what is asked about it.
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
    judges: dict[str, FileJudge] = {}
    judged = 0
    if form.family:
        judges[form.family] = load_family(form.family).judge(subject)
    try:
        for table in story_tables(subject):
            found = _family_of(table, form)
            if family and found.name != family:
                raise _other_family(path, table, load_family(family), says)
            if found.name not in judges:
                judges[found.name] = found.judge(subject)
            for part in in_parts(table):
                with _no_collection():
                    report.findings += judges[found.name].judge(part)
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
    if not judges and subject.is_audit:
        raise DataError(f"{path}, line 1: found no question; expected at least one.")
    _conclude(report, judges)
    return report


def examine_table(table: pa.Table, name: str = "table", *, is_audit: bool = False, **settings: object) -> FileReport:
    """Let the family of a table in memory judge its rows.

    Args:
        table: The rows, whole stories.
        name: What findings call it.
        is_audit: See `Subject`.
        **settings: What users said about the data, see `Subject`.
    """
    family = family_of_table(table)
    subject = Subject(Path(name), load_format("parquet"), name, is_audit, settings)
    report = FileReport(name, subject.format.name, questions=table.num_rows, stories=len(story_starts(table)))
    judge = family.judge(subject)
    report.findings += judge.judge(with_places(table, 0))
    _conclude(report, {family.name: judge})
    return report


def _conclude(report: FileReport, judges: dict[str, FileJudge]) -> None:
    """Add what is known once all rows were judged."""
    for name, judge in judges.items():
        report.family = name
        report.findings[:0] = judge.conclude()
        report.unchecked.update(judge.unchecked)
        report.proofs_checked += judge.proofs_checked
        report.statuses.update(judge.statuses)
        report.gone |= judge.gone
        report.unmarked.update(judge.unmarked)
        report.unsettled |= judge.unsettled
        report.declared |= judge.declared
    report.totals = add_up(judge.totals() for judge in judges.values())


def story_tables(subject: Subject) -> Iterator[pa.Table]:
    """Read a file with places, in tables of whole stories."""
    return whole_stories(_tables(subject))


def _tables(subject: Subject) -> Iterator[pa.Table]:
    """Read a file with places; an audit takes files of others, unless they have a family's own columns."""
    path, form = subject.path, subject.format
    if not subject.is_audit or (not form.family and _has_own_columns(path, form)):
        return form.read(path, CHUNK_ROWS, places=True)
    return form.read_foreign(path, CHUNK_ROWS)


def _has_own_columns(path: Path, form: Format) -> bool:
    """Return whether a file has the columns by which a family is recognised; errors are left to its reader."""
    try:
        columns = form.columns(path)
    except DataError:
        return False
    return bool(recognise(columns).marks)


def _family_of(table: pa.Table, form: Format) -> Family:
    return load_family(form.family) if form.family else family_of_table(table)


def _other_family(path: Path, table: pa.Table, family: Family, says: str) -> DataError:
    lacking = sorted(family.marks - set(table.column_names))
    found = f"no column '{lacking[0]}'" if lacking else f"rows of {family_of_table(table).title}"
    return DataError(f"{path}: found {found}; expected rows of {family.title}, as {says} says.")


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
    found: list[Path] = []
    for path in map(Path, paths):
        kind = kind_of(path)
        if kind == FILE:
            format_of(path)  # raises if its suffix is unknown
            found.append(path)
            continue
        inside = data_files(path, kind, "give a file or a folder of files")
        if not inside:
            raise DataError(f"{path} holds nothing to audit; expected files ending in {', '.join(suffixes())}.")
        found += inside
    if not found:
        raise DataError("no files were given; name at least one.")
    return list(dict.fromkeys(found))


def names_of(files: Sequence[Path]) -> list[str]:
    """Return what reports call files: their names, with as many folders before them as it takes to distinguish them."""
    wholes = [file.absolute().parts for file in files]
    found = []
    for parts in wholes:
        depth = 1
        while depth < len(parts) and sum(other[-depth:] == parts[-depth:] for other in set(wholes)) > 1:
            depth += 1
        found.append(name_of("/".join(parts[-depth:])))
    return found
