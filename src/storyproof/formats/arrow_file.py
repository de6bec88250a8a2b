"""Arrow's own files, also called Feather, as `datasets.save_to_disk` writes them: with a footer, or as a stream."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PART_ROWS, WHOLE, Format, Part, ended
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.parquet import change_columns, divided
from storyproof.formats.records import Record, has_questions, read_strictly
from storyproof.io.bounded_input import LARGEST_ROW_GROUP, MOST_COLUMNS, open_file, size

_MAGIC = b"ARROW1"
_ROWS = 1024  # to take at a time
_MOST_PARTS = 64  # each of which passes over those before it
_MESSAGE = b"\xff\xff\xff\xff"


class ArrowFile(Format):
    """Arrow's own files."""

    name = "arrow"
    suffixes = (".arrow", ".feather")

    def recognise(self, path: Path) -> bool:
        """Return whether a file begins as a file or a stream of Arrow."""
        try:
            with open_file(path) as file:
                return file.read(6) == _MAGIC or path.suffix in self.suffixes
        except OSError:
            return False

    def is_data(self, path: Path) -> bool:
        """Return whether a file has columns of questions."""
        return has_questions(self, path)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file whose columns are found by their names."""
        return read_strictly(path, self, rows, places=places)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file by rows."""
        with _named(path):
            count = sum(batch.num_rows for batch in _batches(path, until=None))
        return ended([Part(first) for first in range(0, count, max(PART_ROWS, -(-count // _MOST_PARTS)))])

    def records(self, path: Path, columns: Collection[str] | None = None, part: Part = WHOLE) -> Iterator[Record]:
        """Read the rows of a file."""
        first = max(part.first - 1, 0)
        with _named(path):
            for batch in _batches(path, until=first):
                names = [name for name in batch.schema.names if columns is None or name in columns]
                table = pa.Table.from_batches([batch]).select(names)
                for start in range(0, table.num_rows, _ROWS):
                    for some in divided(table.slice(start, _ROWS), path, first):
                        for row, value in enumerate(some.to_pylist(), start=first):
                            yield Record(value, 0, row)
                        first += some.num_rows

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Write batches again, with the same schema and division; the bytes stay only if nothing changes."""
        return {path.name: lambda file: _rewrite(path, file, changes)}


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in whatever Arrow complains about."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        if isinstance(error, DataError):
            raise
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(f"{path} is not a readable Arrow file ({reason}); expected a complete one.") from error


def _batches(path: Path, until: int | None = 0) -> Iterator[pa.RecordBatch]:
    """Read the batches of a file, none of which is very large once it is uncompressed.

    Args:
        path: The file.
        until: How many rows are left out; None for batches that are counted and not looked at.

    Raises:
        DataError: If the file has too many columns, two of one name, or a batch that is too large.
    """
    _check_sizes(path)
    row = 0
    with pa.OSFile(os.fsencode(path)) as source:
        head = source.read(6)
        source.seek(0)
        if head == _MAGIC:
            reader = pa.ipc.open_file(source)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(source)
            batches = iter(reader)
        names = reader.schema.names
        if len(names) > MOST_COLUMNS:
            raise DataError(f"{path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are read; leave some out.")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{path} has {names.count(twice)} columns '{twice}'; expected one.")
        for batch in batches:
            before = min(max((until or 0) - row, 0), batch.num_rows)
            row += batch.num_rows
            if until and before == batch.num_rows:
                continue
            if until is not None:
                batch.validate(full=True)
            yield batch.slice(before)


def _check_sizes(path: Path) -> None:
    """Raise DataError if a compressed part says that it is very large.

    Each compressed buffer begins with its size. Arrow would take that much memory before it finds that it is not true.
    """
    with open_file(path) as file:
        end = os.fstat(file.fileno()).st_size
        if file.read(6) == _MAGIC:
            file.seek(8)
        else:
            file.seek(0)
        while True:
            head = file.read(8)
            if len(head) < 8 or head[:4] != _MESSAGE:
                return
            (length,) = struct.unpack("<i", head[4:])
            if length <= 0 or length > end:
                return
            message = file.read(length)
            body, places = _read_message(message)
            start = file.tell()
            if body < 0 or start + body > end:
                return  # Arrow says what is wrong
            total = 0
            for at, count in places:
                if at >= 0 and count >= 8 and at + count <= body:
                    file.seek(start + at)
                    total += max(0, struct.unpack("<q", file.read(8))[0])
            if total > LARGEST_ROW_GROUP:
                raise DataError(
                    f"{path}: a part is {size(total)} large once it is uncompressed; at most "
                    f"{size(LARGEST_ROW_GROUP)} are read; write the file in smaller parts."
                )
            file.seek(start + body)


def _read_message(message: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Return how long the body of a message is, and where its compressed buffers are; see Arrow's Message.fbs."""

    def field_at(table: int, number: int) -> int:
        vtable = table - struct.unpack_from("<i", message, table)[0]
        entry = vtable + 4 + 2 * number
        if entry + 2 > vtable + struct.unpack_from("<H", message, vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", message, entry)[0]
        return table + offset if offset else 0

    def follow(at: int) -> int:
        return int(at + struct.unpack_from("<I", message, at)[0])

    try:
        root = follow(0)
        at = field_at(root, 3)
        body = struct.unpack_from("<q", message, at)[0] if at else 0
        header = field_at(root, 2)
        kind = field_at(root, 1)
        table = follow(header) if header else 0
        if kind and message[kind] == 2 and table:  # the batch within a dictionary
            inner = field_at(table, 1)
            table = follow(inner) if inner else 0
        elif not kind or message[kind] != 3:
            return body, []
        if not table or not field_at(table, 3):  # not compressed
            return body, []
        vector = follow(field_at(table, 2))
        count = min(struct.unpack_from("<I", message, vector)[0], len(message) // 16)
        return body, [struct.unpack_from("<qq", message, vector + 4 + 16 * n) for n in range(count)]
    except (struct.error, IndexError):
        return -1, []


def _rewrite(path: Path, file: BinaryIO, changes: Changes) -> None:
    with _named(path), open_file(path) as source:
        is_file = source.read(6) == _MAGIC
        first = 0
        writer: Any = None
        for batch in _batches(path):
            here = range(first, first + batch.num_rows)
            first = here.stop
            table = pa.Table.from_batches([batch])
            table = change_columns(
                table, {row - here.start: changes.values[row] for row in here if row in changes.values}
            )
            kept = pa.array([row not in changes.gone for row in here])
            if writer is None:
                make = pa.ipc.new_file if is_file else pa.ipc.new_stream
                writer = make(file, batch.schema)
            writer.write_table(table.filter(kept) if changes.gone else table)
        if writer is not None:
            writer.close()
    changes.check_rows(path, first)


FORMAT = ArrowFile()
