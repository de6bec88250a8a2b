"""Changes to the rows of a file that leave all else as it is, and JSON text edited in place.

An edited object keeps its key order, separators and escapes: only the value that changes is written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errors import DataError, quoted
from storyproof.example import plain
from storyproof.families.family import families
from storyproof.findings import Finding
from storyproof.io.bounded_input import parse_json

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def replace_value(text: str, path: Sequence[str], value: Any) -> str:
    """Replace a value in the text of an object, leaving all else as it is.

    A text replaces the items of a list.

    Raises:
        DataError: If there is no such value.
    """
    start, end = _skip(text, 0), 0
    try:
        for key in path:
            start, end = _member(text, start, key)
        old = parse_json(text[start:end])
        if isinstance(old, list) and isinstance(value, str):
            value = [value]
            if len(old) == 1:
                (start, end), value = _member(text, start, 0), value[0]
    except (KeyError, IndexError, ValueError, RecursionError) as error:
        raise DataError(
            f"no value '{'.'.join(path)}' in {quoted(text, 60)}; expected the line as it was audited."
        ) from error
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return text[:start] + json.dumps(value, ensure_ascii=text.isascii(), separators=separators) + text[end:]


def add_value(text: str, name: str, value: Any) -> str:
    """Add a value that an object does not have yet after its last one.

    Raises:
        DataError: If it is not an object.
    """
    end = text.rfind("}")
    before = text[:end].rstrip()
    if end < 0 or text.lstrip()[:1] != "{":
        raise DataError(f"no object in {quoted(text, 60)}; expected it as it was audited.")
    comma, colon = (", ", ": ") if '": ' in text else (",", ":")
    written = json.dumps(name) + colon + json.dumps(value, ensure_ascii=text.isascii())
    gap = text[len(before) : end]
    if "\n" in gap and "\n" in before:  # one member per line
        comma = "," + before[before.rfind("\n") : len(before) - len(before[before.rfind("\n") :].lstrip())]
    return before + ("" if before.endswith("{") else comma) + written + gap + text[end:]


def edit_row(path: Path, row: int, text: str, changes: Changes) -> str:
    """Return the text of a row, an object, with the changes to it.

    Raises:
        DataError: If it has no such values.
    """
    try:
        for name, value in changes.values.get(row, {}).items():
            if name in changes.added and name not in parse_json(text):
                text = add_value(text, name, value)
            else:
                is_key = "." in name and name in parse_json(text)
                text = replace_value(text, [name] if is_key else name.split("."), value)
    except DataError as error:
        raise DataError(f"{path}, row {row}: found {quoted(text, 60)}; expected it as it was audited.") from error
    return text


def _skip(text: str, index: int) -> int:
    match = _SPACE.match(text, index)
    return match.end() if match else index


def _member(text: str, start: int, wanted: str | int) -> tuple[int, int]:
    """Return where a member of an object or list begins and ends; of several with one name the last, as parsers do."""
    index, place, member = _skip(text, start + 1), 0, None
    if text[start] == "[" and isinstance(wanted, str) and wanted.isdecimal():
        wanted = int(wanted)
    while text[index] not in "}]":
        name: Any = place
        if text[start] == "{":
            name, index = _DECODER.raw_decode(text, index)
            index = _skip(text, _skip(text, index) + 1)
        begin = index
        _, index = _DECODER.raw_decode(text, index)
        if name == wanted:
            member = begin, index
        end = _skip(text, index)
        index, place = _skip(text, end + 1) if text[end] == "," else end, place + 1
    if member is None:
        raise KeyError(wanted)
    return member


Write = Callable[[BinaryIO], object]  # writes a whole file


@dataclass(slots=True)
class Changes:
    """What is to become of a file's rows.

    Attributes:
        values: New values by row and name. A dot leads into a value: `metadata.question_type` is a member of an object,
            `observers.3` the third of a list.
        found: What stands there now, as text, where that is known. Formats of plain text refuse to replace anything
            else.
        gone: Rows to leave out.
        added: Columns that rows may lack, and that are then added: the value of rows that are not changed. JSON need
            not say it.
        rows: How many rows the file has; None if that is not known.
    """

    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    found: dict[int, dict[str, str]] = field(default_factory=dict)
    gone: Collection[int] = ()
    added: dict[str, str] = field(default_factory=dict)
    rows: int | None = None

    def put(self, row: int, name: str, value: Any, found: str | None = None) -> None:
        """Change a value."""
        self.values.setdefault(row, {})[name] = value
        if found is not None:
            self.found.setdefault(row, {})[name] = found

    def expected(self, row: int, name: str) -> str | None:
        """Return what stands now where a value is to be changed; None if that is not known."""
        return self.found.get(row, {}).get(name)

    def check_rows(self, path: Path, rows: int) -> None:
        """Raise DataError unless a file with this number of rows can be the one that is to be changed."""
        if self.rows is not None and rows != self.rows:
            raise DataError(f"{path} has another number of rows than when it was audited; audit it again.")
        if (last := max([*self.values, *self.gone], default=-1)) >= rows:
            raise DataError(f"{path} has {rows} rows; expected row {last}, as it was audited.")


def contents(writes: Mapping[str, Write]) -> dict[str, bytes]:
    """Return what is written, by the files' names."""
    contents = {}
    for name, write in writes.items():
        out = BytesIO()
        write(out)
        contents[name] = out.getvalue()
    return contents


def is_text(column: str) -> bool:
    """Return whether a column holds words rather than lists or numbers."""
    types = (plain(family.schema.field(column).type) for family in families() if column in family.schema.names)
    return all(pa.types.is_string(kind) for kind in types)


def right_value(finding: Finding) -> Any:
    """Return the value that a finding expects; for columns that do not hold text it is given as JSON."""
    return finding.expected if is_text(finding.field) else json.loads(finding.expected)
