"""Footers of Parquet: read as Arrow reads them, and refused without an abort when they are damaged."""

import io
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.formats.parquet_footer import FooterError, read_footer
from tests.groups import try_examples
from tests.torture import thrift

_TABLE = pa.table(
    {
        "story": ["Ada entered the den.", "Ben left.", None],
        "question": ["Where is Ada?", "Where is Ben?", "Who?"],
        "answer": ["den", "hall", None],
        "support": [[1, 2], None, []],
        "words": [["a"], ["b", None], []],
    }
)


def _written(**options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(_TABLE, file, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False, "write_statistics": False, "compression": "none"},
        {"compression": {"story": "zstd", "question": "gzip"}, "row_group_size": 2, "write_page_index": True},
        {"version": "1.0", "compression": "lz4", "use_dictionary": ["story"]},
    ],
)
def test_a_footer_says_what_arrow_says(options: dict[str, object]) -> None:
    content = _written(**options)
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    groups = read_footer(io.BytesIO(content))
    assert len(groups) == metadata.num_row_groups
    for number, group in enumerate(groups):
        expected = metadata.row_group(number)
        assert group.uncompressed == expected.total_byte_size
        assert len(group.columns) == expected.num_columns
        for place, column in enumerate(group.columns):
            chunk = expected.column(place)
            assert column.path == chunk.path_in_schema
            assert column.is_bytes == (chunk.physical_type == "BYTE_ARRAY")
            assert column.codec == chunk.compression.replace("UNCOMPRESSED", "NONE")
            assert column.uncompressed == chunk.total_uncompressed_size
            assert column.has_dictionary == chunk.has_dictionary_page
            assert column.has_statistics == chunk.is_stats_set


def _field(struct: thrift.Struct, number: int) -> Any:
    return next(value for field, _, value in struct if field == number)


def _with_footer(content: bytes, tree: thrift.Struct) -> bytes:
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = thrift.write(tree)
    return content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _footer(content: bytes) -> thrift.Struct:
    return thrift.read(content, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))[0]


def test_a_histogram_of_the_wrong_size_does_not_abort_the_process(tmp_path: Path) -> None:
    content = _written()
    tree = _footer(content)
    for group in _field(tree, 4):
        for chunk in _field(group, 1):
            about = _field(chunk, 3)
            about[:] = [each for each in about if each[0] != 16]
            histogram = thrift.Items(thrift.I64, [1] * 9)  # of definition levels: more than any column here has
            about.append([16, thrift.STRUCT, thrift.Struct([[3, thrift.LIST, histogram]])])
    path = tmp_path / "test.parquet"
    path.write_bytes(_with_footer(content, tree))
    for command in ("verify", "show", "audit"):
        run = subprocess.run([sys.executable, "-m", "storyproof", command, path], capture_output=True, text=True)
        assert run.returncode == 2, run.stderr
        assert f"{path} is not a readable Parquet file" in run.stderr


@given(st.randoms(use_true_random=False))
@try_examples(300)
def test_damaged_footers_are_read_or_refused(random: Random) -> None:
    content = _written()
    tree = _footer(content)
    thrift.change(random, tree)
    with suppress(FooterError):
        read_footer(io.BytesIO(_with_footer(content, tree)))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too short"),
        (b"PAR1" + b"\0" * 20, "does not end in PAR1"),
        (b"PAR1" + b"\xff\xff\xff\x7fPAR1", "claims 2 GB"),
        (b"PAR1" + b"\x1c" * 100 + b"\x64\0\0\0PAR1", "nested too deeply"),
        (b"PAR1" + b"\x19\xfc\xff\xff\xff\xff\x0f" + b"\x07\0\0\0PAR1", "longer than the footer"),
        (b"PAR1" + b"\x16" + b"\xff" * 11 + b"\x0c\0\0\0PAR1", "too long"),
        (b"PAR1" + b"\x1d\0" + b"\x02\0\0\0PAR1", "unknown type 13"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, reason: str) -> None:
    with pytest.raises(FooterError, match=reason):
        read_footer(io.BytesIO(content))
