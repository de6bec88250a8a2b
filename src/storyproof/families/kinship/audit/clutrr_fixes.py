"""Corrected copies of CLUTRR's CSV files: only wrong fields change, every other byte is kept.

Fields are replaced in the text of their record and quoted as they were; records are not parsed and written again. Only
fields with an erratum that gives an expected value are replaced.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from storyproof.errata import FileReport
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.kinship.audit.verdicts import FLAWED
from storyproof.families.kinship.checker import ENTAILED
from storyproof.families.kinship.clutrr_records import STATUS, Record, quoted, read_records, split_raw
from storyproof.formats.row_fixes import Write, contents

DROP, MARK = MANNERS = ("drop", "mark")

Change = tuple[str, str]  # what was found, and what is expected


def fixed_files(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, bytes]:
    """Return the corrected files of `fixes`, by name."""
    return contents(fixes(path, report, ambiguous))


def fixes(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, Write]:
    """Return what writes the corrected copy of a file, as far as corrections are known.

    A contradicted target is replaced by the word that the story entails, if there is one, together with the proof (by
    strict rules) and the sentence that states it. Genders, `edge_types`, `f_comb`, `query` and `query_edge` are
    replaced by the values that the rest of the row implies, and an invalid proof by a valid one. Noise without types or
    sentences, chains that pass somebody twice, and duplicates are kept.

    A row whose question has no entailed answer cannot be fixed. It is either left out or marked: a last column `status`
    is added that says for every row whether its target is entailed, ambiguous, contradicted or impossible, and the
    target is kept for comparison. Up to that column the file is byte for byte the same, so a loader that selects
    columns by name reads it as before. A file without such rows gets no column; an existing column stays where it is.

    Args:
        path: The file.
        report: The audit's report on it.
        ambiguous: What to do with rows without an entailed answer: drop or mark.

    Returns:
        A function that writes the file, by the file's name.

    Raises:
        UnknownNameError: If `ambiguous` is neither.
        DataError: If the file cannot be read, or is not the one that was audited.
    """
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    return {path.name: lambda file: file.writelines(_rewritten(path, report, ambiguous))}


def _rewritten(path: Path, report: FileReport, ambiguous: str) -> Iterator[bytes]:
    """Yield a file's records, changed where necessary."""
    changes, statuses = _planned(report)
    with path.open("rb") as file:
        yield codecs.BOM_UTF8 if file.read(3) == codecs.BOM_UTF8 else b""
    columns: list[str] = []
    new_column, rows = False, 0
    for record in read_records(path):
        if record.row < 0:
            columns = record.fields
            new_column = ambiguous == MARK and bool(statuses) and STATUS not in columns
        rows += record.row >= 0 and bool(record.fields)
        mine = changes.get(record.row, {})
        status = STATUS if record.row < 0 else statuses.get(record.row, ENTAILED)
        if STATUS in columns and record.fields:
            marked = record.fields[columns.index(STATUS)]
            if record.row in statuses and marked != status:
                mine = {**mine, STATUS: (marked, status)}
            status = mine.get(STATUS, ("", marked))[1]
        if not record.fields:
            yield record.raw.encode()  # an empty line
        elif ambiguous == MARK or status not in FLAWED:
            yield _spliced(path, record, columns, mine, status if new_column else None).encode()
    if report.totals["rows"] != rows:
        raise DataError(f"{path} does not have the same number of rows as when it was audited; audit it again.")


def _planned(report: FileReport) -> tuple[dict[int, dict[str, Change]], dict[int, str]]:
    """Return the changes by row and field, and the statuses of the rows that cannot be fixed."""
    changes: dict[int, dict[str, Change]] = {}
    statuses: dict[int, str] = {}
    for erratum in report.errata:
        if erratum.row < 0:
            continue
        if erratum.expected:
            changes.setdefault(erratum.row, {})[erratum.field] = erratum.found, erratum.expected
        elif erratum.kind in FLAWED:
            statuses[erratum.row] = erratum.kind
    return changes, statuses


def _spliced(
    path: Path, record: Record, columns: Sequence[str], changes: Mapping[str, Change], added: str | None
) -> str:
    """Return a record's text with some fields replaced, and possibly one added."""
    if not changes and added is None:
        return record.raw
    parts, end = split_raw(record.raw)
    for field, (found, expected) in changes.items():
        place = columns.index(field)
        if record.fields[place] != found:
            raise DataError(
                f"{path}, row {record.row}, line {record.line}: {field} is '{record.fields[place]}', expected "
                f"'{found}' as when it was audited; audit it again."
            )
        parts[place] = quoted(expected, parts[place])
    if added is not None:
        parts.append(quoted(added, '"' if all(part.startswith('"') for part in parts) else ""))
    return ",".join(parts) + end
