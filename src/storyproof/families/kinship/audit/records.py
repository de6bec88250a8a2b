"""Rows of kinship in the columns of examples, read for an audit from Parquet, JSON lines and JSON lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from storyproof.errors import DataError, ParseError
from storyproof.families.kinship.audit.rows import AuditedRow, audit_values
from storyproof.families.kinship.clutrr_records import MOST_EDGES, MOST_PEOPLE
from storyproof.families.kinship.people import parse_people
from storyproof.formats.format import PLACE, Format


def holds_edges(path: Path, form: Format) -> bool:
    """Return whether a file has the column `edges`, from its columns or its first row.

    Files that cannot be read are left to their reader, which says why.
    """
    try:
        return "edges" in form.columns(path)
    except DataError:
        return False


def read_audited_rows(path: Path, form: Format) -> Iterator[AuditedRow]:
    """Read a file's rows.

    Raises:
        DataError: If a row is not a kinship row, or its columns cannot be read; the message says what was found where.
    """
    for table in form.read(path, places=True):
        for values in table.to_pylist():
            place = values.pop(PLACE)
            yield _read_values(path, place["row"], place["line"], values)


def _read_values(path: Path, number: int, line: int, values: dict[str, Any]) -> AuditedRow:
    where = f"{path}, line {line}, row {number}" if line else f"{path}, row {number}"

    def refuse(name: str, expected: str) -> NoReturn:
        shown = json.dumps(values.get(name), ensure_ascii=False)
        raise DataError(f"{where}: {name} is {shown[:120]}, expected {expected}.")

    for name in ("genders", "edges", "edge_types", "query"):
        if values.get(name) is None or None in values[name]:
            refuse(name, "a value, which every kinship row must have")
    try:
        people = parse_people(values["genders"])
    except ParseError:
        refuse("genders", "'Name:male' or 'Name:female' for everybody, each name once")
    if len(people[0]) > MOST_PEOPLE:
        refuse("genders", f"at most {MOST_PEOPLE} people")
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
        refuse("k", "the number of facts in the chain, at least 1")
    return audit_values(values, people, k, number=number, line=line)
