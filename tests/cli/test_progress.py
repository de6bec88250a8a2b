"""Progress without a terminal: lines now and then; and on one: a bar."""

import io
import json
import re
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

import storyproof
from storyproof import cli
from storyproof.cli import progress
from storyproof.cli.progress import ProgressLines, RunProgress, progress_bar
from storyproof.experiments import experiment as experiment_module
from storyproof.runtime.progress import RETRIES, beat, counting, listening
from tests.cli.invocation import Program
from tests.solvers.llm.serving import FakeServer


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines("openai/m zero-shot", 1000, clock)
    for _ in range(100):
        clock.now += 1
        lines.advance(5, "50.0% right")
    lines.end("50.0% right")
    title = "storyproof: openai/m zero-shot"
    assert capsys.readouterr().err.splitlines() == [
        f"{title}: 150 of 1,000 done, 5.0/s, about 3 min left; 50.0% right",
        f"{title}: 300 of 1,000 done, 5.0/s, about 2 min left; 50.0% right",
        f"{title}: 450 of 1,000 done, 5.0/s, about 110 s left; 50.0% right",
        f"{title}: 500 of 1,000 done in 100 s; 50.0% right",
    ]


@pytest.mark.parametrize(
    ("total", "done", "line"),
    [
        (None, 7, "storyproof: questions: 7 done, 40 s so far\n"),
        (9, 0, "storyproof: questions: 0 of 9 done, 40 s so far\n"),
    ],
)
def test_what_cannot_be_told_is_left_out(
    total: int | None, done: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    lines = ProgressLines("questions", total, clock)
    clock.now = 40
    lines.advance(done)
    assert capsys.readouterr().err == line


def test_short_work_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("stories", 3) as advance:
        for _ in range(3):
            advance(1)
    assert capsys.readouterr().err == ""


def test_a_run_reports_its_beginning_and_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    run = RunProgress()
    run.begin("f.py:f", "", lambda: 3)
    for right in (None, True, False):
        run.answered(right)
    run.end()
    begin, *middle, end = capsys.readouterr().err.splitlines()
    assert begin == "storyproof: f.py:f: 3 questions"
    assert [line.partition("; ")[2] for line in middle] == [
        "1 failed",
        "100.0% right, 1 failed",
        "50.0% right, 1 failed",
    ]
    assert end.startswith("storyproof: f.py:f: 3 of 3 done in ")
    assert end.endswith(" s; 50.0% right, 1 failed")


def test_a_run_that_answers_nothing_reports_no_end(capsys: pytest.CaptureFixture[str]) -> None:
    run = RunProgress()
    run.begin("openai/m", "zero-shot", lambda: 3)
    run.end()
    assert capsys.readouterr().err == "storyproof: openai/m zero-shot: 3 questions\n"


@pytest.mark.parametrize("kind", ["bar", "run"])
def test_names_on_a_bar_are_plain_text(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    name = "[bold]\x1b]0;pwned\x07[/nothing]"
    advance: Callable[[int], None]
    if kind == "bar":
        with progress_bar(name, 2) as advance:
            advance(1)
    else:
        run = RunProgress()
        run.begin(name, "zero-shot", lambda: 2)
        run.answered(True)
        run.end()
    assert "[bold]\\x1b]0;pwned" in stream.getvalue()
    assert "\x1b]" not in stream.getvalue()


def test_lines_say_how_far_the_next_item_is(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines("gat epochs", 10, clock)
    for step in range(1, 81):
        clock.now += 1
        lines.note("steps", step, 80)
    lines.advance(1)
    clock.now += 30
    lines.note("bytes", 5_000, None)
    assert capsys.readouterr().err.splitlines() == [
        "storyproof: gat epochs: 0 of 10 done, 30 s so far; steps 30 of 80",
        "storyproof: gat epochs: 0 of 10 done, 60 s so far; steps 60 of 80",
        "storyproof: gat epochs: 1 of 10 done, 0.0/s, about 16 min left; bytes 5,000",
    ]


@pytest.mark.parametrize(("given", "expected"), [("5", 5.0), ("0", 0.0), ("-3", 0.0), ("soon", 30.0), ("", 30.0)])
def test_how_often_lines_come_can_be_set(given: str, expected: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.EVERY, given)
    assert progress.seconds_between_lines() == expected


def test_a_bar_shows_the_parts_of_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_bar("gat epochs", 2) as advance:
        beat("steps", 3, 7)
        advance(1)
    assert "gat epochs" in stream.getvalue()
    assert "steps" in stream.getvalue()
    assert "3/7" in stream.getvalue()


def test_beats_come_from_every_thread_and_end_with_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, int, int | None]] = []
    with listening(lambda *each: heard.append(each)):
        thread = threading.Thread(target=lambda: list(counting("abc", "letters")))
        thread.start()
        thread.join()
        list(counting(iter("ab"), "letters", total=9))
    beat("letters", 1)
    assert heard == [("letters", n, 3) for n in (1, 2, 3)] + [("letters", n, 9) for n in (1, 2)]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report at once, as after a long time."""
    monkeypatch.setenv(progress.EVERY, "0")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", train=9, test=6, seed=7, out=out)
    return out


def stops_after_an_epoch(started: float, minutes: float | None) -> Callable[[], bool]:
    """A time limit that is reached in the first training, however fast the machine is."""
    answers = iter([False])
    return lambda: next(answers, True)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("generate tomi --train 0 --val 0 --test 6 --out {out}", "stories: 6 of 6 done"),
        ("verify {data}", "questions: "),
        ("audit {data}", "questions: "),
        ("process {data} --out {out}", "questions: "),
        ("evaluate --model oracle --data {data}", "questions 36 of 36"),
        ("train memnn --data {data} --epochs 2 --batch-size 8 --device cpu --out {out}", "memnn epochs: 1 of 2 done"),
        ("train memnn --data {data} --epochs 2 --batch-size 8 --device cpu --out {out}", "; steps "),
        ("experiment tomi-table3 --quick --runs 1 --models memnn --minutes 0.001 --out {out}", "; steps "),
    ],
)
def test_no_command_is_silent_where_there_is_no_terminal(
    command: str, line: str, data: Path, tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_module, "_alarm", stops_after_an_epoch)
    ended = program(command.format(data=data, out=tmp_path / "out"))
    assert ended.code == 0, ended.err
    assert line in ended.err
    quiet = program(command.format(data=data, out=tmp_path / "quiet") + " --quiet")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.usefixtures("often")
def test_retries_are_counted_and_shown(data: Path, tmp_path: Path, program: Program) -> None:
    with FakeServer() as server:
        server.behave(rate_limited=0.5)
        ended = program(
            f"evaluate --model openai/fake --base-url {server.url} --data {data} --output-dir {tmp_path} "
            "--option retries=50"
        )
    assert ended.code == 0, ended.err
    traffic = json.loads((tmp_path / "openai-fake_test.json").read_text())["traffic"]
    assert traffic["retries"] > 0
    assert f", {traffic['retries']:,} retr" in ended.out
    assert re.search(r"\d+ retr(y|ies)$", ended.err, re.MULTILINE)


def make_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Make standard error a terminal, for the rest of a test."""
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return stream


def test_a_terminal_shows_that_a_model_is_prepared_and_then_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    run = RunProgress()
    with run.running("vllm/m"):
        assert "vllm/m: preparing" in terminal.getvalue()
        run.begin("vllm/m", "zero-shot", lambda: 2)
        beat(RETRIES, 3)
        run.answered(True)
        run.end()
    assert "vllm/m zero-shot" in terminal.getvalue()
    assert "1/2" in terminal.getvalue()
    assert "100.0% right, 3 retries" in terminal.getvalue()
    with pytest.raises(ValueError, match="no such model"), run.running("vllm/n"):
        raise ValueError("no such model")
    with progress_bar("next", 1) as advance:  # which would fail if the bar before were still shown
        advance(1)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("train memnn --data {data} --epochs 2 --batch-size 8 --device cpu --out {out}", ["memnn epochs", "steps"]),
        ("evaluate --model oracle --data {data}", ["oracle", "questions"]),
        ("ask --model oracle --data {data}", ["oracle: loading", "oracle: asking"]),
        ("generate tomi --train 0 --val 0 --test 6 --out {out}", ["stories"]),
        ("verify {data}", ["questions"]),
        ("audit {data}", ["questions"]),
        ("experiment tomi-table3 --quick --runs 1 --models memnn --minutes 0.001 --out {out}", ["experiment", "steps"]),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_every_wait_has_a_bar_on_a_terminal(
    command: str, shown: list[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = make_terminal(monkeypatch)
    words = shlex.split(command.format(data=data, out=tmp_path / "out"))
    get_command(cli.app).main(words, prog_name="storyproof", standalone_mode=False)
    for word in shown:
        assert word in terminal.getvalue()
