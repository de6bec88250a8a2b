import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from storyproof.errors import DataError
from storyproof.formats import arrow_file, value_sizes
from storyproof.formats.arrow_file import FORMAT
from storyproof.formats.value_sizes import divided

_ROWS, _WORD = 200, "z" * 1_000


def repeated(count: int, word: str = _WORD) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([word]))


def view(count: int) -> pa.Array:
    views = struct.pack("<i4sii", len(_WORD), b"zzzz", 0, 0) * count
    return pa.Array.from_buffers(pa.string_view(), count, [None, pa.py_buffer(views), pa.py_buffer(_WORD.encode())])


# Columns of 200 rows, in each of which a text of 1,000 letters stands that is stored once.
SHARED = {
    "dictionary": repeated(_ROWS),
    "binary": pa.DictionaryArray.from_arrays(pa.array(np.zeros(_ROWS, np.int8)), pa.array([_WORD.encode()])),
    "list": pa.ListArray.from_arrays(pa.array(range(_ROWS + 1), pa.int32()), repeated(_ROWS)),
    "fixed list": pa.FixedSizeListArray.from_arrays(repeated(_ROWS), 1),
    "list view": pa.ListViewArray.from_arrays(
        pa.array([0] * _ROWS, pa.int32()), pa.array([1] * _ROWS, pa.int32()), pa.array([_WORD])
    ),
    "map": pa.MapArray.from_arrays(pa.array(range(_ROWS + 1), pa.int32()), pa.array(["key"] * _ROWS), repeated(_ROWS)),
    "struct": pa.StructArray.from_arrays([repeated(_ROWS)], ["a"]),
    "struct in list": pa.ListArray.from_arrays(
        pa.array(range(_ROWS + 1), pa.int32()), pa.StructArray.from_arrays([repeated(_ROWS)], ["a"])
    ),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([_ROWS], pa.int32()), pa.array([_WORD])),
    "view": view(_ROWS),
    "union": pa.UnionArray.from_sparse(pa.array([0] * _ROWS, pa.int8()), [repeated(_ROWS)]),
}


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("start", [0, 7])
def test_values_that_are_stored_once_are_counted_as_often_as_they_are_taken(
    kind: str, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 20_000)
    table = pa.table({"meta": SHARED[kind]}).slice(start)
    parts = list(divided(table, Path("x"), 0))
    assert all(part.num_rows <= 20 for part in parts)
    assert [value for part in parts for value in part.column(0).to_pylist()] == table.column(0).to_pylist()


@pytest.mark.parametrize("kind", SHARED)
def test_a_row_that_takes_too_much_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 500)
    with pytest.raises(DataError, match=r"^x, row 3: found .* of values; at most 500 bytes are read of a row"):
        list(divided(pa.table({"meta": SHARED[kind]}), Path("x"), 3))


def test_small_values_are_taken_at_once() -> None:
    table = pa.table({name: SHARED[name] for name in SHARED})
    assert list(divided(table, Path("x"), 0)) == [table]
    assert list(divided(table.slice(0, 0), Path("x"), 0)) == [table.slice(0, 0)]


def test_gaps_take_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 20_000)
    columns = {
        "list": pa.array([[_WORD], None, []] * 100),
        "text": pa.array([_WORD, None, ""] * 100).dictionary_encode(),
        "view": pa.array([_WORD, None, ""] * 100, pa.string_view()),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 300], pa.int32()), pa.array([_WORD, None])),
    }
    table = pa.table(columns)
    parts = list(divided(table, Path("x"), 0))
    assert sum(part.num_rows for part in parts) == 300
    assert [row for part in parts for row in part.to_pylist()] == table.to_pylist()


@pytest.mark.parametrize("fixed", [False, True])
def test_lists_of_very_many_items_are_refused(fixed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_sizes, "LARGEST_ROW", 1_000)
    monkeypatch.setattr(value_sizes, "_MOST_ITEMS", 100)
    items = pa.array([0] * 1_000, pa.int8())
    column = pa.FixedSizeListArray.from_arrays(items, 500) if fixed else pa.array([[1], [0] * 999], pa.list_(pa.int8()))
    with pytest.raises(DataError, match=r"found more than 100 items in lists"):
        list(divided(pa.table({"meta": column}), Path("x"), 0))


# Compressed parts of Arrow files.


def compressed(path: Path, *, stream: bool = False) -> Path:
    words = pa.array(["a" * 3_000]).dictionary_encode()
    batch = pa.record_batch([pa.array(["b" * 3_000]), words], ["story", "question"])
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(str(path), batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    return path


def refusals(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Yield whether a file is refused, if parts may take as many bytes as the larger one, and one less."""
    for most in (7_000, 5_999, 2_999):
        monkeypatch.setattr(arrow_file, "LARGEST_ROW_GROUP", most)
        refused = True
        with suppress(DataError):
            list(FORMAT.records(path))
            refused = False
        yield refused


@pytest.mark.parametrize("stream", [False, True])
def test_compressed_parts_and_the_texts_they_refer_to_are_bounded(
    stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compressed(tmp_path / "x.arrow", stream=stream)
    assert list(refusals(path, monkeypatch)) == [False, True, True]


def test_parts_that_only_the_footer_names_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads one message after another finds an end at once; Arrow reads what the footer points to."""
    path = compressed(tmp_path / "x.arrow")
    content = path.read_bytes()
    end = b"\xff\xff\xff\xff" + bytes(12)
    length = int.from_bytes(content[-10:-6], "little")
    body, footer = content[8 : -10 - length], bytearray(content[-10 - length : -10])
    with pa.ipc.open_file(str(path)) as file:
        assert file.num_record_batches == 1
    for at in range(0, len(footer) - 23, 4):  # the blocks of the dictionary and the batch
        place, metadata, padding, size = struct.unpack_from("<qiiq", footer, at)
        if 0 < place < len(content) and 0 < metadata < len(content) and not padding and 0 < size < len(content):
            struct.pack_into("<q", footer, at, place + len(end))
    path.write_bytes(content[:8] + end + body + bytes(footer) + content[-10:])
    assert [record.value["story"] for record in FORMAT.records(path)] == ["b" * 3_000]
    assert list(refusals(path, monkeypatch)) == [False, True, True]


def test_messages_without_a_mark_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before version 0.15 messages began with their length."""
    path = tmp_path / "x.arrow"
    batch = pa.record_batch([pa.array(["b" * 3_000]), pa.array(["q"])], ["story", "question"])
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_legacy_format=True)
    with pa.ipc.new_stream(str(path), batch.schema, options=options) as writer:
        writer.write_batch(batch)
    assert path.read_bytes()[:4] != b"\xff\xff\xff\xff"
    monkeypatch.setattr(arrow_file, "LARGEST_ROW_GROUP", 2_999)
    with pytest.raises(DataError, match="large once it is uncompressed"):
        list(FORMAT.records(path))
