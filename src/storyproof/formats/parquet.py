"""Parquet: a split is one file, a block one row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storyproof.errors import DataError
from storyproof.example import REQUIRED, plain, plain_schema
from storyproof.families.family import schema_of

DICTIONARY_LIMIT = 64 << 20  # one block's stories must fit, or each would be stored once a question


def _recurring(schema: pa.Schema) -> list[str]:
    """Name the columns in which values recur: words, and lists of words."""
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    lists = [
        field.name for field in schema if pa.types.is_list(field.type) and pa.types.is_string(field.type.value_type)
    ]
    return [*words, *(f"{name}.list.element" for name in lists)]


class ParquetSplit:
    """Writes one split."""

    def __init__(self, folder: Path, split: str) -> None:
        self._path = folder / f"{split}.parquet"
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._path,
                table.schema,
                compression="snappy",  # a sixth less time to write than zstd; files are 1.7 times as large
                # Readers see plain strings; dictionaries pay only where values recur.
                store_schema=False,
                use_dictionary=_recurring(table.schema),
                dictionary_pagesize_limit=DICTIONARY_LIMIT,
                write_statistics=False,
            )
        self._writer.write_table(table)

    def close(self) -> list[Path]:
        """Finish the file; gives what was written."""
        if self._writer is None:
            pq.write_table(plain_schema().empty_table(), self._path)
        else:
            self._writer.close()
        return [self._path]


def read_parquet(path: Path, rows: int) -> Iterator[pa.Table]:
    """Read a file in tables of about so many rows; columns that examples do not have are left out.

    Raises:
        DataError: If it is no whole Parquet file, or its columns are not those of examples.
    """
    try:
        known = _check_columns(path, pq.read_schema(path))
        coded = [name for name in known if pa.types.is_dictionary(schema_of(known).field(name).type)]
        file = pq.ParquetFile(path, read_dictionary=coded)
        first = 0
        for batch in file.iter_batches(batch_size=rows, columns=known, use_threads=False):
            table = pa.Table.from_batches([batch])
            table.validate(full=True)  # whether text is text
            yield _as_examples(table, path, first)
            first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error


def parquet_columns(path: Path) -> list[str]:
    """Name a file's columns.

    Raises:
        DataError: If it is no whole Parquet file.
    """
    try:
        names: list[str] = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    return names


def _unreadable(path: Path, error: Exception) -> DataError:
    reason = str(error).split("\n")[0].rstrip(".")
    return DataError(f"{path} is no readable Parquet file ({reason}); expected a whole one, so copy or make it again.")


def _check_columns(path: Path, found: pa.Schema) -> list[str]:
    """Give the columns that examples have; raises DataError if one is missing, twice there, or of another type."""
    for name in REQUIRED:
        if name not in found.names:
            raise DataError(f"{path} has no column '{name}'; expected at least {', '.join(REQUIRED)}.")
    schema = schema_of(found.names)
    known = [name for name in schema.names if name in found.names]
    for name in known:
        if found.names.count(name) > 1:
            raise DataError(f"{path} has {found.names.count(name)} columns '{name}'; expected one.")
        kind, expected = plain(found.field(name).type), plain(schema.field(name).type)
        if not _fits(kind, expected):
            raise DataError(f"{path}: column '{name}' is {found.field(name).type}, expected {expected}; write it so.")
    return known


def _fits(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return bool(is_list) and _fits(found.value_type, expected.value_type)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    return bool(found == expected or (pa.types.is_integer(found) and pa.types.is_integer(expected)))


def _as_examples(table: pa.Table, path: Path, first: int) -> pa.Table:
    """Bring columns to the types of examples; rows without an id get one."""
    for place, name in enumerate(table.column_names):
        column, expected = table.column(name), schema_of(table.column_names).field(name).type
        if name in REQUIRED and column.null_count:
            row = first + np.flatnonzero(np.asarray(column.is_null()))[0]
            raise DataError(f"{path}, row {row}: '{name}' is empty, expected text.")
        if pa.types.is_list(column.type) and (gap := _first_gap(column)) is not None:
            raise DataError(f"{path}, row {first + gap}: '{name}' has an empty item, expected none.")
        if column.type != expected and not pa.types.is_dictionary(column.type):
            try:
                table = table.set_column(place, name, column.cast(plain(expected)))
            except pa.ArrowInvalid as error:
                reason = str(error).split("\n")[0]
                message = f"{path}: column '{name}' holds what is no {plain(expected)} ({reason}); expected only such."
                raise DataError(message) from error
    return _with_ids(table, path, first)


def _first_gap(column: pa.ChunkedArray) -> int | None:
    """Find the first row whose list has an item that is null; None if there is none."""
    items = column
    while pa.types.is_list(items.type):
        items = pc.list_flatten(items)
        if items.null_count:
            lists = enumerate(column.to_pylist())
            return next(row for row, each in lists if each and (None in each or any(_lacks(item) for item in each)))
    return None


def _lacks(item: object) -> bool:
    return isinstance(item, list) and None in item


def _with_ids(table: pa.Table, path: Path, first: int) -> pa.Table:
    if "id" in table.column_names and not table.column("id").null_count:
        return table
    made = pa.array([f"{path.stem}-{row}" for row in range(first, first + table.num_rows)], pa.string())
    if "id" not in table.column_names:
        return table.append_column("id", made)
    ids = table.column("id").combine_chunks()
    return table.set_column(table.column_names.index("id"), "id", pc.if_else(ids.is_null(), made, ids))
