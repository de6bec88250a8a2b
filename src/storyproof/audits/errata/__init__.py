"""Errata: corrections of published sets that can be kept and passed on without a word of the sets' texts.

A file of errata is JSON lines. The first line is about the whole: dataset, version (the SHA-256 of the file that was
judged), how many rows it has, the reading by which labels are corrected, and who confirmed them. Every other line is
one correction. A row is named by a hash of its story and question, which is the same in every copy and format of the
set, whatever the order of its rows. The files beside this module are those of the sets in docs/field.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.audits.audit import audited_files, write_fixed
from storyproof.audits.row_pass import RowSource, choose_format
from storyproof.datasets.manifest import file_sha256
from storyproof.errors import ConfigError, DataError, quoted
from storyproof.families.file_judge import Subject
from storyproof.findings import KNOWN, AuditReport, FileReport, Finding
from storyproof.formats.columns import chosen_as, folded, row_hash
from storyproof.formats.format import PLACE, numbers_of
from storyproof.formats.records import RECORD
from storyproof.io.archives import unpacked
from storyproof.io.bounded_input import read_text
from storyproof.io.storage import is_url

SCHEMA = 1
CONFIRMED = f"oracle and checker of storyproof {__version__}"


@dataclass(frozen=True, slots=True)
class ErrataHeader:
    """What a file of errata is about.

    Attributes:
        schema: The version of this form.
        dataset: The set, as its owner calls it.
        version: The SHA-256 of the file that was judged.
        rows: How many rows that file has.
        judged: How many of them were understood, and so judged.
        part: Which part of the published set the file is, such as "half"; empty for all of it.
        reading: The reading by which labels are corrected.
        confirmed_by: Who confirmed the corrections.
    """

    schema: int
    dataset: str
    version: str
    rows: int
    judged: int
    part: str
    reading: str
    confirmed_by: str


@dataclass(frozen=True, slots=True)
class Erratum:
    """One correction.

    Attributes:
        row: The hash of the row's story and question.
        field: Which of its columns is wrong.
        published: What the file says there.
        correct: What is right; empty if nothing is, or if that depends on the reading and the set states none.
        reading: Another reading under which what was published is right; empty if there is none.
        reason: Why, in a few words.
    """

    row: str
    field: str
    published: str
    correct: str
    reading: str
    reason: str


@dataclass(frozen=True, slots=True)
class Errata:
    """The corrections of one set."""

    header: ErrataHeader
    entries: Sequence[Erratum]

    def write(self, path: Path) -> None:
        """Write them as JSON lines."""
        lines = [asdict(self.header), *map(asdict, self.entries)]
        path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines), encoding="utf-8")


def read_errata(path: str | Path) -> Errata:
    """Read a file of errata.

    Raises:
        DataError: If it is none.
    """
    lines = read_text(Path(path)).splitlines()
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        kind = ErrataHeader if number == 1 else Erratum
        try:
            values = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: not valid JSON ({error}); expected errata.") from error
        expected = {each.name: each.type for each in fields(kind)}
        if not isinstance(values, dict) or set(values) != set(expected):
            named = ", ".join(expected)
            raise DataError(f"{path}, line {number}: found {quoted(values)}; expected an object with {named}.")
        if wrong := [name for name, kind in expected.items() if type(values[name]).__name__ != kind]:
            name = wrong[0]
            raise DataError(f"{path}, line {number}: '{name}' is {quoted(values[name])}; expected {expected[name]}.")
        found.append(values)
    if not found:
        raise DataError(f"{path} is empty; expected errata.")
    if found[0]["schema"] != SCHEMA:
        raise DataError(f"{path}: errata of schema {found[0]['schema']}; expected {SCHEMA}. Update storyproof.")
    return Errata(ErrataHeader(**found[0]), [Erratum(**each) for each in found[1:]])


def errata_of(path: Path, report: FileReport, dataset: str = "", part: str = "") -> Errata:
    """Return the corrections of the answers of a file that was audited.

    Args:
        path: The file.
        report: What an audit found in it.
        dataset: What its owner calls it; by default the published set that it was recognised as, else its name.
        part: Which part of the set it is.
    """
    answers = {row: (named, answer) for row, named, answer, _ in _rows(_subject(path))}
    entries = []
    for each in report.findings:
        if each.row < 0 or not each.asked or each.row not in answers or not each.is_claim:
            continue
        named, answer = answers[each.row]
        if folded(each.found) == folded(answer) or each.rewrite is not None:
            reason = "right only under another reading" if each.reading else "right under no reading"
            correct = each.expected
            if each.reading and not report.rules:  # nothing says which reading is meant
                correct, reason = "", "right only under this reading"
            entries.append(Erratum(named, "answer", answer, correct, each.reading, reason))
    reading = report.rules[0] if report.rules else "default"
    about = ErrataHeader(
        SCHEMA,
        dataset or report.published or path.name,
        file_sha256(path),
        report.questions,
        report.totals["judged"],
        part,
        reading,
        CONFIRMED,
    )
    return Errata(about, entries)


def write_errata_of(report: AuditReport, files: Sequence[Path], folder: Path) -> None:
    """Write the errata of audited files to a folder, one file each.

    Args:
        report: What was found.
        files: The files, in the order of the report.
        folder: Where to write; it may be there already, as errata of several sets are kept side by side.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file, each in zip(files, report.files, strict=True):
        name = re.sub(r"[^\w.-]+", "-", file.stem).strip("-")
        errata_of(file, each).write(folder / f"{name}.jsonl")


def known_errata() -> list[Errata]:
    """Return the errata that come with storyproof."""
    return [read_errata(path) for path in sorted(Path(__file__).parent.glob("*.jsonl"))]


def lookup_errata(paths: str | Path | Sequence[str | Path], errata: Sequence[str | Path] = ()) -> AuditReport:
    """Look up which labels of files are known to be wrong, without deriving anything.

    Args:
        paths: Files, or folders with files at any depth, in any format that `audit` reads.
        errata: Files of errata; by default those that come with storyproof.

    Raises:
        DataError: If a file cannot be read.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=10, seed=7, out="data", format="jsonl")
        >>> storyproof.lookup_errata("data/test.jsonl").files[0].totals["known_errata"]
        0
    """
    with _files_to_look_up(paths) as files:
        return _looked_up(files, errata)


def apply_errata(
    paths: str | Path | Sequence[str | Path], out: str | Path, errata: Sequence[str | Path] = ()
) -> AuditReport:
    """Write copies of files in which the labels that are known to be wrong are corrected.

    Args:
        paths: Files, or folders with files at any depth, in any format that `audit` reads.
        out: A new folder for the copies, and for `errata.csv`, which lists what was changed.
        errata: Files of errata; by default those that come with storyproof.

    Raises:
        DataError: If a file cannot be read, or the copies cannot be written.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=10, seed=7, out="data", format="jsonl")
        >>> storyproof.apply_errata("data/test.jsonl", "corrected").ok
        True
    """
    with _files_to_look_up(paths) as files:
        report = _looked_up(files, errata)
        write_fixed(Path(out), files, report.files, option="--out")
        return report


@contextmanager
def _files_to_look_up(paths: str | Path | Sequence[str | Path]) -> Iterator[list[Path]]:
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    if any(map(is_url, paths)):
        raise ConfigError("errata are looked up for files on this machine; copy them here first.")
    with unpacked(paths) as places:
        yield audited_files(places)


def _looked_up(files: Sequence[Path], errata: Sequence[str | Path]) -> AuditReport:
    known = [read_errata(path) for path in errata] or known_errata()
    return AuditReport([look_up(file, known) for file in files])


def look_up(path: Path, errata: Sequence[Errata]) -> FileReport:
    """Return the corrections that are known of a file's rows, without deriving anything.

    Args:
        path: The file.
        errata: The corrections of some sets.

    Raises:
        DataError: If the file cannot be read.
    """
    subject = _subject(path)
    known = {each.row: (one.header, each) for one in errata for each in one.entries}
    report = FileReport(subject.name, subject.format.name)
    changed = records = 0
    for row, named, answer, place in _rows(subject):
        report.questions += 1
        records = max(records, place["record"] + 1)
        if named not in known:
            continue
        header, each = known[named]
        if folded(answer) != folded(each.published):
            changed += 1  # somebody has corrected it, or it is another edition
            continue
        finding = Finding(
            file=subject.name,
            row=row,
            line=place["line"],
            kind=KNOWN,
            field=place["at"] or "answer",
            found=answer,
            expected=each.correct,
            reading=each.reading,
            reason=f"{each.reason} ({header.dataset}; {header.confirmed_by})",
            asked="answer",
            fix=place["at"] if each.correct else "",
        )
        if finding.fix:
            right = chosen_as(each.correct, place["written"], place["choices"])
            finding = _rewritten(finding, place["written"], right)
            report.records[row] = place["record"]
        report.findings.append(finding)
    report.totals = {
        "rows": report.questions,
        "known_errata": len(report.findings),
        "other_answers": changed,
        "records": records,
    }
    return report


def _rewritten(finding: Finding, written: Any, right: Any) -> Finding:
    if right is None:
        return replace(finding, fix="")
    return replace(finding, rewrite=(written, right))


def _subject(path: Path) -> Subject:
    form, _ = choose_format(path)
    return Subject(path, form, path.name)


def _rows(subject: Subject) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Yield number, hash, answer and place of each row of a file."""
    for table in RowSource(subject).tables():
        texts = [table.column(name).to_pylist() for name in ("story", "question", "answer")]
        places = table.column(PLACE).to_pylist()
        records = table.column(RECORD).to_pylist() if RECORD in table.column_names else [{}] * table.num_rows
        rows = zip(numbers_of(table)[0], places, records, *texts, strict=True)
        for number, place, about, story, question, answer in rows:
            choices = tuple(zip(about.get("labels") or (), about.get("choices") or (), strict=True))
            written = json.loads(about["written"]) if about.get("written") else answer
            of_record = about.get("number") is not None
            at = place["answer"] or ("" if of_record else "answer")  # empty if it cannot be corrected there
            where = {"line": place["line"], "at": at, "choices": choices, "written": written}
            where["record"] = about["number"] if of_record else number
            yield number, about.get("digest") or row_hash(story, question), answer or "", where
