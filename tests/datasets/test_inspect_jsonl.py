"""Running text taken apart, rows of other people's JSON lines, and values replaced in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.datasets.inspect_jsonl import (
    dialect_of,
    find_bad_bytes,
    last_question,
    numbered_lines,
    read_samples,
    replace_value,
    split_text,
    told_by_line,
)
from storyproof.errors import DataError, ParseError

SENTENCES = [
    "Ada entered the TV_room.",
    "Mary-Jane is in the TV_room.",
    "The t-shirt is in the green_box.",
    "Ada likes the jar",
    "Phone rang.",
    "Ada exited the TV_room.",
    "Mary-Jane moved the t-shirt to the jar.",
    "Ben hates the t-shirt",
]
STORY, QUESTION = "\n".join(SENTENCES), "Where does Mary-Jane think that Ada searches for the t-shirt?"
RUNNING = " ".join(SENTENCES)


@pytest.mark.parametrize(
    "text",
    [
        f"{RUNNING} {QUESTION}",
        f"{STORY}\n{QUESTION}",
        f"Read the story. Answer with one word.\n\n{RUNNING} {QUESTION}\nAnswer with the container only.",
        f"Story: {RUNNING}\n\nQuestion: {QUESTION}\nAnswer:",
        f"{RUNNING} Based on the story, answer this. {QUESTION}",
        "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(SENTENCES, 1)) + f"\n9. {QUESTION}",
        "\n".join(f"- {sentence}" for sentence in SENTENCES) + f"\n{QUESTION}",
        f"Ben entered the hall. The key is in the box. Where is the key really? box\n\nNow you.\n{RUNNING} {QUESTION}",
        f"{RUNNING} Where is the t-shirt really? {QUESTION}",
        f"Whoever entered the room. sees all. {RUNNING} {QUESTION}".replace("Whoever", "who"),
        f"{RUNNING} {QUESTION}".replace("moved the", "moved\n the"),
    ],
)
def test_running_text(text: str) -> None:
    assert split_text(text) == (STORY, QUESTION)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (RUNNING, "no question mark"),
        (f"{RUNNING} Who are you?", "Who are you"),
        (f"{RUNNING} Where will Ada dance?", "Where will Ada dance?"),
        (f"{RUNNING} {QUESTION} Do you know?", "Do you know?"),
        (QUESTION, "no story"),
        (f"{RUNNING.replace('Phone rang.', 'Ada sang.')} {QUESTION}", "Ada sang."),
        (f"{RUNNING.replace('Phone rang.', 'A dog barked.')} {QUESTION}", "A dog barked."),
        (f"Ada is a girl. {RUNNING} {QUESTION}", "Ada is a girl."),
        (f"{RUNNING} The t-shirt fell. {QUESTION}", "The t-shirt fell."),
    ],
)
def test_what_cannot_be_read_is_said(text: str, found: str) -> None:
    with pytest.raises(ParseError, match=found.replace("?", r"\?")):
        split_text(text)


def test_a_story_one_sentence_a_line() -> None:
    assert told_by_line(STORY) == STORY
    assert told_by_line(RUNNING) == STORY
    assert told_by_line(f"1 {RUNNING}\n") == STORY
    for text in ("", "Once upon a time.", f"{RUNNING} The end.", f"Now, {RUNNING}"):
        with pytest.raises(ParseError, match="not a sentence"):
            told_by_line(text)


def test_the_question_may_have_words_around_it() -> None:
    words, start, end = last_question(f"Question: {QUESTION} Be brief.")
    assert words == QUESTION
    assert (start, end) == (10, 10 + len(QUESTION))


def put(folder: Path, *rows: Any, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, dialect: str, rows: int = 10) -> list[dict[str, Any]]:
    return [row for table in read_samples(path, rows, dialect) for row in table.to_pylist()]


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
    assert (row["story"], row["question"], row["answer"], row["field"]) == (STORY, QUESTION, "box", "target")


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
    assert [row["field"] for row in rows] == ["target", "ideal", "target"]
    assert [row["id"] for row in rows] == ["7", "seven", "rows-3"]
    assert [row["line"] for row in rows] == [1, 2, 3]
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
    assert (first["line"], second["line"], second["order"], first["id"]) == (3, 5, 2, "rows-3")


@pytest.mark.parametrize(
    ("line", "dialect", "found"),
    [
        (b"{", "jsonl", "no valid JSON"),
        (b"[" * 100_000, "jsonl", "no valid JSON"),
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
            "half a character",
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


@pytest.mark.parametrize(
    ("line", "path", "value", "expected"),
    [
        ('{"b":1,"answer":"x","a":2}', ["answer"], "y", '{"b":1,"answer":"y","a":2}'),
        ('{ "answer" :\t"x" , "a": [ ] }  ', ["answer"], "y", '{ "answer" :\t"y" , "a": [ ] }  '),
        ('{"a": "\\u00e9", "answer": "x"}', ["answer"], "é", '{"a": "\\u00e9", "answer": "\\u00e9"}'),
        ('{"a": "é", "answer": "x"}', ["answer"], "é", '{"a": "é", "answer": "é"}'),
        ('{"target": [ "x" ]}', ["target"], "y", '{"target": [ "y" ]}'),
        ('{"target":["x","z"]}', ["target"], "y", '{"target":["y"]}'),
        ('{"answer": 1, "answer": "x"}', ["answer"], "y", '{"answer": 1, "answer": "y"}'),
        ('{"a": {"answer": "}"}, "answer": "x"}', ["answer"], "y", '{"a": {"answer": "}"}, "answer": "y"}'),
        ('{"answer": "x", "a": {"answer": "z"}}', ["a", "answer"], "y", '{"answer": "x", "a": {"answer": "y"}}'),
    ],
)
def test_values_are_replaced_in_place(line: str, path: list[str], value: str, expected: str) -> None:
    assert replace_value(line, path, value) == expected


@pytest.mark.parametrize("line", ["{}", "[]", "", "{", '{"a": 1}', '{"answer"', '{"answer": }'])
def test_no_such_value(line: str) -> None:
    with pytest.raises(DataError, match="no value 'answer'"):
        replace_value(line, ["answer"], "y")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), values), st.text(), st.text(), st.booleans(), st.sampled_from([None, 1]))
def test_all_else_stays(row: dict[str, Any], old: str, new: str, ascii_only: bool, indent: int | None) -> None:
    row = {**row, "answer": old, "last": 0}
    line = json.dumps(row, ensure_ascii=ascii_only, indent=indent)
    changed = replace_value(line, ["answer"], new)
    assert json.loads(changed) == {**row, "answer": new}
    if ascii_only:  # else it depends on the rest of the line whether a letter is written as such
        assert replace_value(changed, ["answer"], old) == line
