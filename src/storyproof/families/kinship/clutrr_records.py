"""Records of CLUTRR's CSV files: the raw text of each, its fields, and the kinship row that they describe.

There is one file for training (`1.2,1.3_train.csv`) and one per test scenario (`1.2_test.csv`, …). A record that cannot
be parsed is refused, with file, row and line. Values that can be parsed but do not fit together are kept for audits.
"""

from __future__ import annotations

import ast
import codecs
import csv
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from storyproof.errors import DataError, ParseError
from storyproof.families.kinship.people import parse_people
from storyproof.families.kinship.row import MOST_EDGES, MOST_PEOPLE, KinshipRow, build_row
from storyproof.families.kinship.tasks import TASKS_BY_NUMBER
from storyproof.formats.delimited import COMMAS, TextRecord, patched
from storyproof.formats.format import WHOLE, Part
from storyproof.formats.json_edits import Changes
from storyproof.formats.lines import text_lines
from storyproof.io.bounded_input import MOST_COLUMNS, has_surrogate, open_file

COLUMNS = (
    "",
    "id",
    "story",
    "query",
    "text_query",
    "target",
    "text_target",
    "clean_story",
    "proof_state",
    "f_comb",
    "task_name",
    "story_edges",
    "edge_types",
    "query_edge",
    "genders",
    "syn_story",
    "node_mapping",
    "task_split",
)
STATUS = "status"  # the column that corrected files have besides the published ones
Triple = tuple[str, str, str]  # a, r, c: c is the r of a
NEEDED = tuple(name for name in COLUMNS if name not in ("", "text_query", "text_target", "syn_story", "node_mapping"))
_TASK = re.compile(r"task_([0-9])\.([1-9][0-9]?)")
_SHOWN = 120  # characters of a field that a message shows


class PublishedStep(NamedTuple):
    """A step of a proof: the conclusion and its two premises."""

    head: Triple
    left: Triple
    right: Triple


@dataclass(frozen=True, slots=True)
class ClutrrRow(KinshipRow):
    """A kinship row with what only CLUTRR's CSV files record; `values` are the fields as text, by column.

    Attributes:
        record: The record.
        task: The kind of story, according to the task's name.
        query_edge: The numbers of the two people asked about, as given.
        proof: Its steps as given, the conclusion first.
    """

    record: TextRecord
    task: str
    query_edge: tuple[int, int]
    proof: tuple[PublishedStep, ...]


def read_records(path: Path, part: Part = WHOLE) -> Iterator[TextRecord]:
    """Read a file's records, the header first.

    Args:
        path: The file.
        part: Which records follow the header, see `Format.parts`.

    Raises:
        DataError: If it is not a CSV file with the columns of CLUTRR; the message says what was found, and where.
    """
    how: dict[str, Any] = {"newline": "", "errors": "surrogateescape"}
    records = _records(path, text_lines(path, **how))
    if not part.first:
        yield from records
        return
    header = next(records)
    yield header
    before = header._replace(row=part.first - 2, line=part.line)
    yield from _records(path, text_lines(path, **how, at=part.at), before)


def _records(path: Path, file: Iterable[str], before: TextRecord | None = None) -> Iterator[TextRecord]:
    """Divide lines into records.

    Args:
        path: The file, for messages.
        file: Its lines, with their ends.
        before: The number of the record before these lines, the line at which they begin, and the cells of the header;
            None if they begin with the header.
    """
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for text in file:
            taken.append(text)
            yield text

    row, line, width = (-1, 1, 0) if before is None else (before.row + 1, before.line, len(before.cells))
    reader = csv.reader(lines(), strict=True)
    try:
        for fields in reader:
            record = TextRecord(row, line, "".join(taken), fields)
            record.raw.encode()
            if row < 0 and not fields:
                refuse(path, record, "the first line is empty, expected a header with the columns of CLUTRR")
            if row < 0:
                width = len(fields)
                _check_header(path, record)
            if fields and len(fields) != width:
                refuse(path, record, f"it has {len(fields)} fields, expected {width} as in the header")
            yield record
            row, line = row + bool(fields), line + len(taken)
            taken.clear()
    except csv.Error as error:
        refuse(path, TextRecord(row, line, "", []), f"found {error}, expected a record of a CSV file")
    except UnicodeEncodeError:
        refuse(path, TextRecord(row, line, "", []), "found bytes that are not valid UTF-8")
    if not width:
        raise DataError(f"{path} is empty, expected a header with the columns of CLUTRR.")


def _check_header(path: Path, header: TextRecord) -> None:
    if len(header.cells) > MOST_COLUMNS:
        refuse(path, header, f"it has {len(header.cells):,} columns, expected at most {MOST_COLUMNS:,}")
    for name in (*NEEDED, "text_target", STATUS):
        count = header.cells.count(name)
        if count > 1 or (not count and name in NEEDED):
            columns = f"{count} columns '{name}'" if count else f"no column '{name}'"
            refuse(path, header, f"it has {columns}, expected the columns of CLUTRR: {', '.join(NEEDED)}")


def refuse(path: Path, record: TextRecord, what: str) -> NoReturn:
    """Raise DataError with the place of a record and what is wrong with it."""
    where = f"row {record.row}, line {record.line}" if record.row >= 0 else f"line {record.line}"
    raise DataError(f"{path}, {where}: {' '.join(what.splitlines())}.")  # a field may span several lines


def read_clutrr_row(path: Path, record: TextRecord, header: Sequence[str]) -> ClutrrRow:
    """Read the row that a record describes.

    Raises:
        DataError: If a field is not in the form that CLUTRR uses; the message says what was found, and where.
    """
    values = dict(zip(header, record.cells, strict=True))

    def expect(name: str, found: Any, form: str) -> Any:
        if found is None:
            shown = values[name] if len(values[name]) <= _SHOWN else values[name][:_SHOWN] + "…"
            refuse(path, record, f"{name} is '{shown}', expected {form}")
        return found

    task, k = expect("task_name", _task(values["task_name"]), "task_T.k with T from 1 to 7")
    people = expect("genders", _people(values["genders"]), "'Name:male' or 'Name:female' for everybody, each name once")
    edges = expect("story_edges", _edges(values["story_edges"]), f"a list of at most {MOST_EDGES} pairs of numbers")
    words = expect("edge_types", _types(values["edge_types"]), f"a list of at most {MOST_EDGES} relations")
    query = expect("query", _pair(values["query"], str), "a pair of names")
    query_edge = expect("query_edge", _pair(values["query_edge"], int), "a pair of numbers")
    proof = expect("proof_state", _proof(values["proof_state"]), "a list of {(a, r, c): [(a, r1, b), (b, r2, c)]}")
    row = build_row(values, people, edges, words, k, query, values["target"])
    shared = {field.name: getattr(row, field.name) for field in fields(row)}
    return ClutrrRow(**shared, record=record, task=task, query_edge=query_edge, proof=proof)


def patched_records(path: Path, changes: Changes) -> Iterator[bytes]:
    """Yield a file's records with some changes; all other bytes stay as they are.

    Raises:
        DataError: If the file cannot be read, or is not the one that was audited.
    """
    with open_file(path) as file:
        yield codecs.BOM_UTF8 if file.read(3) == codecs.BOM_UTF8 else b""
    columns: list[str] = []
    added: list[str] = []
    rows = 0
    for record in read_records(path):
        if not record.cells:
            yield record.raw.encode()  # an empty line
        elif record.row < 0:
            columns = record.cells
            used = {name for each in changes.values.values() for name in each}
            added = [name for name in changes.added if name in used and name not in columns]
            yield patched(path, record, columns, {}, changes, added, COMMAS).encode()
        else:
            rows += 1
            if record.row not in changes.gone:
                values = changes.values.get(record.row, {})
                more = [str(values.get(name, changes.added[name])) for name in added]
                yield patched(path, record, columns, values, changes, more, COMMAS).encode()
    changes.check_rows(path, rows)


def _task(text: str) -> tuple[str, int] | None:
    match = _TASK.fullmatch(text)
    return (TASKS_BY_NUMBER[int(match[1])], int(match[2])) if match and int(match[1]) in TASKS_BY_NUMBER else None


def _people(text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    try:
        people = parse_people(text.split(","))
    except ParseError:
        return None
    return people if len(people[0]) <= MOST_PEOPLE else None


def literal(text: str) -> Any:
    """Return the value of a Python literal; None if the text is none, or has an unpaired surrogate."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of the compiler, about escapes and missing commas
            value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return None if "\\" in text and has_surrogate(value) else value


@lru_cache(maxsize=4096)  # the same structures recur
def _edges(text: str) -> tuple[tuple[int, int], ...] | None:
    edges = literal(text)
    if not isinstance(edges, list) or len(edges) > MOST_EDGES or not all(_is_tuple(each, 2, int) for each in edges):
        return None
    return tuple(edges)


@lru_cache(maxsize=4096)
def _types(text: str) -> tuple[str, ...] | None:
    texts = literal(text)
    if not isinstance(texts, list) or len(texts) > MOST_EDGES or not all(isinstance(each, str) for each in texts):
        return None
    return tuple(texts)


@lru_cache(maxsize=4096)
def _pair(text: str, kind: type) -> tuple[Any, Any] | None:
    pair = literal(text)
    return pair if _is_tuple(pair, 2, kind) else None


def _proof(text: str) -> tuple[PublishedStep, ...] | None:
    found = literal(text)
    if not isinstance(found, list):
        return None
    steps = []
    for each in found:
        if not isinstance(each, dict) or len(each) != 1:
            return None
        ((head, body),) = each.items()
        if not isinstance(body, list) or len(body) != 2 or not all(_is_tuple(part, 3, str) for part in (head, *body)):
            return None
        steps.append(PublishedStep(head, *body))
    return tuple(steps)


def _is_tuple(value: Any, length: int, kind: type) -> bool:
    return isinstance(value, tuple) and len(value) == length and all(type(part) is kind for part in value)
