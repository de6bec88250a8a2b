"""Audits of one file, without a manifest beside it."""

from collections.abc import Sequence
from pathlib import Path

from storyproof.audits.audit import _ExamineFile, _File, _Item, _Orders, _WholeFile
from storyproof.audits.fixes import MARK, fixes
from storyproof.audits.row_pass import AUTO
from storyproof.datasets.reading import DataFile
from storyproof.findings import FileReport
from storyproof.formats.format import split_of
from storyproof.formats.json_edits import contents


def audit_file(path: str | Path, format: str = AUTO, readings: Sequence[str] = (), *, name: str = "") -> FileReport:
    file = _File(DataFile(str(path)), name or Path(path).name, split_of(Path(path)), "")
    found = _ExamineFile({"readings": tuple(readings)}, format)(_Item(file))
    assert isinstance(found, _WholeFile)
    orders = _Orders()
    orders.follow(file, found.orders, found.report)
    orders.close()
    return found.report


def fixed_files(path: Path, report: FileReport, ambiguous: str = MARK) -> dict[str, bytes]:
    """Return the contents of the files that `fixes` writes, by name."""
    return contents(fixes(path, report, ambiguous))
