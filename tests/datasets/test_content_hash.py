import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.datasets.content_hash import ContentHash
from storyproof.example import SCHEMA, plain_schema
from storyproof.formats.jsonl import JsonlSplit, read_jsonl
from storyproof.formats.parquet import ParquetSplit, read_parquet
from tests.samples import table

# Few letters, so that neighbours are often equal and words often run into each other.
WORDS = st.text("ab", max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(SCHEMA.names, WORDS),
    **{name: st.lists(WORDS, max_size=3) for name in ("candidates", "chain", "readings")},
    "order": st.integers(-128, 127),
    "false_belief": st.booleans(),
    "proof": st.lists(st.integers(-3, 3), max_size=3),
}
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=8)


def plain_of(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=plain_schema())


def hash_of(*tables: pa.Table) -> str:
    content = ContentHash()
    for each in tables:
        content.add(each)
    return content.hexdigest()


@given(ROWS, st.lists(st.integers(0, 8), max_size=4))
def test_chunks_do_not_matter(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    whole = plain_of(rows)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    pieces = [whole.slice(start, end - start) for start, end in itertools.pairwise(edges)]
    assert hash_of(*pieces) == hash_of(whole)
    assert hash_of(pa.concat_tables(pieces)) == hash_of(whole)


@given(ROWS)
def test_dictionaries_do_not_matter(rows: list[dict[str, Any]]) -> None:
    plain = plain_of(rows)
    assert hash_of(plain.cast(SCHEMA)) == hash_of(plain)


def test_a_word_twice_in_a_dictionary_does_not_matter() -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "a", "b"]))
    assert hash_of(pa.table({"story": coded})) == hash_of(pa.table({"story": ["a", "a", "b"]}))


@given(ROWS.filter(bool), st.data())
def test_any_changed_cell_matters(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from(SCHEMA.names))
    value = data.draw((st.none() | VALUES[name]).filter(lambda value: value != rows[row][name]))
    changed = [*rows[:row], {**rows[row], name: value}, *rows[row + 1 :]]
    assert hash_of(plain_of(changed)) != hash_of(plain_of(rows))


@given(ROWS.filter(bool))
def test_a_row_less_or_more_matters(rows: list[dict[str, Any]]) -> None:
    hashes = [hash_of(plain_of(some)) for some in (rows, rows[:-1], [*rows, rows[-1]])]
    assert len(set(hashes)) == 3


def test_column_names_matter_and_their_order_does_not() -> None:
    one = pa.table({"a": ["x"], "b": ["y"]})
    assert hash_of(one) == hash_of(one.select(["b", "a"]))
    assert hash_of(one) != hash_of(one.rename_columns(["b", "a"]))


@pytest.mark.parametrize("rows", [1, 7, 100_000])
@pytest.mark.parametrize(("writer", "reader"), [(ParquetSplit, read_parquet), (JsonlSplit, read_jsonl)])
def test_files_read_back_have_the_hash(tmp_path: Path, writer: Any, reader: Any, rows: int) -> None:
    made = table("tom-babi-easy", "test", 96)
    split = writer(tmp_path, "test")
    for start in range(0, made.num_rows, 40):
        split.write(made.slice(start, 40))
    (path,) = split.close()
    assert hash_of(*reader(path, rows)) == hash_of(made)
