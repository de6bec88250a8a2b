import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.io.locks import STALE_S, Claim


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "job.lock"
    with Claim(path) as first, Claim(path) as second:
        assert (first, second) == (True, False)
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert not path.exists()
    with Claim(path) as again:
        assert again
    assert list(path.parent.iterdir()) == []


def test_waiting_until_a_claim_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Claim(tmp_path / "lock")
    assert first.take()
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        first.release()

    monkeypatch.setattr("storyproof.io.locks.time.sleep", wait)
    with Claim(tmp_path / "lock").when_free(), Claim(tmp_path / "lock") as third:
        assert len(waited) == 1
        assert not third
    assert list(tmp_path.iterdir()) == []


def test_a_claim_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Claim(tmp_path / "lock"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_claim_of_a_process_that_is_gone_is_taken_over(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    path = tmp_path / "lock"
    path.write_text(json.dumps({"pid": gone.pid, "host": platform.node()}))
    with Claim(path) as ours:
        assert ours
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_another_machines_claim_holds_until_it_is_old(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
    with Claim(path) as ours:
        assert not ours
    old = time.time() - STALE_S - 1
    os.utime(path, (old, old))
    with Claim(path) as ours:
        assert ours


@pytest.mark.parametrize("content", ["{", "[]", '{"pid": "x"}'])
def test_a_damaged_claim_holds_until_it_is_old(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lock"
    path.write_text(content)
    with Claim(path) as ours:
        assert not ours
    os.utime(path, (0, 0))
    with Claim(path) as ours:
        assert ours


def test_a_place_where_no_claim_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    path = tmp_path / "runs" / "job.lock"
    with pytest.raises(DataError, match=rf"cannot write to {path}: .*; choose another --out\."), Claim(path):
        pytest.fail("it is not ours")


def test_an_empty_file_that_nobody_holds_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with Claim(path) as ours:
        assert ours
    assert list(tmp_path.iterdir()) == []


def test_a_live_process_keeps_its_claim_however_old(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with Claim(path):
        os.utime(path, (0, 0))
        with Claim(path) as second:
            assert not second


def test_a_killed_process_loses_its_claim_whoever_has_its_number(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "locked": True}))
    with Claim(path) as ours:
        assert ours


def test_what_is_left_of_a_claim_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".lock.123").touch()
    with Claim(tmp_path / "lock"):
        assert [path.name for path in tmp_path.iterdir()] == ["lock"]


@pytest.mark.parametrize("missing", ["locks", "links"])
def test_systems_with_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def link(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    if missing == "locks":
        monkeypatch.setitem(sys.modules, "fcntl", None)
    else:
        monkeypatch.setattr(os, "link", link)
    path = tmp_path / "lock"
    with Claim(path) as first, Claim(path) as second:
        assert (first, second) == (True, False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["nothing", "links"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def link(*_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9, limits[1]))
        raise OSError(1, "Operation not permitted")

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if missing == "links":
        monkeypatch.setattr(os, "link", link)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9, limits[1]))
    try:
        with pytest.raises(DataError, match="File too large; choose another --out"), Claim(tmp_path / "lock"):
            pytest.fail("it is not ours")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_of_many_processes_one_has_the_claim(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from storyproof.io.locks import Claim\n"
        "with Claim(Path(sys.argv[1])) as ours: print(int(ours), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    stale = json.dumps({"pid": 1, "host": platform.node(), "locked": True})
    (tmp_path / "lock").write_text(stale)
    started = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True) for _ in range(6)]
    said = [process.stdout.readline() for process in started if process.stdout is not None]
    for process in started:
        process.communicate()
    assert sorted(said) == ["0\n"] * 5 + ["1\n"]
    assert list(tmp_path.iterdir()) == []
