"""Corrected copies of kinship files in the columns of examples."""

from __future__ import annotations

from pathlib import Path

from storyproof.errata import FileReport
from storyproof.errors import UnknownNameError
from storyproof.families.kinship.audit.clutrr_fixes import MANNERS, MARK, is_unfixable
from storyproof.families.kinship.audit.records import read_audited_rows
from storyproof.families.kinship.audit.verdicts import FLAWED
from storyproof.families.kinship.checker import ENTAILED
from storyproof.families.kinship.clutrr_records import STATUS
from storyproof.formats.format import load_format
from storyproof.formats.patches import Changes, Write, contents, right_value


def fixed_files(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, bytes]:
    """Return the corrected files of `fixes`, by name."""
    return contents(fixes(path, report, ambiguous))


def fixes(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, Write]:
    """Return what writes the corrected copy of a file, as far as corrections are known; see `clutrr_fixes`.

    Rows from which no answer follows are left out, or marked in the column `status`, which is added if there is none:
    in Parquet for every row, in JSON only for rows that are not entailed.

    Raises:
        UnknownNameError: If `ambiguous` is neither drop nor mark.
        DataError: If the file cannot be read, or is not the one that was audited.
    """
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    form = load_format(report.format)
    flawed = {each.row: each.kind for each in report.errata if is_unfixable(each)}
    changes = Changes(added={STATUS: ENTAILED})
    for each in report.errata:
        if each.expected and each.row >= 0:
            changes.put(each.row, each.field, right_value(each))
    if ambiguous == MARK:
        for row, status in flawed.items():
            changes.values.setdefault(row, {}).setdefault(STATUS, status)
    else:
        said = {each.number: each.status for each in read_audited_rows(path, form)}
        final = {row: changes.values.get(row, {}).get(STATUS, flawed.get(row, status)) for row, status in said.items()}
        changes.gone = frozenset(row for row, status in final.items() if status in FLAWED)
    return form.patch(path, changes)
