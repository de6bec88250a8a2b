"""What is printed: control characters are visible, every encoding works, and outputs may be closed."""

import io
import json
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

import storyproof
from storyproof.cli import safe_terminal
from storyproof.cli.safe_terminal import complain, console, echo, make_visible, visible_output
from storyproof.errors import OutputError, ReaderLeftError
from tests.cli.invocation import EXECUTABLE, Program
from tests.groups import only_first

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202eevil\x00\r\x7f"
VISIBLE = "\\x1b[31mred\\x1b]0;title\\x07\\x9b2J\\u202eevil\\x00\\x0d\\x7f"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("screen") / "tomi"
    storyproof.generate("tomi", test=3, seed=7, out=out, format="jsonl")
    return out


@pytest.fixture(scope="module")
def hostile(data: Path) -> Path:
    """Data whose labels, types and names hold terminal escapes."""
    rows = [json.loads(line) for line in (data / "test.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {name: f"{row[name]}{HOSTILE}" for name in ("id", "story_id", "answer", "question_type", "story_type")}
    path = data.with_name("hostile\x1b[2J.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_control_characters_are_visible() -> None:
    assert make_visible(HOSTILE) == VISIBLE
    assert make_visible("half \ud800, é, 字, tab\t and\nlines") == "half \\ud800, é, 字, tab\t and\nlines"
    for code in (*range(0x20), *range(0x7F, 0xA0)):
        assert (make_visible(chr(code)) == chr(code)) == (chr(code) in "\t\n")


def test_whatever_is_printed_passes_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with visible_output():
        echo(HOSTILE)
        print(HOSTILE)
        complain(f"{HOSTILE}\nforged")
        logging.getLogger("storyproof.solvers").warning("%s", HOSTILE)
        sys.stderr.writelines([HOSTILE, "\n"])
    found = capsys.readouterr()
    assert found.out == f"{VISIBLE}\n" * 2
    assert found.err == f"storyproof: {VISIBLE}\\nforged\nstoryproof: {VISIBLE}\n{VISIBLE}\n"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    from storyproof.cli.output import write_results

    with visible_output():
        assert write_results(Path("-"), [{"text": HOSTILE}])
    assert json.loads(capsys.readouterr().out) == {"text": HOSTILE}


@pytest.mark.parametrize("terminal", [True, False])
def test_tables_stay_aligned(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what rich takes out of texts by itself, such as a bell, nothing is left."""
    monkeypatch.setattr(sys, "stdout", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    with visible_output():
        table = Table("a", "b")
        table.add_row(f"1{HOSTILE}", Text(f"2{HOSTILE}"))
        table.add_row("3", "4")
        console().print(Group(table, Text(HOSTILE, "bold"), HOSTILE))
    shown = stream.getvalue()
    assert ("\x1b[1m" in shown) == terminal
    assert not {"\x07", "\x9b", "\u202e", "\x00", "\r"} & set(shown)
    assert "\x1b[31m" not in shown
    assert "\x1b]" not in shown
    plain = Text.from_ansi(shown).plain.splitlines()
    assert len({len(line) for line in plain if line.startswith(tuple("┏┃┡│└"))}) == 1
    assert plain[-1].startswith(VISIBLE[:20])


def test_styles_stay_where_they_were() -> None:
    from storyproof.cli.visible_console import _visible_text

    text = Text("ab\x1b\x9bcd")
    text.stylize("red", 2, 4)
    text.stylize("bold", 5, 6)
    found = _visible_text(text)
    assert [(found.plain[each.start : each.end], each.style) for each in found.spans] == [
        ("\\x1b\\x9b", "red"),
        ("d", "bold"),
    ]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", "\\xe9 ... > = | \\u5b57 \\ud800\n"),
        ("latin-1", "é ... > = | \\u5b57 \\ud800\n"),
        ("cp1252", "é … > = | \\u5b57 \\ud800\n"),
        ("utf-8", "é … → ⚭ ├ 字 \\ud800\n"),
    ],
)
def test_encodings(encoding: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    with visible_output():
        echo("é … → ⚭ ├ 字 \ud800")
    assert raw.getvalue().decode(encoding) == expected


class Unwritable(io.StringIO):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        raise self._error


@pytest.mark.parametrize("draw", [False, True])
def test_unwritable_output(draw: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, expected in (
        (BrokenPipeError(32, "Broken pipe"), ReaderLeftError),
        (OSError(28, "No space left on device"), OutputError),
        (ValueError("I/O operation on closed file."), OutputError),
    ):
        monkeypatch.setattr(sys, "stdout", Unwritable(error))
        with visible_output(), pytest.raises(expected):
            console().print("x") if draw else echo("x")


def test_unwritable_errors_are_nobodys_business(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Unwritable(BrokenPipeError(32, "Broken pipe"))
    monkeypatch.setattr(sys, "stderr", broken)
    with visible_output():
        complain("x")  # raises nothing
    assert sys.stderr is broken


def test_streams_are_as_before_afterwards(program: Program, data: Path) -> None:
    before, level = (sys.stdout, sys.stderr), logging.getLogger("storyproof").level
    assert program(f"verify {data}").code == 0
    assert (sys.stdout, sys.stderr) == before
    assert logging.getLogger("storyproof").level == level
    assert not logging.getLogger("storyproof").handlers


def shell(redirection: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", EXECUTABLE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("redirection", "code"),
    only_first(2, [("<&- >&- 2>&-", 0), ("> /dev/full", 2), (">&-", 0), (">&- 2>&-", 0), ("2>&-", 0)]),
)
def test_closed_outputs(data: Path, redirection: str, code: int) -> None:
    done = shell(redirection, "verify", data)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    if code:
        assert done.stderr == b"storyproof: cannot write the output: No space left on device; send it elsewhere.\n"


def test_a_mistake_without_standard_error_keeps_its_code(data: Path) -> None:
    assert shell("2>&-", "verify", data / "none").returncode == 2


def read_terminal(command: list[object], **environment: str) -> tuple[str, int]:
    """Run a command on a pseudo-terminal; return what it wrote there, and its exit code."""
    master, slave = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=settings) as process:  # type: ignore[call-overload]
        os.close(slave)
        written = b"".join(_pieces(master))
        os.close(master)
    return written.decode(), process.returncode


def _pieces(master: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # Linux reports the end so
            return
        if not piece:
            return
        yield piece


@pytest.mark.parametrize("verb", only_first(1, ["show", "verify", "audit"]))
def test_escapes_of_data_on_a_terminal(hostile: Path, verb: str) -> None:
    shown, code = read_terminal([EXECUTABLE, verb, hostile])
    assert code in (0, 1)
    assert "\\x1b[31mred" in shown.replace("\r\n", "")
    assert not {"\x07", "\x9b", "\u202e", "\x00", "\x7f"} & set(shown)
    assert "\x1b[31mred" not in shown
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown


def test_typer_prints_nothing_of_ours() -> None:
    """Its `echo` writes past the screen where the encoding is ASCII."""
    for path in Path(safe_terminal.__file__).parent.glob("*.py"):
        assert "typer.echo" not in path.read_text()
        assert "\n    print(" not in path.read_text() or path.name == "screen.py"
