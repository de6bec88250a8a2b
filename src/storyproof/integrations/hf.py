"""Stories as datasets of Hugging Face: `storyproof.hf.load`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from storyproof.catalog import names
from storyproof.datasets import dials as dial
from storyproof.datasets.load import GIVEN
from storyproof.datasets.load import load as load_table
from storyproof.datasets.stream import Stream
from storyproof.errors import ConfigError
from storyproof.example import plain_schema
from storyproof.integrations.hf_format import SPLIT_NAMES
from storyproof.reports.doctor import need_peer

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

SHARD_STORIES = 4_800  # of a stream that is resumed, at most this number of stories is made again
ENDLESS = 100_000_000  # stories of a stream without a number; their shards must be listed
_OURS = {name: split for split, name in SPLIT_NAMES.items()}


@overload
def load(name: str | Path, split: str | None = None, *, streaming: Literal[False] = False, **more: Any) -> Dataset: ...
@overload
def load(name: str | Path, split: str | None = None, *, streaming: Literal[True], **more: Any) -> IterableDataset: ...
def load(
    name: str | Path,
    split: str | None = None,
    *,
    streaming: bool = False,
    stories: int | None = None,
    seed: int = 0,
    preset: str | None = None,
    labels: str = GIVEN,
    **dials: Any,
) -> Dataset | IterableDataset:
    """Return stories as a dataset of Hugging Face, one row per question.

    Args:
        name: A benchmark, such as `tomi` (`tomi@1` for a version), whose stories are generated; or the path of data
            in any format that storyproof reads. A `Path` is a path only.
        split: `train`, `val` (or `validation`) or `test`. By default train of a benchmark; of a path test, or the only
            one.
        streaming: Return an `IterableDataset` over `storyproof.stream`: fresh stories as they are needed. It is divided
            into shards of 4,800 stories, for several workers, and resumes by `state_dict` and `load_state_dict`.
        stories: How many; by default the usual number of the benchmark, or of a stream 100 million. For clutrr's test
            split, in each part (task and length), as `generate` counts; a stream counts stories.
        seed: Same seed, same stories.
        preset: Named settings of the benchmark, which dials override.
        labels: Of a path: `given`, or `proved`, see `storyproof.load`.
        **dials: Settings of the benchmark; `storyproof.dials` lists them.

    Returns:
        A `datasets.Dataset`; with `streaming` a `datasets.IterableDataset`. The first has the stories of
        `storyproof.generate`, the second those of `storyproof.stream`, which are others: ids tell them apart.

    Raises:
        ConfigError: If `datasets` is missing or does not fit, there is no such benchmark or dial, or one cannot be
            turned so far.
        DataError: If there are no such data, or they cannot be read.

    Example:
        >>> import storyproof
        >>> rows = storyproof.hf.load("tomi", "test", stories=30, seed=7)
        >>> rows.num_rows, rows[2]["answer"] in rows[2]["candidates"]
        (180, True)
        >>> fresh = storyproof.hf.load("tomi", streaming=True, seed=7)
        >>> next(iter(fresh))["id"]
        's7-train-000000000-0'
    """
    peer = need_peer("datasets", "datasets", "storyproof.hf")
    split = _OURS.get(split, split) if split is not None else None
    if isinstance(name, Path) or str(name).partition("@")[0] not in names("benchmark"):
        _refuse(name, streaming=streaming, stories=stories, seed=seed, preset=preset, **dials)
        return _dataset(peer, load_table(name, split, labels=labels))
    if labels != GIVEN:
        raise ConfigError(f"labels is '{labels}', but what is generated is proved anyway; leave it out.")
    made = dial.turn(str(name), seed, dials, preset)
    split = split or "train"
    if streaming:
        return _stream(peer, Stream(made, split), stories)
    asked = stories if stories is not None else made.usual_counts.get(split, 0)
    made.check_count(split, asked, "stories")
    count = made.check_counts({split: asked})[split]
    return _dataset(peer, pa.concat_tables(map(_spelt_out, made.blocks(split, count))))


def _refuse(name: str | Path, **given: Any) -> None:
    """Raise ConfigError if something is given that only benchmarks have."""
    for option, value in given.items():
        if value not in (None, False, 0):
            benchmarks = ", ".join(names("benchmark"))
            raise ConfigError(
                f"{option} is {value!r}, but {name} is not a benchmark, and data at a path are as they are; leave it "
                f"out, or use one of {benchmarks}."
            )


def _spelt_out(table: pa.Table) -> pa.Table:
    return table.cast(plain_schema(table.schema))


def _dataset(peer: Any, table: pa.Table) -> Dataset:
    dataset: Dataset = peer.Dataset(peer.table.InMemoryTable(_spelt_out(table)))
    return dataset


def _stream(peer: Any, stream: Stream, stories: int | None) -> IterableDataset:
    """Return a stream in shards."""
    if stories is not None and (not isinstance(stories, int) or stories < 1):
        raise ConfigError(f"stories is {stories!r}; use a whole number from 1 on, or leave it out.")
    count = min(stream.capacity, ENDLESS if stories is None else stories)
    parts = [(first, min(first + SHARD_STORIES, count)) for first in range(0, count, SHARD_STORIES)]
    features = peer.Features.from_arrow_schema(plain_schema(stream.schema))
    dataset: IterableDataset = peer.IterableDataset.from_generator(
        _rows, features=features, gen_kwargs={"stream": stream, "parts": parts}
    )
    return dataset


def _rows(stream: Stream, parts: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of some parts of a stream; in the list `datasets` sees what it can divide between workers."""
    for first, end in parts:
        for place in range(first, end):
            for example in stream[place].rows:
                yield example.as_row()
