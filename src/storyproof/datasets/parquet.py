"""Parquet: a split is one file, a block one row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from storyproof.errors import DataError
from storyproof.example import REQUIRED, SCHEMA, plain, plain_schema

_DICTIONARY_LIMIT = 64 << 20  # one block's stories must fit, or each would be stored once a question
_CODED = [field.name for field in SCHEMA if pa.types.is_dictionary(field.type)]


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
                use_dictionary=[*_CODED, "candidates.list.element", "chain.list.element", "readings.list.element"],
                dictionary_pagesize_limit=_DICTIONARY_LIMIT,
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
    """Read a file in tables of about so many rows.

    Raises:
        DataError: If it is no whole Parquet file.
    """
    try:
        _check_columns(path, found := pq.read_schema(path))
        file = pq.ParquetFile(path, read_dictionary=[name for name in _CODED if name in found.names])
        for batch in file.iter_batches(batch_size=rows, use_threads=False):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(f"{path} is no readable Parquet file ({reason}); copy or make it again.") from error


def _check_columns(path: Path, found: pa.Schema) -> None:
    for name in REQUIRED:
        if name not in found.names:
            raise DataError(f"{path} has no column '{name}'; expected at least {', '.join(REQUIRED)}.")
    for field in plain_schema():
        if field.name in found.names and not _fits(plain(found.field(field.name).type), field.type):
            raise DataError(
                f"{path}: column '{field.name}' is {found.field(field.name).type}, expected {field.type}; write it so."
            )


def _fits(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_list(expected):
        return bool(pa.types.is_list(found)) and _fits(found.value_type, expected.value_type)
    return bool(found == expected or (pa.types.is_integer(found) and pa.types.is_integer(expected)))
