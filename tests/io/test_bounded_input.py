import os
import re
import socket
from pathlib import Path

import pytest

from storyproof.io import bounded_input
from storyproof.io.bounded_input import (
    DEEPEST,
    DocumentError,
    LongLineError,
    lines_of,
    open_file,
    open_text,
    parse_json,
    parse_yaml,
    size,
)

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def special_files(folder: Path) -> dict[str, Path]:
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    found = {name: folder / name for name in ("pipe", "folder", "link", "socket")}
    return {**found, "device": Path("/dev/zero")}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("pipe", "a named pipe"),
        ("folder", "a folder"),
        ("link", "a named pipe"),
        ("socket", "a socket"),
        ("device", "a device"),
    ],
)
def test_only_regular_files_are_opened(tmp_path_factory: pytest.TempPathFactory, name: str, kind: str) -> None:
    path = special_files(tmp_path_factory.mktemp("s"))[name]
    with pytest.raises(OSError, match=f"it is {kind}, expected a regular file"):
        open_file(path)


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    regular = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda path: regular)
    with pytest.raises(OSError, match="it is a named pipe"):
        open_file(tmp_path / "pipe")


def test_whole_files_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("\ufeff" + "x" * 100, encoding="utf-8")
    assert bounded_input.read_text(path, 103) == "x" * 100
    with pytest.raises(OSError, match="it is larger than 102 bytes, the most that is read of such a file"):
        bounded_input.read_text(path, 102)


def test_lines_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\n\nlong\n")
    with open_text(path) as file:
        assert list(lines_of(file)) == ["one\n", "\n", "long\n"]
    with open_text(path) as file, pytest.raises(LongLineError, match="longer than 4 characters") as found:
        list(lines_of(file, 4))
    assert found.value.number == 3


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + closing * depth


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 2_000, 100_000])
def test_nesting_is_bounded(parse: object, depth: int) -> None:
    assert callable(parse)
    with pytest.raises(DocumentError, match="nested more than 100 levels deep"):
        parse(nested(depth))
    assert parse(nested(DEEPEST)) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        (f'{{"a": {"9" * 5000}}}', "a number of more than 4,300 digits"),
        ('{"a": "\\ud800"}', "an unpaired surrogate"),
        ('{"\\udfff": 1}', "an unpaired surrogate"),
        ('[["\\uDC00\\uD800"]]', "an unpaired surrogate"),
    ],
)
def test_json_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_json(text)


def test_json_that_is_parsed() -> None:
    assert parse_json('{"a": ["\\ud83d\\ude00", 1.5, null]}') == {"a": ["😀", 1.5, None]}
    wide = "[" + "[]," * 1000 + "[]]"
    assert len(parse_json(wide)) == 1001


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 30)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "expected the node content"),
        ("a: " + "9" * 5000, "a number of more than 4,300 digits"),
        ('a: "\\ud800"', "an unpaired surrogate"),
        ("a: 2001-99-99", "month must be in"),
        ("a: !!timestamp x", "a value does not fit its tag"),
        ("a: !!bool x", "a value does not fit its tag"),
        ("a: !!int ''", "a value does not fit its tag"),
        ("a: !!float x", "could not convert"),
        ("&a [*a]", "nested more than 100 levels"),
        (LAUGHS, "its aliases make it larger"),
    ],
)
def test_yaml_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        parse_yaml(text)


def test_yaml_says_the_line() -> None:
    with pytest.raises(DocumentError) as found:
        parse_yaml("a: 1\n\tb: 2\n")
    assert found.value.line == 2


def test_yaml_with_aliases_is_parsed() -> None:
    assert parse_yaml("a: &a [x, y]\nb: *a") == {"a": ["x", "y"], "b": ["x", "y"]}


def test_sizes_in_words() -> None:
    assert [size(count) for count in (12, 1 << 10, 16 << 20, 3 << 29)] == ["12 bytes", "1 kB", "16 MB", "1.5 GB"]


@pytest.mark.parametrize(
    "limit",
    [
        size(bounded_input.LONGEST_LINE),
        size(bounded_input.LARGEST_ROW),
        size(bounded_input.LARGEST_ROW_GROUP),
        f"{bounded_input.MOST_COLUMNS:,}",
        str(bounded_input.MOST_NESTED),
        str(bounded_input.DEEPEST),
        size(bounded_input.LARGEST_DOCUMENT),
        size(bounded_input.LARGEST_YAML),
        size(bounded_input.LARGEST_RUN),
    ],
)
def test_the_page_states_every_limit(limit: str) -> None:
    assert re.search(rf"\| {re.escape(limit)} \|", PAGE.read_text())
