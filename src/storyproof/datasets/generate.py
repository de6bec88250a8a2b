"""The verb `generate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, overload

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import load
from storyproof.datasets.writing import write_dataset
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SPLITS


def make_benchmark(name: str, seed: int = 0, **settings: Any) -> Benchmark:
    """Set a benchmark up by name.

    Raises:
        ConfigError: If there is no such benchmark, it has no such setting, or a setting cannot be honoured.
    """
    made = load("benchmark", name)
    known = [item.name for item in fields(made.config_type)]
    for setting in settings:
        if setting not in known:
            raise UnknownNameError(f"setting of {name}", setting, known)
    benchmark: Benchmark = made(made.config_type(**settings), seed)
    return benchmark


@overload
def generate(
    benchmark: str, *, out: None = None, as_blocks: Literal[False] = False, seed: int = 0, **options: Any
) -> pa.Table: ...
@overload
def generate(
    benchmark: str, *, out: None = None, as_blocks: Literal[True], seed: int = 0, **options: Any
) -> Iterator[pa.Table]: ...
@overload
def generate(benchmark: str, *, out: str | Path, seed: int = 0, **options: Any) -> dict[str, Any]: ...
def generate(
    benchmark: str,
    *,
    train: int = 0,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    out: str | Path | None = None,
    as_blocks: bool = False,
    format: str = "parquet",
    workers: int = 1,
    force: bool = False,
    progress: Callable[[int], None] = lambda stories: None,
    **settings: Any,
) -> pa.Table | Iterator[pa.Table] | dict[str, Any]:
    """Make proved examples.

    Args:
        benchmark: Its name, such as `tomi`.
        train: Stories in the training split.
        val: Stories in the validation split.
        test: Stories in the test split; for clutrr, in each test scenario (task and length).
        seed: Same seed, same content.
        out: Write a dataset folder there instead.
        as_blocks: Iterate over tables of some thousand stories instead of one table.
        format: parquet, jsonl, babi (theory of mind) or csv (kinship); with `out`.
        workers: Processes that make blocks; with `out`.
        force: Replace a dataset that storyproof wrote, if nothing was added to it or changed.
        progress: Told how many stories are done since the last time; with `out`.
        **settings: The benchmark's own, such as `vocabulary`, `disjoint` or `noise`, `task` or `train_k`.

    Returns:
        An Arrow table of all splits; with `as_blocks` an iterator of tables; with `out` the manifest.

    Raises:
        ConfigError: If it cannot be made as asked.
    """
    made = make_benchmark(benchmark, seed, **settings)
    asked = dict(zip(SPLITS, (train, val, test), strict=True))
    if out is not None:
        return write_dataset(made, asked, out, format_name=format, workers=workers, force=force, progress=progress)
    counts = {split: made.stories(split, count) for split, count in asked.items()}
    for split, count in counts.items():
        made.check_count(split, count)
    if not any(counts.values()):
        raise ConfigError("no stories asked for; give train, val or test a number above 0.")
    blocks = (table for split, count in counts.items() for table in made.blocks(split, count))
    return blocks if as_blocks else pa.concat_tables(blocks)
