"""What a benchmark is: a named, versioned recipe that generates stories in blocks.

A block depends on (benchmark, config, seed, split, block index) alone, so the number of workers, the machine and the
order of blocks never change a byte, and a longer dataset begins with the shorter one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import pyarrow as pa

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SCHEMA, SPLITS
from storyproof.runtime.options import Declared
from storyproof.runtime.options import Option as Option
from storyproof.runtime.options import comma_separated as comma_separated
from storyproof.runtime.options import option as option

BLOCK_STORIES = 6144  # a multiple of every benchmark's round; large enough to hide the cost of a NumPy call


@dataclass(frozen=True)
class Config(Declared):
    """Base of all settings that change content.

    A field whose metadata come from `option` is an option of `generate` and `train`. The names train, val, test, seed,
    version, preset, out, format, workers, engine, address, shard_stories, force, json and quiet belong to `generate`.
    """

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, for a manifest and for the seed."""
        return asdict(self)


class Benchmark(ABC):
    """A recipe. Subclasses generate blocks and set the class variables.

    A change of the content for a seed is a new version: a class beside the old one, with the same `name` and a higher
    `version`. The catalog lists the old one as `name@version`.

    Attributes:
        name: How users call it.
        version: Increases whenever the content for a seed changes.
        family: The name of the family that its rows belong to.
        usual_counts: How many stories each split has if no number is given.
        test_parts: What the number of test stories is counted per, such as "task and k"; empty without parts.
        round: Stories come in rounds that are balanced in themselves; the last one is cut to the count.
        config_type: The frozen dataclass of its settings.
        presets: Named settings, such as the data sets of a paper; `train`, `val` and `test` are numbers of stories.
        readings: The readings that its answers are judged under.
        schema: The columns of its tables.
        formats: The formats, by their names in the catalog, that were made for it, besides those for all benchmarks.
        block_stories: How many stories a block has.
        counted: What a manifest counts, by the columns that are counted together.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    family: ClassVar[str]
    usual_counts: ClassVar[Mapping[str, int]]
    test_parts: ClassVar[str] = ""
    round: int
    config_type: ClassVar[type[Config]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    readings: ClassVar[tuple[str, ...]]
    schema: ClassVar[pa.Schema] = SCHEMA
    formats: ClassVar[tuple[str, ...]] = ()
    block_stories: int = BLOCK_STORIES
    counted: ClassVar[dict[str, tuple[str, ...]]] = {
        "story_types": ("story_type",),
        "question_types": ("question_type",),
        "readings": ("readings",),
    }

    def __init__(self, config: Config, seed: int) -> None:
        if not isinstance(seed, int) or seed < 0:
            raise ConfigError(f"the seed is {seed!r}; use a whole number from 0 on.")
        self.config = config
        self.seed = seed

    @classmethod
    def preset(cls, name: str) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the settings of a preset, and how many stories of each split it has.

        Raises:
            ConfigError: If there is no such preset.
        """
        if not cls.presets:
            raise ConfigError(f"--preset is '{name}', but {cls.name} has no presets; leave it out.")
        if name not in cls.presets:
            raise UnknownNameError("preset", name, cls.presets)
        values = cls.presets[name]
        settings = {key: value for key, value in values.items() if key not in SPLITS}
        return settings, {split: values[split] for split in SPLITS if split in values}

    def with_small_blocks(self) -> Self:
        """Return this recipe with blocks of one round, for uses that need few stories at once.

        Its stories are drawn and proved in the same way, but are not those of a dataset of the same seed.
        """
        return self.with_blocks_of(self.round)

    def with_blocks_of(self, stories: int) -> Self:
        """Return this recipe with blocks of at least this number of stories, whole rounds; see `with_small_blocks`."""
        recipe = type(self)(self.config, self.seed)
        recipe.block_stories = -(-stories // self.round) * self.round
        return recipe

    @property
    def identity(self) -> list[object]:
        """What all random draws of this benchmark depend on, besides split and block."""
        return [self.name, self.version, self.config.as_dict(), self.seed]

    @abstractmethod
    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block of `block_stories` stories."""

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the beginning of a block: its first `stories` stories, and more if that is as fast.

        They are the stories of `block`, which this returns unless a benchmark can do without the others.
        """
        return self.block(split, index)

    @abstractmethod
    def rows_per_story(self, split: str) -> int:
        """Return how many questions each story of a split has."""

    @abstractmethod
    def capacity(self, split: str) -> int:
        """Return how many different stories the vocabulary allows in a split."""

    def counts(
        self, *, train: int | None = None, val: int | None = None, test: int | None = None, preset: str | None = None
    ) -> dict[str, int]:
        """Return how many stories of each split are requested.

        Where no number but 0 is given, they are those of the preset or the usual ones, and 0 leaves a split out; else
        only the given splits have any.
        """
        given = {"train": train, "val": val, "test": test}
        if any(given.values()):
            return {split: count or 0 for split, count in given.items()}
        usual = {**self.usual_counts, **(self.preset(preset)[1] if preset else {})}
        return {split: usual[split] if count is None else 0 for split, count in given.items()}

    def stories(self, split: str, asked: int) -> int:
        """Return how many stories a split has if `asked` are requested."""
        return asked

    def notes(self, splits: Mapping[str, int]) -> dict[str, Any]:
        """Return further entries of the manifest of data with these numbers of stories per split."""
        return {}

    def remarks(self, manifest: Mapping[str, Any]) -> list[str]:
        """Return lines to print after a dataset was generated."""
        return []

    def summary(self, counts: Mapping[str, Counter[tuple[str, ...]]]) -> dict[str, Any]:
        """Return what was counted in a split, for the manifest."""
        return {
            name: {" ".join(values): number for values, number in sorted(amount.items())}
            for name, amount in counts.items()
        }

    def check_counts(self, asked: Mapping[str, int]) -> dict[str, int]:
        """Return how many stories each split will have if these numbers are requested.

        Raises:
            ConfigError: If one of the splits cannot have that many, or none has any.
        """
        counts = {split: self.stories(split, count) for split, count in asked.items()}
        for split, count in counts.items():
            self.check_count(split, count)
        if not any(counts.values()):
            raise ConfigError("no stories requested; set --train, --val or --test to a number above 0.")
        return counts

    def check_count(self, split: str, count: int, option: str = "") -> None:
        """Raise ConfigError unless a split can have this number of stories; `option` is what users call it."""
        option = option or f"--{split}"
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if not isinstance(count, int):
            raise ConfigError(f"{option} is {count!r}; expected a whole number of stories.")
        if count < 0:
            raise ConfigError(f"{option} is {count}; the number of stories cannot be negative (0 leaves a split out).")
        if count > self.capacity(split):
            most = self.capacity(split) // self.round * self.round
            raise ConfigError(
                f"{option} is {count}; this vocabulary allows at most {most} different stories there; add words."
            )

    def blocks(self, split: str, count: int) -> Iterator[pa.Table]:
        """Yield `count` stories, block by block; check the count with `check_count` first."""
        for index in range(self.block_count(count)):
            yield self.part(split, count, index)

    def block_count(self, stories: int) -> int:
        """Return how many blocks a number of stories takes."""
        return -(-stories // self.block_stories)

    def part(self, split: str, count: int, index: int) -> pa.Table:
        """Return the block with the given index of a split of `count` stories; the last one is cut to size."""
        wanted = min(self.block_stories, count - index * self.block_stories)
        if wanted == self.block_stories:
            return self.block(split, index)
        whole_rounds = -(-wanted // self.round) * self.round
        made = self.beginning(split, index, min(whole_rounds, self.block_stories))
        return _cut(made, wanted * self.rows_per_story(split))


def _cut(table: pa.Table, rows: int) -> pa.Table:
    """Return the first rows, with only the dictionary entries that they use, so that no unrequested story is kept."""
    columns = [
        column.cast(column.type.value_type).dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.slice(0, rows).columns
    ]
    return pa.table(columns, schema=table.schema)
