"""Arrays of stories: numbers, sets, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from storyproof.errors import DataError
from storyproof.families.belief.arrays import (
    MOST_AGENTS,
    MOST_NAMES,
    MOST_SENTENCES,
    NOBODY,
    STRANGER,
    PlotArrays,
    decode_plot,
    distinct,
    distinct_rows,
    encode_plots,
    join_plots,
    ranks,
    set_type,
    starts_of_runs,
)
from storyproof.families.belief.world import EventKind, PlotEvent
from tests.families.belief.plots import plots

NUMBERS = arrays.arrays(np.int64, st.integers(0, 8), elements=st.integers(-3, 3))


@pytest.mark.parametrize(
    ("agents", "kind"),
    [(1, np.uint8), (8, np.uint8), (9, np.uint16), (16, np.uint16), (17, np.uint32), (32, np.uint32), (33, np.uint64)],
)
def test_sets_of_agents_take_the_smallest_numbers(agents: int, kind: type) -> None:
    assert set_type(agents) is kind


@given(NUMBERS)
def test_distinct_numbers_and_runs(values: np.ndarray) -> None:
    assert distinct(values).tolist() == sorted(set(values.tolist()))
    listed = values.tolist()
    starts = [place for place in range(len(listed)) if not place or listed[place] != listed[place - 1]]
    assert starts_of_runs(values).tolist() == starts


@given(arrays.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(0, 3)), elements=st.integers(-3, 3)))
def test_ranks_count_what_is_less_in_the_column(values: np.ndarray) -> None:
    expected = [[sum(each < own for each in values[:, column]) for column, own in enumerate(row)] for row in values]
    assert ranks(values).tolist() == expected


@given(
    arrays.arrays(np.int64, st.tuples(st.integers(0, 6), st.integers(1, 3)), elements=st.integers(-2, 2)),
    st.sampled_from([1, 1 << 20, 1 << 31, 1 << 40, 1 << 60]),
)
def test_distinct_rows_are_found_whatever_their_numbers(keys: np.ndarray, factor: int) -> None:
    rows = [tuple(row) for row in (keys * factor).tolist()]
    first, which = distinct_rows(keys * factor)
    assert [rows[place] for place in first[which].tolist()] == rows
    assert len(first) == len(set(rows))
    assert all(rows.index(rows[place]) == place for place in first.tolist())


@pytest.mark.parametrize("wide", [30, 31, 32, 62])
def test_rows_of_large_numbers_are_told_apart(wide: int) -> None:
    keys = np.array([[0, 0], [(1 << wide) - 1, 0], [0, (1 << wide) - 1], [0, 1], [1, 0]], np.int64)
    first, which = distinct_rows(keys)
    assert sorted(first.tolist()) == list(range(5))
    assert first[which].tolist() == list(range(5))


def test_parts_of_blocks() -> None:
    stories, names = encode_plots(plots(3, 12))

    def decoded(some: PlotArrays, columns: range) -> list[list[PlotEvent]]:
        return [decode_plot(some, number, names[column]) for number, column in enumerate(columns)]

    every = decoded(stories, range(12))
    assert decoded(stories.between(2, 5), range(2, 5)) == every[2:5]
    parts = [stories.between(0, 4), stories.between(4, 5), stories.between(5, 12)]
    assert decoded(join_plots(parts), range(12)) == every
    assert join_plots(parts[:1]) is parts[0]
    fewer = PlotArrays(*(getattr(parts[2], each) for each in PlotArrays.__slots__[:6]), agents=1)
    assert join_plots([parts[1], fewer]).agents == stories.agents
    time = np.array([[3, 0], [1, 2]])
    some = stories.at(time, np.array([4, 7]))
    assert decode_plot(some, 1, names[7]) == [every[7][0], every[7][2]]
    assert decode_plot(some, 0, names[4]) == [every[4][3], every[4][1]]


@pytest.mark.parametrize(
    ("most", "story"),
    [
        (MOST_AGENTS, lambda count: [PlotEvent(EventKind.ENTER, f"P{number}", "hall") for number in range(count)]),
        (MOST_NAMES, lambda count: [PlotEvent(EventKind.ENTER, "Ada", f"room {number}") for number in range(count)]),
        (MOST_SENTENCES, lambda count: [PlotEvent(EventKind.NOISE)] * count),
    ],
)
def test_limits_of_a_story(most: int, story) -> None:  # type: ignore[no-untyped-def]
    encode_plots([story(most)])
    with pytest.raises(DataError, match=f"at most .*{most}|at most {most}"):
        encode_plots([story(most + 1)])


def test_limits_fit_into_their_numbers() -> None:
    assert MOST_AGENTS == np.iinfo(set_type(MOST_AGENTS)).bits == 64
    assert MOST_NAMES == 120 <= np.iinfo(np.int8).max
    assert MOST_SENTENCES == 30_000 <= np.iinfo(np.int16).max
    assert (NOBODY, STRANGER) == (-1, -2)
