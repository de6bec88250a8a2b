"""CLUTRR files without what was wrong in them: every byte that was right stays as it is.

What is replaced is just what the errata say: the field, what was found there, and what is expected.
"""

from __future__ import annotations

from pathlib import Path

from storyproof.errata import Erratum, FileReport
from storyproof.errors import UnknownNameError
from storyproof.families.kinship.checker import AMBIGUOUS, CONTRADICTED, ENTAILED, IMPOSSIBLE
from storyproof.families.kinship.clutrr_csv import FORMAT
from storyproof.families.kinship.clutrr_records import STATUS, read_records
from storyproof.formats.patches import Changes, Write, contents

DROP, MARK = MANNERS = ("drop", "mark")
UNDEFINED = "undefined"
FLAWED = (AMBIGUOUS, CONTRADICTED, IMPOSSIBLE, UNDEFINED)  # what a target may be instead of entailed


def fixed_files(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, bytes]:
    """Return what `fixes` writes."""
    return contents(fixes(path, report, ambiguous))


def fixes(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, Write]:
    """Return what writes a file without what was wrong in it, as far as that can be known.

    A contradicted target is replaced by the word that the story entails, if there is one, and with it the proof (by
    strict rules) and the sentence that words it; genders, `edge_types`, `f_comb`, `query` and `query_edge` by what the
    rest of the row tells; a broken proof by another. Noise without types or sentences, chains that pass somebody twice,
    and duplicates stay.

    A row whose question has no entailed answer cannot be fixed. It is either left out, or marked: a last column
    `status` is added that says of every row whether its target is entailed, ambiguous, contradicted or impossible, and
    the target stays what it was, for those who want to compare. Then the file is byte for byte what it was up to that
    column, and a loader that goes by names of columns reads it as before. A file with nothing to mark gets no column;
    one that has the column keeps it where it is.

    Args:
        path: The file.
        report: What the audit found in it.
        ambiguous: What to do with rows without an entailed answer: drop or mark.

    Returns:
        What writes it, by its name.

    Raises:
        UnknownNameError: If it is neither.
        DataError: If the file cannot be read, or is not the one that was audited.
    """
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    flawed = {each.row: each.kind for each in report.errata if each.row >= 0 and is_unfixable(each)}
    changes = Changes(added={STATUS: ENTAILED}, rows=report.totals["rows"])
    for each in report.errata:
        if each.expected and each.row >= 0:
            changes.put(each.row, each.field, each.expected, each.found)
    if ambiguous == MARK:
        for row, status in flawed.items():
            changes.values.setdefault(row, {}).setdefault(STATUS, status)
    else:
        marked = {**_statuses(path), **flawed}
        marked |= {row: values[STATUS] for row, values in changes.values.items() if STATUS in values}
        changes.gone = frozenset(row for row, status in marked.items() if status in FLAWED)
    return FORMAT.patch(path, changes)


def is_unfixable(erratum: Erratum) -> bool:
    """Return whether an erratum says that no answer follows from a row."""
    return erratum.kind in FLAWED and not erratum.expected


def _statuses(path: Path) -> dict[int, str]:
    """Return the statuses that a file gives to its rows."""
    records = read_records(path)
    columns = next(records).fields
    if STATUS not in columns:
        return {}
    place = columns.index(STATUS)
    return {record.row: record.fields[place] for record in records if record.fields}
