"""JSON lists of questions, for evaluations of language models: `train.json`, `val.json`, `test.json`.

Each file is one list of objects with `story`, `question`, `answer`, `question_type`, `story_type` and `story_id`, with
`id` and `benchmark` as far as they are known, so that runs on them can be compared with runs on the data that they come
from, and with the facts of a family whose text does not tell them. Files are read and written piece by piece, however
long they are.

Lists of others may be in an object: `{"data": [...]}`, `{"train": [...], "test": [...]}`. An object without lists of
objects is read as a whole: an object of objects has a row in each, and any other is one record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.families.family import recognise
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import Format, split_of, stem_of
from storyproof.formats.json_edits import Changes, Write, edit_row, replace_value
from storyproof.formats.jsonl import checked_row, given, has_other_names, table_of_rows
from storyproof.formats.lines import MARK, find_bad_bytes, unreadable
from storyproof.formats.records import Record, has_questions, read_strictly
from storyproof.io.bounded_input import (
    LARGEST_DOCUMENT,
    LONGEST_LINE,
    DocumentError,
    beyond,
    check_json,
    open_file,
    open_text,
    parse_json,
    read_bytes,
)

FIELDS = ("story", "question", "answer", "question_type", "story_type", "story_id")
ORIGIN = ("id", "benchmark")
_NO_MINDS: dict[str, Any] = {"order": 0, "chain": [], "false_belief": False}  # of families that ask about none
_PIECE = 1 << 20
_RESULTS = re.compile(r'\s*\{\s*"schema":\s*\d+,\s*"storyproof":')  # what an evaluation writes, perhaps beside data
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
        names = [*FIELDS, *(name for name in (*ORIGIN, *facts) if name in table.column_names)]
        for row in table.select(names).to_pylist():
            kept = {name: value for name, value in row.items() if name in FIELDS or value is not None}
            self._file.write((",\n" if self._rows else "[\n") + json.dumps(kept, ensure_ascii=False))
            self._rows += 1

    def close(self) -> list[Path]:
        """Finish the file and return it."""
        self._file.write("\n]\n" if self._rows else "[]\n")
        self._file.close()
        return [self._path]


class Json(Format):
    """JSON lists of questions."""

    name = "json"
    suffixes = (".json",)
    opening = "a JSON list"

    def recognise(self, path: Path) -> bool:
        """Return whether a file begins as a list or an object."""
        return begins_with(path, "[{")

    def is_data(self, path: Path) -> bool:
        """Return whether a file is a list that is named after a split, or has questions and is no recorded run."""
        if begins_with(path, "["):
            return split_of(path) is not None or has_questions(self, path, if_damaged=False)
        is_run = _RESULTS.match(_beginning(path)) is not None
        return begins_with(path, "{") and not is_run and has_questions(self, path, if_damaged=False)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a list; columns of other names are found."""
        if has_other_names(self, path):
            return read_strictly(path, self, rows, places=places)
        return read_json(path, rows, places)

    def records(self, path: Path, columns: Collection[str] | None = None) -> Iterator[Record]:
        """Read the objects of a file, as far as it is valid."""
        whole = None if begins_with(path, "[") else _read_object(path)
        if whole is not None:
            yield from whole
            return
        number = -1
        try:
            for number, member in enumerate(read_members(path)):
                is_object = isinstance(member.value, dict)
                problem = "" if is_object else f"found {type(member.value).__name__}, expected an object"
                value = _with_ids(member.value) if is_object else None
                yield Record(value, member.line, number, problem, member.part)
        except DataError as error:
            if number < 0:
                raise
            reason = str(error).removeprefix(f"{path}, ")
            yield Record(None, 0, number + 1, f"the file cannot be read from here on: {reason}")

    def columns(self, path: Path) -> Collection[str]:
        """Return the columns that the first object has values for, whether or not they can be read."""
        first = next((each.value for each in self.records(path)), None)
        return given(first) if isinstance(first, dict) else ()

    def writer(self, folder: Path, split: str) -> JsonSplit:
        """Return what writes one list."""
        return JsonSplit(folder, split)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Edit objects in place."""
        if not begins_with(path, "[") and (records := _read_object(path)) is not None:
            if len(records) != 1 and not all(each.part for each in records):
                raise DataError(f"{path}: files by column can be audited, but not fixed; leave out --fix.")
            keys = [each.part for each in records]
            return {path.name: lambda file: _write_patched_object(path, file, changes, keys)}
        return {path.name: lambda file: _write_patched(path, file, changes)}


def begins_with(path: Path, signs: str) -> bool:
    """Return whether a file begins with one of some signs."""
    beginning = _beginning(path).lstrip()[:1]
    return bool(beginning) and beginning in signs


def _beginning(path: Path) -> str:
    """Return the first characters of a file; none if it cannot be read."""
    try:
        with open_text(path) as file:
            return file.read(4096)
    except (OSError, UnicodeError):
        return ""


def _read_object(path: Path) -> list[Record] | None:
    """Return the rows of an object that is read as a whole; None if it has lists of objects, or is too large for that.

    Raises:
        DataError: If it is not valid JSON.
    """
    try:
        with open_file(path) as file:
            text = file.read(LARGEST_DOCUMENT + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(text) > LARGEST_DOCUMENT:
        return None
    try:
        content = parse_json(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise find_bad_bytes(path) or DataError(f"cannot read {path}: {error}.") from error
    except DocumentError:
        return None  # rows before the mistake can be read one by one
    values = list(content.values()) if isinstance(content, dict) else []
    if any(isinstance(each, list) and each and isinstance(each[0], dict) for each in values):
        return None
    if _is_by_column(content):
        if isinstance(values[0], list):
            return [
                Record(dict(zip(content, each, strict=True)), 0, row)
                for row, each in enumerate(zip(*values, strict=True))
            ]
        keys = list(values[0])
        return [Record({name: column[key] for name, column in content.items()}, 0, row) for row, key in enumerate(keys)]
    if values and all(isinstance(each, dict) for each in values):
        rows = enumerate(content.items())
        return [Record({"id": key, **value}, 0, number, part=key) for number, (key, value) in rows]
    return [Record(content, 1, 0)] if isinstance(content, dict) else None


def _is_by_column(content: Any) -> bool:
    """Return whether an object holds columns: lists of one length, or objects with the same keys, `0` and so on."""
    values = list(content.values()) if isinstance(content, dict) else []
    if len(values) < 2:
        return False
    if all(isinstance(each, list) and len(each) == len(values[0]) for each in values):
        return True
    return all(isinstance(each, dict) and each.keys() == values[0].keys() for each in values) and all(
        key.isdecimal() for key in values[0]
    )


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    """Return an object with numbers of rows and stories as text."""
    for name in ("id", "story_id"):
        if isinstance(row.get(name), int) and not isinstance(row[name], bool):
            row = {**row, name: str(row[name])}
    return row


def read_json(path: Path, rows: int, places: bool = False) -> Iterator[pa.Table]:
    """Read a file in tables of `rows` rows; columns that it lacks are null.

    Args:
        path: The file.
        rows: How many rows a table has.
        places: Add the column `place`.

    Raises:
        DataError: If it is not a list of such objects; the message names the line, and the object, counted from 0.
    """
    split, stem = split_of(path), stem_of(path)
    waiting: list[tuple[str, dict[str, Any]]] = []
    lines: list[int] = []
    done = 0
    for number, member in enumerate(read_members(path)):
        where = f"{path}, line {member.line}, object {number}"
        row = _row(member.value, where)
        if row.get("id") is None:
            row["id"] = f"{stem}-{number}"
        if row.get("split") is None:
            row["split"] = split
        waiting.append((where, row))
        lines.append(member.line)
        if len(waiting) == rows:
            yield table_of_rows(waiting, done, lines if places else None)
            waiting, lines, done = [], [], done + rows
    if waiting:
        yield table_of_rows(waiting, done, lines if places else None)


def _row(found: Any, where: str) -> dict[str, Any]:
    if isinstance(found, dict):
        found = dict(found)
        if isinstance(found.get("story"), list) and all(isinstance(each, str) for each in found["story"]):
            found["story"] = "\n".join(found["story"])
        found = _with_ids(found)
    row = checked_row(found, where)
    family = recognise(given(row), row["question"])
    if family.facts:
        return {**_NO_MINDS, **row}
    if "\n" not in row["story"]:
        with suppress(ParseError):  # a story in another form: parsing it raises the error
            row["story"] = family.lines(row["story"])
    return row


class Member(NamedTuple):
    """A member of a list: its value, its line from 1, its text, and the text between it and the one before.

    `part` is the name of its list in an object of lists.
    """

    value: Any
    line: int
    text: str
    before: str
    part: str = ""


def read_members(path: Path, *, end: list[str] | None = None, newline: str | None = None) -> Iterator[Member]:
    """Read the members of a list one by one; only a piece of the file is held.

    Args:
        path: The file.
        end: Gets the text after the last member.
        newline: As for `open`; empty to have the ends of lines as they are.

    Raises:
        DataError: If it is not a list; the message says what was found where.
    """
    try:
        with open_text(path, newline=newline) as file:
            members = _Members(file, path)
            yield from members
            if end is not None:
                end.append(members.passed)
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeError as error:
        raise find_bad_bytes(path) or DataError(f"cannot read {path}: {error}.") from error


class _Members:
    """The members of a list, one by one; only a piece of the file is held."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file, self._path = file, path
        self._text, self._place, self._found, self._line = "", 0, 0, 1
        self.passed = ""  # what was read since the last member

    def __iter__(self) -> Iterator[Member]:
        sign = self._sign()
        if sign == "[":
            yield from self._list("")
        elif sign == "{":
            yield from self._object()
        else:
            raise self._error("it does not begin with [ or {")
        if self._sign():
            raise self._error("there is more after its end")

    def _list(self, part: str) -> Iterator[Member]:
        """Yield the members of a list whose beginning was read."""
        if self._sign() == "]":
            return
        self._back()
        while True:
            yield self._member()._replace(part=part)
            self._found += 1
            sign = self._sign()
            if sign == "]":
                return
            if sign != ",":
                raise self._error(f"after object {self._found - 1} comes {sign!r}")

    def _object(self) -> Iterator[Member]:
        """Yield the members of all lists of objects in an object whose beginning was read."""
        has_lists = False
        if self._sign() == "}":
            raise self._error("it is an object without lists of objects")
        self._back()
        while True:
            key = self._pass_value()
            if not isinstance(key, str) or self._sign() != ":":
                raise self._error("it has no name and value")
            if self._sign() == "[":
                sign = self._sign()
                self._back()
                if sign == "{":
                    has_lists = True
                    yield from self._list(key)
                else:
                    self._pass_list()
            else:
                self._back()
                self._pass_value()
            sign = self._sign()
            if sign == "}" and not has_lists:
                raise self._error("it is an object without lists of objects")
            if sign == "}":
                return
            if sign != ",":
                raise self._error(f"after the value of {key[:60]!r} comes {sign!r}")

    def _pass_list(self) -> None:
        """Pass a list of anything but objects."""
        if self._sign() == "]":
            return
        self._back()
        while True:
            self._pass_value()
            sign = self._sign()
            if sign == "]":
                return
            if sign != ",":
                raise self._error(f"in a list comes {sign!r}")

    def _pass_value(self) -> Any:
        """Pass a value, and return it."""
        member = self._member()
        self.passed = member.before + member.text
        return member.value

    def _back(self) -> None:
        """Go back by the sign that was read."""
        if self.passed and self._place:
            self._place, self.passed = self._place - 1, self.passed[:-1]

    def _sign(self) -> str:
        """Return the next character that is not a space; empty at the end of the file."""
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
                value, end = self._decode()
            except DocumentError as error:
                if not isinstance(error.__cause__, json.JSONDecodeError) or not self._read():
                    self._line += self._text.count("\n", self._place, getattr(error.__cause__, "pos", self._place))
                    raise self._error(f"object {self._found} is not valid JSON ({error})") from error
                continue
            if end < len(self._text) or not self._read():  # a number may go on in the next piece
                break
        member = Member(value, self._line, self._text[self._place : end], self.passed)
        self._line += member.text.count("\n")
        self._place, self.passed = end, ""
        return member

    def _decode(self) -> tuple[Any, int]:
        """Return the value at the place reached, and where it ends."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._place)
        except json.JSONDecodeError as error:
            raise DocumentError(error.msg) from error  # without the position, which is one in a piece of the file
        except (ValueError, RecursionError) as error:
            raise beyond(error) from error
        check_json(value, self._text[self._place : end])
        return value, end

    def _read(self) -> bool:
        if len(self._text) - self._place > LONGEST_LINE:
            raise self._error(f"object {self._found} is longer than {LONGEST_LINE:,} characters, the most that is read")
        piece = self._file.read(max(_PIECE, len(self._text) - self._place))
        self._text, self._place = self._text[self._place :] + piece, 0
        return bool(piece)

    def _error(self, problem: str) -> DataError:
        return DataError(
            f"{self._path}, line {self._line}: not a list of questions: {problem}; expected [ objects with "
            f"{', '.join(FIELDS)} ]."
        )


def _write_patched(path: Path, file: BinaryIO, changes: Changes) -> None:
    """Write a list with some changes; where a member is left out, so is the text before it.

    A file that cannot be read from some place on is copied from there.
    """
    with open_file(path) as source:
        file.write(MARK if source.read(len(MARK)) == MARK else b"")
    end: list[str] = []
    rows, opening, part, done = 0, "", None, 0
    members = read_members(path, end=end, newline="")
    while True:
        try:
            member = next(members, None)
        except DataError:
            if changes.rows != rows + 1:  # what cannot be read is a row
                raise
            file.write(opening.encode())
            _copy_from(path, file, done)
            return
        if member is None:
            break
        done += len(member.before) + len(member.text)
        rows += 1
        if member.part != part:  # the text before a list stays, whatever becomes of its first member
            opening, part = opening + member.before, member.part
        if rows - 1 in changes.gone:
            continue
        before = opening or member.before
        opening = ""
        file.write((before + edit_row(path, rows - 1, member.text, changes)).encode())
    changes.check_rows(path, rows)
    file.write((opening + end[0]).encode())


def _copy_from(path: Path, file: BinaryIO, start: int) -> None:
    """Copy a text from a character on, whatever its bytes are."""
    with open_text(path, newline="", errors="surrogateescape") as source:
        while start and (passed := source.read(min(start, _PIECE))):
            start -= len(passed)
        while piece := source.read(_PIECE):
            file.write(piece.encode(errors="surrogateescape"))


def _write_patched_object(path: Path, file: BinaryIO, changes: Changes, keys: Sequence[str]) -> None:
    """Write an object that is read as a whole with some changes."""
    content = read_bytes(path)
    mark = MARK if content.startswith(MARK) else b""
    text = content.removeprefix(MARK).decode()
    if changes.gone:
        raise DataError(f"{path}: rows of such an object cannot be left out; leave out --fix.")
    for row, values in changes.values.items():
        for name, value in values.items():
            text = replace_value(text, [key for key in (keys[row],) if key] + name.split("."), value)
    file.write(mark + text.encode())


FORMAT = Json()
