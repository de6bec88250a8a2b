"""The verb `load`: data of any format as one table."""

from __future__ import annotations

import pyarrow as pa

from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.reading import complete, find_source
from storyproof.errors import DataError, UnknownNameError
from storyproof.example import plain_schema
from storyproof.families.family import family_of_table

GIVEN, PROVED = "given", "proved"


@takes_rows("path")
def load(path: Data, split: str | None = None, *, labels: str = "given") -> pa.Table:
    """Read data of any format that storyproof knows, its own or published, as one table with all columns.

    Args:
        path: A dataset folder or a file: .parquet, .jsonl, .json, .txt (ToMi, ToM-bAbI), .csv (CLUTRR), or what other
            packages add; or rows in memory: a frame of pandas or polars, an Arrow table, or a list of rows.
        split: Which split of a folder; by default test, or the only one.
        labels: `given` keeps them and works out what is missing; `proved` replaces all by what follows from the text,
            and leaves out rows from which no answer follows.

    Returns:
        An Arrow table, one row per question: `to_pylist()` gives rows for `prompt` and `judge`, `to_pandas()` a frame.

    Raises:
        DataError: If there are no such data, or they cannot be read.
        ConfigError: If `labels` is something else.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tom-babi", test=12, out="data", format="babi")
        >>> table = storyproof.load("data")
        >>> table.num_rows, table.column("question_type").null_count
        (12, 0)
    """
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    source = find_source(path, split)
    parts = []
    for table in source.tables():
        family = family_of_table(table)
        try:
            completed = complete(table, family, proved=labels == PROVED)
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from error
        schema = plain_schema(family.schema)
        columns = [name for name in schema.names if name in completed.column_names]
        others = [name for name in completed.column_names if name not in schema.names]
        fixed = [completed.column(name).cast(schema.field(name).type) for name in columns]
        parts.append(pa.table([*fixed, *(completed.column(name) for name in others)], names=[*columns, *others]))
    if not parts:
        raise DataError(f"{source.name} contains no questions.")
    return pa.concat_tables(parts, promote_options="permissive").combine_chunks()
