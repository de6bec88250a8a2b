"""The verb `verify`: whether a dataset holds what it claims."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from storyproof.audits.examination import examine
from storyproof.audits.row_order import RowOrder
from storyproof.datasets.folders import is_unfinished
from storyproof.datasets.manifest import MANIFEST, file_problem, manifest_problems, read_manifest
from storyproof.datasets.reading import Source, find_sources
from storyproof.errors import DataError
from storyproof.families.family import families, load_family
from storyproof.families.judge import Subject
from storyproof.findings import FileReport, Finding
from storyproof.formats.format import format_of
from storyproof.inputs import FILE, FOLDER, kind_of, name_of
from storyproof.notebook import NotebookView


@dataclass(slots=True)
class Verification(NotebookView):
    """What verify found.

    Attributes:
        stories: How many stories were read.
        questions: How many rows.
        findings: All disagreements.
        unchecked: How many rows had no value to compare with the proof, by column.
        statuses: How many rows have which status, in families in which an answer need not follow.
        unsettled: The statuses of rows whose answer does not follow by that standard, and that do not say so.
            All that they claim may hold; an audit lists them.
        standard: By what standard, such as strict kinship; empty if there are no statuses.
        lacks_manifest: Whether a folder has no manifest, so that its files cannot be checked against what was written.
    """

    stories: int = 0
    questions: int = 0
    findings: list[Finding] = field(default_factory=list)
    unchecked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    unsettled: Counter[str] = field(default_factory=Counter)
    standard: str = ""
    lacks_manifest: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def by_field(self) -> dict[str, int]:
        """Return how many findings there are about each field."""
        return dict(Counter(finding.field for finding in self.findings).most_common())

    def listed_statuses(self) -> dict[str, int]:
        """Return the statuses in the order of their families, with those that no row has; none if there are none."""
        if not self.statuses:
            return {}
        known = [name for family in families() if family.standard == self.standard for name in family.statuses]
        return {name: self.statuses[name] for name in dict.fromkeys((*known, *self.statuses))}


def verify(
    path: str | Path, *, rules: str | Path | None = None, progress: Callable[[int], None] = lambda rows: None
) -> Verification:
    """Read a dataset and compare what it claims with what oracle and checker derive from its text.

    Args:
        path: A dataset folder, all of whose splits are verified, a single file, or a file of a family that holds no
            rows, such as placeholders.
        rules: The file of rules that the data were made by, if they were made by rules of their own.
        progress: Called with how many rows were judged since the last call.

    Raises:
        DataError: If the data cannot be read.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> found = storyproof.verify("data")
        >>> found.ok, found.questions, found.findings
        (True, 180, [])
    """
    path = Path(path)
    if path.name == MANIFEST:
        raise DataError(f"{path} describes a dataset; give its folder, {path.parent}, or one of its files.")
    kind = kind_of(path)
    for family in families() if kind == FILE else ():
        if (found := family.judge_resource(path)) is not None:
            return Verification(questions=found[0], findings=found[1])
    result = Verification(lacks_manifest=kind == FOLDER and not os.path.lexists(path / MANIFEST))
    settings = {} if rules is None else {"rules": rules}
    sources = find_sources(path)
    for problem in _manifest_problems(path, sources):
        expected = "the file as it was written"
        result.findings.append(Finding(file=MANIFEST, kind="manifest", field="file", found=problem, expected=expected))
    for source in sources:
        order = RowOrder(source.split or name_of(source.files[0].name), source.split)
        for file in source.files:
            subject = Subject(file, format_of(file), source.split or name_of(file.name), False, settings)
            _add(result, examine(subject, watch=order.check, progress=progress))
        result.findings += order.close()
    if not result.questions:
        raise DataError(f"{path} holds no questions, so there is nothing to verify.")
    return result


def _add(result: Verification, report: FileReport) -> None:
    result.findings += report.findings
    result.stories += report.stories
    result.questions += report.questions
    result.unchecked.update(report.unchecked)
    result.statuses.update(report.statuses)
    result.unsettled.update(report.unmarked)
    if report.statuses:
        result.standard = load_family(report.family).standard


def _manifest_problems(path: Path, sources: list[Source]) -> list[str]:
    """Compare a folder, or a file in a folder, with the manifest that lies there."""
    folder = path if path.is_dir() else path.parent
    unfinished = ["the folder is unfinished: the run that wrote it was killed"] if is_unfinished(folder) else []
    manifest = read_manifest(folder)
    if manifest is None:
        return unfinished
    if path.is_dir():
        return unfinished + manifest_problems(path, manifest, [file for source in sources for file in source.files])
    problem = file_problem(path, manifest) if path.name in manifest["files"] else None
    return unfinished + ([problem] if problem else [])
