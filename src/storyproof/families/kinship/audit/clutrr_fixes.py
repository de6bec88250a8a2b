"""Corrected copies of CLUTRR's CSV files: only fields with an erratum that gives an expected value change."""

from __future__ import annotations

from pathlib import Path

from storyproof.errata import Erratum, FileReport
from storyproof.errors import UnknownNameError
from storyproof.families.kinship.audit.verdicts import FLAWED
from storyproof.families.kinship.checker import ENTAILED
from storyproof.families.kinship.clutrr_csv import FORMAT
from storyproof.families.kinship.clutrr_records import STATUS, read_records
from storyproof.formats.patches import Changes, Write, contents

DROP, MARK = MANNERS = ("drop", "mark")


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
