"""Parquet files with some values changed and some rows left out; all else stays as it is.

A file is written again row group by row group, in its own schema, compression and encodings, so all other values stay
the same. Its bytes stay only if nothing changes: pages are compressed as a whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from storyproof.errors import DataError
from storyproof.formats.patches import Changes

DICTIONARY_LIMIT = 64 << 20  # one block's stories must fit, or each would be stored once per question
_ARROW_SCHEMA = b"ARROW:schema"


def rewrite_parquet(path: Path, file: BinaryIO, changes: Changes) -> None:
    """Write a file with some changes.

    Raises:
        DataError: If the file cannot be read, or has no such rows or columns.
    """
    if not changes.values and not changes.gone:
        with path.open("rb") as source:
            shutil.copyfileobj(source, file)
        return
    try:
        used = {name for each in changes.values.values() for name in each}
        known = set(pq.read_schema(path).names)
        lacking = {name: value for name, value in changes.added.items() if name in used - known}
        _rewrite(path, file, changes, lacking)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(f"{path} cannot be rewritten ({reason}); copy or generate it again.") from error


def _rewrite(path: Path, file: BinaryIO, changes: Changes, added: Mapping[str, Any]) -> None:
    source = pq.ParquetFile(path, read_dictionary=_coded(pq.read_metadata(path)))
    schema = source.schema_arrow
    for name in added:
        schema = schema.append(pa.field(name, pa.string()))
    rows, values = source.metadata.num_rows, changes.values
    unknown = {name for each in values.values() for name in each} - set(schema.names)
    if unknown or any(row >= rows for row in (*values, *changes.gone)):
        raise DataError(f"{path} has other rows or columns than when it was audited; audit it again.")
    changes.check_rows(path, rows)
    with pq.ParquetWriter(file, schema, **_manner(source, added)) as writer:
        first = 0
        for number in range(source.metadata.num_row_groups):
            table = source.read_row_group(number, use_threads=False)
            here = range(first, first + table.num_rows)
            first = here.stop
            for name, value in added.items():
                table = table.append_column(name, pa.array([value] * len(here), pa.string()))
            table = _changed(table, {row - here.start: values[row] for row in here if row in values})
            kept = np.array([row not in changes.gone for row in here], np.bool_)
            writer.write_table(table if kept.all() else table.filter(pa.array(kept)), row_group_size=len(here) or None)


def _coded(metadata: pq.FileMetaData) -> list[str]:
    """Return the columns of words that are stored as codes, and can be left so."""
    if not metadata.num_row_groups or _ARROW_SCHEMA in (metadata.metadata or {}):
        return []
    group = metadata.row_group(0)
    columns = (group.column(place) for place in range(group.num_columns))
    return [
        each.path_in_schema
        for each in columns
        if each.has_dictionary_page and each.physical_type == "BYTE_ARRAY" and "." not in each.path_in_schema
    ]


def _manner(source: pq.ParquetFile, added: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with which a file was written."""
    metadata = source.metadata
    manner: dict[str, Any] = {
        "version": metadata.format_version if metadata.format_version in ("1.0", "2.4", "2.6") else "2.6",
        "store_schema": _ARROW_SCHEMA in (metadata.metadata or {}),
        "dictionary_pagesize_limit": DICTIONARY_LIMIT,
    }
    if metadata.num_row_groups:
        group = metadata.row_group(0)
        columns = [group.column(place) for place in range(group.num_columns)]
        squeezed = {each.path_in_schema: each.compression.replace("UNCOMPRESSED", "NONE") for each in columns}
        manner["compression"] = {**squeezed, **dict.fromkeys(added, columns[0].compression)}
        manner["use_dictionary"] = [each.path_in_schema for each in columns if each.has_dictionary_page] + [*added]
        manner["write_statistics"] = [each.path_in_schema for each in columns if each.is_stats_set]
    return manner


def _changed(table: pa.Table, changes: Mapping[int, Mapping[str, Any]]) -> pa.Table:
    """Return a table with other values."""
    for name in dict.fromkeys(name for each in changes.values() for name in each):
        place = table.column_names.index(name)
        values = {row: each[name] for row, each in changes.items() if name in each}
        chunks = table.column(name).combine_chunks()
        array = chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
        table = table.set_column(place, table.schema.field(place), _replaced(array, values))
    return table


def _replaced(array: pa.Array, values: Mapping[int, Any]) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        words = {word: code for code, word in enumerate(array.dictionary.to_pylist())}
        codes = np.array(array.indices.fill_null(-1))
        for row, value in values.items():
            codes[row] = words.setdefault(value, len(words))
        known = array.dictionary
        if len(words) > len(known):
            known = pa.concat_arrays([known, pa.array([*words][len(known) :], known.type)])
        return pa.DictionaryArray.from_arrays(pa.array(codes, array.indices.type, mask=codes < 0), known)
    both = pa.concat_arrays([array, pa.array(list(values.values()), array.type)])
    chosen = np.arange(len(array))
    chosen[list(values)] = len(array) + np.arange(len(values))
    return both.take(pa.array(chosen))
