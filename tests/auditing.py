"""Audits of one file, without a manifest beside it."""

from collections.abc import Sequence
from pathlib import Path

from storyproof.audits.audit import _ExamineFile, _File, _Orders
from storyproof.audits.fixes import MARK, fixes
from storyproof.audits.row_pass import AUTO
from storyproof.datasets.reading import DataFile
from storyproof.findings import FileReport
from storyproof.formats.format import split_of
from storyproof.formats.json_edits import contents


def audit_file(path: str | Path, format: str = AUTO, readings: Sequence[str] = (), *, name: str = "") -> FileReport:
    examine_file = _ExamineFile({"readings": tuple(readings)}, format)
    orders = _Orders(examine_file)
    file = _File(DataFile(str(path)), name or Path(path).name, split_of(Path(path)), "")
    report = orders.follow(file, examine_file(file))
    orders.close()
    return report


def fixed_files(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, bytes]:
    """Return the contents of the files that `fixes` writes, by name."""
    return contents(fixes(path, report, ambiguous))
