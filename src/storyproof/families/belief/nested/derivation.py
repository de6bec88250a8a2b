"""Derive from the text alone what rows about nested beliefs lack."""

from __future__ import annotations

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import plain_schema
from storyproof.families.belief.nested.rows import AskedRow, prove_rows
from storyproof.seeds import digest


def complete(table: pa.Table, *, proved: bool) -> pa.Table:
    """Fill in the columns that rows lack, or with `proved` replace all labels, from the text.

    Raises:
        DataError: If a row cannot be read.
    """
    rows = table.to_pylist()
    found = prove_rows([AskedRow.of(row) for row in rows], check=False)
    for problem in found.problems:
        if found.labels[problem.row] is None:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    for row, labels in zip(rows, found.labels, strict=True):
        if labels is None:  # another row of the same story says why
            raise DataError(f"row {row.get('id')}: the story cannot be read.")
        for name, value in labels.items():
            if row.get(name) is None or proved:
                row[name] = value
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())
