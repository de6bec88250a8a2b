"""Arrow columns of examples from arrays, for all families."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.int32]

NO_WORD = -1


@cache
def constant_words(words: tuple[str, ...]) -> pa.Array:
    """Return words as a cached array, because Arrow looks for pandas at each conversion of a list."""
    return pa.array(words, pa.string())


def plain_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return a column as Python values, as its `to_pylist` does, which is several times slower for words and lists."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if array.null_count:
        return array.to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_dictionary(array.type):
        words = plain_values(array.dictionary)
        return [words[code] for code in array.indices.to_numpy().tolist()]
    if pa.types.is_list(array.type):
        values, ends = plain_values(array.flatten()), array.offsets.to_numpy()
        return [values[start:end] for start, end in pairwise((ends - ends[0]).tolist())]
    if pa.types.is_string(array.type) or pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
        return array.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
    return array.to_pylist()  # type: ignore[no-any-return]


def coded(numbers: npt.NDArray[Any], words: pa.Array) -> pa.Array:
    """Return a column of words from their numbers; null where the number is NO_WORD."""
    indices = numbers.astype(np.int32, copy=False)
    missing = indices == NO_WORD
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=missing if missing.any() else None), words)


def word_lists(words: pa.Array, numbers: Words) -> pa.Array:
    """Return lists of the words of each row's numbers, [row, item], without NO_WORD."""
    used = numbers != NO_WORD
    return pa.ListArray.from_arrays(_ends(used), words.take(pa.array(_flagged(numbers, used))))


def number_lists(flags: Flags, numbers: npt.NDArray[Any]) -> pa.Array:
    """Return lists of each row's flagged numbers; both arrays are [row, item]."""
    return pa.ListArray.from_arrays(_ends(flags), pa.array(_flagged(numbers, flags).astype(np.int16)))


def flag_lists(flags: Flags, values: pa.Array) -> pa.Array:
    """Return lists of the values whose flags are set in each row, [row, value]."""
    numbers = np.broadcast_to(np.arange(len(values), dtype=np.int8), flags.shape)
    return pa.ListArray.from_arrays(_ends(flags), values.take(pa.array(_flagged(numbers, flags))))


def _flagged(numbers: npt.NDArray[Any], flags: Flags) -> npt.NDArray[Any]:
    """Return the flagged numbers, row by row; flags as indices would do the same several times more slowly."""
    return numbers.reshape(-1).take(np.flatnonzero(flags))


def _ends(flags: Flags) -> pa.Array:
    """Return where each row's flagged items begin and end."""
    counts = np.zeros(len(flags), np.min_scalar_type(flags.shape[1]))
    for column in flags.T:  # a short axis: adding columns up is several times as fast as summing along it
        counts += column
    ends = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(counts, dtype=np.int32, out=ends[1:])
    return pa.array(ends)


def identity(benchmark: str, split: str, first: int, stories: int, questions: int) -> dict[str, pa.Array]:
    """Return the columns id, story_id, benchmark and split of consecutive stories with equally many questions.

    Stories are called `train-000000012`, their questions `train-000000012-3`.
    """
    head, digits = f"{split}-".encode(), 9
    width = len(head) + digits
    numbers = np.arange(first, first + stories)
    letters = np.empty((stories, width), np.uint8)
    letters[:, : len(head)] = np.frombuffer(head, np.uint8)
    for place in range(digits):
        letters[:, width - 1 - place] = numbers // 10**place % 10 + ord("0")
    rows = np.empty((stories, questions, width + 2), np.uint8)
    rows[:, :, :width] = letters[:, None]
    rows[:, :, width] = ord("-")
    rows[:, :, width + 1] = np.arange(questions) + ord("0")
    same = np.zeros(stories * questions, np.int32)
    return {
        "id": _fixed(rows.reshape(-1, width + 2)),
        "story_id": coded(np.repeat(np.arange(stories), questions), _fixed(letters)),
        "benchmark": coded(same, constant_words((benchmark,))),
        "split": coded(same, constant_words((split,))),
    }


def _fixed(letters: npt.NDArray[np.uint8]) -> pa.Array:
    count, width = letters.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(letters.tobytes())])
