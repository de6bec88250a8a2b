"""The verb `audit`: what is wrong with data, row by row and why, and corrected files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from storyproof.audits.apart import AuditFile
from storyproof.audits.examination import AUTO, find_files, format_names, names_of
from storyproof.audits.fixes import MANNERS, MARK, fixes
from storyproof.datasets.folders import whole_folder
from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.protection import refuse_overlap
from storyproof.datasets.reading import ERRATA, DataFile, find_sources
from storyproof.engines import Engine, in_order, make_engine
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.findings import AuditReport, FileReport
from storyproof.storage import is_url


@takes_rows("paths", or_paths=True)
def audit(
    paths: Data | Sequence[str | Path],
    *,
    format: str = AUTO,
    readings: Sequence[str] = (),
    fix: str | Path | None = None,
    ambiguous: str = MARK,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda files: None,
) -> AuditReport:
    """Audit files: find all that is wrong with their rows, and why.

    Args:
        paths: Files, or folders of files, in any format of the catalog; also at URLs such as `s3://bucket/folder`; or
            rows in memory, as for `verify`.
        format: The name of a format, see `format_names`; auto recognises it.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        fix: Write the corrected files there, with `errata.csv`.
        ambiguous: What to do there with rows from which no answer follows: mark or drop them.
        engine: Where files are read, see `storyproof.engines`; by default one after the other, here.
        progress: Called with 1 each time that a file is done.

    Raises:
        DataError: If a file cannot be read, or the corrected ones cannot be written.
        ConfigError: If there is no such format or reading.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data", format="jsonl")
        >>> found = storyproof.audit("data")
        >>> found.clean, found.totals["questions"]
        (True, 180)
    """
    if format not in format_names():
        raise UnknownNameError("format", format, format_names())
    if ambiguous not in MANNERS:
        raise UnknownNameError("way with ambiguous rows", ambiguous, MANNERS)
    paths = [paths] if isinstance(paths, str | Path) else paths
    if any(map(is_url, paths)) and fix is not None:
        raise ConfigError("files at URLs can be audited, but not fixed; copy them here first, or leave out --fix.")
    local = [path for path in paths if not is_url(path)]
    files = find_files(local) if local or not paths else []
    fetched = [file for path in paths if is_url(path) for source in find_sources(path) for file in source.files]
    refuse_overlap(paths, fix, "--fix")
    items = [(DataFile(str(file)), name) for file, name in zip(files, names_of(files), strict=True)]
    items += [(file, file.name) for file in fetched]
    reports = []
    with make_engine() if engine is None else nullcontext(engine) as entered:
        for report in in_order(entered, AuditFile(format, tuple(readings)), items):
            reports.append(report)
            progress(1)
    if fix is not None:
        _write_fixed(Path(fix), files, reports, ambiguous)
    return AuditReport(reports)


def audit_file(path: str | Path, format: str = AUTO, readings: Sequence[str] = (), *, name: str = "") -> FileReport:
    """Audit one file.

    Args:
        path: The file.
        format: The name of a format; auto recognises it.
        readings: Only these readings make a wrong label rule-dependent; by default all.
        name: What findings call it; by default its name.

    Raises:
        DataError: If the file cannot be read; the message says where, what was found and what was expected.
        UnknownNameError: If there is no such format or reading.
    """
    return AuditFile(format, tuple(readings))((DataFile(str(path)), name))


def _write_fixed(out: Path, files: Sequence[Path], reports: Sequence[FileReport], ambiguous: str) -> None:
    """Write corrected copies of all files, or none; folders keep their names if there are several."""
    parents = {file.resolve().parent for file in files}
    with whole_folder(out, force=False, option="--fix") as folder:
        for file, report in zip(files, reports, strict=True):
            into = folder if len(parents) == 1 else folder / file.resolve().parent.name
            into.mkdir(exist_ok=True)
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
