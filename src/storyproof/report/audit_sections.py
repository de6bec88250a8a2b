"""Shortcuts, overlaps and measures of language as tables, and an audit with all of them as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.audits.contamination import find_overlaps
from storyproof.audits.examination import find_files, names_of
from storyproof.audits.language import LanguageMeasures, measure_language
from storyproof.audits.overlaps import CONFLICT, OverlapReport
from storyproof.audits.shortcuts import ShortcutReport, find_shortcuts
from storyproof.datasets.examples import iterate_examples, read_examples
from storyproof.datasets.reading import Source, find_sources
from storyproof.errors import DataError, StoryproofError
from storyproof.example import Example
from storyproof.findings import AuditReport, Finding
from storyproof.formats.format import formats
from storyproof.report.audit_page import Section, audit_page, listed

_MOST_TRAINING = 3000  # stories that probes learn from; more change little and take long


def shortcuts_of(paths: Sequence[Path]) -> tuple[dict[str, Any], RenderableType]:
    """Return the shortcuts in the data at some paths: plain values, and a table.

    Training data, if there are any among them, are learned from; the others are answered.
    """
    sources = _sources(paths)
    train = [source for source in sources if source.split == "train"]
    test = [source for source in sources if source.split != "train"]
    if not test:
        train, test = [], train
    learned = [each for source in train for each in read_examples(source, max_stories=_MOST_TRAINING)]
    answered = [each for source in test for each in read_examples(source)]
    report = find_shortcuts(learned or None, answered)
    return report.as_dict(), _shortcut_view(report)


def overlaps_of(paths: Sequence[Path], against: Path | None) -> tuple[dict[str, Any], RenderableType]:
    """Return duplicates within and between the splits at some paths, and with another dataset."""
    report = find_overlaps(_sources(paths), find_sources(against) if against is not None else None)
    return report.as_dict(), _overlap_view(report)


def language_of(paths: Sequence[Path]) -> tuple[dict[str, Any], RenderableType]:
    """Return how varied the language of each file or split at some paths is."""
    found = {source.name: measure_language(iterate_examples(source)) for source in _sources(paths)}
    return {name: each.as_dict() for name, each in found.items()}, _language_view(found)


def page_of(report: AuditReport, paths: Sequence[Path], more: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page of an audit; the rows that it lists are read again."""
    audited = find_files(paths)
    files = dict(zip(names_of(audited), audited, strict=True))
    wanted: dict[str, list[Finding]] = {}
    for each in listed(report):
        wanted.setdefault(each.file, []).append(each)
    examples: dict[tuple[str, int], list[Example]] = {}
    for name, findings in wanted.items():
        rows = _rows(files[_story_file(name, files)], {each.row for each in findings})
        examples |= {(name, row): found for row, found in rows.items()}
    sections = [section for name, found in more.items() for section in _sections(name, found)]
    names = ", ".join(files)
    title = f"Audit of {names if len(names) < 80 else f'{len(files)} files'}"
    return audit_page(report, examples, title=title, sections=sections)


def _story_file(name: str, files: Mapping[str, Path]) -> str:
    """Return the file with the stories of a file that findings name: itself, or the one that it belongs to."""
    if name in files:
        return name
    stem = name.removesuffix(Path(name).suffix)
    owners = [f"{stem}{suffix}" for each in formats() if Path(name).suffix in each.beside for suffix in each.suffixes]
    return next(owner for owner in owners if owner in files)


def _sources(paths: Sequence[Path]) -> list[Source]:
    return [source for path in paths for source in find_sources(path)]


def _rows(file: Path, wanted: set[int]) -> dict[int, list[Example]]:
    """Read the wanted rows of a file, each after the other questions of its story; none if they cannot be read."""
    found: dict[int, list[Example]] = {}
    try:
        (source,) = find_sources(file)
        numbered = enumerate(iterate_examples(source))
        for _, group in groupby(numbered, key=lambda each: each[1].story_id):
            story = list(group)
            for row, example in story:
                if row in wanted:
                    found[row] = [*(other for number, other in story if number != row), example]
    except StoryproofError:
        return {}
    return found


def _shortcut_view(report: ShortcutReport) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("answered by", "average", "95%", "joint", "95%"):
        table.add_column(heading, justify="left" if heading == "answered by" else "right")
    table.add_row("chance", _percent(report.chance), "", _percent(report.joint_chance), "")
    forced = report.forced
    table.add_row("what the structure forces", _percent(forced.accuracy), "", _percent(forced.joint_accuracy), "")
    for row in report.rows:
        mark = " *" if row.beats_structure or row.jointly_beats_structure else ""
        cells = [Text(f"{row.group}: {row.name}{mark}")]
        for share in (row.accuracy, row.joint_accuracy):
            cells += [Text(_percent(share.value)), Text(f"{_percent(share.low)} to {_percent(share.high)}")]
        table.add_row(*cells)
    return Group(table, Text("* beats what the structure forces", style="dim"), Text(report.verdict))


_MEASURES = {
    "stories": "stories",
    "sentences": "sentences",
    "distinct_sentences": "different sentences",
    "word_types": "different words",
    "trigrams": "different 3-grams in 200,000 words",
    "compression": "compression by zlib",
    "unique_stories": "stories that occur once",
    "self_bleu": "self-BLEU-4",
}


def _language_view(found: Mapping[str, LanguageMeasures]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("names masked")
    for name in found:
        table.add_column(Text(name), justify="right")
    for row in _language_rows({name: each.as_dict() for name, each in found.items()}):
        table.add_row(*(Text(str(cell)) for cell in row.values()))
    note = "More is more varied, but for compression and self-BLEU; all measures depend on the number of stories."
    return Group(table, Text(note, style="dim"))


def _language_rows(found: Mapping[str, Any]) -> Iterable[dict[str, object]]:
    for key, title in _MEASURES.items():
        row: dict[str, object] = {"names masked": title}
        for name, measures in found.items():
            value = measures[key]
            share = f"{_percent(value)}%" if key == "unique_stories" else ""
            row[name] = share or (f"{value:,}" if isinstance(value, int) else f"{value:.2f}")
        yield row


def _overlap_view(report: OverlapReport) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("the same", "in", "and in", "pairs", "affected"):
        table.add_column(heading, justify="right" if heading in ("pairs", "affected") else "left")
    for each in report.overlaps:
        affected = f"{each.second_affected:,} of {each.second_total:,} ({_percent(each.share)}%)"
        table.add_row(each.kind, Text(each.first), Text(each.second), f"{each.pairs:,}", affected)
    conflicts = [
        Text(
            f"conflict: {one.first} of {each.first} says {one.first_answer}, "
            f"{one.second} of {each.second} says {one.second_answer}"
        )
        for each, one in report.conflicts()
    ]
    return Group(table, *conflicts)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _sections(name: str, found: Mapping[str, Any]) -> Iterable[Section]:
    """Yield results as plain rows for the page, under their headings."""
    if name == "overlaps":
        names = ("kind", "first", "second", "pairs", "share")
        yield "Overlaps", [{key: each[key] for key in names} for each in found["overlaps"]]
        if conflicts := list(_conflict_rows(found)):
            yield "Conflicting labels", conflicts
    elif name == "shortcuts":
        yield "Shortcuts", list(_shortcut_rows(found))
    elif name == "language":
        yield "Language", list(_language_rows(found))
    else:
        raise DataError(f"there is no section '{name}'.")


def _conflict_rows(found: Mapping[str, Any]) -> Iterable[dict[str, object]]:
    for each in found["overlaps"]:
        for one in each["examples"] if each["kind"] == CONFLICT else ():
            yield {
                "in": each["first"],
                "row": one["first"],
                "says": one["first_answer"],
                "and in": each["second"],
                "the same row": one["second"],
                "says otherwise": one["second_answer"],
            }


def _shortcut_rows(found: Mapping[str, Any]) -> Iterable[dict[str, object]]:
    forced = found["forced"]
    for name, average, joint in (
        ("chance", found["chance"], found["joint_chance"]),
        ("what the structure forces", forced["accuracy"], forced["joint_accuracy"]),
        *((row["name"], row["accuracy"]["value"], row["joint_accuracy"]["value"]) for row in found["rows"]),
    ):
        yield {"answered by": name, "average": f"{100 * average:.1f}", "joint": f"{100 * joint:.1f}"}
