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


def whole_stories(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of whole stories."""
    held: pa.Table | None = None
    for table in tables:
        if not table.num_rows:
            continue
        if held is not None:
            if _story(held, held.num_rows - 1) == _story(table, 0):
                start = int(story_starts(held)[-1])
                table = pa.concat_tables([held.slice(start), table]).unify_dictionaries()
                held = held.slice(0, start)
            if held.num_rows:
                yield held
        held = table
    if held is not None:
        yield held


def in_parts(table: pa.Table, most_bytes: int = STORY_BYTES) -> Iterator[pa.Table]:
    """Yield parts of a table, whole stories with about so much text each."""
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
