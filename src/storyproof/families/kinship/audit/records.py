"""Rows of kinship in the columns of examples, read as CLUTRR's records are, so that both are judged alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from storyproof.errors import DataError, ParseError
from storyproof.families.kinship.clutrr_records import MOST_EDGES, MOST_PEOPLE, STATUS, Record, Row
from storyproof.families.kinship.config import TASK_NUMBERS
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.rows import TASKS_BY_NUMBER
from storyproof.families.kinship.text import parse_line
from storyproof.formats.format import PLACE, Format

COLUMNS = {"target": "answer", "story_edges": "edges"}  # what examples call CLUTRR's columns, where it is another name

_WORD = re.compile(r"@?\w[\w-]*")


class Told(NamedTuple):
    """A row of kinship: what it says in each column, and as a record of CLUTRR, with relations as its text has them."""

    values: dict[str, Any]
    row: Row


def tells_of_kinship(path: Path, form: Format) -> bool:
    """Return whether a file's columns, or its first row, are of kinship; what cannot be read is left to its reader."""
    try:
        return "edges" in form.columns(path)
    except DataError:
        return False


def read_told(path: Path, form: Format) -> Iterator[Told]:
    """Read a file's rows.

    Raises:
        DataError: If a row is not of kinship, or its columns cannot be read; the message says what was found where.
    """
    for table in form.read(path, places=True):
        for values in table.to_pylist():
            place = values.pop(PLACE)
            yield _told(path, place["row"], place["line"], values)


def _told(path: Path, number: int, line: int, values: dict[str, Any]) -> Told:
    where = f"{path}, line {line}, row {number}" if line else f"{path}, row {number}"

    def refuse(name: str, expected: str) -> NoReturn:
        shown = json.dumps(values.get(name), ensure_ascii=False)
        raise DataError(f"{where}: {name} is {shown[:120]}, expected {expected}.")

    for name in ("genders", "edges", "edge_types", "query"):
        if values.get(name) is None or None in values[name]:
            refuse(name, "a value, without which nothing can be said of kinship")
    people = [each.rpartition(":") for each in values["genders"]]
    names, genders = tuple(each[0] for each in people), tuple(each[2] for each in people)
    if not all(names) or not set(genders) <= set(GENDERS) or len(set(names)) < len(names) or len(names) > MOST_PEOPLE:
        refuse("genders", "'Name:male' or 'Name:female' of each, each name once")
    if len(values["query"]) != 2:
        refuse("query", "a pair of names")
    edges = values["edges"]
    if len(edges) > MOST_EDGES or any(len(edge) != 2 or None in edge for edge in edges):
        refuse("edges", f"a list of at most {MOST_EDGES} pairs of numbers")
    if len(values["edge_types"]) > MOST_EDGES:
        refuse("edge_types", f"a list of at most {MOST_EDGES} relations")
    k = values.get("k")
    k = k if k is not None else len(edges) - len(values.get("noise_types") or ())
    if k < 1:
        refuse("k", "how many facts the chain has")
    words = _words_of_text(values, names) or tuple(values["edge_types"])
    return Told(values, _row(Record(number, line, "", []), values, names, genders, words, k))


def _row(
    record: Record,
    values: Mapping[str, Any],
    names: tuple[str, ...],
    genders: tuple[str, ...],
    words: tuple[str, ...],
    k: int,
) -> Row:
    query = values["query"][0], values["query"][1]
    known = set(query) <= set(names)
    task = values.get("task") or ""
    fields = {
        "id": values["id"] or "",
        "story": values["story"] + "".join(f"[{name}]" for name in _mentioned(values["story"], names)),
        "query": repr(query),
        "target": values["answer"],
        "clean_story": "".join(f"[{name}]" for name in names),
        "f_comb": "-".join(words[:k]),
        "task_name": values.get("question_type") or f"task_{TASK_NUMBERS.get(task, 1)}.{k}",
        "task_split": values.get("split") or "",
        STATUS: values.get("status") or "",
    }
    return Row(
        record,
        fields,
        task if task in TASK_NUMBERS else TASKS_BY_NUMBER[1],
        k,
        names,
        genders,
        tuple((edge[0], edge[1]) for edge in values["edges"]),
        words,
        query,
        (names.index(query[0]), names.index(query[1])) if known else (-1, -1),
        (),
    )


def _mentioned(story: str, names: Sequence[str]) -> Iterator[str]:
    """Give the people whom a story names."""
    words = set(_WORD.findall(story))
    for name in names:
        if name in words if _WORD.fullmatch(name) else name in story:
            yield name


def _words_of_text(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Give the relations of the edges as the text tells them, if it can be read and tells just them."""
    lines = values["story"].split("\n")
    forms = values.get("placeholders")
    if forms is None or len(forms or lines) != len(lines):
        return None
    try:
        told = [
            each
            for line, form in zip(lines, forms or [None] * len(lines), strict=True)
            for each in parse_line(line, form)
        ]
        pairs = [(names[first], names[second]) for first, second in values["edges"]]
    except (ParseError, IndexError):
        return None
    found = {(each.first, each.second): each.word for each in told}
    if len(found) < len(told) or len(set(pairs)) < len(pairs) or set(found) != set(pairs):
        return None
    return tuple(found[pair] for pair in pairs)
