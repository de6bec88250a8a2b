"""Arrow's own files, also called Feather, as `datasets.save_to_disk` writes them: with a footer, or as a stream."""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PART_ROWS, WHOLE, Format, Part, ended
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.parquet import change_columns
from storyproof.formats.records import Record, has_questions, read_strictly
from storyproof.formats.value_sizes import divided
from storyproof.io.bounded_input import LARGEST_ROW_GROUP, MOST_COLUMNS, open_file, size

_MAGIC = b"ARROW1"
_ROWS = 1024  # to take at a time
_MOST_PARTS = 64  # each of which passes over those before it
_MARK = b"\xff\xff\xff\xff"  # before a message
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_OLD_COMPRESSION = b"ARROW:experimental_compression"  # in the metadata of a message, before there was a field for it


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
    """Raise DataError if compressed parts say that they are very large.

    Each compressed buffer begins with its size. Arrow would take that much memory before it finds that it is not true.
    Texts that are stored once are held while all batches are read.
    """
    held = 0
    with open_file(path) as file:
        for message in _messages(file):
            total = held + sum(message.sizes(file))
            if total > LARGEST_ROW_GROUP:
                raise DataError(
                    f"{path}: a part is {size(total)} large once it is uncompressed; at most "
                    f"{size(LARGEST_ROW_GROUP)} are read; write the file in smaller parts."
                )
            held = total if message.kind == _DICTIONARY else held


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of Arrow: its kind, where its body begins, how long it is, and where compressed buffers are in it."""

    kind: int
    start: int
    length: int
    buffers: list[tuple[int, int]]

    def sizes(self, file: BinaryIO) -> Iterator[int]:
        """Yield how large each buffer says to be once it is uncompressed."""
        for at, count in self.buffers:
            if at >= 0 and count >= 8 and at + count <= self.length:
                file.seek(self.start + at)
                yield max(0, struct.unpack("<q", file.read(8))[0])


def _messages(file: BinaryIO) -> Iterator[_Message]:
    """Yield the messages that Arrow reads: of a file those to which its footer points, of a stream one after another.

    What is damaged is left out: Arrow says what is wrong.
    """
    end = os.fstat(file.fileno()).st_size
    file.seek(0)
    if file.read(6) == _MAGIC:
        for place in _blocks(file, end):
            message = _message_at(file, place, end)
            if message is not None:
                yield message
        return
    at = 0
    while (message := _message_at(file, at, end)) is not None:
        yield message
        at = message.start + message.length


def _blocks(file: BinaryIO, end: int) -> list[int]:
    """Return where the footer of a file says that its dictionaries and batches begin; see Arrow's File.fbs."""
    file.seek(max(0, end - 10))
    (length,) = struct.unpack("<i", file.read(10)[:4])
    if not 0 < length <= end - 10:
        return []
    file.seek(end - 10 - length)
    footer = _Flatbuffer(file.read(length))
    try:
        root = footer.follow(0)
        return [
            struct.unpack_from("<q", footer.content, first + 24 * number)[0]
            for field in (2, 3)
            for first, count in [footer.vector(root, field)]
            for number in range(min(count, length // 24))
        ]
    except (struct.error, IndexError):
        return []


def _message_at(file: BinaryIO, at: int, end: int) -> _Message | None:
    """Return the message at a place; None if there is none, or it is damaged."""
    if not 0 <= at <= end - 8:
        return None
    file.seek(at)
    head = file.read(8)
    before = 8 if head[:4] == _MARK else 4  # which messages of old files do not have
    (length,) = struct.unpack_from("<i", head, before - 4)
    if not 0 < length <= end - at - before:
        return None
    file.seek(at + before)
    buffer = _Flatbuffer(file.read(length))
    try:
        kind, body, buffers = _read_message(buffer)
    except (struct.error, IndexError):
        return None
    start = at + before + length
    return _Message(kind, start, body, buffers) if 0 <= body <= end - start else None


def _read_message(buffer: _Flatbuffer) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the kind of a message, how long its body is, and where compressed buffers are in it; see Message.fbs.

    Raises:
        struct.error, IndexError: If it is damaged.
    """
    content = buffer.content
    root = buffer.follow(0)
    at = buffer.field(root, 3)
    body = struct.unpack_from("<q", content, at)[0] if at else 0
    at, header = buffer.field(root, 1), buffer.field(root, 2)
    kind = content[at] if at else 0
    table = buffer.follow(header) if header else 0
    if kind == _DICTIONARY and table:  # the batch within a dictionary
        inner = buffer.field(table, 1)
        table = buffer.follow(inner) if inner else 0
    if kind not in (_DICTIONARY, _BATCH) or not table:
        return kind, body, []
    if not buffer.field(table, 3) and _OLD_COMPRESSION not in content:
        return kind, body, []
    first, count = buffer.vector(table, 2)
    return (
        kind,
        body,
        [struct.unpack_from("<qq", content, first + 16 * n) for n in range(min(count, len(content) // 16))],
    )


class _Flatbuffer:
    """Reads tables of a flatbuffer by the numbers of their fields.

    Raises:
        struct.error, IndexError: If what is asked for is outside it.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content

    def follow(self, at: int) -> int:
        """Return the place to which an offset points."""
        return int(at + struct.unpack_from("<I", self.content, at)[0])

    def field(self, table: int, number: int) -> int:
        """Return the place of a field of a table; 0 if the table does not have it."""
        entries = table - struct.unpack_from("<i", self.content, table)[0]
        entry = entries + 4 + 2 * number
        if entry + 2 > entries + struct.unpack_from("<H", self.content, entries)[0]:
            return 0
        offset = struct.unpack_from("<H", self.content, entry)[0]
        return table + offset if offset else 0

    def vector(self, table: int, number: int) -> tuple[int, int]:
        """Return the place of the first item of a vector, and how many it has; none if the table does not have it."""
        at = self.field(table, number)
        if not at:
            return 0, 0
        start = self.follow(at)
        return start + 4, int(struct.unpack_from("<I", self.content, start)[0])


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
