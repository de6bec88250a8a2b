"""Parquet: one file per split, one row group per block."""

from __future__ import annotations

import os
import shutil
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storyproof.errors import DataError
from storyproof.example import REQUIRED, plain, plain_schema
from storyproof.families.family import schema_of
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PART_ROWS, WHOLE, Format, Part, ended, stem_of, with_places
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.jsonl import has_other_names
from storyproof.formats.parquet_footer import FooterError, RowGroup, read_footer
from storyproof.formats.records import Record, read_strictly
from storyproof.formats.value_sizes import divided
from storyproof.io.bounded_input import (
    LARGEST_ROW,
    LARGEST_ROW_GROUP,
    MOST_COLUMNS,
    MOST_NESTED,
    open_file,
    size,
)

DICTIONARY_LIMIT = 64 << 20  # one block's stories must fit, or each would be stored once per question
_ARROW_SCHEMA = b"ARROW:schema"
_STORY = ("story_id", "story")
_MOST_INNER = 8  # parts of a row group, each of which reads those before it
_FEW_ROWS = 1024  # to read at a time where the size of texts is not known before
_NESTED_ROWS = 16  # the same of texts within lists and objects


def _recurring(schema: pa.Schema) -> list[str]:
    """Return the columns in which values recur: words, and lists of words."""
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
        self._file = pa.OSFile(os.fsencode(self._path), "wb")  # by bytes, for its name need not be UTF-8

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._file,
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
        """Finish the file and return it."""
        if self._writer is None:
            pq.write_table(plain_schema().empty_table(), self._file)
        else:
            self._writer.close()
        self._file.close()
        return [self._path]


class Parquet(Format):
    """Parquet with the columns of an example."""

    name = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    keeps_all = True
    reads_arrays = True

    def read(
        self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False, part: Part = WHOLE
    ) -> Iterator[pa.Table]:
        """Read a file; columns that examples do not have are left out, and those of other names are found."""
        if has_other_names(self, path):
            return read_strictly(path, self, rows, places=places)
        return read_parquet(path, rows, places, part)

    def records(self, path: Path, columns: Collection[str] | None = None, part: Part = WHOLE) -> Iterator[Record]:
        """Read the rows of a file with any columns."""
        return _read_records(path, columns, part)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file at row groups; if each row takes long, also within them."""
        with _named(path):
            sizes = [group.rows for group in _row_groups(path, _open(path), ())]
        return _parts(sizes, PART_ROWS, is_divided=as_records)

    def columns(self, path: Path) -> Collection[str]:
        """Return the columns of a file."""
        with _named(path):
            names: list[str] = _open(path).schema_arrow.names
        return names

    def writer(self, folder: Path, split: str) -> ParquetSplit:
        """Return what writes one file."""
        return ParquetSplit(folder, split)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Write row groups again; the bytes stay only if nothing changes, since pages are compressed as a whole."""
        return {path.name: lambda file: rewrite_parquet(path, file, changes)}


def _parts(sizes: Sequence[int], rows: int, *, is_divided: bool) -> list[Part]:
    """Return parts of at least some rows, which end where row groups end.

    Args:
        sizes: How many rows each row group has.
        rows: The least number of rows.
        is_divided: Whether larger row groups are divided.
    """
    parts = [WHOLE]
    row, before = 0, 0  # the row after the groups so far, and the group of the row before
    for number, size_ in enumerate(sizes):
        if row - parts[-1].first >= rows and size_:
            parts.append(Part(row, at=before))
        step = max(rows, -(-size_ // _MOST_INNER))
        parts += [Part(first, at=number) for first in range(row + step, row + size_, step) if is_divided]
        row, before = row + size_, number if size_ else before
    return ended(parts)


def read_parquet(path: Path, rows: int, places: bool = False, part: Part = WHOLE) -> Iterator[pa.Table]:
    """Read a file in tables of about `rows` rows; columns that examples do not have are left out.

    Args:
        path: The file.
        rows: About how many rows a table has.
        places: Add the column `place`.
        part: Where to begin, see `Format.parts`; of the row before it only what tells its story is there.

    Raises:
        DataError: If it is not a complete Parquet file, or its columns are not those of examples.
    """
    with _named(path):
        file = _open(path)
        known = _check_columns(path, file.schema_arrow)
        groups = _row_groups(path, file, known)
        first = part.first
        number = bisect_right([0, *accumulate(group.rows for group in groups)], first) - 1
        for whole in _batches(path, groups, known, rows, number):
            whole.validate(full=True)  # whether text is text
            for some in divided(whole, path, first):
                table = _as_examples(some, path, first)
                table = with_places(table, first) if places else table
                if first and first == part.first:
                    yield _row_before(file, part, table)
                yield table
                first += table.num_rows
            if first == part.end and _begins_story(file, groups, first, table):
                return


def _row_before(file: pq.ParquetFile, part: Part, table: pa.Table) -> pa.Table:
    """Return the row before a part, as far as it tells its story, with the columns of a table that follows."""
    row: dict[str, str | None] = {"story": ""}
    for name in _STORY:
        if name in table.column_names and row.get("story_id") is None:
            row[name] = _value(file, part.at, name, is_last=True)
    columns = [pa.array([row.get(each.name)], plain(each.type)).cast(each.type) for each in table.schema]
    return pa.table(columns, schema=table.schema)


def _begins_story(file: pq.ParquetFile, groups: Sequence[RowGroup], row: int, table: pa.Table) -> bool:
    """Return whether a row group begins with another story than the rows before it, so that it need not be read."""
    starts = [0, *accumulate(group.rows for group in groups)]
    name = next(each for each in _STORY if each in table.column_names)
    last = table.column(name)[table.num_rows - 1].as_py()
    if row == starts[-1] or last is None:
        return row == starts[-1]
    return _value(file, bisect_right(starts, row) - 1, name, is_last=False) not in (None, last)


def _value(file: pq.ParquetFile, group: int, name: str, *, is_last: bool) -> str | None:
    """Return the first or the last value of a column of text in a row group."""
    rows = file.read_row_group(group, columns=[name], use_threads=False) if is_last else None
    if rows is None:
        rows = next(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False))
    value: str | None = rows.column(0)[rows.num_rows - 1].as_py()
    return value


def _read_records(path: Path, columns: Collection[str] | None, part: Part = WHOLE) -> Iterator[Record]:
    with _named(path):
        file = _open(path)
        schema = file.schema_arrow
        known = [name for name in dict.fromkeys(schema.names) if columns is None or name in columns]
        if len(set(schema.names)) < len(schema.names):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise DataError(f"{path} has {schema.names.count(twice)} columns '{twice}'; expected one.")
        groups = _row_groups(path, file, known)
        stored = {each.path for group in groups for each in group.columns if each.has_dictionary and each.is_bytes}
        words = sorted(name for name in stored if name in known)
        # A long text that is stored once may stand in thousands of rows, and within lists only reading them tells.
        nested = [
            each.uncompressed
            for group in groups
            for each in group.columns
            if "." in each.path and each.path in stored and each.path.split(".")[0] in known
        ]
        rows = max(1, min(_NESTED_ROWS, LARGEST_ROW // max(1, *nested))) if nested else _FEW_ROWS
        source = _open(path, read_dictionary=words)
        first = sum(group.rows for group in groups[: part.at])
        for number in range(part.at, len(groups)):
            for batch in source.iter_batches(rows, row_groups=[number], columns=known, use_threads=False):
                before = min(max(part.first - 1 - first, 0), batch.num_rows)
                first += before
                if before == batch.num_rows:
                    continue
                whole = pa.Table.from_batches([batch.slice(before)])
                whole.validate(full=True)
                for some in divided(whole, path, first):
                    for row, value in enumerate(some.to_pylist(), start=first):
                        yield Record(value, 0, row)
                    first += some.num_rows


def _batches(path: Path, groups: Sequence[RowGroup], known: list[str], rows: int, group: int = 0) -> Iterator[pa.Table]:
    """Read a file, from a row group on, with its texts as codes where they are stored so.

    Their size is then known before it is taken.
    """
    words = _words_of(groups, known)
    file = _open(path, read_dictionary=words)
    nested = any("." in name for name in words)
    for number in range(group, len(groups)):  # codes in lists are those of one row group
        done = 0
        try:
            for batch in file.iter_batches(rows, row_groups=[number], columns=known, use_threads=False):
                yield pa.Table.from_batches([batch])
                done += batch.num_rows
        except pa.ArrowNotImplementedError:
            if not nested:
                raise
            # Some pages of a list have codes, others texts, which Arrow does not read as codes.
            plain_lists = _open(path, read_dictionary=[name for name in words if "." not in name])
            for batch in plain_lists.iter_batches(_FEW_ROWS, row_groups=[number], columns=known, use_threads=False):
                if done < batch.num_rows:
                    yield pa.Table.from_batches([batch.slice(done)])
                done = max(0, done - batch.num_rows)


@contextmanager
def _named(path: Path, expected: str = "is not a readable Parquet file") -> Iterator[None]:
    """Name the file in whatever Arrow complains about."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, FooterError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(f"{path} {expected} ({reason}); expected a complete one; copy or generate it again.") from error


def _open(path: Path, read_dictionary: Sequence[str] = ()) -> pq.ParquetFile:
    """Open a file; raise DataError if it has more columns, or more deeply nested ones, than any table."""
    open_file(path).close()  # a pipe would be waited for
    file = pq.ParquetFile(pa.OSFile(os.fsencode(path)), read_dictionary=list(read_dictionary))
    names = _column_names(file)
    if len(names) > MOST_COLUMNS:
        raise DataError(f"{path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are read; leave some out.")
    deepest = max((name.count(".") for name in names), default=0)
    if deepest > MOST_NESTED:
        raise DataError(f"{path} has a column of {deepest} levels; at most {MOST_NESTED} are read; leave it out.")
    return file


def _column_names(file: pq.ParquetFile) -> list[str]:
    """Return the names of all columns, of nested ones as in `parquet_footer.ColumnChunk`.

    The schema in the metadata has them too, but the two refer to each other: each file that is opened would keep its
    metadata until the collector of cyclic garbage runs.
    """
    return [".".join(path) for path in file.reader.column_paths]


def _row_groups(path: Path, file: pq.ParquetFile, known: Collection[str]) -> list[RowGroup]:
    """Return what the footer says about row groups; raise DataError if what is read of one is very large.

    Never ask Arrow for the metadata of a column: an inconsistent footer would end the process.

    Raises:
        DataError: If what is read of a row group is very large once it is uncompressed.
        FooterError: If the footer is damaged.
    """
    with open_file(path) as source:
        about = os.fstat(source.fileno())
    groups = _footer_of(path, (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size))
    names = _column_names(file)
    for number, group in enumerate(groups):
        if [column.path for column in group.columns] != names:
            raise FooterError(f"row group {number} has other columns than the schema")
        if group.uncompressed <= LARGEST_ROW_GROUP:
            continue
        held = sum(each.uncompressed for each in group.columns if each.path.split(".")[0] in known)
        if held > LARGEST_ROW_GROUP:
            raise DataError(
                f"{path}: row group {number} is {size(held)} large once it is uncompressed; at most "
                f"{size(LARGEST_ROW_GROUP)} are read; write the file with smaller row groups."
            )
    return groups


@lru_cache(maxsize=2)  # each part of a file needs it
def _footer_of(path: Path, identity: tuple[int, ...]) -> list[RowGroup]:
    """Return what the footer of a file says; a file that was written again has another identity."""
    with open_file(path) as source:
        return read_footer(source)


def _words_of(groups: Sequence[RowGroup], known: Collection[str]) -> list[str]:
    """Return the columns of text that are read as codes: those that examples have so, and those that are stored so.

    A long text that is stored once may stand in thousands of rows; as codes their size can be told before it is taken.
    """
    schema = schema_of(known)
    words = {name for name in known if pa.types.is_dictionary(schema.field(name).type)}
    for group in groups:
        words |= {
            each.path
            for each in group.columns
            if each.has_dictionary and each.is_bytes and each.path.split(".")[0] in known
        }
    return sorted(words)


def _check_columns(path: Path, found: pa.Schema) -> list[str]:
    """Return the columns that examples have; raise DataError if one is missing, present twice, or of another type."""
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
            raise DataError(f"{path}: column '{name}' is {found.field(name).type}, expected {expected}; convert it.")
    return known


def _fits(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return bool(is_list) and _fits(found.value_type, expected.value_type)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    return bool(found == expected or (pa.types.is_integer(found) and pa.types.is_integer(expected)))


def _as_examples(table: pa.Table, path: Path, first: int) -> pa.Table:
    """Convert columns to the types of examples; rows without an id get one."""
    for place, name in enumerate(table.column_names):
        column, expected = table.column(name), schema_of(table.column_names).field(name).type
        if name in REQUIRED and column.null_count:
            row = first + np.flatnonzero(np.asarray(column.is_null()))[0]
            raise DataError(f"{path}, row {row}: '{name}' is empty; expected text.")
        if pa.types.is_list(column.type) and (gap := _first_gap(column)) is not None:
            raise DataError(f"{path}, row {first + gap}: '{name}' has an empty item, expected none.")
        if column.type != expected and not (pa.types.is_dictionary(column.type) and pa.types.is_dictionary(expected)):
            try:
                table = table.set_column(place, name, column.cast(plain(expected)))
            except pa.ArrowInvalid as error:
                reason = str(error).split("\n")[0]
                message = (
                    f"{path}: column '{name}' contains values that are not {plain(expected)} ({reason}); convert them."
                )
                raise DataError(message) from error
    return _with_ids(table, path, first)


def _first_gap(column: pa.ChunkedArray) -> int | None:
    """Return the first row whose list has an item that is null; None if there is none."""
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
    stem = stem_of(path)
    made = pa.array([f"{stem}-{row}" for row in range(first, first + table.num_rows)], pa.string())
    if "id" not in table.column_names:
        return table.append_column("id", made)
    ids = table.column("id").combine_chunks()
    return table.set_column(table.column_names.index("id"), "id", pc.if_else(ids.is_null(), made, ids))


def rewrite_parquet(path: Path, file: BinaryIO, changes: Changes) -> None:
    """Write a file with some changes.

    Raises:
        DataError: If the file cannot be read, or has no such rows or columns.
    """
    if not changes.values and not changes.gone:
        with open_file(path) as source:
            shutil.copyfileobj(source, file)
        return
    with _named(path, "cannot be rewritten"):
        used = {name for each in changes.values.values() for name in each}
        source = _open(path)
        known = set(source.schema_arrow.names)
        groups = _row_groups(path, source, known)
        lacking = {name: value for name, value in changes.added.items() if name in used - known}
        _rewrite(path, file, changes, lacking, groups)


def _rewrite(
    path: Path, file: BinaryIO, changes: Changes, added: Mapping[str, Any], groups: Sequence[RowGroup]
) -> None:
    source = _open(path, read_dictionary=_coded(_open(path).metadata, groups))
    schema = source.schema_arrow
    for name in added:
        schema = schema.append(pa.field(name, pa.string()))
    rows, values = source.metadata.num_rows, changes.values
    named = {name for each in values.values() for name in each}
    unknown = {name for name in named if name not in schema.names and name.split(".")[0] not in schema.names}
    if unknown or any(row >= rows for row in (*values, *changes.gone)):
        raise DataError(f"{path} has other rows or columns than when it was audited; audit it again.")
    changes.check_rows(path, rows)
    with pq.ParquetWriter(file, schema, **_manner(source, groups, added)) as writer:
        first = 0
        for number in range(len(groups)):
            table = source.read_row_group(number, use_threads=False)
            here = range(first, first + table.num_rows)
            first = here.stop
            for name, value in added.items():
                table = table.append_column(name, pa.array([value] * len(here), pa.string()))
            table = change_columns(table, {row - here.start: values[row] for row in here if row in values})
            kept = np.array([row not in changes.gone for row in here], np.bool_)
            writer.write_table(table if kept.all() else table.filter(pa.array(kept)), row_group_size=len(here) or None)


def _coded(metadata: pq.FileMetaData, groups: Sequence[RowGroup]) -> list[str]:
    """Return the columns of words that are stored as codes, and can be left so."""
    if not groups or _ARROW_SCHEMA in (metadata.metadata or {}):
        return []
    return [each.path for each in groups[0].columns if each.has_dictionary and each.is_bytes and "." not in each.path]


def _manner(source: pq.ParquetFile, groups: Sequence[RowGroup], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with which a file was written."""
    metadata = source.metadata
    manner: dict[str, Any] = {
        "version": metadata.format_version if metadata.format_version in ("1.0", "2.4", "2.6") else "2.6",
        "store_schema": _ARROW_SCHEMA in (metadata.metadata or {}),
        "dictionary_pagesize_limit": DICTIONARY_LIMIT,
    }
    if groups:
        columns = groups[0].columns
        codecs = {each.path: each.codec or "SNAPPY" for each in columns}
        manner["compression"] = {**codecs, **dict.fromkeys(added, columns[0].codec or "SNAPPY")}
        manner["use_dictionary"] = [each.path for each in columns if each.has_dictionary] + [*added]
        manner["write_statistics"] = [each.path for each in columns if each.has_statistics]
    return manner


def change_columns(table: pa.Table, changes: Mapping[int, Mapping[str, Any]]) -> pa.Table:
    """Return a table with other values."""
    for name in dict.fromkeys(name for each in changes.values() for name in each):
        first, *within = [name] if name in table.column_names else name.split(".")
        place = table.column_names.index(first)
        values = {row: each[name] for row, each in changes.items() if name in each}
        chunks = table.column(first).combine_chunks()
        array = chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
        if within:
            values = {row: _with_value(array[row].as_py(), within, value) for row, value in values.items()}
        elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            values = {row: [value] if isinstance(value, str) else value for row, value in values.items()}
        table = table.set_column(place, table.schema.field(place), _replaced(array, values))
    return table


def _with_value(whole: Any, path: Sequence[str], value: Any) -> Any:
    """Return a value of objects and lists with another value at a path."""
    if not path:
        return [value] if isinstance(whole, list) and isinstance(value, str) else value
    if isinstance(whole, list):
        at = int(path[0])
        return [*whole[:at], _with_value(whole[at], path[1:], value), *whole[at + 1 :]]
    return {**whole, path[0]: _with_value(whole[path[0]], path[1:], value)}


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


FORMAT = Parquet()
