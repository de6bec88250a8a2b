"""Sets of instants as bits do what flags do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storyproof.families.belief import time_sets as instants


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 5, 31, 32, 33, 63, 64, 65, 130]))
@settings(max_examples=20)
def test_sets_are_flags(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.random((steps, 3, 9)) < rng.choice([0, 0.03, 0.5, 1], (1, 3, 9)) for _ in range(2))
    time, at = rng.integers(-1, steps, (3, 9)), np.arange(steps)[:, None, None]
    sets, others = instants.pack(one), instants.pack(other)
    words = instants.Words.of(steps)
    assert (len(sets), sets.dtype) == words

    def flags(found: instants.Instants) -> list[object]:
        return instants.unpack(found, steps).tolist()

    latest, earliest = (
        np.where(each.any(axis=0), place, -1)
        for each, place in ((one, steps - 1 - one[::-1].argmax(axis=0)), (one, one.argmax(axis=0)))
    )
    assert flags(sets) == one.tolist()
    assert instants.last(sets).tolist() == latest.tolist()
    assert instants.first(sets).tolist() == earliest.tolist()
    assert flags(instants.keep_last(sets)) == (one & (at == latest)).tolist()
    assert flags(instants.until(time, words)) == (at <= time).tolist()
    assert flags(instants.before(np.maximum(time, 0), words)) == (at < np.maximum(time, 0)).tolist()
    assert flags(instants.single(time, words)) == (at == time).tolist()
    assert flags(instants.delay(sets)) == np.concatenate([np.zeros_like(one[:1]), one[:-1]]).tolist()
    last_of_others = np.where(other.any(axis=0), steps - 1 - other[::-1].argmax(axis=0), -1)
    assert instants.is_later(sets, others).tolist() == (latest > last_of_others).tolist()
    inside = np.where(time >= 0, np.take_along_axis(one, np.maximum(time, 0)[None], axis=0)[0], False)
    assert instants.has(sets, time).tolist() == inside.tolist()
    whole, lasting, now = instants.until(np.array([steps - 1]), words)[:, 0], np.zeros_like(one), np.zeros((3, 9), bool)
    for step in range(steps):
        now = np.where(other[step], one[step], now)
        lasting[step] = now
    filled = instants.fill(sets & others, others, whole)
    assert flags(filled) == lasting.tolist()
    assert not (filled & ~whole[:, None, None]).any()


def test_wide_arrays_are_packed_like_narrow_ones() -> None:
    flags = np.random.default_rng(3).random((70, 4, 900)) < 0.3
    parts = [instants.pack(flags[:, :, start : start + 100]) for start in range(0, 900, 100)]
    assert (instants.pack(flags) == np.concatenate(parts, axis=2)).all()


@pytest.mark.parametrize("bits", [(1 << 64) - 1, 1 << 63, (1 << 54) - 1, (1 << 53) + 1, 1, 0])
def test_the_last_instant_is_exact(bits: int) -> None:
    assert instants.last(np.array([[bits]], np.uint64)).tolist() == [bits.bit_length() - 1]
    low = bits & 0xFFFF_FFFF
    assert instants.last(np.array([[low]], np.uint32)).tolist() == [low.bit_length() - 1]


@pytest.mark.parametrize(
    ("steps", "words", "size"), [(0, 1, 4), (1, 1, 4), (32, 1, 4), (33, 1, 8), (64, 1, 8), (65, 2, 8), (129, 3, 8)]
)
def test_a_word_holds_64_instants_or_32(steps: int, words: int, size: int) -> None:
    sets = instants.pack(np.ones((steps, 3), np.bool_))
    assert (sets.shape, sets.itemsize) == ((words, 3), size)


def test_instants_are_collected_by_time_and_column() -> None:
    time, column = np.array([0, 3, 63, 64, 64, 129, 127]), np.array([2, 0, 1, 0, 4, 4, 3])
    found = instants.unpack(instants.collect(time, column, instants.Words.of(192), 5), 192)
    assert sorted(zip(*(each.tolist() for each in np.nonzero(found)), strict=True)) == sorted(
        zip(time.tolist(), column.tolist(), strict=True)
    )


EDGES = [0, 1, 1 << 63, (1 << 64) - 1, 1 << 40, (1 << 63) | 1]


def test_the_later_of_two_sets_over_several_words() -> None:
    words = np.array([(low, high) for low in EDGES for high in EDGES], np.uint64).T  # [word, column]
    one, other = np.repeat(words, words.shape[1], axis=1), np.tile(words, words.shape[1])
    assert instants.is_later(one, other).tolist() == (instants.last(one) > instants.last(other)).tolist()


@pytest.mark.parametrize("words", [1, 2])
def test_no_set_has_the_instant_before_the_first(words: int) -> None:
    whole = np.full((words, 2), (1 << 64) - 1, np.uint64)
    assert instants.has(whole, np.array([-1, 64 * words - 1])).tolist() == [False, True]


def test_runs_go_on_over_words_with_and_without_events() -> None:
    """Compared with a walk over the instants, for words with no event, only events, and some."""
    words = [(low, high, top) for low in EDGES for high in EDGES for top in EDGES]
    events = np.array(words, np.uint64).T
    happens = instants.unpack(events, 192)
    whole = np.full(3, (1 << 64) - 1, np.uint64)
    for keep in EDGES:
        starts = events & np.array([keep, keep ^ EDGES[3], keep], np.uint64)[:, None]
        begins = instants.unpack(starts, 192)
        lasting, now = np.zeros_like(happens), np.zeros(len(words), np.bool_)
        for step in range(192):
            now = np.where(happens[step], begins[step], now)
            lasting[step] = now
        assert (instants.unpack(instants.fill(starts, events, whole), 192) == lasting).all()


def test_members_are_instants_and_columns_in_order_of_time() -> None:
    flags = np.random.default_rng(5).random((130, 7)) < 0.2
    found = instants.members(instants.pack(flags), 130)
    assert [each.tolist() for each in found] == [each.tolist() for each in np.nonzero(flags)]


def test_one_set_is_taken_for_each_row_and_column() -> None:
    sets = np.arange(2 * 3 * 4, dtype=np.uint64).reshape(2, 3, 4)
    row, column = np.array([2, 0, 1, 1], np.int8), np.array([3, 1, 0, 2])
    assert instants.one_of(sets, row, column).tolist() == sets[:, row, column].tolist()


def test_an_instant_of_the_second_word_is_looked_up_there() -> None:
    sets = np.array([[0b10, 0], [0, 0b10]], np.uint64)
    assert instants.has(sets, np.array([1, 1])).tolist() == [True, False]
    assert instants.has(sets, np.array([65, 65])).tolist() == [False, True]
