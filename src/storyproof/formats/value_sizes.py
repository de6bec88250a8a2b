"""How large the values of an Arrow table become once they are taken, told before they are.

A small file may stand for very large values: a text that is stored once can stand in any number of rows, lists and
objects, and items of lists in other lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError
from storyproof.io.bounded_input import LARGEST_ROW, LONGEST_LINE, size

_ITEM = 64  # bytes that an item of a list takes at least, once it is a value of Python
_MOST_ITEMS = LARGEST_ROW // _ITEM  # whose sizes are told one by one
_Sizes = npt.NDArray[np.int64]


def divided(table: pa.Table, path: Path, first: int) -> Iterator[pa.Table]:
    """Yield parts of a table that are of bounded size once their values are taken.

    Args:
        table: The table.
        path: The file that it comes from.
        first: The number of its first row in the file.

    Raises:
        DataError: If a text is very long, or all values of a row are very large.
    """
    columns = list(zip(table.column_names, table.columns, strict=True))
    if sum(_most(chunk, path, name) for name, column in columns for chunk in column.chunks) <= LARGEST_ROW:
        yield table
        return
    if sum(_count_items(chunk) for column in table.columns for chunk in column.chunks) > _MOST_ITEMS:
        if table.num_rows == 1:
            raise DataError(
                f"{path}, row {first}: found more than {_MOST_ITEMS:,} items in lists; at most so many are read of a "
                "row; shorten it."
            )
        half = table.num_rows // 2
        yield from divided(table.slice(0, half), path, first)
        yield from divided(table.slice(half), path, first + half)
        return
    total = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        if column.num_chunks:
            total += np.concatenate([_sizes(chunk) for chunk in column.chunks])
    if total.max() > LARGEST_ROW:
        raise DataError(
            f"{path}, row {first + int(total.argmax())}: found {size(int(total.max()))} of values; at most "
            f"{size(LARGEST_ROW)} are read of a row; shorten it."
        )
    start, held = 0, 0
    for row, each in enumerate(total.tolist()):
        if held + each > LARGEST_ROW:
            yield _taken(table, start, row)
            start, held = row, 0
        held += each
    yield _taken(table, start, table.num_rows)


def _taken(table: pa.Table, start: int, end: int) -> pa.Table:
    """Return rows without those around them; a slice still has the items of all lists."""
    try:
        return table.take(pa.array(np.arange(start, end)))
    except pa.ArrowNotImplementedError:  # of a type that Arrow does not take
        return table.slice(start, end - start)


def _most(array: pa.Array, path: Path, name: str) -> int:
    """Return the most bytes that the values of an array can take; raise DataError if a text is very long."""
    if not len(array):
        return 0
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _most(array.storage, path, name)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        values = array.dictionary if pa.types.is_dictionary(kind) else array.values
        _most(values, path, name)
        return int(_sizes(values).max(initial=0)) * len(array)
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        longest = pc.max(pc.binary_length(array)).as_py() or 0
        if longest > LONGEST_LINE:
            raise DataError(
                f"{path}: column '{name}' has a text of {size(longest)}; at most {size(LONGEST_LINE)} are read; "
                "shorten it."
            )
        return int(array.nbytes)
    if _is_view(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return int(_sizes(array).sum())
    return sum(_ITEM * len(each) * _is_in_lists(kind) + _most(each, path, name) for each in _children(array))


def _count_items(array: pa.Array) -> int:
    """Return how many items all lists of an array have, those of lists in lists included."""
    if pa.types.is_dictionary(array.type):
        return len(array) + _count_items(array.dictionary)
    children = _children(array)
    return len(array) * bool(children) + sum(len(each) + _count_items(each) for each in children)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_in_lists(kind: pa.DataType) -> bool:
    """Return whether the children of a type are items of lists."""
    return not pa.types.is_struct(kind) and not pa.types.is_union(kind)


def _children(array: pa.Array) -> list[pa.Array]:
    """Return the arrays of which an array is made, as far as its rows refer to them."""
    kind = array.type
    if not len(array):
        return []
    if isinstance(array, pa.ExtensionArray):
        return _children(array.storage)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return [array.values.slice(first, last - first)]
    if pa.types.is_fixed_size_list(kind):
        return [array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)]
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind) or pa.types.is_run_end_encoded(kind):
        return [array.values]
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        return [array.field(number) for number in range(kind.num_fields)]
    return []


def _sizes(array: pa.Array) -> _Sizes:
    """Return how many bytes each value of an array takes, or more."""
    for applies, sizes_of in _SIZES if len(array) else ():
        if applies(array.type):
            found: _Sizes = sizes_of(array)
            return found
    return np.zeros(len(array), np.int64)


def _dictionary_sizes(array: pa.Array) -> _Sizes:
    sizes = pa.array(_sizes(array.dictionary)).take(array.indices)
    return np.asarray(pc.fill_null(sizes, 0))


def _run_sizes(array: pa.Array) -> _Sizes:
    runs = np.searchsorted(np.asarray(array.run_ends), array.offset + np.arange(len(array)), side="right")
    found: _Sizes = _sizes(array.values)[runs]
    return found


def _text_sizes(array: pa.Array) -> _Sizes:
    return np.asarray(pc.fill_null(pc.binary_length(array).cast(pa.int64()), 0))


def _view_sizes(array: pa.Array) -> _Sizes:
    lengths = np.frombuffer(array.buffers()[1], np.int32)[::4][array.offset : array.offset + len(array)]
    found: _Sizes = np.where(np.asarray(array.is_valid()), lengths, 0).astype(np.int64)
    return found


def _list_sizes(array: pa.Array) -> _Sizes:
    ends = _ends(_children(array)[0])
    starts = np.asarray(array.offsets, np.int64) - array.offsets[0].as_py()
    found: _Sizes = np.diff(ends[starts])
    return found


def _fixed_list_sizes(array: pa.Array) -> _Sizes:
    starts = np.arange(len(array) + 1) * array.type.list_size
    found: _Sizes = np.diff(_ends(_children(array)[0])[starts])
    return found


def _list_view_sizes(array: pa.Array) -> _Sizes:
    ends = _ends(array.values)
    starts, lengths = np.asarray(array.offsets, np.int64), np.asarray(array.sizes, np.int64)
    found: _Sizes = ends[starts + lengths] - ends[starts]
    return found


def _ends(items: pa.Array) -> _Sizes:
    """Return where each item of a list ends, in bytes, after 0."""
    return np.concatenate([[0], np.cumsum(_sizes(items) + _ITEM)])


def _struct_sizes(array: pa.Array) -> _Sizes:
    total = np.zeros(len(array), np.int64)
    for each in _children(array):
        total += _sizes(each)
    return total


def _union_sizes(array: pa.Array) -> _Sizes:
    total = np.zeros(len(array), np.int64)
    for each in _children(array):
        if len(each):
            total += _sizes(each).max()  # which of its values a row has is not looked up
    return total


_SIZES: list[tuple[Callable[[pa.DataType], Any], Callable[[pa.Array], _Sizes]]] = [
    (pa.types.is_dictionary, _dictionary_sizes),
    (pa.types.is_run_end_encoded, _run_sizes),
    (lambda kind: _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind), _text_sizes),
    (_is_view, _view_sizes),
    (lambda kind: pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind), _list_sizes),
    (pa.types.is_fixed_size_list, _fixed_list_sizes),
    (lambda kind: pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind), _list_view_sizes),
    (pa.types.is_struct, _struct_sizes),
    (pa.types.is_union, _union_sizes),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), lambda array: _sizes(array.storage)),
]
