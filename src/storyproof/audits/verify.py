"""The verb `verify`: read a dataset's text, ask oracle and checker, and list every disagreement."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storyproof.audits.row_order import RowOrder
from storyproof.datasets.folders import is_unfinished
from storyproof.datasets.manifest import MANIFEST, file_problem, manifest_problems, read_manifest
from storyproof.datasets.reading import Source, find_sources
from storyproof.errors import DataError
from storyproof.families.family import family_of_table
from storyproof.families.kinship.placeholders.checks import problems
from storyproof.families.kinship.placeholders.files import load_placeholders
from storyproof.families.kinship.text import placeholder_id
from storyproof.findings import Finding
from storyproof.formats.chunks import in_parts, story_starts
from storyproof.formats.json_list import begins_a_list


@dataclass(slots=True)
class Verification:
    """What verify saw.

    Attributes:
        stories: How many stories.
        questions: How many rows.
        findings: All disagreements.
        unchecked: How many rows had no value to hold against the proof, by column.
        statuses: Kinship: how many labels are entailed, ambiguous, contradicted or impossible.
        lacks_manifest: Whether a folder has no manifest, so that its files cannot be checked against what was written.
    """

    stories: int = 0
    questions: int = 0
    findings: list[Finding] = field(default_factory=list)
    unchecked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    lacks_manifest: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def by_field(self) -> dict[str, int]:
        """Count the findings by what is wrong."""
        return dict(Counter(finding.field for finding in self.findings).most_common())


def verify(
    path: str | Path, *, rules: str | Path | None = None, progress: Callable[[int], None] = lambda rows: None
) -> Verification:
    """Read a dataset, parse its text, ask oracle and checker, and hold every label against them.

    Args:
        path: A dataset folder, all of whose splits are verified, a single file, or a JSON file of placeholders.
        rules: The file of rules that kinship data were made by, if they were made by rules of their own.
        progress: Told how many rows are done since the last time.

    Raises:
        DataError: If the data cannot be read.
    """
    path = Path(path)
    if path.is_file() and path.suffix == ".json" and not begins_a_list(path):
        return _verify_placeholders(path)
    result = Verification(lacks_manifest=path.is_dir() and not (path / MANIFEST).exists())
    settings = {} if rules is None else {"rules": rules}
    sources = find_sources(path)
    for problem in _manifest_problems(path, sources):
        result.findings.append(Finding(MANIFEST, "", "file", problem, "the file as it was written"))
    for source in sources:
        _verify_source(source, result, progress, settings)
    if not result.questions:
        raise DataError(f"{path} holds no questions, so there is nothing to verify.")
    return result


def _manifest_problems(path: Path, sources: list[Source]) -> list[str]:
    """Hold a folder, or a file in a folder, against the manifest that lies there."""
    folder = path if path.is_dir() else path.parent
    unfinished = ["the folder is unfinished: the run that wrote it was killed"] if is_unfinished(folder) else []
    manifest = read_manifest(folder)
    if manifest is None:
        return unfinished
    if path.is_dir():
        return unfinished + manifest_problems(path, manifest, [file for source in sources for file in source.files])
    problem = file_problem(path, manifest) if path.name in manifest["files"] else None
    return unfinished + ([problem] if problem else [])


def _verify_placeholders(path: Path) -> Verification:
    """Hold a file of placeholders against our checks."""
    found = load_placeholders(path)
    findings = [
        Finding(
            path.name, f"{placeholder_id(flaw.key, flaw.text)}", flaw.kind, flaw.what, "a text that tells its facts"
        )
        for flaw in problems(found)
    ]
    return Verification(questions=found.count, findings=findings)


def _verify_source(
    source: Source,
    result: Verification,
    progress: Callable[[int], None],
    settings: Mapping[str, Any],
) -> None:
    where = source.split or source.files[0].name
    order = RowOrder(where, source.split)
    for table in source.tables():
        for part in in_parts(table):
            with _no_collection():
                report = family_of_table(part).verify(part, where, settings)
            result.findings += report.findings
            result.unchecked.update(report.unchecked)
            result.statuses.update(report.statuses)
            progress(part.num_rows)
        result.findings += order.check(table)
        result.stories += len(story_starts(table))
        result.questions += table.num_rows
    result.findings += order.close()


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
