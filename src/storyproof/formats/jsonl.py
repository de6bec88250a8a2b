"""JSON lines: one object per row, with the columns of an example, or with others that are found (`records`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errors import DataError, quoted
from storyproof.example import REQUIRED, plain_schema
from storyproof.families.family import Family, recognise
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PART_BYTES, WHOLE, Format, Part, ended, stem_of, with_places
from storyproof.formats.json_edits import Changes, Write, edit_row
from storyproof.formats.lines import (
    MARK,
    bad_byte,
    filled_lines,
    find_bad_bytes,
    first_line,
    numbered_lines,
    text_lines,
    unreadable,
)
from storyproof.formats.records import Record, read_strictly, wrong_type
from storyproof.io.bounded_input import LONGEST_LINE, DocumentError, open_file, parse_json

JSONL, INSPECT = "jsonl", "inspect"


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
        """Finish the file and return it."""
        self._file.close()
        return [self._path]


class Jsonl(Format):
    """JSON lines with the columns of an example."""

    name = JSONL
    suffixes = (".jsonl",)
    opening = "a JSON object"
    keeps_all = True

    def recognise(self, path: Path) -> bool:
        """Return whether the first line begins an object that is not a sample of an evaluation framework."""
        line = first_line(path)
        return line.lstrip().startswith("{") and dialect_of(line) == JSONL

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file; a value of the wrong type is an error. Columns of other names are found."""
        if has_other_names(self, path):
            return read_strictly(path, self, rows, places=places)
        return read_jsonl(path, rows, places)

    def records(self, path: Path, columns: Collection[str] | None = None, part: Part = WHOLE) -> Iterator[Record]:
        """Read the objects of a file, one per line."""
        return read_lines(path, part)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file at ends of lines."""
        return parts_of_lines(path)

    def columns(self, path: Path) -> Collection[str]:
        """Return the columns that the first object has values for, whether or not they can be read."""
        first = json_object(next((line for _, line in filled_lines(path) if line.strip()), b"{}"), f"{path}")
        return given(first)

    def writer(self, folder: Path, split: str) -> JsonlSplit:
        """Return what writes one file."""
        return JsonlSplit(folder, split)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Edit lines in place."""
        return patch_lines(path, changes)


def read_jsonl(path: Path, rows: int, places: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of `rows` rows; columns that it lacks are null.

    Args:
        path: The file.
        rows: How many rows a table has.
        places: Add the column `place`.

    Raises:
        DataError: If a line is not such an object; the message names the line.
    """
    waiting: list[tuple[str, dict[str, Any]]] = []
    lines: list[int] = []
    done = 0
    stem = stem_of(path)
    try:
        for number, line in enumerate(text_lines(path), start=1):
            if line.strip():
                where = f"{path}, line {number}"
                row = _row(line, where)
                if row.get("id") is None:
                    row["id"] = f"{stem}-{number}"
                waiting.append((where, row))
                lines.append(number)
            if len(waiting) == rows:
                yield table_of_rows(waiting, done, lines if places else None)
                waiting, lines, done = [], [], done + rows
        if waiting:
            yield table_of_rows(waiting, done, lines if places else None)
    except UnicodeDecodeError as error:
        raise find_bad_bytes(path) or DataError(f"cannot read {path}: {error}.") from error


def table_of_rows(
    placed: Sequence[tuple[str, dict[str, Any]]], first: int = 0, lines: list[int] | None = None
) -> pa.Table:
    """Build a table from rows that were checked one by one; with their places if their lines are known.

    Args:
        placed: Where each row is, for messages, and the row.
        first: The number of the first row.
        lines: The line of each row.

    Raises:
        DataError: If a row alone lacks columns of the table's family, and others have another type than in that family.
    """
    rows = [row for _, row in placed]
    family = recognise(name for row in rows for name in given(row))
    try:
        table = pa.Table.from_pylist(rows, schema=plain_schema(family.schema))
    except pa.ArrowException:
        for where, row in placed:
            _check_types(row, family, where)
        raise
    return table if lines is None else with_places(table, first, lines)


def given(row: Mapping[str, Any]) -> list[str]:
    """Return the names under which an object has values."""
    return [name for name, value in row.items() if value is not None]


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = parse_json(line)
    except DocumentError as error:
        raise DataError(f"{where}: not valid JSON ({error}); expected one object per line.") from error
    return checked_row(row, where)


def checked_row(row: Any, where: str) -> dict[str, Any]:
    """Return a value if it is a row whose columns have their types.

    Raises:
        DataError: If it is not; the message says where.
    """
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {type(row).__name__}, expected an object with {', '.join(REQUIRED)}.")
    for name in REQUIRED:
        if not isinstance(row.get(name), str):
            raise DataError(f"{where}: '{name}' is {quoted(row.get(name))}; expected text.")
    _check_types(row, recognise(given(row)), where)
    return row


def _check_types(row: Mapping[str, Any], family: Family, where: str) -> None:
    if problem := wrong_type(row, family):
        raise DataError(f"{where}: {problem}.")


def patch_lines(path: Path, changes: Changes) -> dict[str, Write]:
    """Return what writes a file of one object per line with some changes."""
    return {path.name: lambda file: _write_patched(path, file, changes)}


def _write_patched(path: Path, file: BinaryIO, changes: Changes) -> None:
    row = 0
    for number, line in numbered_lines(path):
        mark = MARK if number == 1 and line.startswith(MARK) else b""
        body = line.removeprefix(mark)
        if not body.strip():
            file.write(line)
            continue
        if row not in changes.gone and not changes.values.get(row):
            file.write(line)
        elif row not in changes.gone:
            text = body.rstrip(b"\r\n")
            file.write(mark + edit_row(path, row, text.decode(), changes).encode() + body[len(text) :])
        row += 1
    changes.check_rows(path, row)


def dialect_of(line: str) -> str:
    """Return the dialect of a line; one that cannot be read is left to the reader of plain rows."""
    try:
        row = parse_json(line)
    except DocumentError:
        return JSONL
    return INSPECT if isinstance(row, dict) and "input" in row and "story" not in row else JSONL


def read_lines(path: Path, part: Part = WHOLE) -> Iterator[Record]:
    """Read the objects of a file, one per line; a line that holds none says why.

    Args:
        path: The file.
        part: Where to begin, see `Format.parts`.

    Raises:
        DataError: If the file cannot be read.
    """
    for number, line in numbered_lines(path, part.at, part.line):
        if not line.removeprefix(MARK if number == 1 else b"").strip():
            continue
        try:
            yield Record(json_object(line, ""), number, number)
        except DataError as error:
            yield Record(None, number, number, str(error).removeprefix(": ").removesuffix("."))


def parts_of_lines(path: Path) -> list[Part]:
    """Divide a file with one object per line into parts of `PART_BYTES`.

    Raises:
        DataError: If the file cannot be read.
    """
    parts: list[Part] = []
    row, line, at = 0, 1, 0  # of the next line
    before = WHOLE  # where the last line begins that holds an object
    try:
        with open_file(path) as file:
            while block := file.read(PART_BYTES):
                block += file.readline(LONGEST_LINE + 1)
                lines = block.splitlines(keepends=True)
                if max(map(len, lines)) > LONGEST_LINE:
                    return [WHOLE]  # its reader says which line is too long
                filled = [place for place, each in enumerate(lines) if each.strip()]
                if filled:
                    parts.append(before._replace(first=row))
                    row += len(filled)
                    before = Part(at=at + sum(map(len, lines[: filled[-1]])), line=line + filled[-1])
                line, at = line + len(lines), at + len(block)
    except OSError as error:
        raise unreadable(path, error) from error
    return ended(parts)


def has_other_names(form: Format, path: Path) -> bool:
    """Return whether the first row of a file lacks a column that rows must have; errors are left to its reader."""
    try:
        names = set(form.columns(path))
    except DataError:
        return False
    return bool(names) and not names.issuperset(REQUIRED)


def json_object(line: bytes, where: str) -> dict[str, Any]:
    """Return the object that a line holds.

    Raises:
        DataError: If it holds none; the message begins with `where`.
    """
    try:
        row = parse_json(line.decode("utf-8-sig").rstrip("\r\n"))  # so that a place in it is one in this line
    except UnicodeDecodeError as error:
        raise bad_byte(where, error) from error
    except DocumentError as error:
        raise DataError(f"{where}: not valid JSON ({error}); expected one object per line.") from error
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {type(row).__name__}; expected one object per line.")
    return row


def id_of(value: Any) -> str | None:
    """Return an id, which may be a number, as text; None for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


FORMAT = Jsonl()
