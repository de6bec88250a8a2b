"""JSON lines of other people's making: read with line numbers, and edited in place.

Two dialects are read. `jsonl`: `{"story": …, "question": …, "answer": …}`, the story one sentence a line or running
text. `inspect`, as evaluation frameworks have it: `{"input": [{"role": "user", "content": TEXT}], "target": "box"}`
with story and question in one running text, perhaps with instructions around it; the input may be plain text, the
target a list, and some call it `ideal`. The question is the last one asked; the story is what is told before it.

What is edited keeps its key order, separators and escapes: only the value that changes is written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.example import REQUIRED, plain_schema
from storyproof.tom.events import FEELINGS, NOISE
from storyproof.tom.text import QUESTION_FORMS, SENTENCE_FORMS, parse_question, parse_sentence

JSONL, INSPECT = "jsonl", "inspect"
MARK = b"\xef\xbb\xbf"  # some editors begin a file with it
TARGETS = ("target", "ideal")
_SCHEMA = pa.schema([*plain_schema(), ("line", pa.int64()), ("field", pa.string())])
_TEXTS = ("id", "story_id", *REQUIRED)  # what the readers below have made sure of

_WORD = r"\w[\w'’-]*"
_WHO = rf"(?<![\w'’-])(?![a-z\d]){_WORD}"  # instructions speak of "who entered the room", stories of Ada
_FORMS = (
    rf"{_WHO} (?:entered|exited|is in) the {_WORD}\.",
    rf"{_WHO} moved the {_WORD} to the {_WORD}\.",
    rf"{_WHO} (?:{'|'.join(FEELINGS)}) the {_WORD}\.?",  # published files have no full stop here
    rf"(?<!\w)The {_WORD} is in the {_WORD}\.",
    NOISE.replace(".", r"\."),
)
_SENTENCE = re.compile("|".join(_FORMS).replace(" ", r"\s+"))
_QUESTION = re.compile(r"Where\s(?:(?!Where\s)[^.?!])*\?")
_BETWEEN = re.compile(r"\s*(?:(?:\d+|[-*•])[.):]?\s*)?")  # two sentences may have a number or a bullet between them
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


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
    if _SENTENCE.search(texts[-1]):
        return split_text(texts[-1])
    return split_text("\n".join(texts))


def last_question(text: str) -> tuple[str, int, int]:
    """Find the last question of a text: its words, where it begins and where it ends.

    Raises:
        ParseError: If it has none of the known forms.
    """
    found = list(_QUESTION.finditer(text))
    end = text.rfind("?") + 1
    if not found or found[-1].end() != end:
        last = re.split(r"[.?!\n]", text[: max(end - 1, 0)])[-1].strip()
        what = f"'{last[-80:]}?'" if end else f"no question mark in '{text.strip()[-80:]}'"
        raise ParseError(f"not a question about a story: {what}; expected one of: {QUESTION_FORMS}.")
    words = " ".join(found[-1][0].split())
    parse_question(words)
    return words, found[-1].start(), end


@lru_cache(maxsize=256)
def split_text(text: str) -> tuple[str, str]:
    """Take a running text apart: the story, one sentence a line, and the question.

    What stands before the story, and between it and the question, is taken for instructions unless it speaks of the
    story's people or things. An earlier question ends an earlier story, told as an example.

    Raises:
        ParseError: If there is no question or no story, or something among the sentences cannot be read.
    """
    question, asked, _ = last_question(text)
    earlier = [match.end() for match in _QUESTION.finditer(text, 0, asked)]
    start = earlier[-1] if earlier and _SENTENCE.search(text, earlier[-1], asked) else 0
    found = list(_SENTENCE.finditer(text, start, asked))
    if not found:
        raise ParseError(f"no story before '{question}'; expected sentences such as: {SENTENCE_FORMS}.")
    sentences = _sentences(text, found)
    events = [parse_sentence(sentence) for sentence in sentences]
    names = {name for event in events for name in (event.agent, event.thing)}
    for around in (text[start : found[0].start()], text[found[-1].end() : asked]):
        if names.intersection(re.findall(_WORD, _QUESTION.sub("", around))):
            raise _unread(around)
    return "\n".join(sentences), question


@lru_cache(maxsize=256)
def told_by_line(text: str) -> str:
    """Give a story one sentence a line, also if it is running text.

    Raises:
        ParseError: If something in it cannot be read.
    """
    try:
        for sentence in text.split("\n"):
            parse_sentence(sentence)
    except ParseError:
        found = list(_SENTENCE.finditer(text))
        around = [text[: found[0].start()], text[found[-1].end() :]] if found else [text]
        for each in around:
            if not found or not _BETWEEN.fullmatch(each):
                raise _unread(each) from None
        return "\n".join(_sentences(text, found))
    return text


def _sentences(text: str, found: Sequence[re.Match[str]]) -> list[str]:
    """Give the sentences found, having made sure that nothing but numbers and space stands between them."""
    for one, other in pairwise(found):
        between = text[one.end() : other.start()]
        if not _BETWEEN.fullmatch(between):
            raise _unread(between)
    return [" ".join(match[0].split()) for match in found]


def _unread(text: str) -> ParseError:
    return ParseError(f"not a sentence of a story: '{text.strip()[:80]}'; expected one of: {SENTENCE_FORMS}.")


def replace_value(text: str, path: Sequence[str], value: Any) -> str:
    """Write another value into a line of JSON, leaving all else as it is.

    A text put where a list is takes the place of the list's items.

    Raises:
        DataError: If there is no such value.
    """
    start, end = _skip(text, 0), 0
    try:
        for key in path:
            start, end = _member(text, start, key)
        old = json.loads(text[start:end])
        if isinstance(old, list) and isinstance(value, str):
            value = [value]
            if len(old) == 1:
                (start, end), value = _member(text, start, 0), value[0]
    except (KeyError, IndexError, ValueError, RecursionError) as error:
        raise DataError(
            f"no value '{'.'.join(path)}' in '{text[:60]}'; expected the line as it was audited."
        ) from error
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return text[:start] + json.dumps(value, ensure_ascii=text.isascii(), separators=separators) + text[end:]


def _skip(text: str, index: int) -> int:
    match = _SPACE.match(text, index)
    return match.end() if match else index


def _member(text: str, start: int, wanted: str | int) -> tuple[int, int]:
    """Find where a member of an object or list begins and ends; of several with one name the last, as readers do."""
    index, place, found = _skip(text, start + 1), 0, None
    while text[index] not in "}]":
        name: Any = place
        if text[start] == "{":
            name, index = _DECODER.raw_decode(text, index)
            index = _skip(text, _skip(text, index) + 1)
        begin = index
        _, index = _DECODER.raw_decode(text, index)
        if name == wanted:
            found = begin, index
        end = _skip(text, index)
        index, place = _skip(text, end + 1) if text[end] == "," else end, place + 1
    if found is None:
        raise KeyError(wanted)
    return found
