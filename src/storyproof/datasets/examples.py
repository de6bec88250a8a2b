"""Rows as examples; columns that a format leaves out are worked out from the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from storyproof.datasets.reading import Source
from storyproof.errors import DataError, quoted
from storyproof.example import SCHEMA, Example
from storyproof.families.family import Family, family_of_table, own_example, recognise
from storyproof.formats.chunks import CHUNK_ROWS, in_parts


def read_examples(source: Source, *, proved: bool = False, max_stories: int | None = None) -> list[Example]:
    """Read all examples of a source.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Read at most this number of stories.

    Raises:
        DataError: If the data cannot be read, or lack something that their text does not tell either.
    """
    return list(iterate_examples(source, proved=proved, max_stories=max_stories))


def iterate_examples(
    source: Source, *, proved: bool = False, max_stories: int | None = None, rows: int = CHUNK_ROWS
) -> Iterator[Example]:
    """Read the examples of a source one after the other, as `read_examples` does, without holding all of them.

    Args:
        source: Where they are.
        proved: Replace all labels by those that follow from the text.
        max_stories: Read at most this number of stories.
        rows: About how many to hold at a time.
    """
    stories: set[tuple[str, str]] = set()
    for table in source.tables(rows):
        family = family_of_table(table)
        try:
            found = complete(table, family, proved=proved).to_pylist()
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from error
        for row in found:
            if max_stories is not None:
                stories.add((row["split"], row["story_id"]))
                if len(stories) > max_stories:
                    return
            if row["question_type"] is None:
                raise DataError(
                    f"{source.name}: row {quoted(row['id'])} has no question_type, and it does not follow from the "
                    "rest; add it."
                )
            yield Example.from_row(row, family.name)


def complete(table: pa.Table, family: Family | None = None, *, proved: bool = False) -> pa.Table:
    """Fill in the columns that a table lacks, or with `proved` replace all labels, from its text and facts.

    With `proved`, rows from which no answer follows are left out.
    """
    family = family or family_of_table(table)
    present = set(table.column_names)
    lacking = any(
        name not in present or (table.column(name).null_count and name not in family.nullable)
        for name in family.schema.names
    )
    if not table.num_rows or not (lacking or proved):
        return table
    return pa.concat_tables(family.complete(part, proved=proved) for part in in_parts(table))


def as_example(row: Example | Mapping[str, Any]) -> Example:
    """Return a row as an example; what a dictionary lacks is worked out from its text, as far as that can be read.

    Raises:
        DataError: If the row has no story or no question.
    """
    if isinstance(row, Example):
        return row
    if not isinstance(row, Mapping):
        raise DataError(f"the row is {quoted(row)}; expected an example, or a dictionary with story and question.")
    given = {name: value for name, value in row.items() if value is not None}
    for name in ("story", "question"):
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise DataError(f"the row has {name} {quoted(row.get(name))}; expected a text.")
    family = recognise(given, given["question"])
    if all(name in given for name in SCHEMA.names):
        return Example.from_row(dict(given), family.name)
    blank = {**own_example(given).as_row(), **_unknown(given)}
    try:
        [found] = complete(pa.Table.from_pylist([blank]), family).to_pylist()
    except (DataError, ValueError, pa.ArrowInvalid):  # a family that has more to read, or text that nobody can read
        found = _proved(family, given)
    return own_example({**{name: value for name, value in found.items() if value is not None}, **given}, family.name)


def _proved(family: Family, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from the text of a row; nothing if it cannot be read."""
    try:
        return family.prove_text(given["story"], given["question"]).as_row()
    except DataError:
        return {}


def _unknown(given: Mapping[str, Any]) -> dict[str, None]:
    """Return the columns that a row lacks, as missing values; its ids and its origin stay empty."""
    return {name: None for name in SCHEMA.names if name not in {*given, "id", "story_id", "benchmark", "split"}}
