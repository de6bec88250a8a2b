import shlex
import sys
from pathlib import Path

import pytest

from storyproof import cli
from tests.cli.invocation import Ended, Program, Refuse


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs a command through `main`, as the program does; says how it ended."""

    def run(command: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["storyproof", *shlex.split(command)])
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # or it is `python -m pytest.storyproof`
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return Ended(stop.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def refuse(program: Program) -> Refuse:
    """Runs a command that must be refused as promised; gives what it said."""

    def run(command: str) -> str:
        before = {path: path.stat().st_mtime_ns for path in Path.cwd().rglob("*")}
        ended = program(command)
        assert ended.code == 2
        assert ended.out == ""
        assert ended.err.startswith("storyproof: ")
        assert ended.err.count("\n") == 1
        assert ended.err.endswith(".\n")
        assert {path: path.stat().st_mtime_ns for path in Path.cwd().rglob("*")} == before
        return ended.err

    return run
