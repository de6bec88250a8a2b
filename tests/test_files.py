import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from storyproof import files
from storyproof.errors import DataError
from storyproof.files import exchange, whole_file, write_whole, writing_to

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


def test_standard_output_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    code = "from pathlib import Path; from storyproof.files import write_whole; write_whole(Path('/dev/stdout'), b'x')"
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())  # the same file, not one in its place
    assert path.read_bytes() == b"x"


def test_drafts_of_killed_processes_are_named_and_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in (".file.draft-1", ".file.draft-old", ".other.draft-1", ".file.1"):
        (tmp_path / name).write_text("half")
    write_whole(tmp_path / "file", b"new")
    assert names(tmp_path) == [".file.1", ".file.draft-old", ".other.draft-1", "file"]
    assert str(tmp_path / ".file.draft-1") in caplog.text


def test_the_draft_of_a_live_process_stays(tmp_path: Path) -> None:
    live = tmp_path / ".file.draft-1"
    with live.open("wb") as file:
        assert files.try_lock(file)
        write_whole(tmp_path / "file", b"new")
        assert live.exists()


def test_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "try_lock", lambda file: None)
    (tmp_path / ".file.draft-1").touch()
    write_whole(tmp_path / "file", b"new")
    assert names(tmp_path) == [".file.draft-1", "file"]


def test_exchange(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.write_text("x")
    if exchange(first, second):
        assert first.is_file()
        assert second.is_dir()
        with pytest.raises(FileNotFoundError):
            exchange(first, tmp_path / "none")
