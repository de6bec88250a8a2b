"""JSON lines of other people's making, read with line numbers.

Two dialects are read. `jsonl`: `{"story": …, "question": …, "answer": …}`, the story one sentence a line or running
text. `inspect`, as evaluation frameworks have it: `{"input": [{"role": "user", "content": TEXT}], "target": "box"}`
with story and question in one running text, perhaps with instructions around it; the input may be plain text, the
target a list, and some call it `ideal`. The question is the last one asked; the story is what is told before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import REQUIRED, plain_schema
from storyproof.families.belief.running_text import last_question, split_text, tells_something, told_by_line

JSONL, INSPECT = "jsonl", "inspect"
MARK = b"\xef\xbb\xbf"  # some editors begin a file with it
TARGETS = ("target", "ideal")
_SCHEMA = pa.schema([*plain_schema(), ("line", pa.int64()), ("field", pa.string())])
_PLACE = re.compile(r" (?:is in|to) the ([^\s.]+)\.?(?=\n|$)")
_TEXTS = ("id", "story_id", *REQUIRED)  # what the readers below have made sure of


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Read a file's lines with their ends, whatever those are, counted from 1.

    Raises:
        DataError: If the file cannot be read.
    """
    number = 0
    try:
        with path.open("rb") as file:
            for piece in file:
                for line in piece.splitlines(keepends=True):  # a lone carriage return ends a line too
                    number += 1
                    yield number, line
    except OSError as error:
        raise DataError(f"cannot read {path}: {error}.") from error


def find_bad_bytes(*paths: Path) -> DataError | None:
    """Say where files stop being UTF-8, if they do."""
    for path in paths:
        for number, line in numbered_lines(path) if path.exists() else ():
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return _bad_byte(f"{path}, line {number}", error)
    return None


def _bad_byte(where: str, error: UnicodeDecodeError) -> DataError:
    return DataError(f"{where}: found the byte 0x{error.object[error.start]:02x}; expected text in UTF-8.")


def dialect_of(line: str) -> str:
    """Tell the dialect of a line; one that cannot be read is left to the reader of plain rows."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return JSONL
    return INSPECT if isinstance(found, dict) and "input" in found and "story" not in found else JSONL


def read_samples(path: Path, rows: int, dialect: str) -> Iterator[pa.Table]:
    """Read a file in tables of so many rows, with the columns of an example, those lacking null.

    Two columns are added: `line`, the row's line, and `field`, the name under which it has its answer. Of several
    accepted answers each stands in a line of its own. A value that does not fit its column's type is taken for
    something else of the same name, and is null.

    Raises:
        DataError: If a line is no such object; the message names the line.
    """
    make = {JSONL: _plain_row, INSPECT: _inspect_row}[dialect]
    waiting: list[dict[str, Any]] = []
    for number, line in numbered_lines(path):
        if not line.removeprefix(MARK if number == 1 else b"").strip():
            continue
        where = f"{path}, line {number}"
        found = _object(line, where)
        try:
            row = make(found)
            for name in _TEXTS:
                if row.get(name) is not None:
                    row[name].encode()
        except UnicodeEncodeError as error:
            raise DataError(f"{where}: found half a character ({error.reason}); expected text.") from error
        except DataError as error:
            raise DataError(f"{where}: {error}") from error
        given = row.get("id")
        waiting.append({**row, "id": f"{path.stem}-{number}" if given is None else given, "line": number})
        if len(waiting) == rows:
            yield _table(waiting)
            waiting = []
    if waiting:
        yield _table(waiting)


def is_inspect(path: Path) -> bool:
    """Tell the dialect of a file from its first line."""
    lines = (line.removeprefix(MARK if number == 1 else b"") for number, line in numbered_lines(path))
    first = next((line for line in lines if line.strip()), b"")
    return dialect_of(first.decode(errors="replace")) == INSPECT


def read_inspect(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read rows of the second dialect as examples; of several answers, or one in free words, the place that is meant.

    Raises:
        DataError: If a line is no such object; the message names the line.
    """
    for table in read_samples(path, rows, INSPECT):
        told = zip(table.column("story").to_pylist(), table.column("answer").to_pylist(), strict=True)
        meant = pa.array([_meant(story, answer.split("\n")) for story, answer in told], pa.string())
        yield table.set_column(table.column_names.index("answer"), "answer", meant).drop_columns(["line", "field"])


def _meant(story: str, answers: Sequence[str]) -> str:
    places = _PLACE.findall(story)
    return next((place for place in places for answer in answers if folded(answer) == folded(place)), answers[0])


def folded(answer: str) -> str:
    """Leave out what does not matter in an answer in free words."""
    words = answer.casefold().replace("_", " ").strip(" .\t\n\"'").split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _bad_byte(where, error) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: no valid JSON ({error}); expected one object a line.") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: found {type(found).__name__}; expected one object a line.")
    return found


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table(
        [_column([row.get(name) for row in rows], _SCHEMA.field(name).type) for name in _SCHEMA.names], _SCHEMA
    )


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return pa.array([value if _fits(value, kind) else None for value in values], kind)


def _fits(value: Any, kind: pa.DataType) -> bool:
    try:
        pa.array([value], kind)
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return False
    return True


def _name(value: Any) -> str | None:
    """Give an id, which may be a number."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _plain_row(found: Mapping[str, Any]) -> dict[str, Any]:
    for name in REQUIRED:
        if not isinstance(found.get(name), str):
            raise DataError(f"'{name}' is {_shown(found.get(name))}; expected text.")
    names = {name: _name(found.get(name)) for name in ("id", "story_id")}
    told = {"story": told_by_line(found["story"]), "question": last_question(found["question"])[0]}
    return {**found, **names, **told, "field": "answer"}


def _inspect_row(found: Mapping[str, Any]) -> dict[str, Any]:
    field = next((name for name in TARGETS if name in found), TARGETS[0])
    target = found.get(field)
    targets: list[Any] = target if isinstance(target, list) else [target]
    if not targets or not all(isinstance(each, str) and each for each in targets):
        raise DataError(f"'{field}' is {_shown(target)}; expected text, or a list of texts.")
    metadata = found.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    story, question = _last_story(_texts(found.get("input")))
    return {
        "id": _name(found.get("id")),
        "story": story,
        "question": question,
        "answer": "\n".join(targets),
        "field": field,
        **{name: kept.get(name) for name in ("question_type", "story_type")},
    }


def _shown(value: Any) -> str:
    """Show a value, or as much of it as makes sense in a message."""
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"


def _texts(given: Any) -> list[str]:
    """Give what the user says in an input: a text, or messages whose contents may come in parts."""
    if isinstance(given, str):
        return [given]
    texts = []
    for message in given if isinstance(given, list) else ():
        if not isinstance(message, dict) or message.get("role", "user") != "user":
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        spoken = [part.get("text") if isinstance(part, dict) else part for part in parts]
        texts.append("\n".join(each for each in spoken if isinstance(each, str)))
    if not texts:
        raise DataError(f"'input' is {_shown(given)}; expected text, or a list of messages with one of the user's.")
    return texts


def _last_story(texts: Sequence[str]) -> tuple[str, str]:
    """Read the last message, or if it tells no story all of them."""
    if tells_something(texts[-1]):
        return split_text(texts[-1])
    return split_text("\n".join(texts))
