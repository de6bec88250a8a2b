"""Theory-of-mind files without what was wrong: edited in place, so that all else stays byte for byte."""

from __future__ import annotations

from pathlib import Path

from storyproof.errata import IMPOSSIBLE_STORY, STRUCTURAL, FileReport
from storyproof.families.belief.babi_format import OBSERVERS
from storyproof.families.belief.events import impossibilities
from storyproof.families.belief.text import parse
from storyproof.formats.chunks import story_starts, whole_stories
from storyproof.formats.format import Format, load_format
from storyproof.formats.patches import Changes, Write, contents, right_value


def fixed_files(path: Path, report: FileReport) -> dict[str, bytes]:
    """Return what `fixes` writes."""
    return contents(fixes(path, report))


def fixes(path: Path, report: FileReport) -> dict[str, Write]:
    """Return what writes a file, and those beside it, with all errata corrected under the default readings.

    All else stays as it is, byte for byte; in Parquet, value for value. Questions without a right answer are left
    out: all of a story's from where it cannot happen, and those that have no answer. What a file's name says stays.

    Args:
        path: The file.
        report: What was found in it.

    Raises:
        DataError: If the file is not as it was audited.
    """
    path = Path(path)
    form = load_format(report.format)
    changes = Changes(gone=_dropped(path, form, report))
    for each in report.errata:
        if each.kind == OBSERVERS:
            changes.put(each.row, f"{OBSERVERS}.{each.sentences[0]}", each.expected, each.found)
        elif each.expected:
            changes.put(each.row, each.field, right_value(each), each.found)
    return form.patch(path, changes)


def _dropped(path: Path, form: Format, report: FileReport) -> set[int]:
    """Return the rows that cannot be fixed: from where a story cannot happen, and questions without an answer."""
    gone = {each.row for each in report.errata if each.kind == STRUCTURAL and not each.expected}
    since = {each.row for each in report.errata if each.kind == IMPOSSIBLE_STORY}
    row, going = 0, False
    for table in whole_stories(form.read_foreign(path)) if since else ():
        starts = set((story_starts(table) + row).tolist())
        for story in table.column("story").to_pylist():
            going = row in since or (going and row not in starts)
            if going and impossibilities(parse(story)):
                gone.add(row)
            row += 1
    return gone
