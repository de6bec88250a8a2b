import errno
import io
import os
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.audits import row_consistency
from storyproof.audits.row_consistency import RepeatedNumbers, RepeatedTexts
from storyproof.errors import DataError

NUMBERS = st.lists(st.integers(0, 60), max_size=60)
BLOCKS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(1, 3)), max_size=8)


@given(st.lists(st.text(max_size=3), max_size=60), st.integers(0, 10))
def test_texts_that_occur_twice_are_found(texts: list[str], most: int) -> None:
    seen = RepeatedTexts(most)
    found = [text for text in texts if seen.add(text)] + seen.close()
    assert Counter(found) == Counter(texts) - Counter(set(texts))


@given(st.lists(st.one_of(NUMBERS, BLOCKS), max_size=6), st.integers(0, 10))
def test_numbers_that_occur_twice_are_found(parts: list[list[object]], most: int) -> None:
    """Parts are any numbers, or all questions of consecutive stories."""
    seen = RepeatedNumbers(most)
    taken: list[int] = []
    for part in parts:
        for each in part:
            numbers = [each]
            if isinstance(each, tuple):
                start, stories, questions = each
                numbers = [10 * story + asked for story in range(start, start + stories) for asked in range(questions)]
            taken += numbers
            seen.add(np.array(numbers, np.int64))
    assert seen.close() == sorted(number for number, count in Counter(taken).items() if count > 1)


def test_ids_in_order_take_no_memory() -> None:
    seen = RepeatedNumbers()
    tracemalloc.start()
    try:
        for first in range(0, 300_000, 3_000):
            seen.add((10 * np.arange(first, first + 3_000)[:, None] + np.arange(6)).reshape(-1))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10_000
    assert seen.close() == []


def test_ids_in_any_order_take_bounded_memory() -> None:
    seen = RepeatedNumbers(10_000)
    order = np.random.default_rng(0).permutation(200_000)
    tracemalloc.start()
    try:
        for some in np.split(order, 100):
            seen.add(some)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 64 * (1 << 16) + 400_000  # what is buffered of each file, and what is kept
    seen.add(np.array([7, 123_456]))
    assert seen.close() == [7, 123_456]


def test_other_ids_take_bounded_memory() -> None:
    seen = RepeatedTexts(1_000)
    tracemalloc.start()
    try:
        assert not any(seen.add(f"row {number}") for number in range(100_000))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 64 * (1 << 16) + 400_000
    assert seen.add("row 5")
    assert not seen.add("row 99999")
    assert seen.close() == ["row 99999"]


class FullDisk(io.BytesIO):
    def write(self, content: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_consistency, "TemporaryFile", lambda buffering: FullDisk())
    seen = RepeatedTexts(0)
    with pytest.raises(DataError, match=r"cannot write temporary files, by which ids .*: No space left on device"):
        seen.add("a")
