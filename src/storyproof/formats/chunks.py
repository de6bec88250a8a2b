"""Tables divided so that the rows of one story stay together and memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
