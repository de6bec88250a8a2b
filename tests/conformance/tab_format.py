"""A file format of another package: one row per line, its columns as JSON, separated by tabs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from storyproof.example import plain_schema
from storyproof.families.family import schema_of
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import Format, with_places


class TabSplit:
    """Writes one split."""

    def __init__(self, folder: Path, split: str) -> None:
        self._path = folder / f"{split}.tabs"
        self._file = self._path.open("w", encoding="utf-8", newline="\n")

    def write(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            self._file.write("\t".join(json.dumps(each) for each in row.items()) + "\n")

    def close(self) -> list[Path]:
        self._file.close()
        return [self._path]


class Tabs(Format):
    """Columns separated by tabs."""

    name = "tabs"
    suffixes = (".tabs",)
    keeps_all = True

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        lines = path.read_text(encoding="utf-8").splitlines()
        for first in range(0, len(lines), rows):
            part = [dict(json.loads(cell) for cell in line.split("\t")) for line in lines[first : first + rows]]
            table = pa.Table.from_pylist(part, schema=plain_schema(schema_of(part[0])))
            yield with_places(table, first, range(first + 1, first + 1 + len(part))) if places else table

    def writer(self, folder: Path, split: str) -> TabSplit:
        return TabSplit(folder, split)


FORMAT = Tabs()
