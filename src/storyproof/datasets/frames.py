"""Rows in memory wherever a path is taken: frames of pandas and polars, Arrow tables, and lists of rows.

Verbs read files, wherever they are and in parts. So rows in memory are written to files for as long as a verb runs, one
file for each split of their column `split`; all verbs, engines and formats then work on them as on any other data.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ParamSpec, TextIO, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from storyproof.errors import DataError, StoryproofError, quoted
from storyproof.example import SPLITS, Example, plain_schema
from storyproof.families.family import schema_of
from storyproof.io.bounded_input import name_of

# A path or a URL, or rows in memory: a frame of pandas or polars, an Arrow table, or rows (dictionaries or examples).
Data = str | Path | Any

ROWS = "rows"  # what messages, findings and runs call rows in memory
_SCRATCH = "storyproof-rows-"
_EXPECTED = "expected a path, a frame of pandas or polars, an Arrow table, or a list of rows"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def takes_rows(
    parameter: str, *, or_paths: bool = False
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a verb take rows in memory for a parameter that is a path, or with `or_paths` several paths."""

    def decorate(verb: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(verb)

        @wraps(verb)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            bound = signature.bind(*args, **kwargs)
            data = bound.arguments.get(parameter)
            if data is None or isinstance(data, str | Path) or (or_paths and _are_paths(data)):
                return verb(*args, **kwargs)
            with rows_as_data(data) as path:
                bound.arguments[parameter] = path
                return verb(*bound.args, **bound.kwargs)

        return call

    return decorate


@contextmanager
def rows_as_data(rows: Any) -> Iterator[Path]:
    """Write rows in memory to a file, or to a folder if they are of several splits, and remove it in the end.

    Args:
        rows: What has an Arrow stream, such as a frame or a table, or an iterable of dictionaries or examples.

    Raises:
        DataError: If these are no rows.
    """
    with TemporaryDirectory(prefix=_SCRATCH) as scratch:
        folder = Path(scratch, ROWS)
        folder.mkdir()
        _write(rows, folder)
        files = list(folder.iterdir())
        try:
            yield files[0] if len(files) == 1 else folder
        except StoryproofError as error:
            error.args = tuple(str(each).replace(str(folder), ROWS) for each in error.args)
            raise


def data_name(data: str | Path) -> str:
    """Return what runs call data: their path, or that they were rows in memory."""
    return ROWS if any(each.startswith(_SCRATCH) for each in Path(data).parts) else name_of(data)


def _are_paths(data: object) -> bool:
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(each, str | Path) for each in data)


def _write(rows: Any, folder: Path) -> None:
    """Write rows to a folder, one file for each split.

    Raises:
        DataError: If these are no rows.
    """
    if hasattr(rows, "__arrow_c_stream__"):
        table = _as_table(rows)
        given = table.column("split").to_pylist() if "split" in table.column_names else [None] * table.num_rows
        stems = [_stem(split) for split in given]
        for stem in dict.fromkeys(stems) or [ROWS]:
            own = table.filter(pa.array([each == stem for each in stems], pa.bool_()))
            pq.write_table(own, folder / f"{stem}.parquet", store_schema=False)
        return
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        raise DataError(f"the data are {_described(rows)}; {_EXPECTED}.")
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for number, each in enumerate(rows):
            row = each.as_row() if isinstance(each, Example) else each
            if not isinstance(row, Mapping):
                raise DataError(f"row {number} of the data is {_described(row)}; expected a dictionary or an example.")
            stem = _stem(row.get("split"))
            if stem not in files:
                path = folder / f"{stem}.jsonl"
                files[stem] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
            files[stem].write(json.dumps(dict(row), ensure_ascii=False, default=_plain) + "\n")
        if not files:
            raise DataError(f"the data have no rows; {_EXPECTED}.")


def _stem(split: object) -> str:
    """Return the stem of the file for rows of a split, from which readers tell the split."""
    return str(split) if split in SPLITS else ROWS


def _as_table(frame: Any) -> pa.Table:
    """Return a frame as a table of plain columns, without the index of pandas.

    Raises:
        DataError: If Arrow cannot take it over.
    """
    try:
        # Polars has a conversion of its own, without views of texts, which older versions of Arrow cannot convert.
        table = frame.to_arrow() if callable(getattr(frame, "to_arrow", None)) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:  # such as a column of texts and numbers
        raise DataError(f"the frame cannot be read as a table: {error}; {_EXPECTED}.") from error
    table = table.select([name for name in table.column_names if not name.startswith("__index_level_")])
    expected = plain_schema(schema_of(table.column_names))
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        expected_type = expected.field(name).type if name in expected.names else None
        columns.append(_plain_column(column, expected_type))
    return pa.table(columns, names=table.column_names)


def _plain_column(column: pa.ChunkedArray, expected: pa.DataType | None) -> pa.ChunkedArray:
    """Return a column as files hold it; one that cannot be `expected` stays, and the reader says so."""
    # Empty lists have no type in pandas, and whole numbers of which some are missing are floating-point numbers.
    if expected is not None and (pa.types.is_nested(column.type) or pa.types.is_floating(column.type)):
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return column.cast(expected)
    kind = _plain_type(column.type)
    if pa.types.is_dictionary(column.type):
        words = [_converted(chunk.dictionary, kind).take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(words, kind)
    return pa.chunked_array([_converted(chunk, kind) for chunk in column.chunks], kind)


def _converted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return an array as one of another type."""
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:  # views, in versions of Arrow from before 2025
        return pa.array(array.to_pylist(), kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type without dictionaries and views, of which Arrow has not all operations."""
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_plain_type(kind.value_type))
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def _plain(value: Any) -> Any:
    """Return a value that JSON does not have as one that it has: numbers and arrays of NumPy, sets."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


def _described(value: object) -> str:
    return f"{quoted(value)} ({type(value).__name__})"
