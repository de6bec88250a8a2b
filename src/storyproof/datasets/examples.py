"""Rows as examples, with whatever a format leaves out worked out from the text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from storyproof.datasets.reading import Source
from storyproof.errors import DataError
from storyproof.example import SCHEMA, Example, plain_schema
from storyproof.seeds import digest
from storyproof.tom.proving import prove


def read_examples(source: Source, *, proved: bool = False, max_stories: int | None = None) -> list[Example]:
    """Read all examples of a source.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Stop after so many stories.

    Raises:
        DataError: If the data cannot be read, or lack something that their text does not tell either.
    """
    examples: list[Example] = []
    stories: set[tuple[str, str]] = set()
    for table in source.tables():
        try:
            rows = complete(table, proved=proved).to_pylist()
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from error
        for row in rows:
            stories.add((row["split"], row["story_id"]))
            if max_stories is not None and len(stories) > max_stories:
                return examples
            examples.append(Example.from_row(row))
    return examples


def complete(table: pa.Table, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from the text."""
    lacking = [name for name in SCHEMA.names if name not in table.column_names or table.column(name).null_count]
    if not lacking and not proved:
        return table
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
