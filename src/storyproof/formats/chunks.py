"""Tables divided so that the rows of one story stay together and memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

CHUNK_ROWS = 36_864  # read at a time: bounded memory, and large enough for arrays to pay
STORY_BYTES = 6 << 20  # of text to judge at a time; long stories take a thousand times their text in memory
_SKEW = 8  # how much larger a part may become if all its stories are as long as the longest


def whole_stories(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of whole stories."""
    held: pa.Table | None = None
    for table in tables:
        if not table.num_rows:
            continue
        if held is not None:
            last = _story(held, held.num_rows - 1)
            if last and last == _story(table, 0):  # rows without a story belong to none
                start = int(story_starts(held)[-1])
                table = pa.concat_tables([held.slice(start), table]).unify_dictionaries()
                held = held.slice(0, start)
            if held.num_rows:
                yield held
        held = table
    if held is not None:
        yield held


def stories_of(tables: Iterable[pa.Table], first: int, end: int | None) -> Iterator[pa.Table]:
    """Yield the stories that begin in some rows, in tables of whole stories.

    Args:
        tables: The rows of a file from the one before the first one on; from the beginning if `first` is 0.
        first: The number of the first row in the file.
        end: The number of the row after the last one; None for all that follow.
    """
    row, last = max(first - 1, 0), None  # the number of the next row, and the story of the one before
    has_begun = not first
    for table in whole_stories(tables):
        count = table.num_rows
        start, stop = 0, count
        if not has_begun:
            start = _story_end(table, max(first - row, 0), last)
            has_begun = start < count
        if end is not None and row + count > end:
            stop = _story_end(table, max(end - row, 0), last)
        if start < stop:
            yield table.slice(start, stop - start)
        if stop < count:
            return
        row, last = row + count, _story(table, count - 1)


def _story_end(table: pa.Table, row: int, last: str | None) -> int:
    """Return the first row, from one on, with another story than the row before, or how many there are.

    Args:
        table: The rows.
        row: The row.
        last: The story of the row before the table.
    """
    story = _story(table, row - 1) if row else last
    while row < table.num_rows and story and _story(table, row) == story:  # rows without a story belong to none
        row += 1
    return row


def in_parts(table: pa.Table, most_bytes: int = STORY_BYTES) -> Iterator[pa.Table]:
    """Yield parts of a table, whole stories with about so much text each.

    Stories are judged together as arrays that are as long as the longest, so one long story is not put together with
    thousands of short ones.
    """
    for part in _by_text(table, most_bytes):
        yield from _by_longest(part, _SKEW * most_bytes)


def _by_longest(table: pa.Table, most_bytes: int) -> Iterator[pa.Table]:
    """Yield parts such that the number of stories times the longest of them is about so much text."""
    starts = story_starts(table)
    column = table.column("story")
    if pa.types.is_dictionary(column.type):
        sizes = np.concatenate(
            [pc.binary_length(chunk.dictionary).take(chunk.indices).fill_null(0).to_numpy() for chunk in column.chunks]
        )
    else:
        sizes = pc.binary_length(column).fill_null(0).to_numpy()
    longest = np.maximum.reduceat(sizes, starts)
    if len(starts) * int(longest.max()) <= most_bytes:
        yield table
        return
    first, high = 0, 0
    ends = [*starts[1:].tolist(), table.num_rows]
    for number, each in enumerate(longest.tolist()):
        begin = int(starts[first])
        if number > first and (number + 1 - first) * max(high, each) > most_bytes:
            yield table.slice(begin, ends[number - 1] - begin)
            first, high = number, 0
        high = max(high, each)
    yield table.slice(int(starts[first]))


def _by_text(table: pa.Table, most_bytes: int) -> Iterator[pa.Table]:
    """Yield parts with about so much text each."""
    column = table.column("story")
    text = sum((chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk).nbytes for chunk in column.chunks)
    parts = -(-text // most_bytes)
    if parts <= 1:
        yield table
        return
    starts = story_starts(table)
    targets = np.linspace(0, table.num_rows, parts + 1)[1:-1]
    inner = starts[np.minimum(np.searchsorted(starts, targets), len(starts) - 1)]
    cuts = np.unique(np.concatenate([[0], inner, [table.num_rows]])).tolist()
    for start, end in pairwise(cuts):
        yield table.slice(start, end - start)


def story_starts(table: pa.Table) -> npt.NDArray[np.intp]:
    """Return the rows at which a story begins: where the story's id, or without ids its text, changes."""
    column = table.column("story")
    if "story_id" in table.column_names and not table.column("story_id").null_count:
        column = table.column("story_id")
    values = column.cast(pa.string()).combine_chunks()
    changes = np.asarray(pc.not_equal(values[1:], values[:-1]))
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _story(table: pa.Table, row: int) -> str | None:
    named = table.column("story_id")[row].as_py() if "story_id" in table.column_names else None
    story: str | None = named if named is not None else table.column("story")[row].as_py()
    return story


def as_bytes(tables: Sequence[pa.Table]) -> list[bytes]:
    """Return tables as bytes, without what their buffers hold besides their rows."""
    written = []
    for table in tables:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_table(table)
        written.append(sink.getvalue().to_pybytes())
    return written


def from_bytes(written: Sequence[bytes]) -> list[pa.Table]:
    """Return the tables that `as_bytes` was given."""
    return [pa.ipc.open_stream(each).read_all() for each in written]
