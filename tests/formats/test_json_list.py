import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.datasets.reading import find_source, find_sources, read_examples
from storyproof.errors import DataError
from storyproof.formats import json_list as legacy_json
from storyproof.formats.json_list import FIELDS, ORIGIN, JsonSplit, read_json
from tests.samples import REALITY, STORY, table

ROW = {"story": STORY, "question": REALITY, "answer": "jar"}


def read(path: Path, rows: int = 1000) -> pa.Table:
    return pa.concat_tables(read_json(path, rows))


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.mark.parametrize("benchmark", ["tomi", "tom-babi", "clutrr"])
def test_what_is_written_is_read(tmp_path: Path, benchmark: str) -> None:
    made = table(benchmark, "test", 12)
    writer = JsonSplit(tmp_path, "test")
    writer.write(made.slice(0, 5))
    writer.write(made.slice(5))
    (path,) = writer.close()
    plain = json.loads(path.read_text())
    assert len(plain) == made.num_rows
    assert list(plain[0])[: len(FIELDS)] == list(FIELDS)
    for name in FIELDS:
        assert read(path, 7).column(name).to_pylist() == made.column(name).to_pylist()
    examples = read_examples(find_source(tmp_path, "test"))
    assert [example.candidates for example in examples] == made.column("candidates").to_pylist()
    assert [example.false_belief for example in examples] == made.column("false_belief").to_pylist()


def test_theory_of_mind_has_the_six_fields_and_its_origin_only(tmp_path: Path) -> None:
    writer = JsonSplit(tmp_path, "val")
    writer.write(table("tomi", "test", 3))
    assert list(json.loads(writer.close()[0].read_text())[0]) == [*FIELDS, *ORIGIN]


def test_nothing_written(tmp_path: Path) -> None:
    (path,) = JsonSplit(tmp_path, "val").close()
    assert json.loads(path.read_text()) == []
    assert list(read_json(path, 10)) == []


def test_other_peoples_lists(tmp_path: Path) -> None:
    rows = [
        {**ROW, "story": STORY.replace("\n", " "), "story_id": 7, "more": 1},
        {**ROW, "story": STORY.split("\n"), "id": 3},
        {**ROW, "story": "Once upon a time."},
    ]
    found = read(write(tmp_path / "val.json", rows))
    assert found.column("story").to_pylist() == [STORY, STORY, "Once upon a time."]
    assert found.column("story_id").to_pylist() == ["7", None, None]
    assert found.column("id").to_pylist() == ["val-0", "3", "val-2"]
    assert set(found.column("split").to_pylist()) == {"val"}


@given(st.integers(1, 40), st.integers(1, 200), st.sampled_from([None, 2]))
def test_pieces_of_any_size(tmp_path_factory: pytest.TempPathFactory, count: int, piece: int, indent: int) -> None:
    path = tmp_path_factory.mktemp("x") / "val.json"
    path.write_text(json.dumps([{**ROW, "story_id": f"{number}é"} for number in range(count)], indent=indent))
    before, legacy_json._PIECE = legacy_json._PIECE, piece
    try:
        found = read(path, 3)
    finally:
        legacy_json._PIECE = before
    assert found.column("story_id").to_pylist() == [f"{number}é" for number in range(count)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "line 1: not a list of questions: it does not begin with \\[ or {; expected \\[ objects with story",
        ),
        ('{"a": 1}', "it is an object without lists of objects"),
        ("[", "object 0 is not valid JSON"),
        ("[1, 2", "object 0: found int, expected an object"),
        ('[{"story": "a"}]', "object 0: 'question' is None; expected text"),
        (json.dumps([ROW])[:-1], "after object 0 comes ''"),
        (json.dumps([ROW])[:-1] + ",]", "object 1 is not valid JSON"),
        (json.dumps([ROW]) + "x", "there is more after its end"),
        (json.dumps([ROW])[:-1] + " 3]", "after object 0 comes '3'"),
        (
            json.dumps([ROW, {**ROW, "chain": ["\ud800"]}], indent=1),
            r"line 7: .*object 1 is not valid JSON \(it contains an unpaired surrogate\)",
        ),
        ('[{"story": "a",\n "question": }]', "line 2: not a list of questions: object 0 is not valid JSON"),
        (json.dumps([{**ROW, "order": "x"}]), "object 0: 'order' is 'x', expected a number"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write(tmp_path / "val.json", text))


def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "val.json").write_bytes(b"[\xff]")
    with pytest.raises(DataError, match=r"val\.json, line 1: found the byte 0xff; expected text in UTF-8"):
        read(tmp_path / "val.json")


def test_folders_take_lists_that_are_called_after_a_split_or_hold_questions(tmp_path: Path) -> None:
    for name in ("train.json", "val.json", "placeholders.json"):
        write(tmp_path / name, [ROW])
    write(tmp_path / "numbers.json", [1, 2])
    write(tmp_path / "broken.json", "[{")
    write(tmp_path / "empty.json", [])
    write(tmp_path / "manifest.json", {"files": {}})
    write(tmp_path / "model_test.json", {"predictions": []})
    assert [source.split for source in find_sources(tmp_path)] == ["train", "val", None]
    assert find_source(tmp_path / "placeholders.json").split is None
