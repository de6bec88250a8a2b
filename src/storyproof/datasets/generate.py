"""The verb `generate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, overload

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.catalog import load, load_version
from storyproof.datasets.content_hash import DistinctStories
from storyproof.datasets.writing import write_dataset
from storyproof.engines import Engine, make_engine
from storyproof.errors import ConfigError, UnknownNameError


def make_benchmark(
    name: str, seed: int = 0, *, version: int | None = None, preset: str | None = None, **settings: Any
) -> Benchmark:
    """Build a benchmark by name.

    Args:
        name: Its name, with or without a version: `tomi` or `tomi@1`.
        seed: Same seed, same content.
        version: Which version, if the name has none; by default the current one.
        preset: Named settings of the benchmark, which `settings` override.
        **settings: The fields of its config.

    Raises:
        ConfigError: If there is no such benchmark, version, preset or setting, or a setting is not valid.
    """
    made = load_benchmark(name, version)
    settings_names = [item.name for item in fields(made.config_type)]
    for setting in settings:
        if setting not in settings_names:
            raise UnknownNameError(f"setting of {made.name}", setting, settings_names)
    if preset is not None:
        settings = {**made.preset(preset)[0], **settings}
    return made(made.config_type(**settings), seed)


def load_benchmark(name: str, version: int | None = None) -> type[Benchmark]:
    """Return the class of a benchmark; the version may be part of the name.

    Raises:
        ConfigError: If there is no such benchmark or version, or two versions are given.
    """
    plain, _, named = name.partition("@")
    if version is not None and named not in ("", str(version)):
        raise ConfigError(f"the benchmark is '{name}', but --version is {version}; give one of them.")
    benchmark: type[Benchmark] = load("benchmark", name) if version is None else load_version(plain, version)
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
    train: int | None = None,
    val: int | None = None,
    test: int | None = None,
    seed: int = 0,
    version: int | None = None,
    out: str | Path | None = None,
    as_blocks: bool = False,
    format: str = "parquet",
    workers: int = 1,
    engine: Engine | None = None,
    shard_stories: int | None = None,
    force: bool = False,
    progress: Callable[[int], None] = lambda stories: None,
    **settings: Any,
) -> pa.Table | Iterator[pa.Table] | dict[str, Any]:
    """Generate examples whose answers are proved.

    Args:
        benchmark: Its name, such as `tomi`; `tomi@1` for a version.
        train: Stories in the training split; 0 leaves it out. If none of the three numbers is given, or only 0, the
            others are those of the preset or the usual ones; else a split that is not given is left out.
        val: Stories in the validation split.
        test: Stories in the test split; for clutrr, in each test scenario (task and length).
        seed: Same seed, same content.
        version: Generate what this version generated; by default the current one.
        out: Write a dataset folder there instead; a path, or a URL such as `s3://bucket/folder`.
        as_blocks: Iterate over tables of some thousand stories instead of one table.
        format: parquet, jsonl, or the benchmark's original format, such as babi or csv; with `out`.
        workers: Processes that make shards; with `out`. A script that uses more than one needs the line
            `if __name__ == "__main__":`, as all that starts processes does.
        engine: Where shards are made, see `storyproof.engines`; with `out`.
        shard_stories: How many stories a shard has; by default a split of at most 98,304 stories is one file, and a
            larger one has up to 128 shards or more; with `out`.
        force: Replace a dataset that storyproof wrote, if nothing was added to it or changed.
        progress: Called with the number of stories done since the last call; with `out`.
        **settings: The benchmark's own, such as `vocabulary`, `disjoint`, `noise`, `task` or `train_k`; `preset` for
            one of its presets.

    Returns:
        An Arrow table of all splits; with `as_blocks` an iterator of tables; with `out` the manifest.

    Raises:
        ConfigError: If the benchmark, a count or a setting is not valid.

    Example:
        >>> import storyproof
        >>> table = storyproof.generate("clutrr", test=2, test_k=(2, 3), seed=7)
        >>> table.num_rows, table.column("k").to_pylist()
        (4, [2, 3, 2, 3])
        >>> manifest = storyproof.generate("tomi", train=99, test=30, seed=7, out="data")
        >>> manifest["splits"]["train"]["questions"]
        594
    """
    made = make_benchmark(benchmark, seed, version=version, **settings)
    asked = made.counts(train=train, val=val, test=test, preset=settings.get("preset"))
    if out is not None:
        how: dict[str, Any] = {"format_name": format, "shard_stories": shard_stories, "force": force}
        with make_engine(workers=workers) if engine is None else nullcontext(engine) as entered:
            return write_dataset(made, asked, out, engine=entered, progress=progress, **how)
    counts = made.check_counts(asked)
    blocks = (table for split, count in counts.items() for table in _distinct_blocks(made, split, count))
    return blocks if as_blocks else pa.concat_tables(blocks)


def _distinct_blocks(benchmark: Benchmark, split: str, count: int) -> Iterator[pa.Table]:
    """Yield the blocks of a split; at the end check that no story occurred twice."""
    distinct = DistinctStories(benchmark, split)
    for table in benchmark.blocks(split, count):
        distinct.add(table)
        yield table
    distinct.check()
