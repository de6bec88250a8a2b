"""The blocks of a split, made by worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.engines.processes import Processes


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Makes blocks by their numbers."""

    benchmark: Benchmark
    split: str
    count: int

    def __call__(self, index: int) -> pa.Table:
        return self.benchmark.part(self.split, self.count, index)


def blocks_from_workers(benchmark: Benchmark, split: str, count: int, workers: int) -> Iterator[pa.Table]:
    """Yield the blocks of a split in order, made by worker processes.

    Args:
        benchmark: What to make.
        split: Which split.
        count: How many stories it has.
        workers: How many processes.

    Raises:
        ConfigError: If a worker was killed.
    """
    numbers = range(benchmark.block_count(count))
    with closing(Processes(workers).run(_Blocks(benchmark, split, count), numbers)) as results:  # type: ignore[type-var]
        for _, table in results:
            yield table
