"""Corrected copies of files: the family says what changes, and the format patches the file in place."""

from __future__ import annotations

from pathlib import Path

from storyproof.errors import UnknownNameError
from storyproof.families.family import load_family
from storyproof.findings import FileReport
from storyproof.formats.format import load_format
from storyproof.formats.json_edits import Changes, Write, right_value

MARK, DROP = MANNERS = ("mark", "drop")  # what to do with rows from which no answer follows


def fixes(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, Write]:
    """Return what writes a file, and those beside it, with all findings corrected as far as that is possible.

    All else is kept byte for byte, in Parquet value for value. Rows without a right answer are left out where the
    family says so. Otherwise they are marked or dropped: marked in the family's column for statuses, which is added if
    the file has none.

    Args:
        path: The file.
        report: What an audit found in it.
        ambiguous: What to do with rows from which no answer follows: mark or drop.

    Returns:
        What writes each file, by its name.

    Raises:
        UnknownNameError: If `ambiguous` is neither.
        DataError: If the file is not as it was audited, or its format cannot be patched.
    """
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    form = load_format(report.format)
    records = report.totals.get("records", report.questions)
    has_several = records != report.questions  # rows in a record, of which none can be left out or marked
    changes = Changes(gone=set() if has_several else set(report.gone), rows=records)
    for each in report.findings:
        if each.fix and each.rewrite is not None:
            old, new = each.rewrite
            row = report.records.get(each.row, each.row)
            changes.put(row, each.fix, str(new) if form.holds_text else new, old if isinstance(old, str) else None)
        elif each.fix:
            value = each.expected if form.holds_text else right_value(each)
            changes.put(each.row, each.fix, value, each.found)
    family = load_family(report.family) if report.family else None  # a file without rows has none
    if family is not None and family.status_column and not has_several:
        _settle(changes, report, family.status_column, family.statuses[0], ambiguous)
    return form.patch(Path(path), changes)


def _settle(changes: Changes, report: FileReport, column: str, right: str, ambiguous: str) -> None:
    """Mark or drop rows from which no answer follows; those that become right are kept as they are."""
    changes.added = {column: right}
    if ambiguous == MARK:
        for row, status in report.unsettled.items():
            changes.values.setdefault(row, {}).setdefault(column, status)
        return
    final = {**report.declared, **report.unsettled}
    final |= {row: values[column] for row, values in changes.values.items() if column in values}
    changes.gone = {*changes.gone, *(row for row, status in final.items() if status != right)}
