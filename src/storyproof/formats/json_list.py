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
from typing import Any, NamedTuple, TextIO

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import REQUIRED
from storyproof.families.belief.babi_format import split_of
from storyproof.families.family import recognise
from storyproof.formats.inspect_jsonl import find_bad_bytes
from storyproof.formats.jsonl import checked_row, table_of_rows

FIELDS = ("story", "question", "answer", "question_type", "story_type", "story_id")
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
        facts = recognise(table.column_names).facts
        names = [*FIELDS, *(name for name in facts if name in table.column_names)]
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


def lists_questions(path: Path) -> bool:
    """Say whether a file is a JSON list of questions, by its first object."""
    try:
        first = next((member.value for member in read_members(path)), None)
    except DataError:
        return False
    return isinstance(first, dict) and all(name in first for name in REQUIRED)


def read_json(path: Path, rows: int, lines: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows; columns it lacks are null.

    Args:
        path: The file.
        rows: How many rows a table has.
        lines: Whether to add a column `line`, where each row begins, from 1.

    Raises:
        DataError: If it is no list of such objects; the message names the line, and the object, counted from 0.
    """
    split = split_of(path)
    waiting: list[dict[str, Any]] = []
    at: list[int] = []

    for number, found in enumerate(read_members(path)):
        row = _row(found.value, f"{path}, line {found.line}, object {number}")
        row.setdefault("id", f"{path.stem}-{number}")
        if row.get("split") is None:
            row["split"] = split
        waiting.append(row)
        at.append(found.line)
        if len(waiting) == rows:
            yield table_of_rows(waiting, at if lines else None)
            waiting, at = [], []
    if waiting:
        yield table_of_rows(waiting, at if lines else None)


def _row(found: Any, where: str) -> dict[str, Any]:
    if isinstance(found, dict):
        found = dict(found)
        if isinstance(found.get("story"), list) and all(isinstance(each, str) for each in found["story"]):
            found["story"] = "\n".join(found["story"])
        for name in ("id", "story_id"):
            if isinstance(found.get(name), int) and not isinstance(found[name], bool):
                found[name] = str(found[name])
    row = checked_row(found, where)
    family = recognise((name for name, value in row.items() if value is not None), row["question"])
    if family.facts:
        return {**_NO_MINDS, **row}
    if "\n" not in row["story"]:
        with suppress(ParseError):  # a story in another form: whoever needs to parse it will say so
            row["story"] = family.lines(row["story"])
    return row


class Member(NamedTuple):
    """A member of a list: its value, its line from 1, its text, and the text between it and the one before."""

    value: Any
    line: int
    text: str
    before: str


def read_members(path: Path, *, end: list[str] | None = None, newline: str | None = None) -> Iterator[Member]:
    """Read the members of a list one by one; only a piece of the file is held.

    Args:
        path: The file.
        end: Gets the text after the last member.
        newline: As for `open`; empty to have the ends of lines as they are.

    Raises:
        DataError: If it is no list; the message says what was found where.
    """
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            members = _Members(file, path)
            yield from members
            if end is not None:
                end.append(members.passed)
    except (OSError, UnicodeError) as error:
        bad = find_bad_bytes(path) if isinstance(error, UnicodeError) else None
        raise bad or DataError(f"cannot read {path}: {error}.") from error


class _Members:
    """The members of a list, one by one; only a piece of the file is held."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file, self._path = file, path
        self._text, self._place, self._found, self._line = "", 0, 0, 1
        self.passed = ""  # what was read since the last member

    def __iter__(self) -> Iterator[Member]:
        if self._sign() != "[":
            raise self._error("it begins otherwise")
        if self._sign() != "]":
            self._place, self.passed = self._place - 1, self.passed[:-1]
            while True:
                yield self._member()
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
            self._pass_space()
            if self._place < len(self._text):
                self._place += 1
                self.passed += self._text[self._place - 1]
                return self._text[self._place - 1]
            if not self._read():
                return ""

    def _pass_space(self) -> None:
        end = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]  # matches anything
        self.passed += self._text[self._place : end]
        self._line += self._text.count("\n", self._place, end)
        self._place = end

    def _member(self) -> Member:
        while True:
            self._pass_space()
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._read():
                    self._line += self._text.count("\n", self._place, getattr(error, "pos", self._place))
                    raise self._error(f"object {self._found} is no valid JSON ({_told(error)})") from error
                continue
            if end < len(self._text) or not self._read():  # a number may go on in the next piece
                break
        found = Member(value, self._line, self._text[self._place : end], self.passed)
        self._line += found.text.count("\n")
        self._place, self.passed = end, ""
        return found

    def _read(self) -> bool:
        piece = self._file.read(max(_PIECE, len(self._text) - self._place))
        self._text, self._place = self._text[self._place :] + piece, 0
        return bool(piece)

    def _error(self, found: str) -> DataError:
        return DataError(
            f"{self._path}, line {self._line}: no list of questions: {found}; expected [ objects with "
            f"{', '.join(FIELDS)} ]."
        )


def _told(error: Exception) -> str:
    """Give a message without the places that it has in a piece of the file."""
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
