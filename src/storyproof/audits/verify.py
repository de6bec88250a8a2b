"""The verb `verify`: whether a dataset holds what it claims."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storyproof.audits.apart import ExamineFile
from storyproof.audits.examination import examine
from storyproof.audits.row_order import RowOrder
from storyproof.datasets.folders import MARKER, is_unfinished
from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.manifest import (
    MANIFEST,
    file_problem,
    hash_in,
    manifest_problems,
    parse_manifest,
    read_manifest,
)
from storyproof.datasets.reading import Source, find_sources
from storyproof.engines import Engine, in_order, make_engine
from storyproof.errors import DataError
from storyproof.families.family import families, load_family
from storyproof.families.judge import Subject
from storyproof.findings import FileReport, Finding
from storyproof.formats.format import format_of, suffixes
from storyproof.inputs import FILE, FOLDER, kind_of, name_of
from storyproof.notebook import NotebookView
from storyproof.storage import RemoteFolder, as_place, is_url


@dataclass(slots=True)
class Verification(NotebookView):
    """What verify found.

    Attributes:
        stories: How many stories were read.
        questions: How many rows.
        findings: All disagreements.
        unchecked: How many rows had no value to compare with the proof, by column.
        proofs_checked: How many proofs were checked by leaving out sentences.
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
    proofs_checked: int = 0
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


@takes_rows("path")
def verify(
    path: Data,
    *,
    rules: str | Path | None = None,
    proofs: bool = False,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> Verification:
    """Read a dataset and compare what it claims with what oracle and checker derive from its text.

    Args:
        path: A dataset folder, all of whose splits are verified, a single file, or a file of a family that holds no
            rows, such as placeholders; or a URL such as `s3://bucket/folder`; or rows in memory: a frame of pandas or
            polars, an Arrow table, or a list of rows.
        rules: The file of rules that the data were made by, if they were made by rules of their own.
        proofs: Whether to check the proof of every row by deletion: the named sentences alone give the answer, and not
            if one of them is left out. By default this is checked for the first `findings.PROOF_SAMPLE` different
            questions per file.
        engine: Where files are read, see `storyproof.engines`; by default one after the other, here.
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
    settings: dict[str, Any] = {"proofs": proofs} if rules is None else {"proofs": proofs, "rules": rules}
    path = as_place(path)
    if not isinstance(path, Path):
        with nullcontext(engine) if engine is not None else make_engine() as entered:
            return _verify_apart(path, settings, entered, progress)
    if path.name == MANIFEST:
        raise DataError(f"{path} describes a dataset; give its folder, {path.parent}, or one of its files.")
    kind = kind_of(path)
    for family in families() if kind == FILE else ():
        if (found := family.judge_resource(path)) is not None:
            return Verification(questions=found[0], findings=found[1])
    if engine is not None:
        return _verify_apart(path, settings, engine, progress)
    result = Verification(lacks_manifest=kind == FOLDER and not os.path.lexists(path / MANIFEST))
    sources = find_sources(path)
    result.findings += map(_manifest_finding, _manifest_problems(path, sources))
    for source in sources:
        order = RowOrder(source.split or source.files[0].name, source.split)
        for file in source.paths:
            subject = Subject(file, format_of(file), source.split or name_of(file.name), False, settings)
            _add(result, examine(subject, watch=order.check, progress=progress))
        result.findings += order.close()
    if not result.questions:
        raise DataError(f"{path} holds no questions, so there is nothing to verify.")
    return result


def _verify_apart(
    place: str | Path, settings: Mapping[str, Any], engine: Engine, progress: Callable[[int], None]
) -> Verification:
    """Verify files apart; the result is that of one process."""
    sources = find_sources(place)
    items = [(file, source.split) for source in sources for file in source.files]
    examine_file = ExamineFile(settings)
    stored = _StoredManifest(place)  # before the work, since it may be damaged
    results = in_order(engine, examine_file, items)
    result = Verification(lacks_manifest=stored.manifest is None and not stored.file)
    hashes: dict[str, str] = {}
    for source in sources:
        order = RowOrder(source.split or source.files[0].name, source.split)
        for file in source.files:
            found = next(results)
            hashes[file.name] = found.sha256
            report = examine_file.in_order(found, order, file, source.split)
            progress(report.questions)
            _add(result, report)
        result.findings += order.close()
    result.findings[:0] = map(_manifest_finding, stored.problems(hashes))
    if not result.questions:
        raise DataError(f"{place} holds no questions, so there is nothing to verify.")
    return result


def _manifest_finding(problem: str) -> Finding:
    return Finding(file=MANIFEST, kind="manifest", field="file", found=problem, expected="the file as it was written")


def _add(result: Verification, report: FileReport) -> None:
    result.findings += report.findings
    result.stories += report.stories
    result.questions += report.questions
    result.unchecked.update(report.unchecked)
    result.proofs_checked += report.proofs_checked
    result.statuses.update(report.statuses)
    result.unsettled.update(report.unmarked)
    if report.statuses:
        result.standard = load_family(report.family).standard


def _manifest_problems(path: Path, sources: list[Source]) -> list[str]:
    """Compare a folder, or a file in a folder, with the manifest that lies there."""
    folder = path if path.is_dir() else path.parent
    manifest, file = read_manifest(folder), "" if path.is_dir() else path.name
    data = [each.name for source in sources for each in source.paths]
    return _unfinished(is_unfinished(folder)) + _problems(manifest, file, data, hash_in(folder))


def _unfinished(is_so: bool) -> list[str]:
    return ["the folder is unfinished: the run that wrote it was killed"] if is_so else []


def _problems(
    manifest: dict[str, Any] | None, file: str, data: Iterable[str], sha256_of: Callable[[str], str | None]
) -> list[str]:
    """Compare all files of a folder, or only one, with their manifest, if there is one."""
    if manifest is None:
        return []
    if not file:
        return manifest_problems(manifest, data, sha256_of)
    problem = file_problem(file, manifest, sha256_of) if file in manifest["files"] else None
    return [problem] if problem else []


class _StoredManifest:
    """The manifest of data that are read apart, here or at a URL."""

    def __init__(self, place: str | Path) -> None:
        self.file = ""  # if there is only one
        if is_url(place):
            head, _, last = str(place).rpartition("/")
            self.file = last if Path(last).suffix in suffixes() else ""
            self._folder = RemoteFolder(head if self.file else str(place))
            content = self._folder.read(MANIFEST)
            self.manifest = None if content is None else parse_manifest(content, f"{self._folder}/{MANIFEST}")
            self._is_unfinished = self._folder.read(MARKER) is not None
            self._sha256_of: Callable[[str], str | None] = self._fetched_hash
        else:
            path = Path(place)
            self.file = "" if path.is_dir() else path.name
            folder = path.parent if self.file else path
            self.manifest, self._is_unfinished = read_manifest(folder), is_unfinished(folder)
            self._sha256_of = hash_in(folder)

    def problems(self, hashes: Mapping[str, str]) -> list[str]:
        """Compare the files with the manifest; the hashes of those that were read are known."""
        found = _problems(self.manifest, self.file, hashes, lambda name: hashes.get(name) or self._sha256_of(name))
        return _unfinished(self._is_unfinished) + found

    def _fetched_hash(self, name: str) -> str | None:
        content = self._folder.read(name)
        return None if content is None else hashlib.sha256(content).hexdigest()
