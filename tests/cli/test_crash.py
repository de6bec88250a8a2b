"""An exception that nobody expected has an exit code of its own, one sentence, and a report to attach to an issue."""

import re
import tempfile
from pathlib import Path

import pytest

import storyproof
from storyproof.cli.crash import DEBUG, EXIT_CODE
from tests.cli.invocation import Program


def break_show(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `show` raise something."""

    def fail(*arguments: object, **settings: object) -> None:
        raise error

    monkeypatch.setattr(storyproof, "show", fail, raising=False)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv(DEBUG, raising=False)
    return folder


def test_a_bug_is_reported_in_one_sentence(program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    break_show(monkeypatch, KeyError("first\nsecond"))
    ended = program("show data --index 3")
    assert (ended.code, ended.out) == (EXIT_CODE, "")
    assert EXIT_CODE == 70
    assert ended.err.count("\n") == 1
    found = re.fullmatch(
        r"storyproof: this is a bug of storyproof \(KeyError: 'first\\nsecond'\); please open an issue and attach "
        r"(\S+), which has the command, the versions and the traceback, and if possible the input\.\n",
        ended.err,
    )
    assert found is not None, ended.err
    report = Path(found[1])
    assert report.parent == temporary
    text = report.read_text()
    for line in ("command: storyproof show data --index 3", f"storyproof: {storyproof.__version__}", "python: 3."):
        assert f"{line}" in text
    assert "Traceback (most recent call last):" in text
    assert "pyarrow" in text
    assert report.stat().st_mode & 0o077 == 0  # it may quote data


def test_without_a_folder_for_reports_the_traceback_is_shown(
    program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    temporary.rmdir()
    break_show(monkeypatch, ZeroDivisionError("division by zero"))
    ended = program("show data")
    assert ended.code == EXIT_CODE
    assert "Traceback (most recent call last):" in ended.err
    *_, last = ended.err.splitlines()
    assert last.startswith("storyproof: this is a bug of storyproof (ZeroDivisionError: division by zero); please open")


@pytest.mark.parametrize("debug", ["1", "0"])
def test_tracebacks_are_shown_on_demand(program: Program, monkeypatch: pytest.MonkeyPatch, debug: str) -> None:
    monkeypatch.setenv(DEBUG, debug)
    ended = program("show nowhere")
    assert ended.code == 2
    assert ("Traceback (most recent call last):" in ended.err) == (debug == "1")
    assert ended.err.splitlines()[-1] == "storyproof: nowhere does not exist; give a dataset folder or a file."


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "there is not enough memory; use less data at a time, or a machine with more."),
        (
            PermissionError(13, "Permission denied", "data"),
            "cannot read or write data: Permission denied; check the path, the permissions and the space on the disk.",
        ),
        (
            OSError("broken"),
            "cannot read or write broken; check the path, the permissions and the space on the disk.",
        ),
    ],
)
def test_what_is_no_bug_is_not_reported_as_one(
    program: Program, monkeypatch: pytest.MonkeyPatch, temporary: Path, error: BaseException, message: str
) -> None:
    break_show(monkeypatch, error)
    ended = program("show data")
    assert (ended.code, ended.out, ended.err) == (2, "", f"storyproof: {message}\n")
    assert not list(temporary.iterdir())


def test_the_exit_codes_are_in_the_help(program: Program) -> None:
    for help_option in ("-h", "--help"):
        text = " ".join(program(help_option).out.split())
        assert "70: a bug of storyproof" in text
        assert "With STORYPROOF_DEBUG=1 every error shows its traceback." in text
