import json
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.formats.format import format_of
from storyproof.formats.jsonl import JsonlSplit, read_jsonl
from tests.samples import REALITY, STORY, example, examples, row, table

MINIMAL = json.dumps({"story": STORY, "question": REALITY, "answer": "jar"})


def write(folder: Path, *lines: str) -> Path:
    path = folder / "x.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_round_trip(tmp_path: Path) -> None:
    made = table("tomi", "test")
    split = JsonlSplit(tmp_path, "test")
    split.write(made)
    (path,) = split.close()
    tables = list(read_jsonl(path, 100))
    assert [each.num_rows for each in tables] == [100, 100, 100, 100, 100, 76]
    assert [row for each in tables for row in each.to_pylist()] == made.to_pylist()


def test_words_of_all_languages_stay_readable(tmp_path: Path) -> None:
    split = JsonlSplit(tmp_path, "test")
    split.write(next(read_jsonl(write(tmp_path, json.dumps({**example().as_row(), "answer": "boîte"})), 1)))
    (path,) = split.close()
    assert "boîte" in path.read_text(encoding="utf-8")


def test_what_is_lacking_is_null(tmp_path: Path) -> None:
    (found,) = read_jsonl(write(tmp_path, "", MINIMAL, "  ", MINIMAL), 100)
    rows = found.to_pylist()
    assert [row["id"] for row in rows] == ["x-2", "x-4"]
    assert rows[0]["answer"] == "jar"
    assert rows[0]["proof"] is rows[0]["story_id"] is rows[0]["order"] is None


def test_other_columns_are_left_alone(tmp_path: Path) -> None:
    (found,) = read_jsonl(write(tmp_path, json.dumps({**example().as_row(), "comment": 7})), 100)
    assert found.to_pylist() == [row(example())]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"not valid JSON \(.*\); expected one object per line"),
        ("[" * 100_000, r"not valid JSON"),
        ("[1]", "found list, expected an object with story, question, answer"),
        ('{"story": "a"}', "'question' is None; expected text"),
        (json.dumps({**example().as_row(), "answer": 3}), "'answer' is 3; expected text"),
        (json.dumps({**example().as_row(), "order": True}), "'order' is True, expected a number"),
        (json.dumps({**example().as_row(), "order": 200}), "'order' is 200, expected a number"),
        (json.dumps({**example().as_row(), "proof": [1, "2"]}), r"'proof' is \[1, '2'\], expected a list of numbers"),
        (json.dumps({**example().as_row(), "chain": "Ben"}), "'chain' is 'Ben', expected a list of words"),
        (json.dumps({**example().as_row(), "chain": [None]}), r"'chain' is \[None\], expected a list of words"),
        (json.dumps({**example().as_row(), "false_belief": 0}), "'false_belief' is 0, expected true or false"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, MINIMAL, line, MINIMAL)
    with pytest.raises(DataError, match=rf"x\.jsonl, line 2: {message}"):
        list(read_jsonl(path, 100))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"story": "\xff"}\n', "found the byte 0xff; expected text in UTF-8"),
        (MINIMAL.replace("Ada", "\\ud800").encode(), r"not valid JSON \(it contains an unpaired surrogate\)"),
        (MINIMAL.replace("{", '{"\\udc00": 1, ', 1).encode(), r"not valid JSON \(it contains an unpaired surrogate\)"),
        (b"[" * 100_000, r"not valid JSON \(it is nested more than 100 levels deep\)"),
        (b"[" * 101 + b"]" * 101, r"not valid JSON \(it is nested more than 100 levels deep\)"),
        (b'{"order": ' + b"9" * 5000 + b"}", r"not valid JSON \(it has a number of more than 4,300 digits\)"),
    ],
)
def test_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"x\.jsonl, line 1: {message}"):
        list(read_jsonl(path, 100))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        list(read_jsonl(tmp_path / "x.jsonl", 100))


@pytest.mark.parametrize(("name", "place"), [("test.jsonl", "line 2"), ("test.json", "line 1, object 1")])
def test_row_that_lacks_what_tells_its_family_is_checked_with_the_others(tmp_path: Path, name: str, place: str) -> None:
    whole, damaged = (each.as_row() for each in examples("clutrr", "test", 2)[:2])
    rows = [whole, {**damaged, "genders": ["Ann:female", 128]}]
    del rows[1]["edges"]  # so that alone it could be of any family
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows))
    with pytest.raises(DataError, match=rf"{place}: 'genders' is \['Ann:female', 128\], expected a list of words\."):
        list(format_of(path).read(path))
