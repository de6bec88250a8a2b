"""What is checked and hashed of tables as they pass, whatever the file format, chunking or Arrow version."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.benchmark import Benchmark
from storyproof.errors import ProofError

_IN_RUNS = ("story_id", "benchmark", "split", "story", "story_type")  # mostly as in the row before


_MOST_COMPARED = 100_000  # stories of a split; a recipe that repeats itself does so sooner


class DistinctStories:
    """Checks that the stories of a split differ, as `Benchmark.capacity` claims: the first 100,000 of them."""

    def __init__(self, benchmark: Benchmark, split: str) -> None:
        self._benchmark, self._split = benchmark, split
        self._texts: list[pa.Array] = []
        self._stories = 0

    def add(self, table: pa.Table) -> None:
        """Add the next rows, which are those of whole stories."""
        if self._stories < _MOST_COMPARED:
            each = self._benchmark.rows_per_story(self._split)
            for chunk in table.column("story").take(np.arange(0, table.num_rows, each)).chunks:
                self._texts.append(_spelt_out(chunk))
            self._stories += table.num_rows // each

    def check(self) -> None:
        """Compare the stories.

        Raises:
            ProofError: If one of them occurs twice.
        """
        if not self._stories:
            return
        distinct = pc.count_distinct(pa.chunked_array(self._texts)).as_py()
        if distinct < self._stories:
            name, capacity = self._benchmark.name, self._benchmark.capacity(self._split)
            raise ProofError(
                f"{name} made {self._stories:,} stories of the split {self._split}, and only {distinct:,} of them "
                f"differ, although its capacity is {capacity:,}; correct `capacity`, or how the stories are drawn"
            )


class ContentHash:
    """Hashes tables of examples as they pass, column by column.

    Each column feeds separate streams of gaps, counts, lengths and bytes, so that it does not matter where one table
    ends and the next begins. A story that is shared by several questions is hashed once, with how often it occurs.
    """

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}

    def add(self, table: pa.Table) -> None:
        """Add the next rows."""
        for field in table.schema:
            if field.name not in self._columns:
                self._columns[field.name] = _Runs() if field.name in _IN_RUNS else _Column()
            for chunk in table.column(field.name).chunks:
                if len(chunk):
                    self._columns[field.name].add(chunk)

    def hexdigest(self) -> str:
        """Return the hash of all rows so far."""
        total = hashlib.sha256()
        for name in sorted(self._columns):
            total.update(name.encode() + b"\0" + self._columns[name].digest())
        return total.hexdigest()


class _Column:
    def __init__(self) -> None:
        self._rows = 0
        self._gaps, self._sizes = hashlib.sha256(), hashlib.sha256()
        self._lengths, self._values = hashlib.sha256(), hashlib.sha256()

    def add(self, array: pa.Array) -> None:
        array = _spelt_out(array)
        if array.null_count:
            gaps = np.flatnonzero(np.asarray(array.is_null())) + self._rows
            self._gaps.update(gaps.astype("<i8").tobytes())
            array = pc.fill_null(array, _nothing(array.type))
        self._rows += len(array)
        while pa.types.is_list(array.type):
            self._sizes.update(_bytes(pc.list_value_length(array).cast(pa.int32())))
            array = array.flatten()
        if pa.types.is_string(array.type):
            offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, array.offset * 4)
            self._lengths.update(np.diff(offsets).astype("<i4").tobytes())
            data = array.buffers()[2]
            self._values.update(memoryview(data)[offsets[0] : offsets[-1]] if data is not None else b"")
        else:
            self._values.update(_bytes(array.cast(pa.int8()) if pa.types.is_boolean(array.type) else array))

    def digest(self) -> bytes:
        return b"".join(stream.digest() for stream in (self._gaps, self._sizes, self._lengths, self._values))


class _Runs(_Column):
    """A column whose equal neighbours count as one."""

    def __init__(self) -> None:
        super().__init__()
        self._last: object = self  # equal to no value
        self._count = 0
        self._counts = hashlib.sha256()

    def add(self, array: pa.Array) -> None:
        starts = _starts(array)
        firsts = _spelt_out(array.take(pa.array(starts)))
        again = _starts(firsts)  # a dictionary may hold a word twice
        if len(again) < len(firsts):
            starts, firsts = starts[again], firsts.take(pa.array(again))
        counts = np.diff(np.concatenate([starts, [len(array)]]))
        if firsts[0].as_py() == self._last:
            self._count += int(counts[0])
            firsts, counts = firsts[1:], counts[1:]
        if not len(firsts):
            return
        self._counts.update(np.concatenate([[self._count], counts[:-1]]).astype("<i8").tobytes())
        super().add(firsts)
        self._last, self._count = firsts[-1].as_py(), int(counts[-1])

    def digest(self) -> bytes:
        return super().digest() + self._counts.digest() + self._count.to_bytes(8, "little")


def _starts(array: pa.Array) -> npt.NDArray[np.intp]:
    """Return the positions at which a value differs from the one before it."""
    values, gap = (array.indices, -1) if pa.types.is_dictionary(array.type) else (array, "\0")
    if values.null_count:
        values = pc.fill_null(values, gap)
    changes = np.asarray(pc.not_equal(values[1:], values[:-1]))
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _spelt_out(array: pa.Array) -> pa.Array:
    """Replace codes by their words."""
    if not pa.types.is_dictionary(array.type):
        return array
    codes = array.indices
    if len(codes) == len(array.dictionary) and np.array_equal(np.asarray(codes), np.arange(len(codes))):
        return array.dictionary  # each once and in order, as stories are: nothing to copy
    return array.dictionary.take(codes)


def _bytes(array: pa.Array) -> bytes:
    numbers = array.to_numpy(zero_copy_only=False)
    return bytes(numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes())


def _nothing(kind: pa.DataType) -> Any:
    if pa.types.is_list(kind):
        return pa.scalar([], kind)
    return pa.scalar("" if pa.types.is_string(kind) else False if pa.types.is_boolean(kind) else 0, kind)
