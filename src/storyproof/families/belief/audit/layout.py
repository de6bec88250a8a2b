"""Where the rows of theory-of-mind files stand, and in which of six forms they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import pyarrow as pa

from storyproof.datasets.chunks import whole_stories
from storyproof.datasets.reading import CHUNK_ROWS
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.belief.babi_format import read_babi
from storyproof.formats.inspect_jsonl import (
    INSPECT,
    JSONL,
    MARK,
    dialect_of,
    numbered_lines,
    read_samples,
)
from storyproof.formats.json_list import read_json
from storyproof.formats.parquet import read_parquet

TOMI, TOM_BABI = "tomi", "tom-babi"
PARQUET, JSON = "parquet", "json"
FORMATS = ("auto", TOMI, TOM_BABI, JSONL, INSPECT, PARQUET, JSON)
BY_ROW = (JSONL, INSPECT, PARQUET, JSON)  # each row says all, its story included
TRACE, OBSERVERS = "trace", "observers"  # kinds of errata besides those that all formats share


def form_of(path: Path, name: str) -> str:
    """Tell a file's format from its first line, unless it is named."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    if name != "auto":
        return name
    if path.suffix in (f".{PARQUET}", f".{JSON}"):
        return path.suffix[1:]
    wanted = "expected a numbered sentence (tomi, tom-babi) or a JSON object (jsonl, inspect)"
    for number, line in filled(path):
        text = line.decode(errors="replace")
        if text.lstrip().startswith("{"):
            return dialect_of(text)
        if text.split(" ")[0].isdecimal():
            return TOM_BABI if "\t" in text else TOMI
        raise DataError(f"{path}, line {number}: found '{text[:60]}'; {wanted}.")
    raise DataError(f"{path}, line 1: found nothing; {wanted}.")


def tables(path: Path, form: str) -> Iterator[pa.Table]:
    """Read a file in tables of whole stories."""
    if form not in BY_ROW:
        return read_babi(path, CHUNK_ROWS)
    if form == PARQUET:
        return whole_stories(read_parquet(path, CHUNK_ROWS))
    if form == JSON:
        return whole_stories(read_json(path, CHUNK_ROWS, lines=True))
    return whole_stories(read_samples(path, CHUNK_ROWS, form))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its own lines, the last with the answer; sentences told before; its line of the trace."""

    lines: list[int]
    before: tuple[int, ...] = ()
    trace: int = 0

    def line_of(self, sentence: int) -> int:
        """Give the line of a sentence of the row's story; the answer's if sentences have no lines of their own."""
        told = [*self.before, *self.lines[:-1]]
        return told[sentence - 1] if sentence <= len(told) else self.lines[-1]


def places_in(table: pa.Table) -> list[Place]:
    """Say where the rows of a table stand that says all by row; Parquet has no lines."""
    lines = table.column("line").to_pylist() if "line" in table.column_names else [0] * table.num_rows
    return [Place([line]) for line in lines]


def places(path: Path) -> Iterator[Place]:
    """Say where each row of a text stands; to be read no further than the rows themselves have been."""
    beside = path.with_suffix(".trace")
    traces: Iterator[int] = (number for number, _ in filled(beside)) if beside.exists() else repeat(0)
    lines: list[int] = []
    before: tuple[int, ...] = ()
    for number, line in filled(path):
        if int(line.partition(b" ")[0].decode()) == 1:
            before = ()
        lines.append(number)
        if line.partition(b"\t")[0].endswith(b"?"):
            yield Place(lines, before, next(traces, 0))
            lines, before = [], (*before, *lines[:-1])


def filled(path: Path) -> Iterator[tuple[int, bytes]]:
    """Read the lines that are not empty, without their ends."""
    for number, line in numbered_lines(path):
        if text := line.removeprefix(MARK if number == 1 else b"").rstrip(b"\r\n"):
            yield number, text
