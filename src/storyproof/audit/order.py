"""How rows must stand together: ids, stories told alike, one benchmark and one split."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from storyproof.audit.labels import Finding
from storyproof.example import story_of_id


class RowOrder:
    """Looks at the rows of one source as they pass, and remembers what later ones must fit."""

    def __init__(self, split: str | None) -> None:
        self._split = split
        self._benchmark: str | None = None
        self._ids: set[str] = set()
        self._last: tuple[str | None, str] = (None, "")

    def check(self, table: pa.Table, where: str) -> Iterator[Finding]:
        """Find rows that do not fit with those before them."""
        columns = [_values(table, name) for name in ("id", "story_id", "benchmark", "split", "story")]
        for name, story_id, benchmark, split, story in zip(*columns, strict=True):
            if name is not None:
                yield from self._check_id(name, story_id, where)
            if benchmark is not None and benchmark != (self._benchmark or benchmark):
                yield Finding(where, name or "", "benchmark", benchmark, self._benchmark or "")
            self._benchmark = self._benchmark or benchmark
            if split is not None and split != (self._split or split):
                yield Finding(where, name or "", "split", split, self._split or "")
            if story_id is not None:
                yield from self._check_telling(name or "", story_id, story, where)

    def _check_id(self, name: str, story_id: str | None, where: str) -> Iterator[Finding]:
        if name in self._ids:
            yield Finding(where, name, "id", "the same id twice", "an id of its own")
        self._ids.add(name)
        ours = story_of_id(name)
        if ours is not None and story_id is not None and ours != story_id:
            yield Finding(where, name, "story_id", story_id, ours)
        if ours is not None and self._split is not None and not name.startswith(self._split):
            yield Finding(where, name, "id", name, f"an id of the {self._split} split")

    def _check_telling(self, name: str, story_id: str, story: str, where: str) -> Iterator[Finding]:
        """Rows of one story tell the same, or go on from where the last one stopped."""
        last_id, last_story = self._last
        if story_id == last_id and not (story == last_story or story.startswith(last_story + "\n")):
            yield Finding(where, name, "story", "another telling than in the row before", f"the story {story_id}")
        elif story_id != last_id and story == last_story:
            yield Finding(where, name, "story_id", story_id, f"{last_id}, which tells the same story")
        self._last = story_id, story


def _values(table: pa.Table, name: str) -> list[str | None]:
    values: list[str | None] = table.column(name).to_pylist() if name in table.column_names else [None] * table.num_rows
    return values
