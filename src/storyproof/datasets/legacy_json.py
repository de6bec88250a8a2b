"""JSON lists of questions, as evaluations of language models like them: `train.json`, `val.json`, `test.json`.

Each file is one list of objects with `story`, `question`, `answer`, `question_type`, `story_type` and `story_id`;
kinship, whose text does not tell who is meant by what, has the columns of its facts besides. Files are read and
written piece by piece, however long they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from storyproof.datasets.babi import split_of
from storyproof.datasets.jsonl import checked_row, table_of_rows
from storyproof.datasets.running_text import told_by_line
from storyproof.errors import DataError, ParseError
from storyproof.example import is_kinship

FIELDS = ("story", "question", "answer", "question_type", "story_type", "story_id")
KINSHIP_FIELDS = ("k", "task", "query", "genders", "edges", "edge_types", "noise_types", "pattern", "placeholders")
_NO_MINDS: dict[str, Any] = {"order": 0, "chain": [], "false_belief": False}  # of kinship, which asks about none
_PIECE = 1 << 20
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class JsonSplit:
    """Writes one split."""

    def __init__(self, folder: Path, split: str) -> None:
        self._path = folder / f"{split}.json"
        self._file = self._path.open("w", encoding="utf-8", newline="\n")
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        kinship = is_kinship(table.column_names)
        names = [*FIELDS, *(name for name in KINSHIP_FIELDS if kinship and name in table.column_names)]
        for row in table.select(names).to_pylist():
            kept = {name: value for name, value in row.items() if name in FIELDS or value is not None}
            self._file.write((",\n" if self._rows else "[\n") + json.dumps(kept, ensure_ascii=False))
            self._rows += 1

    def close(self) -> list[Path]:
        """Finish the file; gives what was written."""
        self._file.write("\n]\n" if self._rows else "[]\n")
        self._file.close()
        return [self._path]


def begins_a_list(path: Path) -> bool:
    """Say whether a file is a JSON list, by how it begins."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(4096).lstrip()[:1] == "["
    except (OSError, UnicodeError):
        return False


def read_json(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows; columns it lacks are null.

    Raises:
        DataError: If it is no list of such objects; the message names the object, counted from 0.
    """
    split = split_of(path)
    waiting: list[dict[str, Any]] = []
    for number, found in enumerate(_objects(path)):
        row = _row(found, f"{path}, object {number}")
        row.setdefault("id", f"{path.stem}-{number}")
        if row.get("split") is None:
            row["split"] = split
        waiting.append(row)
        if len(waiting) == rows:
            yield table_of_rows(waiting)
            waiting = []
    if waiting:
        yield table_of_rows(waiting)


def _row(found: Any, where: str) -> dict[str, Any]:
    if isinstance(found, dict):
        found = dict(found)
        if isinstance(found.get("story"), list) and all(isinstance(each, str) for each in found["story"]):
            found["story"] = "\n".join(found["story"])
        for name in ("id", "story_id"):
            if isinstance(found.get(name), int) and not isinstance(found[name], bool):
                found[name] = str(found[name])
    row = checked_row(found, where)
    if row.get("edges") is not None:
        return {**_NO_MINDS, **row}
    if "\n" not in row["story"]:
        with suppress(ParseError):  # in other words than ours: whoever needs to read it will say so
            row["story"] = told_by_line(row["story"])
    return row


def _objects(path: Path) -> Iterator[Any]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _Members(file, path)
    except (OSError, UnicodeError) as error:
        raise DataError(f"cannot read {path}: {error}.") from error


class _Members:
    """The members of a list, one by one; only a piece of the file is held."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file, self._path = file, path
        self._text, self._place, self._found = "", 0, 0

    def __iter__(self) -> Iterator[Any]:
        if self._sign() != "[":
            raise self._error("it begins otherwise")
        if self._sign() != "]":
            self._place -= 1
            while True:
                yield self._value()
                self._found += 1
                sign = self._sign()
                if sign == "]":
                    break
                if sign != ",":
                    raise self._error(f"after object {self._found - 1} comes {sign!r}")
        if self._sign():
            raise self._error("there is more after its end")

    def _sign(self) -> str:
        """Take the next sign that is no space; empty at the end of the file."""
        while True:
            self._place = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]  # matches anything
            if self._place < len(self._text):
                self._place += 1
                return self._text[self._place - 1]
            if not self._read():
                return ""

    def _value(self) -> Any:
        while True:
            try:
                start = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]
                value, end = _DECODER.raw_decode(self._text, start)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._read():
                    raise self._error(f"object {self._found} is no valid JSON ({error})") from error
                continue
            if end < len(self._text) or not self._read():  # a number may go on in the next piece
                self._place = end
                return value

    def _read(self) -> bool:
        piece = self._file.read(max(_PIECE, len(self._text) - self._place))
        self._text, self._place = self._text[self._place :] + piece, 0
        return bool(piece)

    def _error(self, found: str) -> DataError:
        return DataError(
            f"{self._path} is no list of questions: {found}; expected [ objects with {', '.join(FIELDS)} ]."
        )
