"""Shortcuts, overlaps and measures of language as tables, and an audit with all of them as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.audits.audit import by_own_rules
from storyproof.audits.duplicates import CONFLICT, MEANINGS, OverlapReport, StorySource, find_overlaps
from storyproof.audits.language import LanguageMeasures, measure_language
from storyproof.audits.row_pass import RowsOfSource, find_files, names_of, text_examples
from storyproof.audits.shortcuts import ShortcutReport, find_shortcuts
from storyproof.datasets.reading import (
    Source,
    as_example,
    find_sources,
    folders_with_data,
    iterate_examples,
    read_examples,
)
from storyproof.errors import DataError, StoryproofError
from storyproof.example import REQUIRED, Example
from storyproof.findings import AuditReport, Finding
from storyproof.formats.format import PLACE, formats
from storyproof.pictures.svg import element, safe
from storyproof.reports.audit_page import Section, audit_page, listed, share_text
from storyproof.reports.numbers import percent
from storyproof.reports.page import build_table, data_text
from storyproof.shortcuts.word_probes import find_text_shortcuts

Split = TypeVar("Split", bound=StorySource)
_MOST_TRAINING = 3000  # stories that probes learn from; more change little and take long


def shortcuts_of(paths: Sequence[Path], columns: Mapping[str, str] = {}) -> tuple[dict[str, Any], RenderableType]:
    """Return the shortcuts in the data at some paths: plain values, and a table.

    Training data, if there are any among them, are learned from; the others are answered. Data that are not understood
    are answered by their words alone.
    """
    try:
        if columns:
            raise DataError("the columns have other names.")
        learned, answered = _learned_and_answered(_own_sources(paths), _read_whole)
        report = find_shortcuts(learned or None, answered)
    except DataError:
        rows = [RowsOfSource(source, columns) for source in _own_sources(paths)]
        learned, answered = _learned_and_answered(rows, text_examples)
        if not answered:
            raise
        report = find_text_shortcuts(learned or None, answered, seed=0, learned=True)
    return report.as_dict(), _shortcut_view(report)


def _read_whole(source: Source, most_stories: int | None) -> list[Example]:
    return read_examples(source, max_stories=most_stories)


def _learned_and_answered(
    sources: Sequence[Split], read: Callable[[Split, int | None], list[Example]]
) -> tuple[list[Example], list[Example]]:
    """Return the examples of training data, and the others; those of training data if there are no others."""
    train = [source for source in sources if source.split == "train"]
    test = [source for source in sources if source.split != "train"]
    if not test:
        train, test = [], train
    learned = [each for source in train for each in read(source, _MOST_TRAINING)]
    return learned, [each for source in test for each in read(source, None)]


def overlaps_of(
    paths: Sequence[Path], against: Path | None, columns: Mapping[str, str] = {}
) -> tuple[dict[str, Any], RenderableType]:
    """Return duplicates within and between the splits at some paths, and with another dataset."""
    other = _sources([against], columns) if against is not None else None
    report = find_overlaps(_sources(paths, columns), other)
    return report.as_dict(), _overlap_view(report)


def language_of(paths: Sequence[Path]) -> tuple[dict[str, Any], RenderableType]:
    """Return how varied the language of each file or split at some paths is."""
    sources = _own_sources(paths)
    # Without folders, for the page is meant to be shared; files of one name keep as many as tell them apart.
    names = names_of([Path(each.name) for each in sources])
    titles = [
        f"{name} ({each.split})" if names.count(name) > 1 else name for name, each in zip(names, sources, strict=True)
    ]
    measures = {title: measure_language(iterate_examples(each)) for title, each in zip(titles, sources, strict=True)}
    return {name: each.as_dict() for name, each in measures.items()}, _language_view(measures)


def page_of(
    report: AuditReport,
    paths: Sequence[Path],
    more: Mapping[str, Mapping[str, Any]],
    *,
    complete_list: str = "",
) -> str:
    """Return the page of an audit; the rows that it lists are read again.

    Args:
        report: What was found.
        paths: The audited files or folders.
        more: What else was measured: `shortcuts` and `overlaps` as plain values.
        complete_list: The name of a file with all findings, if there is one.
    """
    audited = find_files(folders_with_data(paths)[0])
    files = dict(zip(names_of(audited), audited, strict=True))
    wanted: dict[str, list[Finding]] = {}
    for each in listed(report):
        if each.row < 0:
            continue  # about a file or a folder
        wanted.setdefault(each.file, []).append(each)
    examples: dict[tuple[str, int], list[Example]] = {}
    for name, findings in wanted.items():
        rows = _rows(files[_story_file(name, files)], {each.row for each in findings})
        examples |= {(name, row): results for row, results in rows.items()}
    sections = [section for name, results in more.items() for section in _sections(name, results)]
    names = ", ".join(files)
    title = f"Audit of {names if len(names) < 80 else f'{len(files)} files'}"
    verdict = ". ".join(text for text in (by_own_rules(report), more.get("shortcuts", {}).get("verdict", "")) if text)
    return audit_page(report, examples, title=title, verdict=verdict, sections=sections, complete_list=complete_list)


def _story_file(name: str, files: Mapping[str, Path]) -> str:
    """Return the file with the stories of a file that findings name: itself, or the one that it belongs to."""
    if name in files:
        return name
    stem = name.removesuffix(Path(name).suffix)
    owners = [f"{stem}{suffix}" for each in formats() if Path(name).suffix in each.beside for suffix in each.suffixes]
    return next(owner for owner in owners if owner in files)


def _own_sources(paths: Sequence[Path]) -> list[Source]:
    return [source for path in folders_with_data(paths)[0] for source in find_sources(path)]


def _sources(paths: Sequence[Path], columns: Mapping[str, str]) -> list[StorySource]:
    """Return the data at some paths by split; those of others as an audit reads them."""
    found: list[StorySource] = []
    for source in _own_sources(paths):
        rows = RowsOfSource(source, columns)
        found.append(rows if rows.is_foreign else source)
    return found


def _rows(file: Path, wanted: set[int]) -> dict[int, list[Example]]:
    """Read the wanted rows of a file, each after the other questions of its story; none if they cannot be read."""
    rows: dict[int, list[Example]] = {}
    (source,) = find_sources(file)
    try:
        numbered = enumerate(iterate_examples(source))
        for _, group in groupby(numbered, key=lambda each: each[1].story_id):
            story = list(group)
            for row, example in story:
                if row in wanted:
                    rows[row] = [*(other for number, other in story if number != row), example]
    except StoryproofError:
        return _foreign_rows(source, wanted)
    return rows


def _foreign_rows(source: Source, wanted: set[int]) -> dict[int, list[Example]]:
    """Read the wanted rows of somebody else's file, as far as they are understood."""
    try:
        tables = RowsOfSource(source, {}).tables()
        rows = {row[PLACE]["row"]: row for table in tables for row in table.to_pylist() if row[PLACE]["row"] in wanted}
        return {number: [as_example({name: row[name] for name in REQUIRED})] for number, row in rows.items()}
    except StoryproofError:
        return {}


def _shortcut_view(report: ShortcutReport) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("answered by", "average", "95%", "joint", "95%"):
        table.add_column(heading, justify="left" if heading == "answered by" else "right")
    table.add_row("chance", percent(report.chance), "", percent(report.joint_chance), "")
    forced = report.forced
    table.add_row("the structural baseline", percent(forced.accuracy), "", percent(forced.joint_accuracy), "")
    for row in report.rows:
        mark = " *" if row.beats_structure or row.jointly_beats_structure else ""
        cells = [Text(f"{row.group}: {row.name}{mark}")]
        for share in (row.accuracy, row.joint_accuracy):
            cells += [Text(percent(share.value)), Text(f"{percent(share.low)} to {percent(share.high)}")]
        table.add_row(*cells)
    return Group(table, Text("* beats the structural baseline", style="dim"), Text(report.verdict))


_MEASURES = {
    "stories": "stories",
    "sentences": "sentences",
    "distinct_sentences": "different sentences",
    "word_types": "different words",
    "trigrams": "different 3-grams in 200,000 words",
    "compression": "compression by zlib",
    "unique_stories": "stories that occur once",
    "self_bleu": "self-BLEU-4",
    "commonest_words": "most frequent three words",
    "commonest_share": "stories that have them",
}


def _language_view(measures: Mapping[str, LanguageMeasures]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("names masked")
    for name in measures:
        table.add_column(Text(name), justify="right")
    for row in _language_rows({name: each.as_dict() for name, each in measures.items()}):
        table.add_row(*(Text(str(cell)) for cell in row.values()))
    note = (
        "More is more varied, but for compression, self-BLEU and frequent words; "
        "all measures depend on the number of stories."
    )
    return Group(table, Text(note, style="dim"))


def _language_rows(found: Mapping[str, Any]) -> Iterable[dict[str, object]]:
    for key, title in _MEASURES.items():
        row: dict[str, object] = {"names masked": title}
        for name, measures in found.items():
            value = measures[key]
            share = f"{percent(value)}%" if key in ("unique_stories", "commonest_share") else ""
            row[name] = share or (
                f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
            )
        yield row


def _language_table(measures: Mapping[str, Any]) -> str:
    """Return the measures of language, one column per file or split."""
    rows = [[data_text(str(cell)) for cell in row.values()] for row in _language_rows(measures)]
    return build_table(["names masked", *map(data_text, measures)], rows, label="Language", style="full")


def _overlap_view(report: OverlapReport) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("the same", "in", "and in", "pairs", "affected"):
        table.add_column(heading, justify="right" if heading in ("pairs", "affected") else "left")
    for each in report.overlaps:
        affected = f"{each.second_affected:,} of {each.second_total:,} ({percent(each.share)}%)"
        table.add_row(each.kind, Text(each.first), Text(each.second), f"{each.pairs:,}", affected)
    conflicts = [
        Text(
            f"conflict: {one.first} of {each.first} says {one.first_answer}, "
            f"{one.second} of {each.second} says {one.second_answer}"
        )
        for each, one in report.conflicts()
    ]
    return Group(table, *conflicts)


def _sections(name: str, results: Mapping[str, Any]) -> Iterable[Section]:
    """Yield results as sections of the page."""
    if name == "overlaps":
        yield Section("Overlaps", _overlap_table(results))
        if conflicts := list(_conflict_rows(results)):
            heads = ["in", "row", "says", "and in", "the same row", "says otherwise"]
            yield Section("Conflicting labels", build_table(heads, conflicts, label="Conflicting labels"))
    elif name == "shortcuts":
        yield Section("Shortcuts", _shortcut_table(results))
    elif name == "language":
        yield Section("Language", _language_table(results))
    else:
        raise DataError(f"there is no section '{name}'.")


def _overlap_table(overlaps: Mapping[str, Any]) -> str:
    """Return what was found twice, and what was not found."""
    rows: list[list[str]] = []
    none: dict[str, list[str]] = {}
    for each in overlaps["overlaps"]:
        meaning = MEANINGS[each["kind"]]
        if not each["pairs"]:
            within = each["first"] == each["second"]
            none.setdefault(meaning, []).append(each["first"] if within else f"{each['first']} and {each['second']}")
            continue
        affected, total = each["second_affected"], each["second_total"]
        places = [data_text(each["first"]), data_text(each["second"])]
        counts = [f"{each['pairs']:,}", f"{affected:,} of {total:,}", safe(share_text(affected, total))]
        rows.append([safe(meaning), *places, *counts])
    heads = ["found twice", "in", "and in", "pairs", "affected there", "percent"]
    table = build_table(heads, rows, label="Overlaps", style="full") if rows else ""
    absent = "; ".join(f"{meaning} ({', '.join(places)})" for meaning, places in none.items())
    return table + (element("p", safe(f"Not found: {absent}."), class_="note") if absent else "")


def _conflict_rows(overlaps: Mapping[str, Any]) -> Iterable[list[str]]:
    for each in overlaps["overlaps"]:
        for one in each["examples"] if each["kind"] == CONFLICT else ():
            first = (each["first"], one["first"], one["first_answer"])
            yield [data_text(str(text)) for text in (*first, each["second"], one["second"], one["second_answer"])]


def _shortcut_table(shortcuts: Mapping[str, Any]) -> str:
    """Return how well readers who miss something answer, with what chance and structure give."""
    forced = shortcuts["forced"]
    rows = [
        ["Chance: guesses among the candidates", percent(shortcuts["chance"]), percent(shortcuts["joint_chance"])],
        [
            "The structural baseline" + element("div", safe(forced["about"]), class_="meaning"),
            percent(forced["accuracy"]),
            percent(forced["joint_accuracy"]),
        ],
    ]
    for row in shortcuts["rows"]:
        beats = row["beats_structure"] or row["jointly_beats_structure"]
        style = "quiet-bar" if not row["shortcut"] else "all" if beats else "usual"
        mark = "" if not beats else "above structure" if row["shortcut"] else "above structure, misses nothing"
        name = safe(f"A reader who {row['reader'].rstrip(',')}") + (
            element("span", mark, class_="badge") if mark else ""
        )
        name += element("div", safe(f"{row['group']}: {row['name'].replace('_', ' ')}"), class_="meaning")
        name += _score_bar(row["accuracy"], forced["accuracy"], style)
        rows.append([name, _share(row["accuracy"]), _share(row["joint_accuracy"])])
    source = f"learned from {shortcuts['training_questions']:,} questions"
    source += " of the training data" if shortcuts["trained_on"] == "train" else " of the same data, in folds"
    note = (
        f"Right answers in percent, with 95% intervals over stories, of {shortcuts['questions']:,} questions about "
        f"{shortcuts['stories']:,} stories; {source}. The bars show the average; the line across them is "
        "the score of a reader who sees only the type of the question. Readers marked “above structure” gain from a "
        "shortcut."
    )
    heads = ["answered by", "average", "joint"]
    # With one question per story, a whole story is right when its question is.
    shown = 3 if shortcuts["questions"] > shortcuts["stories"] else 2
    table = build_table(heads[:shown], [row[:shown] for row in rows], label="Shortcuts", style="full")
    return element("p", safe(note), class_="note") + table


def _share(share: Mapping[str, float]) -> str:
    interval = f"({percent(share['low'])}–{percent(share['high'])})"
    return f"{percent(share['value'])} {element('span', interval, class_='interval')}"


def _score_bar(share: Mapping[str, float], level: float, style: str) -> str:
    """Return a bar of percents with its interval, and a line across it."""
    parts = [
        ("0%", 100 * share["value"], "15%", "70%", style),
        (f"{100 * share['low']:.2f}%", 100 * (share["high"] - share["low"]), "42%", "16%", "range"),
    ]
    bars = element("rect", width="100%", height="100%", class_="ground")
    bars += "".join(
        element("rect", x=x, width=f"{width:.2f}%", y=y, height=height, class_=each)
        for x, width, y, height, each in parts
    )
    bars += element("rect", x=f"{100 * level:.2f}%", width=2, height="100%", class_="level")
    return f'<svg class="bar" aria-hidden="true">{bars}</svg>'
