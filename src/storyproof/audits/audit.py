"""The verb `audit`: what is wrong in published files, row by row and why, and the files without it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from storyproof.catalog import names
from storyproof.datasets.folders import whole_folder
from storyproof.datasets.protection import refuse_overlap
from storyproof.datasets.reading import ERRATA, is_data
from storyproof.errata import AuditReport, FileReport
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.belief.audit import files as tom_files
from storyproof.families.belief.audit import fixes as tom_fixes
from storyproof.families.kinship.audit import clutrr_files, clutrr_fixes
from storyproof.families.kinship.audit import files as kinship_files
from storyproof.families.kinship.audit import fixes as kinship_fixes
from storyproof.formats.format import format_of, load_format, suffixes
from storyproof.formats.patches import Write

AUTO, CLUTRR = "auto", "clutrr"
MARK, DROP = MANNERS = ("mark", "drop")


def audit(
    paths: str | Path | Sequence[str | Path],
    *,
    format: str = AUTO,
    readings: Sequence[str] = (),
    fix: str | Path | None = None,
    ambiguous: str = MARK,
    progress: Callable[[int], None] = lambda files: None,
) -> AuditReport:
    """Audit published files.

    Args:
        paths: Files, or folders of files: ToMi and ToM-bAbI text, CLUTRR CSV, JSON lines, JSON lists, Parquet.
        format: The name of a format, see `format_names`; auto recognises it.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        fix: Write the corrected files there, with `errata.csv`.
        ambiguous: What to do there with kinship rows from which no answer follows: mark or drop them.
        progress: Told each time that a file is done.

    Raises:
        DataError: If a file cannot be read, or the corrected ones cannot be written.
        ConfigError: If there is no such format or reading.
    """
    if format not in format_names():
        raise UnknownNameError("format", format, format_names())
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    paths = [paths] if isinstance(paths, str | Path) else paths
    files = find_files(paths)
    refuse_overlap(paths, fix, "--fix")
    reports = []
    for file in files:
        reports.append(_audit_file(file, format, readings))
        progress(1)
    labels = labels_of(files)
    if fix is not None:
        _write_fixed(Path(fix), files, reports, labels, ambiguous)
    return AuditReport([_relabelled(*each) for each in zip(reports, labels, strict=True)])


def format_names() -> tuple[str, ...]:
    """Return what `format` can be: auto, or the name of a format in the catalog."""
    return (AUTO, *names("format"))


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """Find the files to audit.

    Raises:
        DataError: If there is nothing to audit at a path, or two files have the same name.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if is_data(file))
            if not inside:
                raise DataError(f"{path} holds nothing to audit; expected files ending in {', '.join(suffixes())}.")
            found += inside
        elif path.is_file():
            format_of(path)  # raises if its suffix is unknown
            found.append(path)
        else:
            raise DataError(f"{path} does not exist; give a file or a folder of files.")
    if not found:
        raise DataError("no files were given; name at least one.")
    return list(dict.fromkeys(found))


def labels_of(files: Sequence[Path]) -> list[str]:
    """Call files by their names, with as many folders before them as it takes to tell all of them apart."""
    wholes = [file.absolute().parts for file in files]
    labels = []
    for parts in wholes:
        depth = 1
        while depth < len(parts) and sum(other[-depth:] == parts[-depth:] for other in set(wholes)) > 1:
            depth += 1
        labels.append("/".join(parts[-depth:]))
    return labels


def _relabelled(report: FileReport, label: str) -> FileReport:
    """Give a report in which the file, and what lies beside it, are called by a label."""
    if report.file == label:
        return report
    folder = label.removesuffix(report.file)
    errata = [replace(each, file=folder + each.file) for each in report.errata]
    return replace(report, file=label, errata=errata)


def _audit_file(path: Path, format: str, readings: Sequence[str]) -> FileReport:
    form = format_of(path) if format in (AUTO, CLUTRR) else load_format(format)
    if form.name == CLUTRR or (format == CLUTRR and form.family):
        return clutrr_files.audit_file(path)
    if kinship_files.holds_kinship(path, form):
        return kinship_files.audit_file(path, form.name)
    if format == CLUTRR:
        raise DataError(f"{path}: found no column 'edges'; expected rows of kinship, as --format clutrr says.")
    return tom_files.audit_file(path, format, readings)


def _fixes(path: Path, report: FileReport, ambiguous: str) -> dict[str, Write]:
    if report.format == CLUTRR:
        return clutrr_fixes.fixes(path, report, ambiguous)
    if kinship_files.is_kinship_report(report):
        return kinship_fixes.fixes(path, report, ambiguous)
    return tom_fixes.fixes(path, report)


def _write_fixed(
    out: Path, files: Sequence[Path], reports: Sequence[FileReport], labels: Sequence[str], ambiguous: str
) -> None:
    """Write all files anew, whole or not at all; folders keep their names if there are several."""
    parents = {file.resolve().parent for file in files}
    with whole_folder(out, force=False, option="--fix") as folder:
        for file, report in zip(files, reports, strict=True):
            into = folder if len(parents) == 1 else folder / file.resolve().parent.name
            into.mkdir(exist_ok=True)
            for name, write in _fixes(file, report, ambiguous).items():
                if (into / name).exists():
                    raise DataError(f"two files are called {name}; audit them apart, or rename one.")
                with (into / name).open("wb") as target:
                    write(target)
        listed = [_relabelled(*each) for each in zip(reports, labels, strict=True)]
        (folder / ERRATA).write_text(errata_csv(listed), encoding="utf-8")


def errata_csv(reports: Sequence[FileReport]) -> str:
    """List all errata, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "row", "id", "field", "old", "new", "kind", "reason", "reading"])
    for report in reports:
        for each in report.errata:
            line = (each.row, each.id, each.field, each.found, each.expected, each.kind, each.reason, each.reading)
            writer.writerow([each.file, *line])
    return text.getvalue()
