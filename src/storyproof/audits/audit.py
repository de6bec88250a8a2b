"""The verb `audit`, also called `verify`: what is wrong with data, row by row and why, and corrected files."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from storyproof.audits.fixes import MANNERS, MARK, fixes
from storyproof.audits.plain_checks import MOST_COMPARED, RowHashes, find_shared
from storyproof.audits.row_consistency import OrderOfRows, SplitOrder
from storyproof.audits.row_pass import (
    AUTO,
    FileAudit,
    RowSource,
    choose_format,
    examine,
    examine_part,
    find_files,
    format_names,
    names_of,
)
from storyproof.datasets.folders import MARKER, is_unfinished, whole_folder
from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.manifest import (
    MANIFEST,
    file_problem,
    file_sha256,
    hash_in,
    manifest_problems,
    parse_manifest,
    read_manifest,
)
from storyproof.datasets.path_conflicts import refuse_overlap
from storyproof.datasets.reading import ERRATA, DataFile, check_shards_fit, find_sources, folders_with_data
from storyproof.engines import Engine, in_order, make_engine
from storyproof.engines.processes import available_cores
from storyproof.errors import ConfigError, DataError, StoryproofError, UnknownNameError
from storyproof.families.family import Family, families, load_family
from storyproof.families.file_judge import Subject
from storyproof.findings import COMMON_KINDS, AuditReport, FileReport, Finding, add_up
from storyproof.findings import MANIFEST as DIFFERS
from storyproof.formats.columns import parse_columns, parse_consistent
from storyproof.formats.format import WHOLE, Part, joined, split_in, suffixes
from storyproof.io.archives import unpacked
from storyproof.io.bounded_input import FILE, kind_of
from storyproof.io.storage import RemoteFolder, is_url

Progress = Callable[[int], None]
_FILES_PER_WORKER = 4  # from which on files are not divided: whole ones leave less to put together
_ROUNDS = 3  # what a worker gets of a file at a time: this part of its share of what is left
_WORKER_BYTES = 8 << 20  # of files, for which a worker process pays: starting one takes as long as judging some of them


@takes_rows("paths", or_paths=True)
def audit(
    paths: Data | Sequence[str | Path],
    *,
    format: str = AUTO,
    columns: str | Mapping[str, str] = "",
    consistent: str | Sequence[str] = (),
    readings: Sequence[str] = (),
    rules: str | Path | None = None,
    proofs: bool = False,
    fix: str | Path | None = None,
    ambiguous: str = MARK,
    engine: Engine | None = None,
    progress: Progress = lambda rows: None,
) -> AuditReport:
    """Compare everything that data claim with what oracle and checker derive from their text.

    `storyproof.verify` is another name of this function.

    Args:
        paths: Files, or folders with files at any depth, in any format of the catalog, also in `.zip` and `.gz`; files
            of a family that hold no rows, such as placeholders; also at URLs such as `s3://bucket/folder`. Folders are
            also held against their manifests. Or rows in memory: a frame of pandas or polars, an Arrow table, or a
            list of rows.
        format: The name of a format, see `format_names`; auto recognises it.
        columns: Where somebody else's files have what rows need, such as `story=passage,answer=label`, or as a
            dictionary; by default names and contents tell. See `formats.columns`.
        consistent: Columns that must agree, such as `answer,answer_text`.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        rules: The file of rules that the data were made by, if they were made by rules of their own.
        proofs: Whether to check the proof of every row by deletion: the named sentences alone give the answer, and not
            if one of them is left out. By default this is checked for the first `findings.PROOF_SAMPLE` different
            questions per file where it takes long.
        fix: Write the corrected files there, with `errata.csv`.
        ambiguous: What to do there with rows from which no answer follows: mark or drop them.
        engine: Where files are read, see `storyproof.engines`; by default one after the other, here.
        progress: Called with how many rows were judged since the last call.

    Raises:
        DataError: If a file cannot be read, or the corrected ones cannot be written.
        ConfigError: If there is no such format or reading.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data", format="jsonl")
        >>> found = storyproof.audit("data")
        >>> found.ok, found.questions, found.findings
        (True, 180, [])
    """
    if format not in format_names():
        raise UnknownNameError("format", format, format_names())
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    if any(map(is_url, paths)) and fix is not None:
        raise ConfigError("files at URLs can be audited, but not fixed; copy them here first, or leave out --fix.")
    refuse_overlap(paths, fix, "--fix")
    settings: dict[str, Any] = {"proofs": proofs, "readings": tuple(readings)}
    settings |= {} if rules is None else {"rules": rules}
    settings |= {"columns": parse_columns(columns)} if columns else {}
    settings |= {"consistent": parse_consistent(consistent)} if consistent else {}
    with unpacked(paths) as places:
        return _audit(places, settings, format, fix, ambiguous, engine, progress)


def audited_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return the files at some paths, in the order of the reports of an audit."""
    return find_files(folders_with_data(paths)[0])


def _audit(
    paths: Sequence[str | Path],
    settings: dict[str, Any],
    format: str,
    fix: str | Path | None,
    ambiguous: str,
    engine: Engine | None,
    progress: Progress,
) -> AuditReport:
    """Audit files and folders; see `audit`."""
    resources, paths = _judge_resources(paths)
    if not paths:
        return AuditReport(resources)
    paths, left_out = folders_with_data(paths)
    files = _find_all(paths)
    check_shards_fit(each.file for each in files)
    manifests = [_Manifest(str(path).rstrip("/") if is_url(path) else path) for path in paths]  # before the work
    has_one_split = len({file.split for file in files}) == 1 and files[0].split is not None
    examine_file = _ExamineFile(settings, format, None if engine is not None else progress, not has_one_split)
    reports: list[FileReport] = []
    hashes: dict[tuple[str, str], str] = {}
    orders = _Orders()
    compared: list[RowHashes] = []
    rows_compared = 0
    with make_engine() if engine is None else nullcontext(engine) as entered:
        items = examine_file.divide(files, entered.workers)
        results = in_order(entered, examine_file, items)
        for file, examined in zip(files, _whole_files(items, results, compares=examine_file.compares), strict=True):
            report, its_rows = examined.report, examined.compared
            orders.follow(file, examined.orders, report)
            reports.append(report)
            hashes[file.folder, file.file.place.removeprefix(f"{file.folder}/")] = examined.sha256
            if its_rows is not None:
                rows_compared += len(its_rows.questions)
                compared.append(its_rows)
            if rows_compared > MOST_COMPARED:
                compared.clear()  # 25 bytes a row, of any number of files
            if engine is not None:
                progress(report.questions)
    orders.close()
    if not any(report.questions for report in reports):
        raise DataError(f"{' and '.join(map(str, paths))} contains no questions, so there is nothing to audit.")
    if fix is not None:
        write_fixed(Path(fix), [Path(file.file.place) for file in files], reports, ambiguous)
    problems = dict.fromkeys(problem for each in manifests for problem in each.problems(hashes))
    lacks = any(each.is_folder and each.manifest is None for each in manifests)
    shared = find_shared(compared)  # nothing if there are too many rows
    return AuditReport([*resources, *reports], [*map(_manifest_finding, problems)], lacks, shared, left_out)


verify = audit


def usual_workers(paths: Sequence[str | Path]) -> int:
    """Return how many worker processes the files at some paths are worth, at most one for each core."""
    files: list[Path] = []
    try:
        for path in (Path(path) for path in paths if not is_url(path)):
            below = path.rglob("*") if path.is_dir() else (path,)
            files += [each for each in below if each.suffix in suffixes() and each.name != MANIFEST and each.is_file()]
        size = sum(each.stat().st_size for each in files)
    except OSError:
        return 1  # whoever reads them says what is wrong
    return max(1, min(available_cores(), size // _WORKER_BYTES))


def listed_statuses(report: AuditReport) -> dict[str, dict[str, int]]:
    """Return by standard how many rows have which status, in the family's order, also those that no row has."""
    if not report.statuses:
        return {}
    return {
        family.standard: {name: report.statuses[name] for name in family.statuses}
        for family in families()
        if any(report.statuses[name] for name in family.statuses)
    }


def audited_families(report: AuditReport) -> list[Family]:
    """Return the families of the audited rows."""
    return [load_family(name) for name in dict.fromkeys(file.family for file in report.files) if name]


def kinds_of(report: AuditReport) -> dict[str, str]:
    """Return what kinds of findings mean, what matters most first; those of the audited rows decide."""
    audited = audited_families(report)
    others = [family for family in families() if family not in audited]
    kinds: dict[str, str] = {}
    for family in (*audited, *others):
        for kind, text in family.kinds.items():
            kinds.setdefault(kind, text)
    return kinds | COMMON_KINDS


def by_own_rules(report: AuditReport) -> str:
    """Return in a sentence how many labels are right under the rules that their own prompt states; empty if none does.

    It names the published sets that were recognised.
    """
    rules = [file.totals["own_rules"] for file in report.files if "own_rules" in file.totals]
    counts = add_up([kinds for each in rules for kinds in each.values()])
    if not counts:
        return ""
    right, none = counts.pop("right", 0), counts.pop("none", 0)
    others = sorted(counts.items(), key=lambda each: -each[1])
    parts = [f"{right:,} of {right + none + sum(counts.values()):,} labels are right under the set's own rules"]
    parts += [f"{count:,} right only under {name}" for name, count in others]
    return ", ".join([*parts, f"{none:,} right under none"])


def by_consequence(report: AuditReport) -> list[Finding]:
    """Return all findings as they matter: disagreements, then the rest; each by kind, file and row."""
    if not report.findings:
        return []  # families take a while to load
    places = {kind: place for place, kind in enumerate(kinds_of(report))}
    return sorted(report.findings, key=lambda each: (not each.is_claim, places.get(each.kind, len(places))))


def _judge_resources(paths: Sequence[str | Path]) -> tuple[list[FileReport], list[str | Path]]:
    """Judge the files that hold no rows, such as placeholders, and return the other paths beside what was found."""
    reports: list[FileReport] = []
    others: list[str | Path] = []
    for path in paths:
        if not is_url(path) and Path(path).name == MANIFEST:
            raise DataError(f"{path} describes a dataset; give its folder, {Path(path).parent}, or one of its files.")
        judgement = None
        if not is_url(path) and kind_of(Path(path)) == FILE:
            judgement = next((each for family in families() if (each := family.judge_resource(Path(path)))), None)
        if judgement is None:
            others.append(path)
        else:
            count, findings = judgement
            reports.append(FileReport(Path(path).name, "", {"entries": count}, findings))
    return reports, others


class _File(NamedTuple):
    """A file to examine.

    Attributes:
        file: Where it is.
        name: What findings call it.
        split: Its split, if that can be told.
        folder: Where it was found; rows of one split of a folder belong together.
    """

    file: DataFile
    name: str
    split: str | None
    folder: str


def _find_all(paths: Sequence[str | Path]) -> list[_File]:
    """Return all files at some paths and URLs, those on this machine first."""
    local = [path for path in paths if not is_url(path)]
    files = find_files(local) if local or not paths else []
    paths_found = [
        _File(DataFile(str(file)), name, split_in(file), str(file.parent))
        for file, name in zip(files, names_of(files), strict=True)
    ]
    for url in (str(path).rstrip("/") for path in paths if is_url(path)):
        for source in find_sources(url):
            for file in source.files:
                paths_found.append(_File(file, file.name, source.split, file.place.rpartition("/")[0]))
    return paths_found


class _Item(NamedTuple):
    """What is examined at a time: a file, or a part of it if there are too few files for all workers.

    Attributes:
        file: The file.
        part: The part; None for all.
    """

    file: _File
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class _WholeFile:
    """What was found in a file.

    Attributes:
        report: Without what is wrong with the order of rows.
        orders: What must be known to say that.
        compared: What is compared with the rows of other files; None if all are of the same split.
        sha256: The hash of a file that may be in a manifest; empty for others.
    """

    report: FileReport
    orders: list[OrderOfRows]
    compared: RowHashes | None
    sha256: str

    @classmethod
    def of(cls, audit: FileAudit, sha256: str, *, compares: bool) -> _WholeFile:
        """Return what was found, once all rows were judged."""
        compared = audit.checks.hashes() if compares else None
        return cls(audit.conclude(), audit.orders, compared, sha256)


@dataclass(frozen=True, slots=True)
class _SomeParts:
    """What was found in some parts of a file, with the hash of the file if these are the first."""

    audit: FileAudit
    sha256: str


@dataclass(slots=True)
class _ExamineFile:
    """Examines files, wherever an engine likes; the reports are those of one process.

    Attributes:
        settings: What users said about the data, see `Subject`.
        format: The name of a format; auto recognises it.
        progress: Called with how many rows were judged since the last call, if this is done in one process.
        compares: Whether rows are compared with those of other splits.
        last: The file of which parts were examined last, and how it is read.
    """

    settings: Mapping[str, Any]
    format: str = AUTO
    progress: Progress | None = field(default=None)
    compares: bool = True
    last: tuple[_File, RowSource] | None = field(default=None, repr=False)

    def __call__(self, item: _Item) -> _WholeFile | _SomeParts:
        """Examine a file, or some of its parts."""
        file, part = item
        with file.file.opened() as path:
            subject, family = self.subject(file, path)
            how: dict[str, Any] = {"family": family, "says": f"--format {self.format}", "split": file.split}
            how |= {"progress": self.progress} if self.progress else {}
            audit = examine(subject, **how) if part is None else examine_part(self.source(file, subject), part, **how)
            in_dataset = is_url(file.file.place) or Path(file.folder, MANIFEST).is_file()
            sha256 = file_sha256(path) if in_dataset and (part is None or not part.first) else ""
            return _WholeFile.of(audit, sha256, compares=self.compares) if part is None else _SomeParts(audit, sha256)

    def subject(self, item: _File, path: Path) -> tuple[Subject, str]:
        """Return what is judged, and the only family that its rows may be of, if users named one."""
        form, family = choose_format(path, self.format, has_columns=bool(self.settings.get("columns")))
        return Subject(path, form, item.name, self.settings), family

    def source(self, file: _File, subject: Subject) -> RowSource:
        """Return how a file is read, which takes a while to find out, for each part again."""
        if self.last is None or self.last[0] != file:
            self.last = file, RowSource(subject)
        return self.last[1]

    def divide(self, files: Sequence[_File], workers: int) -> list[_Item]:
        """Divide files for some workers; what a part is follows from its file alone, and so does every result."""
        if workers == 1 or len(files) >= _FILES_PER_WORKER * workers:
            return [_Item(file) for file in files]
        parts = [self._parts(file) for file in files]
        left = sum(map(len, parts))
        items: list[_Item] = []
        for file, (first, *others) in zip(files, parts, strict=True):
            items.append(_Item(file, first if others else None))  # its first rows are those whose proofs are checked
            left -= 1
            while others:  # many at a time, and few at the end, so that all workers end together
                count = max(1, left // (_ROUNDS * workers))
                items.append(_Item(file, joined(others[:count])))
                left -= len(others[:count])
                del others[:count]
        return items

    def _parts(self, file: _File) -> Sequence[Part]:
        """Return the parts of a file; one of a file that cannot be divided or read, and whoever reads it says why."""
        if not file.file.is_remote:
            with suppress(StoryproofError, OSError):
                return RowSource(self.subject(file, Path(file.file.place))[0]).parts()
        return [WHOLE]


def _whole_files(
    items: Sequence[_Item], results: Iterator[_WholeFile | _SomeParts], *, compares: bool
) -> Iterator[_WholeFile]:
    """Yield what was found in whole files, from what was found in their parts."""
    first: _SomeParts | None = None
    for place, (item, examined) in enumerate(zip(items, results, strict=True)):
        if isinstance(examined, _WholeFile):
            yield examined
            continue
        if first is None:
            first = examined
        else:
            first.audit.absorb(examined.audit)
        if place + 1 == len(items) or items[place + 1].file != item.file:
            yield _WholeFile.of(first.audit, first.sha256, compares=compares)
            first = None


class _Orders:
    """Checks that the rows of each split fit each other, file by file."""

    def __init__(self) -> None:
        self._orders: dict[tuple[str, str | None], tuple[SplitOrder, FileReport]] = {}

    def follow(self, item: _File, orders: Sequence[OrderOfRows], report: FileReport) -> None:
        """Add to the report on a file what is wrong with the order of its rows, after those of earlier files."""
        key = item.folder, item.split
        order = self._orders[key][0] if key in self._orders else SplitOrder()
        self._orders[key] = order, report
        for each in orders:
            report.findings += order.follow(each, item.name)

    def close(self) -> None:
        """Add to the last file of each split what is known once all its files were read."""
        for order, report in self._orders.values():
            report.findings += order.close()


class _Manifest:
    """The manifest of a folder, or of the folder of a file, here or at a URL."""

    def __init__(self, place: str | Path) -> None:
        if is_url(place):
            head, _, last = str(place).rpartition("/")
            self._file = last if Path(last).suffix in suffixes() else ""
            self._stored = RemoteFolder(head if self._file else str(place))
            content = self._stored.read(MANIFEST)
            self.manifest = None if content is None else parse_manifest(content, f"{self._stored}/{MANIFEST}")
            self._is_unfinished = self._stored.read(MARKER) is not None
            self._folder = str(head if self._file else place)
            self._sha256_of: Callable[[str], str | None] = self._fetched_hash
        else:
            path = Path(place)
            folder = path if path.is_dir() else path.parent
            self._file = "" if path.is_dir() else path.name
            self.manifest, self._is_unfinished = read_manifest(folder), is_unfinished(folder)
            self._folder = str(folder)
            self._sha256_of = hash_in(folder)

    @property
    def is_folder(self) -> bool:
        """Whether a whole folder is held against it."""
        return not self._file

    def problems(self, hashes: Mapping[tuple[str, str], str]) -> Iterator[str]:
        """Yield how the files differ from it.

        Args:
            hashes: The files that were read, by folder and name; with the hashes of those in datasets.
        """
        if self._is_unfinished:
            yield "the folder is unfinished: the run that wrote it was killed"
        if self.manifest is None:
            return

        def sha256_of(name: str) -> str | None:
            return hashes.get((self._folder, name)) or self._sha256_of(name)

        if self._file:
            problem = file_problem(self._file, self.manifest, sha256_of) if self._file in self.manifest["files"] else ""
            yield from [problem] if problem else []
            return
        names = [name for folder, name in hashes if folder == self._folder]
        yield from manifest_problems(self.manifest, names, sha256_of)

    def _fetched_hash(self, name: str) -> str | None:
        content = self._stored.read(name)
        return None if content is None else hashlib.sha256(content).hexdigest()


def _manifest_finding(problem: str) -> Finding:
    return Finding(file=MANIFEST, kind=DIFFERS, field="file", found=problem, expected="the file as it was written")


def write_fixed(
    out: Path, files: Sequence[Path], reports: Sequence[FileReport], ambiguous: str = MARK, option: str = "--fix"
) -> None:
    """Write corrected copies of all files, or none; in folders as they were if there are several.

    Args:
        out: A new folder.
        files: What was audited.
        reports: What was found in each.
        ambiguous: What to do with rows from which no answer follows.
        option: What the folder is called in messages.
    """
    parents = {file.resolve().parent for file in files}
    root = os.path.commonpath(parents)
    with whole_folder(out, None, option) as folder:
        for file, report in zip(files, reports, strict=True):
            into = folder / file.resolve().parent.relative_to(root)
            into.mkdir(exist_ok=True, parents=True)
            for name, write in fixes(file, report, ambiguous).items():
                if (into / name).exists():
                    raise DataError(f"two files are called {name}; audit them apart, or rename one.")
                with (into / name).open("wb") as target:
                    write(target)
        (folder / ERRATA).write_text(errata_csv(reports), encoding="utf-8")


def errata_csv(reports: Sequence[FileReport]) -> str:
    """Return all findings as CSV, one per line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "row", "id", "field", "old", "new", "kind", "reason", "reading"])
    for report in reports:
        for each in report.findings:
            line = (each.row, each.id, each.field, each.found, each.expected, each.kind, each.reason, each.reading)
            writer.writerow([each.file, *line])
    return text.getvalue()
