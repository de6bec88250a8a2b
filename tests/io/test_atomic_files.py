import ctypes
import errno
import os
import resource
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest

from storyproof.errors import DataError
from storyproof.io import atomic_files
from storyproof.io.atomic_files import exchange, read_json, whole_file, write_json, write_whole, writing_to

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
def test_the_old_file_stays_if_the_new_one_fails(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(type(error)), whole_file(path) as file:  # noqa: PT012
        file.write(b"half")
        raise error
    assert file.closed
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_the_old_file_stays_if_the_last_bytes_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large"), whole_file(path) as file:
            file.write(b"n" * 100)  # buffered, so it fails when all is written
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with whole_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        write_whole(Path("/dev/full"), b"new")
    said = r"cannot write to x: No space left on device; choose another --json\."
    with pytest.raises(DataError, match=said), writing_to(Path("x"), "--json"):
        write_whole(Path("/dev/full"), b"new")


def test_links_and_modes_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to(path)
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    before = Path("/dev/null").stat().st_ino
    write_whole(Path("/dev/null"), b"new")
    assert Path("/dev/null").stat().st_ino == before
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"new")
    reader.join()
    assert found == [b"new"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("links", [0, 37])  # Linux follows 40, three of which lead from /dev/stdout to the file
def test_standard_output_that_is_a_file(tmp_path: Path, links: int) -> None:
    path, given = tmp_path / "out", Path("/dev/stdout")
    for number in range(links):
        link = tmp_path / f"link{number}"
        link.symlink_to(given)
        given = link
    code = (
        "import sys, pathlib; from storyproof.io.atomic_files import write_whole; "
        "write_whole(pathlib.Path(sys.argv[1]), b'x')"
    )
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", code, str(given)], stdout=file, check=True)
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())  # the same file, not one in its place
    assert path.read_bytes() == b"x"


def test_drafts_of_killed_processes_are_named_and_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in (".file.draft-1", ".file.draft-old", ".other.draft-1", ".file.1"):
        (tmp_path / name).write_text("half")
    write_whole(tmp_path / "file", b"new")
    assert names(tmp_path) == [".file.1", ".file.draft-old", ".other.draft-1", "file"]
    assert str(tmp_path / ".file.draft-1") in caplog.text


def test_what_is_no_draft_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine").touch()
    (tmp_path / ".file.draft-1").mkdir()
    (tmp_path / ".file.draft-2").symlink_to(tmp_path / "mine")
    (tmp_path / ".file.draft-3").touch()
    monkeypatch.setattr(Path, "iterdir", lambda self: iter([self / name for name in sorted(os.listdir(self))]))  # noqa: PTH208
    write_whole(tmp_path / "file", b"new")
    assert names(tmp_path) == [".file.draft-1", ".file.draft-2", "file", "mine"]
    assert caplog.text.count("removed") == 1


def test_drafts_that_another_process_removes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        (tmp_path / f".file.draft-{number}").touch()

    def be_slow(draft: Path) -> bool:
        draft.unlink()
        return True

    seen = []
    monkeypatch.setattr(atomic_files, "_is_dead", lambda draft: seen.append(draft.name) or be_slow(draft))
    write_whole(tmp_path / "file", b"new")
    assert sorted(seen) == [".file.draft-1", ".file.draft-2"]
    assert names(tmp_path) == ["file"]


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]


def test_the_draft_of_a_live_process_stays(tmp_path: Path) -> None:
    live = tmp_path / ".file.draft-1"
    with live.open("wb") as file:
        assert atomic_files.try_lock(file)
        write_whole(tmp_path / "file", b"new")
        assert live.exists()


def test_a_draft_is_locked_until_it_is_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, locked = Path.replace, []

    def look(self: Path, target: Path) -> Path:
        with self.open("rb") as other:
            locked.append(not atomic_files.try_lock(other))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    with whole_file(tmp_path / "file") as file:
        file.write(b"new")
    assert locked == [True]
    assert file.closed


def test_two_writers_in_one_process_or_in_processes_of_one_number(tmp_path: Path) -> None:
    with whole_file(tmp_path / "file") as first, whole_file(tmp_path / "file") as second:
        first.write(b"first")
        second.write(b"2nd")
    assert (tmp_path / "file").read_bytes() == b"first"
    assert names(tmp_path) == ["file"]


def test_many_writers_of_one_file(tmp_path: Path) -> None:
    with ExitStack() as stack:
        for number in range(100):
            stack.enter_context(whole_file(tmp_path / "file")).write(str(number).encode())
        assert len(names(tmp_path)) == 100
    assert (tmp_path / "file").read_bytes() == b"0"  # the first to begin is the last to end
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("ours", [True, False])
def test_a_draft_that_is_cleared_away_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """Another process takes it for a dead one's: it has removed it, or is about to."""
    lock, removed = atomic_files.try_lock, []

    def late(file: IO[Any]) -> bool | None:
        if not removed:
            removed.append(Path(file.name))
            if ours:
                removed[0].unlink()
            return ours
        return lock(file)

    monkeypatch.setattr(atomic_files, "try_lock", late)
    with whole_file(tmp_path / "file") as file:
        removed[0].unlink(missing_ok=True)
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, closed = Path.replace, []

    def look(self: Path, target: Path) -> Path:
        closed.append(file.closed)  # systems without such locks do not move open files
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    monkeypatch.setattr(atomic_files, "try_lock", lambda file: None)
    (tmp_path / ".file.draft-1").touch()
    with whole_file(tmp_path / "file") as file:
        file.write(b"new")
    assert closed == [True]
    assert names(tmp_path) == [".file.draft-1", "file"]


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    for word in ("boîte", "box"):
        write_json(path, {"word": word})
        assert path.read_text("utf-8") == f'{{\n "word": "{word}"\n}}\n'
        assert read_json(path, "rerun it") == {"word": word}
    for damaged in ("[]", "{", "[" * 100_000, None):
        if damaged is None:
            path.unlink()
        else:
            path.write_text(damaged)
        with pytest.raises(DataError, match=r"file\.json cannot be read: .*; rerun it\."):
            read_json(path, "rerun it")


def test_an_error_without_a_number() -> None:
    with pytest.raises(DataError, match=r"cannot write to x: odd; choose another --out\."), writing_to(Path("x")):
        raise OSError("odd")


def test_exchange(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.write_text("x")
    if exchange(first, second):
        assert first.is_file()
        assert second.is_dir()
        with pytest.raises(FileNotFoundError):
            exchange(first, tmp_path / "none")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such call")
def test_exchange_is_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    results = [0, errno.EINVAL, errno.ENOSYS, errno.EIO]

    class Library:
        def __init__(self, name: object, use_errno: bool) -> None:
            assert (name, use_errno) == (None, True)

        def renameat2(self, *given: object) -> int:
            calls.append(given)
            ctypes.set_errno(results[0])
            return -1 if results.pop(0) else 0

    monkeypatch.setattr(ctypes, "CDLL", Library)
    assert exchange(Path("a"), Path("b"))
    assert not exchange(Path("a"), Path("b"))
    assert not exchange(Path("a"), Path("b"))
    with pytest.raises(OSError, match="Input/output error: 'a'"):
        exchange(Path("a"), Path("b"))
    # AT_FDCWD twice, and RENAME_EXCHANGE, of fcntl.h and stdio.h
    assert calls == [(-100, b"a", -100, b"b", 2)] * 4
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: object())  # an old library
    assert not exchange(Path("a"), Path("b"))


def test_exchange_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "first" / "file").touch()
    assert not exchange(tmp_path / "first", tmp_path / "second")
    assert (tmp_path / "first" / "file").exists()
