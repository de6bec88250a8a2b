import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.example import plain_schema
from storyproof.formats import parquet, value_sizes
from storyproof.formats.parquet import FORMAT, ParquetSplit, read_parquet
from tests.samples import example, plain_table, table


def write(folder: Path, *tables: pa.Table) -> Path:
    split = ParquetSplit(folder, "test")
    for each in tables:
        split.write(each)
    (path,) = split.close()
    return path


def test_round_trip(tmp_path: Path) -> None:
    made = table("tomi", "test")
    path = write(tmp_path, made.slice(0, 100), made.slice(100))
    assert path == tmp_path / "test.parquet"
    assert pa.concat_tables(read_parquet(path, 50), promote_options="permissive").to_pylist() == made.to_pylist()


def test_others_see_plain_strings(tmp_path: Path) -> None:
    path = write(tmp_path, table("tomi", "test"))
    found = pq.read_schema(path)
    assert found.names == plain_schema().names
    assert found.field("story").type == pa.string()
    assert found.field("candidates").type == pa.list_(pa.string())


def test_a_story_is_stored_once(tmp_path: Path) -> None:
    made = table("tomi", "test")
    path = write(tmp_path, made)
    stories = pq.ParquetFile(path).metadata.row_group(0).column(plain_schema().names.index("story"))
    told_once = sum(map(len, made.column("story").unique().to_pylist()))
    assert stories.total_uncompressed_size < 2 * told_once


def test_rows_bound_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, table("tomi", "test"))
    assert [each.num_rows for each in read_parquet(path, 250)] == [250, 250, 76]


def test_nothing_written_is_an_empty_file(tmp_path: Path) -> None:
    assert pq.read_table(write(tmp_path)).schema.names == plain_schema().names


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -9])
def test_truncated(tmp_path: Path, keep: int) -> None:
    path = write(tmp_path, table("tomi", "test"))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(
        DataError, match=r"test\.parquet is not a readable Parquet file \(.*\); expected a complete one; copy"
    ):
        list(read_parquet(path, 100))


def test_garbage_within(tmp_path: Path) -> None:
    path = write(tmp_path, table("tomi", "test"))
    whole = bytearray(path.read_bytes())
    whole[4:2000] = bytes(1996)
    path.write_bytes(whole)
    with pytest.raises(DataError, match=r"test\.parquet is not a readable Parquet file"):
        list(read_parquet(path, 100))


@pytest.mark.parametrize("name", ["story", "question", "answer"])
def test_missing_column(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(plain_table(example()).drop_columns([name]), path)
    with pytest.raises(DataError, match=rf"x\.parquet has no column '{name}'; expected at least story, question"):
        list(read_parquet(path, 100))


@pytest.mark.parametrize(("name", "value"), [("answer", 3), ("proof", "1, 2"), ("false_belief", 1), ("chain", "Ben")])
def test_wrong_type(tmp_path: Path, name: str, value: object) -> None:
    path, good = tmp_path / "x.parquet", plain_table(example())
    pq.write_table(good.set_column(good.schema.get_field_index(name), name, pa.array([value])), path)
    with pytest.raises(DataError, match=rf"x\.parquet: column '{name}' is .*, expected "):
        list(read_parquet(path, 100))


def test_other_integers_are_welcome(tmp_path: Path) -> None:
    path, good = tmp_path / "x.parquet", plain_table(example())
    pq.write_table(good.set_column(good.schema.get_field_index("proof"), "proof", pa.array([[2, 3]])), path)
    assert next(read_parquet(path, 100)).column("proof").to_pylist() == [[2, 3]]


def minimal(tmp_path: Path, **columns: pa.Array) -> Path:
    story = "Ada entered the attic.\nThe key is in the box.\nAda moved the key to the jar."
    plain = {"story": story, "question": "Where is the key really?", "answer": "jar"}
    whole = {name: pa.array([text]) for name, text in plain.items()}
    path = tmp_path / "test.parquet"
    pq.write_table(pa.table({**whole, **columns}), path)
    return path


def test_story_question_and_answer_are_enough(tmp_path: Path) -> None:
    path = minimal(tmp_path, observers=pa.array([5]), trace=pa.array(["mine"]))
    assert storyproof.verify(path).ok
    assert storyproof.evaluate("oracle", path).scores.accuracy == 1


def test_large_strings_and_wide_numbers_are_taken(tmp_path: Path) -> None:
    path = minimal(
        tmp_path,
        answer=pa.array(["jar"], pa.large_string()),
        candidates=pa.array([["box", "jar"]], pa.large_list(pa.large_string())),
        order=pa.array([0], pa.int64()),
        proof=pa.array([[3]], pa.list_(pa.int64())),
    )
    assert storyproof.verify(path).ok


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"question": pa.array([None], pa.string())}, "row 0: 'question' is empty"),
        ({"story": pa.array([None], pa.string())}, "row 0: 'story' is empty"),
        ({"answer": pa.array([None], pa.string())}, "row 0: 'answer' is empty"),
        ({"order": pa.array([1000], pa.int64())}, "column 'order' contains values that are not int8"),
        ({"proof": pa.array([[100_000]], pa.list_(pa.int64()))}, "column 'proof' contains values that are not list"),
    ],
)
def test_what_no_example_holds_is_named(tmp_path: Path, columns: dict[str, pa.Array], message: str) -> None:
    path = minimal(tmp_path, **columns)
    for look in (storyproof.show, lambda data: storyproof.evaluate("oracle", data)):
        with pytest.raises(DataError, match=message):
            look(path)
    if "is empty" in message:  # an audit goes on, and counts the row
        assert storyproof.verify(path).unread == dict.fromkeys(columns, 1)


def test_a_column_twice_is_named(tmp_path: Path) -> None:
    table = pq.read_table(minimal(tmp_path))
    pq.write_table(table.append_column("story", table.column("story")), tmp_path / "test.parquet")
    with pytest.raises(DataError, match=r"2 columns 'story'"):
        storyproof.verify(tmp_path / "test.parquet")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"chain": [["Ada"], ["Ada", None]]}, r"x\.parquet, row 1: 'chain' has an empty item, expected none"),
        ({"edges": [[[0, 1]], [[0, None]]]}, r"x\.parquet, row 1: 'edges' has an empty item"),
        ({"order": [0, 300]}, r"column 'order' contains values that are not int8 \(.*\); convert them"),
        ({"answer": [b"box", b"\xff"]}, r"x\.parquet is not a readable Parquet file \(.*\); expected a complete one"),
    ],
)
def test_values_that_are_none(tmp_path: Path, rows: dict[str, list[Any]], message: str) -> None:
    made = {"story": ["a", "a"], "question": ["b", "b"], "answer": ["c", "c"], **rows}
    found = pa.table(made)
    if isinstance(rows.get("answer", [""])[0], bytes):
        bad = pa.Array.from_buffers(pa.string(), 2, pa.array(rows["answer"], pa.binary()).buffers())
        found = found.set_column(2, "answer", bad)
    pq.write_table(found, tmp_path / "x.parquet")
    with pytest.raises(DataError, match=message):
        list(read_parquet(tmp_path / "x.parquet", 100))


def write_columns(path: Path, **columns: pa.Array) -> Path:
    """Write a file of two rows with the required columns and some more."""
    required = {name: pa.array(["a", "b"]) for name in ("story", "question", "answer")}
    pq.write_table(pa.table({**required, **columns}), path)
    return path


def test_tables_beyond_all_limits_are_refused(tmp_path: Path) -> None:
    many = {f"c{number}": pa.array([1, 2], pa.int8()) for number in range(1_001)}
    with pytest.raises(DataError, match=r"has 1,004 columns; at most 1,000 are read; leave some out"):
        list(FORMAT.read(write_columns(tmp_path / "many.parquet", **many)))
    kind = pa.int8()
    for _ in range(9):
        kind = pa.list_(kind)
    deep = write_columns(tmp_path / "deep.parquet", deep=pa.nulls(2, kind))
    with pytest.raises(DataError, match=r"has a column of 18 levels; at most 16 are read; leave it out"):
        FORMAT.columns(deep)


def test_row_groups_beyond_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_columns(tmp_path / "a.parquet", other=pa.array(["x" * 9_000, "y" * 9_000]))
    monkeypatch.setattr(parquet, "LARGEST_ROW_GROUP", 5_000)
    assert len(list(FORMAT.read(path))) == 1  # the other column is not read
    monkeypatch.setattr(parquet, "LARGEST_ROW_GROUP", 50)
    with pytest.raises(DataError, match=r"row group 0 is .* large once it is uncompressed; at most 50 bytes are read"):
        list(FORMAT.read(path))


BOMB = 60 << 10  # characters of a text that stands in every item of every row


def write_bomb(path: Path, column: str, rows: int = 4_000, items: int = 50) -> Path:
    """Write a small file whose texts take gigabytes: each is stored once, and a code for it in every place."""
    word = pa.DictionaryArray.from_arrays(pa.array([0] * rows * items, pa.int32()), pa.array(["x" * BOMB]))
    values = word[:rows]
    if column == "candidates":
        values = pa.ListArray.from_arrays(pa.array(range(0, rows * items + 1, items), pa.int32()), word)
    plain = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["a"]))
    columns = dict.fromkeys(("story", "question", "answer"), plain)
    pq.write_table(pa.table({**columns, column: values}), path, store_schema=False)
    assert path.stat().st_size < 1 << 20
    return path


@pytest.mark.parametrize("column", ["story", "question", "id", "candidates"])
def test_texts_that_are_stored_once_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    path = write_bomb(tmp_path / "bomb.parquet", column)
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 8 << 20)
    before = pa.total_allocated_bytes()
    rows = 0
    for part in FORMAT.read(path, places=True):
        assert part.column(column)[0].as_py() is not None
        assert pa.total_allocated_bytes() - before < 64 << 20
        assert [place["row"] for place in part.column("place").to_pylist()] == list(range(rows, rows + part.num_rows))
        rows += part.num_rows
        if rows > 1_000:
            return
    raise AssertionError("it was read as a whole")


def test_a_row_and_a_text_beyond_the_limits_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_bomb(tmp_path / "bomb.parquet", "candidates", rows=3)
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 1 << 20)
    with pytest.raises(DataError, match=r"row 0: found 2.93 MB of values; at most 1 MB are read of a row; shorten it"):
        list(FORMAT.read(path))
    monkeypatch.setattr(value_sizes, "LONGEST_LINE", 1 << 10)
    with pytest.raises(DataError, match=r"column 'candidates' has a text of 60 kB; at most 1 kB are read; shorten it"):
        list(FORMAT.read(path))


def test_names_of_columns_that_are_not_text(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "a.parquet", strange=pa.array([1, 2]))
    path.write_bytes(path.read_bytes().replace(b"strange", b"str\xffnge"))
    with pytest.raises(DataError, match=r"is not a readable Parquet file"):
        list(FORMAT.read(path))
    with pytest.raises(DataError, match=r"is not a readable Parquet file"):
        FORMAT.columns(path)


@pytest.mark.parametrize("rows", [1_000, 100_000])
@pytest.mark.parametrize("good", [0, 1, 3, None])
def test_lists_that_arrow_does_not_read_as_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, good: int | None
) -> None:
    """A writer gives up codes where they become too many; some versions of Arrow do not read such lists as codes."""
    words = [[f"{number} {'x' * 20}", "a"] for number in range(6_000)]
    required = {name: pa.array(["a"] * len(words)) for name in ("story", "question", "answer")}
    made = pa.table({**required, "candidates": pa.array(words)})
    path = tmp_path / "a.parquet"
    pq.write_table(made, path, dictionary_pagesize_limit=50_000, data_page_size=1_000, store_schema=False)
    if good is not None:
        monkeypatch.setattr(parquet, "_open", lambda *given, **settings: Stubborn(good, *given, **settings))
    found = pa.concat_tables(FORMAT.read(path, rows, places=True))
    assert found.column("candidates").to_pylist() == words
    assert [place["row"] for place in found.column("place").to_pylist()] == list(range(6_000))


class Stubborn:
    """A file of which Arrow reads some batches of lists as codes, and then no more."""

    def __init__(self, good: int, path: Path, read_dictionary: Sequence[str] = ()) -> None:
        self._file = pq.ParquetFile(path, read_dictionary=list(read_dictionary))
        self._good = good if any("." in name for name in read_dictionary) else None

    def iter_batches(self, *given: Any, **settings: Any) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(self._file.iter_batches(*given, **settings)):
            if number == self._good:
                raise pa.ArrowNotImplementedError("Nested data conversions not implemented for chunked array outputs")
            yield batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_opened_files_leave_no_cyclic_garbage(tmp_path: Path) -> None:
    """Nothing that holds the metadata of a file stays until the collector runs, which is seldom in a command."""
    path = tmp_path / "test.parquet"
    pq.write_table(pa.table({"story": ["a"], "question": ["b"], "chain": [["c"]]}), path)
    gc.collect()
    gc.disable()
    try:
        parquet._row_groups(path, parquet._open(path), ())
        # What is there since the collector ran is in its first generation.
        assert not any(isinstance(each, pq.FileMetaData) for each in gc.get_objects(generation=0))
    finally:
        gc.enable()
