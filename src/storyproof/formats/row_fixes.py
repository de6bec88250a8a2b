"""Files that say all by row, without what was wrong: JSON lines, JSON lists and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errata import Erratum
from storyproof.errors import DataError
from storyproof.example import plain
from storyproof.families.belief.audit.layout import JSON, PARQUET
from storyproof.families.family import families
from storyproof.formats.inspect_jsonl import MARK, numbered_lines
from storyproof.formats.json_edits import add_value, replace_value
from storyproof.formats.json_list import read_members
from storyproof.formats.parquet_edits import rewrite_parquet

Write = Callable[[BinaryIO], object]  # writes a file anew


def contents(writes: Mapping[str, Write]) -> dict[str, bytes]:
    """Give what is written, by the files' names."""
    found = {}
    for name, write in writes.items():
        out = BytesIO()
        write(out)
        found[name] = out.getvalue()
    return found


@dataclass(slots=True)
class Changes:
    """What is to become of a file's rows.

    Attributes:
        values: New values by row and column.
        gone: Rows to leave out.
        added: Columns that rows may lack, and that are then added: the value of rows that are not changed. JSON need
            not say it.
    """

    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    gone: Collection[int] = ()
    added: dict[str, str] = field(default_factory=dict)

    def put(self, row: int, column: str, value: Any) -> None:
        """Change a value."""
        self.values.setdefault(row, {})[column] = value


def is_text(column: str) -> bool:
    """Say whether a column holds words, and no lists or numbers."""
    types = (plain(family.schema.field(column).type) for family in families() if column in family.schema.names)
    return all(pa.types.is_string(kind) for kind in types)


def right_value(erratum: Erratum) -> Any:
    """Give what an erratum expects; of columns that hold no words it is JSON."""
    return erratum.expected if is_text(erratum.field) else json.loads(erratum.expected)


def rewrite(path: Path, form: str, changes: Changes) -> Write:
    """Say how to write a file anew with some changes, leaving all else as it is."""
    if form == PARQUET:
        return lambda file: rewrite_parquet(path, file, changes.values, changes.gone, changes.added)
    write = _rewrite_list if form == JSON else _rewrite_lines
    return lambda file: write(path, file, changes)


def _rewrite_lines(path: Path, file: BinaryIO, changes: Changes) -> None:
    row = 0
    for number, line in numbered_lines(path):
        mark = MARK if number == 1 and line.startswith(MARK) else b""
        body = line.removeprefix(mark)
        if not body.strip():
            file.write(line)
            continue
        if row not in changes.gone:
            text = body.rstrip(b"\r\n")
            file.write(mark + _edited(path, row, text.decode(), changes).encode() + body[len(text) :])
        row += 1
    _expect_end(path, row, changes)


def _rewrite_list(path: Path, file: BinaryIO, changes: Changes) -> None:
    """Write a list anew; of what stands between two members the later one's is kept."""
    with path.open("rb") as source:
        file.write(MARK if source.read(len(MARK)) == MARK else b"")
    end: list[str] = []
    row, opening = 0, ""
    for row, member in enumerate(read_members(path, end=end, newline="")):
        opening = member.before if row == 0 else opening
        if row in changes.gone:
            continue
        before = opening or member.before
        opening = "" if opening else opening
        file.write((before + _edited(path, row, member.text, changes)).encode())
    _expect_end(path, row + 1, changes)
    file.write((opening + end[0]).encode())


def _edited(path: Path, row: int, text: str, changes: Changes) -> str:
    try:
        for name, value in changes.values.get(row, {}).items():
            if name in changes.added and name not in json.loads(text):
                text = add_value(text, name, value)
            else:
                text = replace_value(text, name.split("."), value)
    except DataError as error:
        raise DataError(f"{path}, row {row}: found {text[:60]!r}; expected it as it was audited.") from error
    return text


def _expect_end(path: Path, rows: int, changes: Changes) -> None:
    if (last := max([*changes.values, *changes.gone], default=-1)) >= rows:
        raise DataError(f"{path} has {rows} rows; expected row {last}, as it was audited.")
