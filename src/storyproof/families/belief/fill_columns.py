"""Fill in what rows lack, from their text; and the division of rows by their labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import plain_schema
from storyproof.families.belief import tomi_rows
from storyproof.families.belief.read_text import is_nested
from storyproof.families.belief.rows import AskedRow, prove_rows
from storyproof.generation.seeds import Indices, digest

Result = TypeVar("Result")


def complete(table: pa.Table, *, proved: bool) -> pa.Table:
    """Fill in the columns that rows lack, or with `proved` replace all labels, from the text."""

    def work(rows: pa.Table, is_tomi: bool, _: bool) -> pa.Table:
        return (tomi_rows.complete if is_tomi else _complete_worded)(rows, proved=proved)

    done = divide_rows(table, work)
    if len(done) == 1:
        return done[0][1]
    places = np.concatenate([rows for rows, _ in done])
    return pa.concat_tables([completed for _, completed in done]).take(pa.array(places.argsort()))


def divide_rows(table: pa.Table, work: Callable[[pa.Table, bool, bool], Result]) -> list[tuple[Indices, Result]]:
    """Divide rows into those in ToMi's wording and the others, and have each part worked on.

    Most tables are of one sort, and looking at every row takes longer than proving rows of ToMi. So if the first row
    is in ToMi's wording, all are taken for such until one cannot be read.

    Args:
        table: Rows with story and question.
        work: What to do with rows, whether they are in ToMi's wording, and whether that is certain as far as they can
            be read at all. If it is not and one cannot be read, `work` must raise DataError before it changes
            anything.

    Returns:
        For each part, the places of its rows in the table, and the result of the work.
    """
    texts = table.select(["story", "question"])
    if not any(is_nested(**row) for row in texts.slice(0, 1).to_pylist()):
        try:
            return [(np.arange(table.num_rows), work(table, True, False))]
        except DataError:  # perhaps of a later row that is in another wording
            pass
    others = np.array([is_nested(**row) for row in texts.to_pylist()], np.bool_)
    parts = ((is_tomi, rows) for is_tomi, rows in ((False, others), (True, ~others)) if rows.any())
    return [(np.flatnonzero(rows), work(table.filter(pa.array(rows)), is_tomi, True)) for is_tomi, rows in parts]


def _complete_worded(table: pa.Table, *, proved: bool) -> pa.Table:
    """Fill in the columns that rows lack, or with `proved` replace all labels, from the text.

    Raises:
        DataError: If a row cannot be read.
    """
    rows = table.to_pylist()
    proofs = prove_rows([AskedRow.of(row) for row in rows], check=False)
    for problem in proofs.problems:
        if proofs.labels[problem.row] is None:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    for row, labels in zip(rows, proofs.labels, strict=True):
        if labels is None:  # another row of the same story says why
            raise DataError(f"row {row.get('id')}: the story cannot be read.")
        for name, value in labels.items():
            if row.get(name) is None or proved:
                row[name] = value
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())
