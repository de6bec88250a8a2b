"""What a benchmark is: a named, versioned recipe that makes its stories in blocks.

A block is made from (benchmark, config, seed, split, block index) alone, so workers, machines and order never change a
byte, and a longer dataset begins with the shorter one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import pyarrow as pa

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SCHEMA, SPLITS, Example

BLOCK_STORIES = 6144  # a multiple of every benchmark's round; large enough to hide the cost of a NumPy call


@dataclass(frozen=True)
class Config:
    """Base of all settings that change content."""

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain values, for a manifest and for the seed."""
        return asdict(self)


class Benchmark(ABC):
    """A recipe. Subclasses say what it makes, and set the class variables.

    Attributes:
        name: How users call it.
        version: Counts up whenever the content for a seed changes.
        usual_stories: How many stories a split has unless somebody says otherwise.
        round: Stories come in rounds that are balanced in themselves; a count must be a multiple.
        config_type: The frozen dataclass of its settings.
        readings: The readings that its answers are judged under.
        schema: The columns of its tables.
        formats: The formats, by their names in the catalog, that were made for it, besides those for all benchmarks.
        block_stories: How many stories a block has.
        counted: What a manifest counts, by the columns that are counted together.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    usual_stories: ClassVar[int]
    round: ClassVar[int]
    config_type: ClassVar[type[Config]]
    readings: ClassVar[tuple[str, ...]]
    schema: ClassVar[pa.Schema] = SCHEMA
    formats: ClassVar[tuple[str, ...]] = ()
    block_stories: ClassVar[int] = BLOCK_STORIES
    counted: ClassVar[dict[str, tuple[str, ...]]] = {
        "story_types": ("story_type",),
        "question_types": ("question_type",),
    }

    def __init__(self, config: Config, seed: int) -> None:
        if not isinstance(seed, int) or seed < 0:
            raise ConfigError(f"the seed is {seed!r}; use a whole number from 0 on.")
        self.config = config
        self.seed = seed

    @property
    def identity(self) -> list[object]:
        """What all random draws of this benchmark hang on, besides split and block."""
        return [self.name, self.version, self.config.as_dict(), self.seed]

    @abstractmethod
    def block(self, split: str, index: int) -> pa.Table:
        """Make one block of `block_stories` stories."""

    @abstractmethod
    def rows_per_story(self, split: str) -> int:
        """Say how many questions each story of a split has."""

    @abstractmethod
    def capacity(self, split: str) -> int:
        """Say how many different stories the vocabulary allows in a split."""

    def usual(self, split: str) -> int:
        """Say how many stories of a split are asked for unless somebody says otherwise."""
        return self.usual_stories

    def stories(self, split: str, asked: int) -> int:
        """Say how many stories a split has if so many are asked for."""
        return asked

    def notes(self, splits: Iterable[str]) -> dict[str, Any]:
        """Say for the manifest what else is to be known about data with these splits."""
        return {}

    def remarks(self, manifest: Mapping[str, Any]) -> list[str]:
        """Say in a few lines what somebody who made a dataset should know of it."""
        return []

    def summary(self, counts: Mapping[str, Counter[tuple[str, ...]]]) -> dict[str, Any]:
        """Lay out for the manifest what was counted in a split."""
        return {
            name: {" ".join(values): number for values, number in sorted(found.items())}
            for name, found in counts.items()
        }

    def check_count(self, split: str, count: int, option: str = "") -> None:
        """Raise ConfigError unless so many stories can be made for a split; `option` names it to users."""
        option = option or f"--{split}"
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if not isinstance(count, int):
            raise ConfigError(f"{split} is {count!r}; give the number of stories as a whole number.")
        if count < 0:
            raise ConfigError(f"{option} is {count}; the number of stories cannot be negative (0 leaves a split out).")
        if count % self.round:
            below = count - count % self.round
            near = f"{below} or {below + self.round}" if below else f"{self.round}"
            raise ConfigError(
                f"{option} is {count}; {self.name} is balanced in rounds of {self.round} stories, so use {near}."
            )
        if count > self.capacity(split):
            most = self.capacity(split) // self.round * self.round
            raise ConfigError(
                f"{option} is {count}; this vocabulary gives at most {most} different stories there; add words."
            )

    @classmethod
    def twin(cls, stories: Sequence[Example], seed: int) -> pa.Table:
        """Generate as many fresh stories as these, by the same recipe under another seed.

        Args:
            stories: One example of each story.
            seed: For the fresh ones.
        """
        made = cls(cls.config_type(), seed)
        count = -(-len(stories) // made.round) * made.round
        return pa.concat_tables(made.blocks("test", count)).slice(0, len(stories) * made.rows_per_story("test"))

    def blocks(self, split: str, count: int) -> Iterator[pa.Table]:
        """Make `count` stories, block by block."""
        self.check_count(split, count)
        for index in range(self.block_count(count)):
            yield self.part(split, count, index)

    def block_count(self, stories: int) -> int:
        """Return how many blocks so many stories take."""
        return -(-stories // self.block_stories)

    def part(self, split: str, count: int, index: int) -> pa.Table:
        """Make the block with the given index of a split of `count` stories; the last one is cut to size."""
        wanted = min(self.block_stories, count - index * self.block_stories)
        block = self.block(split, index)
        return block if wanted == self.block_stories else _cut(block, wanted * self.rows_per_story(split))


def _cut(table: pa.Table, rows: int) -> pa.Table:
    """Keep the first rows, and in the dictionaries only what they use: nobody gets stories they did not ask for."""
    columns = [
        column.cast(column.type.value_type).dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.slice(0, rows).columns
    ]
    return pa.table(columns, schema=table.schema)
