"""Progress without a terminal: lines now and then; and on one: a bar."""

import io
import sys
from collections.abc import Callable

import pytest

from storyproof.cli import progress
from storyproof.cli.progress import ProgressLines, progress_bar
from storyproof.cli.run_progress import RunProgress


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
