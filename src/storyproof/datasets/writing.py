"""Writes a dataset folder: whole, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from storyproof import __version__
from storyproof.benchmark import Benchmark
from storyproof.datasets.content import ContentHash
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
    known = writable_formats(type(benchmark))
    if format_name not in known:
        raise UnknownNameError(f"format of {benchmark.name}", format_name, known)
    if workers < 1:
        raise ConfigError(f"--workers is {workers}; use 1 or more.")
    counts = benchmark.check_counts(counts)
    with whole_folder(Path(out), force) as folder:
        splits: dict[str, Any] = {}
        files: list[Path] = []
        for split in SPLITS:
            if counts.get(split, 0):
                splits[split], written = _write_split(
                    benchmark, split, counts[split], known[format_name].writer(folder, split), workers, progress
                )
                files += written
        manifest = {
            "storyproof": __version__,
            "benchmark": benchmark.name,
            "version": benchmark.version,
            "seed": benchmark.seed,
            "config": benchmark.config.as_dict(),
            "readings": list(benchmark.readings),
            "format": format_name,
            **benchmark.notes(split for split, count in counts.items() if count),
            "splits": splits,
            "files": {path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)} for path in sorted(files)},
        }
        write_manifest(folder, manifest)
    return manifest


def _write_split(
    benchmark: Benchmark, split: str, count: int, writer: SplitWriter, workers: int, progress: Progress
) -> tuple[dict[str, Any], list[Path]]:
    content = ContentHash()
    counts: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in benchmark.counted}
    questions = 0
    try:
        for table in _blocks(benchmark, split, count, workers):
            writer.write(table)
            content.add(table)
            _tally(table, benchmark.counted, counts)
            questions += table.num_rows
            progress(table.num_rows // benchmark.rows_per_story(split))
    finally:
        files = writer.close()
    summary = {
        "stories": count,
        "questions": questions,
        **benchmark.summary(counts),
        "content_sha256": content.hexdigest(),
    }
    return summary, files


def _tally(
    table: pa.Table, counted: Mapping[str, tuple[str, ...]], counts: Mapping[str, Counter[tuple[str, ...]]]
) -> None:
    """Count rows by the values of some columns; story types once per story."""
    stories = table.column("story").combine_chunks().indices.to_numpy()
    first = pa.array(np.concatenate([[True], stories[1:] != stories[:-1]]))
    for name, columns in counted.items():
        rows = table.select(columns)
        if name == "story_types":
            rows = rows.filter(first)
        plain = pa.table([column.cast(pa.string()) for column in rows.columns], columns)
        for entry in plain.group_by(list(columns)).aggregate([([], "count_all")]).to_pylist():
            counts[name][tuple(str(entry[column]) for column in columns)] += entry["count_all"]


def _blocks(benchmark: Benchmark, split: str, count: int, workers: int) -> Iterator[pa.Table]:
    """Yield a split's blocks in order, made here or in worker processes."""
    if workers == 1 or benchmark.block_count(count) == 1:
        return benchmark.blocks(split, count)
    return blocks_from_workers(benchmark, split, count, workers)
