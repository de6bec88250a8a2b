"""Examine files in parallel; the reports are those of a single process, in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storyproof.audits.examination import AUTO, choose_format, examine, story_tables
from storyproof.audits.row_order import FileOrder, OrderOfFile, RowOrder
from storyproof.datasets.manifest import file_sha256
from storyproof.datasets.reading import DataFile
from storyproof.families.judge import Subject
from storyproof.findings import FileReport
from storyproof.formats.format import format_of


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found in one file.

    Attributes:
        report: Without what is wrong with the order of rows.
        order: What must be known to say that.
        seams: See `examine`.
        sha256: The hash of the file.
    """

    report: FileReport
    order: OrderOfFile
    seams: list[int]
    sha256: str


@dataclass(frozen=True, slots=True)
class ExamineFile:
    """Examines files for `verify`.

    Attributes:
        settings: What users said about the data, see `Subject`.
    """

    settings: Mapping[str, Any]

    def __call__(self, item: tuple[DataFile, str | None]) -> Examined:
        """Examine a file of a split."""
        file, split = item
        with file.opened() as path:
            order, seams = FileOrder(split), [0][:0]
            subject = self.subject(file, split, path)
            report = examine(subject, watch=order.check, seams=seams)
            return Examined(report, order.summary(), seams, file_sha256(path))

    def subject(self, file: DataFile, split: str | None, path: Any) -> Subject:
        """Return what is judged."""
        return Subject(path, format_of(path), split or file.name, False, self.settings)

    def in_order(self, found: Examined, order: RowOrder, file: DataFile, split: str | None) -> FileReport:
        """Return the report on a file with what is wrong with the order of its rows, after those of earlier files."""
        report = found.report
        if order.follow(found.order):
            return report
        with file.opened() as path:
            more = [list(order.check(table)) for table in story_tables(self.subject(file, split, path))]
        whole = len(report.findings) - (found.seams[-1] if found.seams else 0)  # findings about the file come first
        for seam, findings in zip(reversed(found.seams), reversed(more), strict=True):
            report.findings[whole + seam : whole + seam] = findings
        return report


@dataclass(frozen=True, slots=True)
class AuditFile:
    """Audits files.

    Attributes:
        format: The name of a format; auto recognises it.
        readings: Only these readings make a wrong label rule-dependent.
    """

    format: str = AUTO
    readings: tuple[str, ...] = ()

    def __call__(self, item: tuple[DataFile, str]) -> FileReport:
        """Audit a file, which findings call by a name."""
        file, name = item
        with file.opened() as path:
            form, family = choose_format(path, self.format)
            subject = Subject(path, form, name or path.name, True, {"readings": self.readings})
            return examine(subject, family=family, says=f"--format {self.format}")
