from __future__ import annotations

from itertools import groupby, pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from storyproof.formats.chunks import in_parts, story_starts, whole_stories


def rows_of(lengths: list[int], *, ids: bool) -> list[dict[str, str | None]]:
    return [
        {"id": f"{story}-{row}", "story_id": f"s{story}" if ids else None, "story": f"Story {story}."}
        for story, length in enumerate(lengths)
        for row in range(length)
    ]


def table_of(rows: list[dict[str, str | None]], *, coded: bool) -> pa.Table:
    schema = pa.schema([("id", pa.string()), ("story_id", pa.string()), ("story", pa.string())])
    table = pa.Table.from_pylist(rows, schema=schema)
    return table.set_column(2, "story", table.column("story").dictionary_encode()) if coded else table


@given(st.lists(st.integers(1, 7), max_size=12), st.integers(1, 9), st.booleans(), st.booleans())
def test_no_story_goes_on_in_the_next_table(lengths: list[int], size: int, ids: bool, coded: bool) -> None:
    rows = rows_of(lengths, ids=ids)
    cut = [table_of(rows[start : start + size], coded=coded) for start in range(0, len(rows), size)]
    whole = list(whole_stories(cut))
    assert [row for table in whole for row in table.to_pylist()] == rows
    ends = [(table.to_pylist()[0]["story"], table.to_pylist()[-1]["story"]) for table in whole]
    for before, after in pairwise(ends):
        assert before[1] != after[0]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=12), st.integers(1, 200), st.booleans())
def test_parts_hold_whole_stories(lengths: list[int], most_bytes: int, coded: bool) -> None:
    rows = rows_of(lengths, ids=True)
    parts = [part.to_pylist() for part in in_parts(table_of(rows, coded=coded), most_bytes)]
    assert [row for part in parts for row in part] == rows
    for part, after in pairwise(parts):
        assert part[-1]["story_id"] != after[0]["story_id"]


def test_much_text_is_cut_and_little_is_not() -> None:
    table = table_of(rows_of([6] * 50, ids=True), coded=False)
    assert len(list(in_parts(table))) == 1
    assert len(list(in_parts(table, table.column("story").nbytes // 5))) >= 4


def test_stories_start_where_the_id_changes() -> None:
    table = table_of(rows_of([2, 3, 1], ids=True), coded=True)
    assert story_starts(table).tolist() == [0, 2, 5]
    assert [len(list(group)) for _, group in groupby(table.column("story").to_pylist())] == [2, 3, 1]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(1, 400), st.booleans())
def test_a_long_story_is_not_judged_with_many_short_ones(sizes: list[int], most_bytes: int, coded: bool) -> None:
    rows: list[dict[str, str | None]] = [
        {"id": f"{number}-{row}", "story_id": f"s{number}", "story": "x" * size}
        for number, size in enumerate(sizes)
        for row in range(2)
    ]
    parts = [part.to_pylist() for part in in_parts(table_of(rows, coded=coded), most_bytes)]
    assert [row for part in parts for row in part] == rows
    for part in parts:
        stories = {row["story_id"]: len(row["story"]) for row in part}
        assert len(stories) == 1 or len(stories) * max(stories.values()) <= 8 * most_bytes
