"""Rows of other people's JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from storyproof.errors import DataError
from storyproof.formats.format import load_format
from storyproof.formats.jsonl import dialect_of
from storyproof.formats.lines import find_bad_bytes, numbered_lines
from storyproof.formats.records import read_strictly
from tests.families.belief.test_sentence_split import QUESTION, RUNNING, STORY


def put(folder: Path, *rows: Any, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, dialect: str, rows: int = 10) -> list[dict[str, Any]]:
    tables = read_strictly(path, load_format(dialect), rows, places=True)
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize(
    "given",
    [
        RUNNING + " " + QUESTION,
        [{"role": "user", "content": RUNNING + " " + QUESTION}],
        [{"role": "system", "content": "Ada is here. Why?"}, {"content": f"{RUNNING} {QUESTION}"}],
        [{"role": "user", "content": [{"type": "text", "text": RUNNING}, {"type": "text", "text": QUESTION}]}],
        [
            {"role": "user", "content": RUNNING},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": QUESTION},
        ],
        [
            {"role": "user", "content": "Ben entered the hall. The key is in the box. Where is the key really?"},
            {"role": "assistant", "content": "box"},
            {"role": "user", "content": f"{RUNNING} {QUESTION}"},
        ],
    ],
)
def test_inputs(tmp_path: Path, given: Any) -> None:
    row = read(put(tmp_path, {"input": given, "target": "box"}), "inspect")[0]
    assert (row["story"], row["question"], row["answer"], row["place"]["answer"]) == (STORY, QUESTION, "box", "target")


def test_inspect_rows(tmp_path: Path) -> None:
    text = f"{RUNNING} {QUESTION}"
    kinds = {"question_type": "second_order_0_tom", "story_type": "false_belief", "more": [1]}
    rows = read(
        put(
            tmp_path,
            {"input": text, "target": ["box"], "metadata": kinds, "id": 7},
            {"input": text, "ideal": ["box", "the box"], "metadata": "none", "id": "seven"},
            {"input": text, "target": "box", "metadata": {"question_type": 3, "story_type": None}},
        ),
        "inspect",
        rows=2,
    )
    assert [row["answer"] for row in rows] == ["box", "box\nthe box", "box"]
    assert [row["place"]["answer"] for row in rows] == ["target", "ideal", "target"]
    assert [row["id"] for row in rows] == ["7", "seven", "rows-3"]
    assert [row["place"]["line"] for row in rows] == [1, 2, 3]
    assert [row["question_type"] for row in rows] == ["second_order_0_tom", None, None]
    assert [row["story_type"] for row in rows] == ["false_belief", None, None]


def test_plain_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {"story": RUNNING, "question": f"Q: {QUESTION}", "answer": "box", "order": "two", "story_id": 4, "line": "x"}
    path.write_bytes(
        b"\xef\xbb\xbf\r\n \n" + json.dumps(row).encode() + b"\r\n\r\n" + json.dumps({**row, "order": 2}).encode()
    )
    first, second = read(path, "jsonl")
    assert (first["story"], first["question"], first["order"], first["story_id"]) == (STORY, QUESTION, None, "4")
    assert (first["place"]["line"], second["place"]["line"], second["order"], first["id"]) == (3, 5, 2, "rows-3")


@pytest.mark.parametrize(
    ("line", "dialect", "found"),
    [
        (b"{", "jsonl", "not valid JSON"),
        (b"[" * 100_000, "jsonl", "not valid JSON"),
        (b"[]", "inspect", "found list; expected one object"),
        (b'{"story": 3}', "jsonl", "'story' is 3; expected text"),
        (b'{"story": "\xff"}', "jsonl", "found the byte 0xff; expected text in UTF-8"),
        (b'{"input": 3, "target": "box"}', "inspect", "'input' is 3; expected text, or a list"),
        (b'{"input": [{"role": "system"}], "target": "box"}', "inspect", "'input' is .*; expected text, or a list"),
        (b'{"input": "x"}', "inspect", "'target' is None; expected text"),
        (b'{"input": "x", "target": []}', "inspect", "'target' is .*; expected text"),
        (b'{"input": "x", "target": [1]}', "inspect", "'target' is .*; expected text"),
        (b'{"input": "Who?", "target": "box"}', "inspect", "'Who"),
        (
            b'{"story": "A\\ud800 entered the hall.", "question": "Where is the x really?", "answer": "y"}',
            "jsonl",
            "unpaired surrogate",
        ),
    ],
)
def test_errors_name_the_line(tmp_path: Path, line: bytes, dialect: str, found: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n" + line + b"\n")
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 2: .*{found}"):
        read(path, dialect)


def test_dialects() -> None:
    assert dialect_of('{"input": "x", "target": "y"}') == "inspect"
    assert dialect_of('{"story": "x", "input": "y"}') == "jsonl"
    assert dialect_of("{") == dialect_of("[]") == "jsonl"


def test_lines_come_with_whatever_ends_them(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb\r\nc\rd\n\n\x85\x0be")
    assert list(numbered_lines(path)) == [
        (1, b"a\n"),
        (2, b"b\r\n"),
        (3, b"c\r"),
        (4, b"d\n"),
        (5, b"\n"),
        (6, b"\x85\x0be"),
    ]
    assert "line 6: found the byte 0x85" in str(find_bad_bytes(path))
    path.write_bytes("ä".encode())
    assert find_bad_bytes(tmp_path / "none", path) is None
    with pytest.raises(DataError, match="cannot read"):
        list(numbered_lines(tmp_path))
