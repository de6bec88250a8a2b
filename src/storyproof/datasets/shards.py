"""Shards: parts of a split that are made, encoded, compressed and hashed apart, anywhere and in any order.

Which stories a shard has follows from the counts alone: engine, number of workers, deaths of workers and resumption
change no byte. A small split is one shard, a file without a number.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import names
from storyproof.datasets.content_hash import ContentHash, DistinctStories
from storyproof.datasets.folders import RECORDS
from storyproof.datasets.manifest import file_sha256
from storyproof.errors import UnknownNameError
from storyproof.example import SPLITS
from storyproof.formats.format import Format, formats, load_format
from storyproof.io.bounded_input import parse_json
from storyproof.io.storage import Folder

Progress = Callable[[int], None]
Counts = dict[str, Counter[tuple[str, ...]]]
_WHOLE_BLOCKS = 16  # a split of at most 16 blocks, 98,304 stories, is one file
_USUAL_SHARDS = 128  # of a larger split: at the end of the work, cores without a shard wait for those that have one
_MANY_SHARDS = 512  # of a split whose shards would be larger than that
_MOST_BLOCKS = 128  # of a shard: 786,432 stories, which take less than 1 GiB of memory to verify


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a split: whole blocks, in one file (or a few, in formats that divide a split by its questions).

    Attributes:
        split: Which split.
        number: Which of its shards, from 0.
        of: How many shards the split has.
        first: Its first block.
        blocks: How many blocks it has; the last block of a split may be shorter.
    """

    split: str
    number: int
    of: int
    first: int
    blocks: int

    @property
    def name(self) -> str:
        """The stem of its file."""
        return self.split if self.of == 1 else f"{self.split}-{self.number:05d}-of-{self.of:05d}"


def plan_shards(benchmark: Benchmark, counts: Mapping[str, int], stories: int | None = None) -> list[Shard]:
    """Return the shards of a dataset, in order.

    Args:
        benchmark: What is made.
        counts: Stories for each split.
        stories: How many a shard has, rounded up to whole blocks. By default a split of at most 98,304 stories is one
            shard. A larger one is divided into up to 128; into up to 512 if they would have more than 98,304; and into
            still more if they would have more than 786,432.
    """
    shards = []
    for split in SPLITS:
        blocks = benchmark.block_count(counts.get(split, 0))
        if not blocks:
            continue
        usual, least = -(-blocks // _USUAL_SHARDS), -(-blocks // _MANY_SHARDS)
        size = min(_MOST_BLOCKS, max(least, min(usual, _WHOLE_BLOCKS))) if blocks > _WHOLE_BLOCKS else blocks
        if stories is not None:
            size = benchmark.block_count(stories)
        of = -(-blocks // size)
        shards += [Shard(split, number, of, number * size, min(size, blocks - number * size)) for number in range(of)]
    return shards


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """What is known of a finished shard.

    Attributes:
        files: The sizes and hashes of its files, by name.
        stories: How many stories it has.
        questions: How many rows.
        content_sha256: The hash of its content.
        counted: What the manifest counts.
    """

    files: dict[str, dict[str, Any]]
    stories: int
    questions: int
    content_sha256: str
    counted: Counts

    def to_json(self) -> bytes:
        """Return it as JSON."""
        counted = {name: [[list(key), size] for key, size in each.items()] for name, each in self.counted.items()}
        numbers = {"stories": self.stories, "questions": self.questions, "content_sha256": self.content_sha256}
        return json.dumps({"files": self.files, **numbers, "counted": counted}).encode()

    @classmethod
    def from_json(cls, content: bytes, sizes: Mapping[str, int]) -> ShardRecord | None:
        """Read a record; None if it is damaged, or the files in the folder have other sizes.

        Args:
            content: The JSON.
            sizes: The sizes of the files that there are.
        """
        try:
            record = parse_json(content)
            if any(sizes.get(name) != entry["bytes"] for name, entry in record["files"].items()):
                return None
            counted = {
                name: Counter({tuple(key): size for key, size in each}) for name, each in record.pop("counted").items()
            }
            return cls(**record, counted=counted)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def record_name(shard: Shard) -> str:
    """Return where the record of a shard is, in the folder that it is written to."""
    return f"{RECORDS}/{shard.name}.json"


class WriteShard:
    """Makes and stores shards; called wherever an engine likes.

    Args:
        benchmark: What is made.
        counts: Stories for each split.
        format: The name of the format.
        folder: Where shards are stored.
        progress: Called with the number of stories of each block, in this process; elsewhere nobody listens.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        counts: Mapping[str, int],
        format: str,
        folder: Folder,
        progress: Progress = lambda stories: None,
    ) -> None:
        self._benchmark, self._counts, self._format, self._folder = benchmark, counts, format, folder
        self._progress = progress

    def __reduce__(self) -> tuple[Any, ...]:
        return WriteShard, (self._benchmark, self._counts, self._format, self._folder)

    def __call__(self, shard: Shard | None) -> ShardRecord | dict[str, Any]:
        """Make a shard, store it, and store and return its record; without a shard return the benchmark's notes."""
        if shard is None:
            return self._benchmark.notes({split: count for split, count in self._counts.items() if count})
        benchmark, count = self._benchmark, self._counts[shard.split]
        per_story = benchmark.rows_per_story(shard.split)
        content, distinct, questions = ContentHash(), DistinctStories(benchmark, shard.split), 0
        counted: Counts = {name: Counter() for name in benchmark.counted}
        with self._folder.scratch() as scratch:
            writer = writable_format(type(benchmark), self._format).writer(scratch, shard.name)
            try:
                for index in range(shard.first, shard.first + shard.blocks):
                    table = benchmark.part(shard.split, count, index)
                    writer.write(table)
                    content.add(table)
                    distinct.add(table)
                    tally_rows(table, benchmark.counted, counted)
                    questions += table.num_rows
                    self._progress(table.num_rows // per_story)
            finally:
                files = writer.close()
            distinct.check()
            entries = {path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)} for path in sorted(files)}
            record = ShardRecord(entries, questions // per_story, questions, content.hexdigest(), counted)
            for path in files:
                self._folder.put(path, path.name)
        self._folder.write(record_name(shard), record.to_json())
        return record


def writable_formats(benchmark: type[Benchmark]) -> dict[str, Format]:
    """Return the formats in which a benchmark can be written, by what users call them."""
    writable = [each for each in formats() if each.keeps_all and each.can_write]
    writable += [load_format(name) for name in benchmark.formats]
    return {each.written_as: each for each in writable}


def writable_format(benchmark: type[Benchmark], name: str) -> Format:
    """Return the format of a benchmark that users call by a name.

    Raises:
        UnknownNameError: If there is no such format.
    """
    if name in names("format"):  # the usual case, in which no other format has to be imported
        form = load_format(name)
        if form.written_as == name and form.keeps_all and form.can_write:
            return form
    writable = writable_formats(benchmark)
    if name not in writable:
        raise UnknownNameError(f"format of {benchmark.name}", name, writable)
    return writable[name]


def tally_rows(
    table: pa.Table, counted: Mapping[str, tuple[str, ...]], counts: Mapping[str, Counter[tuple[str, ...]]]
) -> None:
    """Count rows by the values of some columns, of a column of lists by each value; story types once per story."""
    stories = table.column("story").combine_chunks().indices.to_numpy()
    first = np.concatenate([[True], stories[1:] != stories[:-1]])
    listed = {name for name, (first_column, *_) in counted.items() if pa.types.is_list(table.field(first_column).type)}
    for name in listed:
        values = table.column(counted[name][0]).combine_chunks().flatten()
        counts[name].update({(value,): number for value, number in _value_counts(values)})
    single = {name: columns for name, columns in counted.items() if name not in listed}
    coded = {column: _coded(table.column(column)) for columns in single.values() for column in columns}
    for name, columns in single.items():
        codes = np.zeros(table.num_rows, np.int64)
        for column in columns:
            codes = codes * len(coded[column][1]) + coded[column][0]
        for code, size in _code_counts(codes[first] if name == "story_types" else codes):
            values = []
            for column in reversed(columns):
                code, number = divmod(code, len(coded[column][1]))
                values.append(coded[column][1][number])
            counts[name][tuple(reversed(values))] += size


def _code_counts(codes: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield each number that occurs, and how often."""
    if codes.max() < len(codes):
        sizes = np.bincount(codes)
        distinct = np.flatnonzero(sizes)
        sizes = sizes[distinct]
    else:
        distinct, sizes = np.unique(codes, return_counts=True)
    yield from zip(distinct.tolist(), sizes.tolist(), strict=True)


def _value_counts(array: pa.Array) -> Iterator[tuple[str, int]]:
    if pa.types.is_dictionary(array.type):
        numbers = np.bincount(array.indices.to_numpy(zero_copy_only=False), minlength=len(array.dictionary)).tolist()
        yield from zip(array.dictionary.to_pylist(), numbers, strict=True)
    else:
        yield from ((each["values"], each["counts"]) for each in array.value_counts().to_pylist())


def _coded(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return a column as numbers of its distinct values, and these; what is missing is `None`."""
    array = column.combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    numbers = array.indices.fill_null(len(array.dictionary)).to_numpy(zero_copy_only=False)
    return numbers.astype(np.int64), [*map(str, array.dictionary.to_pylist()), str(None)]
