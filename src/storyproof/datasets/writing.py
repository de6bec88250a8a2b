"""Writes a dataset folder: whole, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof import __version__
from storyproof.benchmark import Benchmark
from storyproof.catalog import names
from storyproof.datasets.content import ContentHash, DistinctStories
from storyproof.datasets.folders import whole_folder
from storyproof.datasets.manifest import file_sha256, write_manifest
from storyproof.datasets.workers import blocks_from_workers
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SPLITS
from storyproof.formats.format import Format, SplitWriter, formats, load_format

Progress = Callable[[int], None]


def writable_formats(benchmark: type[Benchmark]) -> dict[str, Format]:
    """Return the formats in which a benchmark can be written, by what users call them."""
    found = [each for each in formats() if each.keeps_all and each.can_write]
    found += [load_format(name) for name in benchmark.formats]
    return {each.written_as: each for each in found}


def writable_format(benchmark: type[Benchmark], name: str) -> Format:
    """Return the format of a benchmark that users call by a name.

    Raises:
        UnknownNameError: If there is no such format.
    """
    if name in names("format"):  # the usual case, in which no other format has to be imported
        found = load_format(name)
        if found.written_as == name and found.keeps_all and found.can_write:
            return found
    known = writable_formats(benchmark)
    if name not in known:
        raise UnknownNameError(f"format of {benchmark.name}", name, known)
    return known[name]


def write_dataset(
    benchmark: Benchmark,
    counts: Mapping[str, int],
    out: str | Path,
    *,
    format_name: str = "parquet",
    workers: int = 1,
    force: bool = False,
    progress: Progress = lambda stories: None,
) -> dict[str, Any]:
    """Write a dataset folder with its manifest.

    Everything is written to a hidden folder beside `out` that takes its name when all is done.

    Args:
        benchmark: What to make.
        counts: Stories for each split; 0 leaves a split out.
        out: The folder; must not hold anything yet unless `force` is set.
        format_name: parquet, jsonl, one of another package, or an original format of the benchmark, babi or csv.
        workers: How many processes make blocks; the content is the same for any number.
        force: Replace a dataset that storyproof wrote, if nothing was added to it or changed.
        progress: Told how many stories are done since the last time.

    Returns:
        The manifest.

    Raises:
        ConfigError: If the counts cannot be made.
        DataError: If the folder cannot be written.
    """
    kind = writable_format(type(benchmark), format_name)
    if workers < 1:
        raise ConfigError(f"--workers is {workers}; use 1 or more.")
    counts = benchmark.check_counts(counts)
    with whole_folder(Path(out), force) as folder:
        splits: dict[str, Any] = {}
        files: list[Path] = []
        for split in SPLITS:
            if counts.get(split, 0):
                splits[split], written = _write_split(
                    benchmark, split, counts[split], kind.writer(folder, split), workers, progress
                )
                files += written
        about = describe(benchmark, counts, format_name)
        manifest = {**about, "splits": splits, "files": _listed(files)}
        if documents := kind.write_documents(folder, manifest):
            manifest["files"] = _listed([*files, *documents])
        write_manifest(folder, manifest)
    return manifest


def describe(benchmark: Benchmark, counts: Mapping[str, int], format_name: str) -> dict[str, Any]:
    """Return what a manifest says about a dataset besides its splits and files."""
    return {
        "storyproof": __version__,
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "seed": benchmark.seed,
        "config": benchmark.config.as_dict(),
        "readings": list(benchmark.readings),
        "format": format_name,
        **benchmark.notes({split: count for split, count in counts.items() if count}),
    }


def _listed(files: Iterable[Path]) -> dict[str, Any]:
    """Return what a manifest says about files."""
    return {path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)} for path in sorted(files)}


def _write_split(
    benchmark: Benchmark, split: str, count: int, writer: SplitWriter, workers: int, progress: Progress
) -> tuple[dict[str, Any], list[Path]]:
    content, distinct = ContentHash(), DistinctStories(benchmark, split)
    counts: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in benchmark.counted}
    questions = 0
    try:
        for table in _blocks(benchmark, split, count, workers):
            writer.write(table)
            content.add(table)
            distinct.add(table)
            tally_rows(table, benchmark.counted, counts)
            questions += table.num_rows
            progress(table.num_rows // benchmark.rows_per_story(split))
    finally:
        files = writer.close()
    distinct.check()
    summary = {
        "stories": count,
        "questions": questions,
        **benchmark.summary(counts),
        "content_sha256": content.hexdigest(),
    }
    return summary, files


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
        codes = np.sort(codes[first] if name == "story_types" else codes)
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        sizes = np.diff(np.append(starts, len(codes))).tolist()
        for code, size in zip(codes[starts].tolist(), sizes, strict=True):
            values = []
            for column in reversed(columns):
                code, number = divmod(code, len(coded[column][1]))
                values.append(coded[column][1][number])
            counts[name][tuple(reversed(values))] += size


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


def _blocks(benchmark: Benchmark, split: str, count: int, workers: int) -> Iterator[pa.Table]:
    """Yield a split's blocks in order, made here or in worker processes."""
    if workers == 1 or benchmark.block_count(count) == 1:
        return benchmark.blocks(split, count)
    return blocks_from_workers(benchmark, split, count, workers)
