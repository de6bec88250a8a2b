"""JSON lines: one object a row, with the columns of an example."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import REQUIRED, plain_schema
from storyproof.families.family import schema_of
from storyproof.formats.inspect_jsonl import find_bad_bytes

_HALF = re.compile("[\ud800-\udfff]")


class JsonlSplit:
    """Writes one split."""

    def __init__(self, folder: Path, split: str) -> None:
        self._path = folder / f"{split}.jsonl"
        self._file = self._path.open("w", encoding="utf-8", newline="\n")

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        for row in table.to_pylist():
            self._file.write(json.dumps(row, ensure_ascii=False, separators=(", ", ": ")) + "\n")

    def close(self) -> list[Path]:
        """Finish the file; gives what was written."""
        self._file.close()
        return [self._path]


def read_jsonl(path: Path, rows: int, lines: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows; columns it lacks are null.

    Args:
        path: The file.
        rows: How many rows a table has.
        lines: Whether to add a column `line`, where each row stands, from 1.

    Raises:
        DataError: If a line is no such object; the message names the line.
    """
    waiting: list[dict[str, Any]] = []
    at: list[int] = []
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    row = _row(line, f"{path}, line {number}")
                    row.setdefault("id", f"{path.stem}-{number}")
                    waiting.append(row)
                    at.append(number)
                if len(waiting) == rows:
                    yield table_of_rows(waiting, at if lines else None)
                    waiting, at = [], []
        if waiting:
            yield table_of_rows(waiting, at if lines else None)
    except (OSError, UnicodeDecodeError) as error:
        bad = find_bad_bytes(path) if isinstance(error, UnicodeError) else None
        raise bad or DataError(f"cannot read {path}: {error}.") from error


def table_of_rows(rows: list[dict[str, Any]], lines: list[int] | None = None) -> pa.Table:
    """Make a table of rows that were checked, with a column of their lines if these are given."""
    schema = schema_of(name for row in rows for name in _given(row))
    table = pa.Table.from_pylist(rows, schema=plain_schema(schema))
    return table if lines is None else table.append_column("line", pa.array(lines, pa.int64()))


def _given(row: dict[str, Any]) -> list[str]:
    return [name for name, value in row.items() if value is not None]


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: no valid JSON ({error}); expected one object a line.") from error
    return checked_row(row, where)


def checked_row(row: Any, where: str) -> dict[str, Any]:
    """Make sure that a value is a row whose columns have their types.

    Raises:
        DataError: If it is not; the message says where.
    """
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {type(row).__name__}, expected an object with {', '.join(REQUIRED)}.")
    for name in REQUIRED:
        if not isinstance(row.get(name), str):
            raise DataError(f"{where}: '{name}' is {row.get(name)!r}, expected text.")
    for field in schema_of(_given(row)):
        value = row.get(field.name)
        if value is not None and not _fits(value, field.type):
            raise DataError(f"{where}: '{field.name}' is {value!r}, expected {_expected(field.type)}.")
    if _halves(row):
        raise DataError(f"{where}: found half a character, expected text.")
    return row


def _halves(value: Any) -> bool:
    """Say whether there is half a character in a value."""
    if isinstance(value, str):
        return not value.isascii() and _HALF.search(value) is not None
    if isinstance(value, dict):
        return any(map(_halves, value.values()))
    return isinstance(value, list) and any(map(_halves, value))


def _fits(value: Any, kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return isinstance(value, list) and all(_fits(item, kind.value_type) for item in value)
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if pa.types.is_integer(kind):
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << (kind.bit_width - 1)
    return isinstance(value, str)


def _expected(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        inner = kind.value_type
        return "a list of " + (
            "lists of numbers" if pa.types.is_list(inner) else "numbers" if pa.types.is_integer(inner) else "words"
        )
    return "true or false" if pa.types.is_boolean(kind) else "a number" if pa.types.is_integer(kind) else "text"
