"""The verb `stream`: stories of a benchmark one after the other, without end and without files.

A stream is made of blocks as a dataset is, but of small ones, and of still smaller ones instead of the first, so that
the first story comes at once. Its stories are proved in the same way, and are other stories than those of a dataset of
the same seed; their ids say so (`s7-train-…`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Self, overload

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.datasets.dials import turn
from storyproof.errors import ConfigError, UnknownNameError, quoted
from storyproof.example import SPLITS, Example
from storyproof.generation.arrow_columns import plain_values
from storyproof.runtime.collection import without_collection
from storyproof.stories import StoryText

BLOCK_STORIES = 192  # few enough calls of NumPy for each story
_FIRST_STORIES = 24  # that are made at once: the first story waits for these only, some milliseconds
_KEPT = 8  # blocks, for callers that go back a little


class Stream:
    """An endless iterator over the stories of a benchmark, see `stream`.

    Every story comes once. `stream[i]` is the story at place i, in any order and without moving the iterator. It ends
    only when the vocabulary allows no other story (`capacity`), after hundreds of millions with the shipped words.

    Args:
        benchmark: The benchmark, with its dials turned.
        split: Which split.

    Example:
        >>> import storyproof
        >>> stream = storyproof.stream("clutrr", seed=7, train_k="2-4")
        >>> first, second = next(stream), next(stream)
        >>> stream.position, stream[1] == second
        (2, True)
    """

    def __init__(self, benchmark: Benchmark, split: str = "train") -> None:
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        self._made, self._beginning = _recipes(benchmark)
        self._split = split
        self._first, self._step = 0, 1  # the blocks of a shard
        # By the size of the block and its number; of some there is the beginning only.
        self._blocks: OrderedDict[tuple[int, int], list[StoryText]] = OrderedDict()
        self.position = 0
        self._capacity = self._made.capacity(split)
        if self._capacity < 1:
            raise ConfigError(f"these dials allow no story in the {split} split of {benchmark.name}; turn them back.")

    @property
    def capacity(self) -> int:
        """How many different stories there are in all, in all shards together."""
        return self._capacity

    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows."""
        return self._made.schema

    def __iter__(self) -> Iterator[StoryText]:
        return self

    def __next__(self) -> StoryText:
        try:
            story = self[self.position]
        except IndexError:
            raise StopIteration from None
        self.position += 1
        return story

    @overload
    def __getitem__(self, index: int) -> StoryText: ...
    @overload
    def __getitem__(self, index: slice) -> list[StoryText]: ...
    def __getitem__(self, index: int | slice) -> StoryText | list[StoryText]:
        if isinstance(index, slice):
            if index.stop is None or min(index.start or 0, index.stop, (index.step or 1) - 1) < 0:
                raise ConfigError(
                    f"the slice is {index.start}:{index.stop}; a stream has no end, so use numbers from 0 on, such as "
                    "stream[100:200]."
                )
            return [self[place] for place in range(index.start or 0, index.stop, index.step or 1)]
        if index < 0:
            raise ConfigError(f"the index is {index}; a stream has no end, so use a number from 0 on.")
        number, place = divmod(index, self._made.block_stories)
        number = self._first + number * self._step
        row_number = number * self._made.block_stories + place
        if row_number >= self.capacity:
            raise IndexError(
                f"there are {self.capacity:,} different stories; {row_number} is the place after the last."
            )
        made = self._made if number else self._beginning
        number, place = divmod(row_number, made.block_stories)
        return self._block(made, number, place)[place]

    def rows(self) -> Iterator[Example]:
        """Yield the questions of the stories that follow, one by one; the position moves story by story."""
        for story in self:
            yield from story.rows

    def shard(self, index: int, count: int) -> Self:
        """Return one of several streams that share the stories of this one between them, for one worker each.

        Whole blocks go to one worker, so that none makes the stories of another. A shard can be divided again.

        Args:
            index: Which one, from 0 on.
            count: How many there are.

        Raises:
            ConfigError: If there is no such shard.
        """
        if not isinstance(count, int) or count < 1 or not isinstance(index, int) or not 0 <= index < count:
            raise ConfigError(f"shard {index!r} of {count!r} does not exist; count them from 0, one for each worker.")
        part = type(self)(self._made, self._split)
        part._first, part._step = self._first + index * self._step, self._step * count
        return part

    def state_dict(self) -> dict[str, Any]:
        """Return where the stream is, as plain values for JSON; `load_state_dict` resumes there."""
        return {**self._identity(), "position": self.position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume where a stream of the same benchmark, seed, split, dials and shard was.

        Raises:
            ConfigError: If the state is that of another stream, or of none; names what differs.
        """
        own = self._identity()
        position = state.get("position") if isinstance(state, Mapping) else None
        if not isinstance(position, int) or isinstance(position, bool) or position < 0:
            raise ConfigError(f"{quoted(state)} is not the state of a stream; expected what state_dict() returned.")
        for name, value in own.items():
            if state.get(name) != value:
                raise ConfigError(
                    f"the state is of another stream: its {name} is {quoted(state.get(name))}, and here it is "
                    f"{quoted(value)}; call stream() with the same arguments, and shard() as then."
                )
        self.position = position

    def _identity(self) -> dict[str, Any]:
        made = self._made
        return {
            "benchmark": made.name,
            "version": made.version,
            "seed": made.seed,
            "split": self._split,
            "config": _plain(made.config.as_dict()),
            "shard": [self._first, self._step],
        }

    def _block(self, made: Benchmark, number: int, place: int) -> list[StoryText]:
        """Return the stories of a block, at least up to a place."""
        key = made.block_stories, number
        if place < len(self._blocks.get(key, ())):
            self._blocks.move_to_end(key)
            return self._blocks[key]
        few = self._beginning.block_stories
        is_first = not self._blocks and place < few
        table = made.beginning(self._split, number, few) if is_first else made.block(self._split, number)
        with without_collection():
            stories = self._stories(table, number * made.block_stories)
        self._blocks[key] = stories
        while len(self._blocks) > _KEPT:
            self._blocks.popitem(last=False)
        return stories

    def _stories(self, table: pa.Table, first: int) -> list[StoryText]:
        """Return the stories of a table, the first of which has the number `first`."""
        made, head = self._made, f"s{self._made.seed}-"
        columns = {name: plain_values(table.column(name)) for name in table.column_names}
        for name in ("id", "story_id"):
            columns[name] = [head + each for each in columns[name]]
        examples = Example.from_columns(columns, made.family)
        rows = made.rows_per_story(self._split)
        parts = [tuple(examples[start : start + rows]) for start in range(0, len(examples), rows)]
        return [
            StoryText(questions[-1].story, questions, family=made.family, index=first + place)
            for place, questions in enumerate(parts)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_blocks": OrderedDict()}  # workers need not be sent stories

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._made, self._beginning = _recipes(self._made)  # recipes travel without the size of their blocks

    def __repr__(self) -> str:
        made = self._made
        return f"<stream of {made.name}@{made.version}, seed {made.seed}, {self._split}, at {self.position:,}>"


def _recipes(benchmark: Benchmark) -> tuple[Benchmark, Benchmark]:
    """Return a recipe with the blocks of streams, and with those that the first of these is made in."""
    return benchmark.with_blocks_of(BLOCK_STORIES), benchmark.with_blocks_of(_FIRST_STORIES)


def _plain(value: Any) -> Any:
    """Return a value as JSON would give it back."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def stream(benchmark: str, *, seed: int = 0, split: str = "train", preset: str | None = None, **dials: Any) -> Stream:
    """Return fresh stories one after the other, each with its questions, answers and proofs, without end.

    The same arguments give the same stories on every machine. No story comes twice within a seed, and splits of one
    seed have no story in common, so that one split can be trained on and another tested.

    Args:
        benchmark: Its name, such as `tomi`; `tomi@1` for a version.
        seed: Same seed, same stories.
        split: `train`, `val` or `test`.
        preset: Named settings of the benchmark, which dials override.
        **dials: Its settings; `storyproof.dials(benchmark)` lists them with their ranges.

    Returns:
        An iterator with random access (`stream[i]`), `shard` for several workers, and `state_dict` and
        `load_state_dict` to stop and resume.

    Raises:
        ConfigError: If there is no such benchmark, split or dial, or a dial cannot be turned so far.

    Example:
        >>> import storyproof
        >>> stream = storyproof.stream("tomi", seed=7)
        >>> story = next(stream)
        >>> story.sentences[0]
        'Viktor entered the balcony.'
        >>> story.rows[2].question, story.rows[2].answer
        ('Where does Ada think that Felix searches for the shell?', 'tub')
        >>> state = stream.state_dict()
        >>> again = storyproof.stream("tomi", seed=7)
        >>> again.load_state_dict(state)
        >>> next(again) == next(stream)
        True
        >>> workers = [storyproof.stream("tomi", seed=7).shard(index, 4) for index in range(4)]
        >>> len({next(worker).text for worker in workers})
        4
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ConfigError(f"the seed is {seed!r}; use a whole number from 0 on.")
    return Stream(turn(benchmark, seed, dials, preset), split)
