"""Theory-of-mind files without what was wrong: edited in place, so that all else stays byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from storyproof.datasets.chunks import story_starts
from storyproof.errata import (
    IMPOSSIBLE_STORY,
    STRUCTURAL,
    Erratum,
    FileReport,
)
from storyproof.errors import DataError
from storyproof.families.belief.audit.layout import (
    BY_ROW,
    OBSERVERS,
    TRACE,
    Place,
    places,
    tables,
)
from storyproof.families.belief.events import impossibilities
from storyproof.families.belief.text import parse
from storyproof.formats.inspect_jsonl import MARK, numbered_lines
from storyproof.formats.row_fixes import Changes, Write, contents, rewrite, right_value


def fixed_files(path: Path, report: FileReport) -> dict[str, bytes]:
    """Give what `fixes` writes."""
    return contents(fixes(path, report))


def fixes(path: Path, report: FileReport) -> dict[str, Write]:
    """Say how to write a file, and its trace if it has one, with all errata put right under the default readings.

    Everything else stays as it is, byte by byte; of Parquet, value by value. Where nothing is right the question goes:
    all of a story's from where it cannot happen, and those that have no answer; the lines after them in the same story
    are numbered anew. What a file's name says stays.

    Args:
        path: The file.
        report: What was found in it.

    Raises:
        DataError: If the file is not as it was audited.
    """
    path = Path(path)
    if report.format in BY_ROW:
        changes = Changes(gone=_dropped(path, report))
        for each in report.errata:
            if each.expected:
                changes.put(each.row, each.field, right_value(each))
        return {path.name: rewrite(path, report.format, changes)}
    numbers, gone = _removed(path, report)
    edits: dict[str, dict[int, list[Erratum]]] = {}
    for each in report.errata:
        if each.line and (each.expected or each.kind == OBSERVERS):
            edits.setdefault(each.file, {}).setdefault(each.line, []).append(each)
    beside = path.with_suffix(".trace")
    found: dict[str, Write] = {
        path.name: lambda file: file.writelines(_rewritten(path, edits.get(path.name, {}), numbers, _edit_text))
    }
    if beside.exists():
        found[beside.name] = lambda file: file.writelines(
            _rewritten(beside, edits.get(beside.name, {}), gone, _edit_trace)
        )
    return found


def _removed(path: Path, report: FileReport) -> tuple[dict[int, int], dict[int, int]]:
    """Say which lines of a file and of its trace get another number, or 0 if they go."""
    dropped = _dropped(path, report)
    if not dropped:
        return {}, {}
    try:
        found = list(places(path))
        return _renumbered(found, dropped), {found[row].trace: 0 for row in dropped}
    except (ValueError, IndexError) as error:
        raise DataError(f"{path} has other lines ({error}); expected it as it was audited.") from error


def _dropped(path: Path, report: FileReport) -> set[int]:
    """Give the rows in which nothing is right."""
    gone = {each.row for each in report.errata if each.kind == STRUCTURAL and not each.expected}
    since = {each.row for each in report.errata if each.kind == IMPOSSIBLE_STORY}
    row, going = 0, False
    for table in tables(path, report.format) if since else ():
        starts = set((story_starts(table) + row).tolist())
        for story in table.column("story").to_pylist():
            going = row in since or (going and row not in starts)
            if going and impossibilities(parse(story)):
                gone.add(row)
            row += 1
    return gone


def _renumbered(places: Sequence[Place], dropped: set[int]) -> dict[int, int]:
    """Give new numbers to the lines of stories from which questions are dropped; 0 to those that go."""
    numbers: dict[int, int] = {}
    starts = [row for row, place in enumerate(places) if not place.before]
    for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
        rows = range(start, end)
        if dropped.isdisjoint(rows):
            continue
        last = max((row for row in rows if row not in dropped), default=-1)
        number = 0
        for row in rows:
            for line in places[row].lines:
                stays = row <= last and (row not in dropped or line != places[row].lines[-1])
                number += stays
                numbers[line] = number if stays else 0
    return numbers


def _rewritten(
    path: Path,
    edits: dict[int, list[Erratum]],
    numbers: dict[int, int],
    edit: Callable[[str, Sequence[Erratum]], str],
) -> Iterator[bytes]:
    """Copy a file, changing only the lines that have to be."""
    number = 0
    for number, line in numbered_lines(path):
        if numbers.get(number) == 0:
            continue
        if number in edits or number in numbers:
            body = line.rstrip(b"\r\n")
            mark = MARK if number == 1 and body.startswith(MARK) else b""
            try:
                text = body.removeprefix(mark).decode()
                if number in numbers:
                    text = f"{numbers[number]} {text.partition(' ')[2]}"
                text = edit(text, edits.get(number, ()))
            except (DataError, ValueError) as error:
                raise DataError(
                    f"{path}, line {number}: found {body[:60]!r}; expected it as it was audited."
                ) from error
            line = mark + text.encode() + line[len(body) :]
        yield line
    if edits and number < max(edits):
        raise DataError(f"{path} ends in line {number}; expected it as it was audited.")


def _put_right(value: str, erratum: Erratum) -> str:
    if erratum.found not in (value, value.strip()) and value != erratum.expected:  # two errata may be about one value
        raise DataError(f"'{value}' is not '{erratum.found}'.")
    return erratum.expected


def _edit_text(text: str, errata: Sequence[Erratum]) -> str:
    cells = text.split("\t")
    for each in errata:  # about the answer, or about who saw the sentence
        cells[1:2] = [_put_right(cells[1] if len(cells) > 1 else "-", each)]
    return "\t".join(cells)


def _edit_trace(text: str, errata: Sequence[Erratum]) -> str:
    *actions, question_type, story_type = text.split(",")
    labels = {TRACE: ",".join(actions), "question_type": question_type, "story_type": story_type}
    for each in errata:
        labels[each.field] = _put_right(labels[each.field], each)
    return ",".join(labels.values())
