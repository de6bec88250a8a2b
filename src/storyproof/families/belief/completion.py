"""Fill in what theory-of-mind rows lack, from their text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from storyproof.errors import DataError
from storyproof.example import plain_schema
from storyproof.families.belief.proving import prove
from storyproof.seeds import digest


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text."""
    rows = table.to_pylist()
    stories: dict[str, int] = {}
    story_of = [stories.setdefault(row["story"], len(stories)) for row in rows]
    asked = pa.array([row["question"] for row in rows], pa.string())
    found = prove(pa.array(stories, pa.string()), np.array(story_of), asked, check=False)
    readable = set(found.rows.tolist())
    for problem in found.problems:
        if problem.row not in readable:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    expected = {name: column.to_pylist() for name, column in found.columns.items()}
    for place, number in enumerate(found.rows.tolist()):
        row = rows[number]
        for name, values in expected.items():
            if row.get(name) is None or (proved and values[place] is not None):
                row[name] = values[place]
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())
