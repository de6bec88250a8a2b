import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from storyproof.datasets import folders
from storyproof.datasets.folders import clear_drafts, is_unfinished, whole_folder
from storyproof.datasets.manifest import file_sha256
from storyproof.errors import DataError
from tests.datasets.killing import text_of, write
from tests.groups import only_first

ROOT = Path(__file__).parents[2]
_WAITING = """
import sys
from pathlib import Path
from storyproof.datasets.folders import whole_folder
with whole_folder(Path(sys.argv[1]), force=False) as folder:
    (folder / "file").write_text("theirs")
    print("ready", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start(out: Path) -> "subprocess.Popen[str]":
    """Start a process that writes a folder until its input is closed."""
    command = [sys.executable, "-c", _WAITING, str(out)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


SCENARIOS = ("new", "replacing", "without a manifest", "empty", "inside", "renaming")


@pytest.mark.parametrize("scenario", only_first(1, SCENARIOS))
def test_killed_at_any_step(tmp_path: Path, scenario: str) -> None:
    command = [sys.executable, "-m", "tests.datasets.killing", scenario, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


# --- what --force replaces


@pytest.mark.parametrize(
    "content",
    [
        '{"manifest_version": 3, "name": "a browser extension"}',
        '{"storyproof": "0.1.0", "splits": {}, "files": {}}',
        '{"storyproof": "0.1.0", "splits": {}, "files": {}, "manifest_sha256": "0"}',
        "[]",
        "{",
        "[" * 100_000,
    ],
)
def test_force_replaces_no_folder_of_others(tmp_path: Path, content: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "thesis.txt").write_text("mine")
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(DataError, match=r"is not a dataset that storyproof wrote \(manifest.json is changed, or not"):
        write(tmp_path, True, "new")
    assert (tmp_path / "src" / "thesis.txt").read_text() == "mine"
    assert names(tmp_path) == ["manifest.json", "src"]


@pytest.mark.parametrize("name", ["../mine", "/mine", "a/b", "", "..", "."])
def test_force_follows_no_manifest_to_other_folders(tmp_path: Path, name: str) -> None:
    from storyproof.datasets.manifest import write_manifest

    (tmp_path / "mine").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    write_manifest(out, {"storyproof": "0", "splits": {}, "files": {name: {"sha256": "0" * 64}}})
    with pytest.raises(DataError, match="is not a dataset that storyproof wrote"):
        write(out, True, "new")
    assert (tmp_path / "mine").read_text() == "mine"


def test_force_keeps_files_that_were_added_or_changed(tmp_path: Path) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    (out / "evaluation_results").mkdir()
    (out / "evaluation_results" / "replies.sqlite").write_text("paid")
    (out / "train.txt").write_text("corrected by hand")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(DataError, match=r"changed since: evaluation_results, train\.txt; --force does not remove them"):
        write(out, True, "new")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert names(tmp_path) == ["data"]


def test_force_keeps_a_file_that_is_added_meanwhile(tmp_path: Path) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    with pytest.raises(DataError, match=r"changed since: note; "), whole_folder(out, force=True) as folder:  # noqa: PT012
        (folder / "file").write_text("new")
        (out / "note").write_text("mine")
    assert (out / "note").read_text() == "mine"
    assert (out / "test.txt").read_text() == "old"


def test_force_keeps_a_file_that_is_added_at_the_last_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    exchange = folders.exchange

    def late(first: Path, second: Path) -> bool:
        (out / "note").write_text("mine")
        return exchange(first, second)

    monkeypatch.setattr(folders, "exchange", late)
    write(out, True, "new")
    assert text_of(out) == "new"
    (old,) = (path for path in tmp_path.iterdir() if path != out)
    assert (old / "note").read_text() == "mine"
    assert str(old) in caplog.text


def test_a_draft_without_room_for_its_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "touch", full)
    with pytest.raises(DataError, match=r"cannot write to .*: No space left on device; choose another folder for --"):
        write(tmp_path / "data", False, "new")
    assert names(tmp_path) == []


# --- two processes, and folders that appear


def test_one_process_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "data"
    process = start(out)
    with pytest.raises(DataError, match=r"another process is writing .*data; wait until it ends, or choose another"):
        write(out, False, "ours")
    process.communicate()
    assert process.returncode == 0
    assert (out / "file").read_text() == "theirs"
    assert names(tmp_path) == ["data"]


def test_the_draft_of_a_live_process_stays(tmp_path: Path) -> None:
    process = start(tmp_path / "data")
    os.utime(tmp_path / ".data.lock", (0, 0))  # suspended for long, but alive
    with pytest.raises(DataError, match="another process is writing"):
        write(tmp_path / "data", False, "ours")
    assert len(list(tmp_path.glob(".data.unfinished-*"))) == 1
    process.kill()
    process.communicate()


def test_what_a_killed_process_left_is_named_and_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    process = start(tmp_path / "data")
    process.kill()
    process.communicate()
    (left,) = tmp_path.glob(".data.unfinished-*")
    assert is_unfinished(left)
    write(tmp_path / "data", False, "ours")
    assert f"removed {left}" in caplog.text
    assert names(tmp_path) == ["data"]


def test_what_only_looks_like_a_leftover_is_named_and_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    left = tmp_path / ".data.unfinished-abcdefgh"
    left.mkdir()
    (left / "note").write_text("mine")
    (tmp_path / ".data.unfinished-notes").mkdir()
    write(tmp_path / "data", False, "ours")
    assert f"kept {left}" in caplog.text
    assert (left / "note").read_text() == "mine"
    assert names(tmp_path) == [".data.unfinished-abcdefgh", ".data.unfinished-notes", "data"]


def test_an_old_dataset_is_restored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    out.rename(tmp_path / ".data.old-abcdefgh")  # killed between two renames
    with pytest.raises(DataError, match="is not empty"):
        write(out, False, "new")
    assert text_of(out) == "old"
    assert f"restored {out}" in caplog.text


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("force", [False, True])
def test_what_appears_meanwhile_stays(tmp_path: Path, what: str, force: bool) -> None:
    out = tmp_path / "data"
    with pytest.raises(DataError), whole_folder(out, force) as folder:  # noqa: PT012
        (folder / "file").write_text("ours")
        if what == "file":
            out.write_text("theirs")
        else:
            out.mkdir()
            (out / "thesis.txt").write_text("theirs")
    assert (out if what == "file" else out / "thesis.txt").read_text() == "theirs"
    assert names(tmp_path) == ["data"]


def test_what_appears_after_the_last_look_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "data"
    rename = Path.rename

    def late(self: Path, target: Path) -> Path:
        if target == out:
            out.mkdir()
            (out / "thesis.txt").write_text("theirs")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", late)
    with pytest.raises(DataError, match=r"cannot write .*data: Directory not empty; nothing was kept\."):
        write(out, False, "ours")
    assert names(out) == ["thesis.txt"]
    assert names(tmp_path) == ["data"]


# --- folders that must stay the same


def test_the_current_folder_stays_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "data"
    out.mkdir()
    monkeypatch.chdir(out)
    before = out.stat().st_ino
    write(Path(), False, "new")
    assert out.stat().st_ino == before
    assert text_of(out) == "new"
    assert names(Path()) == ["manifest.json", "test.txt", "train.txt"]


def test_a_mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path)
    before = tmp_path.stat().st_ino
    write(tmp_path, False, "new")
    assert (tmp_path.stat().st_ino, text_of(tmp_path)) == (before, "new")
    with pytest.raises(DataError, match=r"cannot be replaced in one step .*; choose a folder inside it"):
        write(tmp_path, True, "newer")
    assert text_of(tmp_path) == "new"


def test_a_move_that_fails_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "manifest.json":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        with pytest.raises(DataError, match="Input/output error; nothing was kept"):
            write(tmp_path, False, "new")
    assert names(tmp_path) == []
    write(tmp_path, False, "new")
    assert text_of(tmp_path) == "new"


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o700), (0o022, 0o755), (0o002, 0o775)])
def test_folders_respect_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "new", False, "new")
        (tmp_path / "shared").mkdir()
        (tmp_path / "shared").chmod(0o770)
        write(tmp_path / "shared", False, "new")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == mode
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o770


def test_clearing_drafts_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError), whole_folder(tmp_path / "data", force=False):  # noqa: PT012
        clear_drafts()
        assert names(tmp_path) == []
    assert names(tmp_path) == []


def test_marker_of_another_form(tmp_path: Path) -> None:
    out = tmp_path / "data"
    for marker in ("[]", "{", json.dumps({"files": {"../mine": "0"}})):
        draft = out / ".data.unfinished-abcdefgh"
        draft.mkdir(parents=True)
        (draft / "file").write_text("x")
        (draft / ".storyproof-unfinished").write_text(marker)
        write(out, False, "new")
        assert not draft.exists()
        assert names(out)
        for path in out.iterdir():
            path.unlink()


# --- what is refused, and when


def test_what_is_refused_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    write(tmp_path / "data", False, "old")
    for name, force, said in (
        ("data", False, r"is not empty; choose another folder or replace it with --force\.$"),
        ("data", None, r"is not empty; choose another folder\.$"),
        ("file/data", False, r"cannot write to .*file: (Not a directory|File exists); choose another folder for"),
    ):
        with pytest.raises(DataError, match=said), whole_folder(tmp_path / name, force):
            pytest.fail("began to write")
    monkeypatch.setattr(folders.Claim, "take", lambda self: pytest.fail("began to write"))
    with pytest.raises(DataError, match="file is a file; choose a folder for --out"):
        write(tmp_path / "file", False, "new")
    assert names(tmp_path) == ["data", "file"]


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for out, said in (
        (circle, "Too many levels of symbolic links|Symlink loop"),
        (tmp_path / "a\0b", "embedded null"),
    ):
        with pytest.raises(DataError, match=rf"cannot write to .*: ({said}).*; choose another folder for --out\."):
            write(out, False, "new")
    assert names(tmp_path) == ["circle"]


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(out: Path, job: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "_make_draft", fail)
    with pytest.raises(DataError, match=rf"cannot write to {tmp_path}: No space left on device; choose another"):
        write(tmp_path / "data", False, "new")
    assert names(tmp_path) == []


def test_a_disk_without_room_for_a_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = Path.mkdir

    def fail(self: Path, *given: object, **named: object) -> None:
        if ".unfinished-" in self.name:
            raise OSError(28, "No space left on device")
        mkdir(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(DataError, match=rf"cannot write to {tmp_path}: No space left on device; choose another"):
        write(tmp_path / "data", False, "new")
    assert names(tmp_path) == []
    assert not folders._drafts


def test_the_first_error_is_told_if_a_draft_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "data"
    write(out, False, "old")

    def fail(draft: Path, out: Path) -> bool:
        shutil.rmtree(draft)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(folders, "exchange", fail)
    with pytest.raises(DataError, match="Input/output error; nothing was kept"):
        write(out, True, "new")
    assert text_of(out) == "old"
    assert names(tmp_path) == ["data"]


@pytest.mark.parametrize("system", ["posix", "nt"])
def test_an_empty_folder_is_removed_first_on_windows_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    empty, missing = tmp_path / "empty", tmp_path / "missing"
    empty.mkdir()
    rmdir, removed = Path.rmdir, []

    def note(self: Path) -> None:
        removed.append(self)
        rmdir(self)

    monkeypatch.setattr(Path, "rmdir", note)
    monkeypatch.setattr(folders, "os", SimpleNamespace(**{**vars(os), "name": system}))
    for out in (empty, missing):
        write(out, False, "new")
        assert text_of(out) == "new"
    assert removed == ([empty] if system == "nt" else [])


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_dataset_that_appears_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    write(tmp_path / "other", False, "theirs")
    out = tmp_path / "data"
    if where == "inside":  # where files are moved one by one, nothing is replaced
        out.mkdir()
        monkeypatch.chdir(out)
    force = where == "inside"
    with pytest.raises(DataError, match="data is not empty"), whole_folder(out, force) as folder:  # noqa: PT012
        assert (folder.parent == out) is (where == "inside")
        (folder / "file").write_text("ours")
        out.mkdir(exist_ok=True)
        for path in (tmp_path / "other").iterdir():
            path.rename(out / path.name)
    assert text_of(out) == "theirs"


def test_a_file_that_appears_meanwhile_is_named(tmp_path: Path) -> None:
    out = tmp_path / "data"
    with pytest.raises(DataError, match="data is a file; choose a folder for --out"), whole_folder(out, False):
        out.write_text("theirs")


def test_errors_of_the_writer(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "data"
    with pytest.raises(DataError, match=rf"cannot write {out}: odd; nothing was kept\."), whole_folder(out, False):
        raise OSError("odd")
    with pytest.raises(ValueError, match="mine"), whole_folder(out, False) as folder:  # noqa: PT012
        shutil.rmtree(folder)
        clear_drafts()  # what is gone is no reason to fail
        raise ValueError("mine")
    assert names(out.parent) == []
    assert not folders._drafts
    write(out, False, "new")
    assert text_of(out) == "new"
    assert not folders._drafts


def test_many_files_of_others_are_counted(tmp_path: Path) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    for number in range(1, 5):
        (out / f"note{number}").touch()
        more = ["note1", "note1, note2", "note1, note2, note3", "note1, note2, note3 and 1 more"][number - 1]
        with pytest.raises(DataError, match=f"changed since: {more}; --force"):
            write(out, True, "new")


@pytest.mark.parametrize("content", [None, "{}"])
def test_force_says_what_is_wrong_with_the_manifest(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "thesis.txt").touch()
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    found = "missing" if content is None else "changed, or not written by storyproof"
    with pytest.raises(DataError, match=rf"manifest\.json is {found}\)"):
        write(tmp_path, True, "new")


# --- where drafts go


@pytest.mark.parametrize("rights", [0, os.W_OK, os.X_OK])
def test_in_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rights: int) -> None:
    out = tmp_path / "data"
    out.mkdir()
    monkeypatch.setattr(os, "access", lambda path, asked: path != tmp_path or asked | rights == rights)
    with whole_folder(out, False) as folder:
        assert folder.parent == out
        assert names(tmp_path) == ["data"]
        (folder / "file").write_text("new")
    assert names(out) == ["file"]
    with pytest.raises(DataError, match="data is not empty"):
        write(out, False, "newer")
    (out / "file").unlink()
    write(out, False, "new")
    with pytest.raises(DataError, match="cannot be replaced in one step"):
        write(out, True, "newer")
    assert text_of(out) == "new"
    with whole_folder(
        tmp_path / "new", False
    ) as folder:  # the system says what is wrong with a folder that is not there
        assert folder.parent == tmp_path
        (folder / "file").touch()


def test_an_empty_folder_is_replaced_unless_it_must_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "data"
    out.mkdir()

    def gone() -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", gone)
    with whole_folder(out, False) as folder:
        assert folder.parent == tmp_path
        (folder / "file").touch()


def test_a_dataset_in_the_current_folder_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    monkeypatch.chdir(out)
    write(Path(), True, "new")
    assert text_of(out) == "new"
    assert names(tmp_path) == ["data"]


# --- what looks like a leftover


def leave_draft(out: Path, moved: dict[str, str]) -> Path:
    """Leave what a process leaves that is killed while it moves files into a folder."""
    draft = out / f".{out.name}.unfinished-abcdefgh"
    draft.mkdir(parents=True)
    (draft / "not moved").write_text("new")
    (draft / ".storyproof-unfinished").write_text(json.dumps({"files": moved}))
    return draft


def test_only_files_that_were_moved_are_taken_back(tmp_path: Path) -> None:
    out = tmp_path / "data"
    (out / "sub").mkdir(parents=True)
    for path in (tmp_path / "mine", out / "moved", out / "sub" / "moved", out / "changed"):
        path.write_text("text")
    (out / ".storyproof-unfinished").touch()
    same, empty = file_sha256(out / "moved"), file_sha256(out / ".storyproof-unfinished")
    draft = leave_draft(
        out,
        {
            "../mine": same,
            "moved": same,
            "sub/moved": same,
            "changed": "0" * 64,
            "gone": same,
            ".storyproof-unfinished": empty,
        },
    )
    with pytest.raises(DataError, match="data is not empty"):
        write(out, False, "new")
    assert not draft.exists()
    assert names(out) == [".storyproof-unfinished", "changed"]
    assert names(tmp_path) == ["data", "mine"]


def test_only_a_folder_can_be_unfinished(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "missing", tmp_path):
        assert not is_unfinished(path)


def test_names_of_leftovers_that_are_something_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / ".data.unfinished-aaaaaaaa").symlink_to(tmp_path / "empty")
    (tmp_path / ".data.unfinished-bbbbbbbb").write_text("mine")
    (tmp_path / ".data.unfinished-cccccccc.whole").symlink_to(tmp_path / "nothing")
    (tmp_path / ".data.unfinished-dddddddd.whole").write_text("mine")
    others = tmp_path / ".data.unfinished-eeeeeeee"
    others.mkdir()
    (others / "manifest.json").write_text('{"files": {}}')
    before = names(tmp_path)
    (tmp_path / ".data.unfinished-ffffffff.whole").touch()
    write(tmp_path / "data", False, "new")
    assert names(tmp_path) == sorted([*before, "data"])
    assert (others / "manifest.json").exists()
    assert f"kept {others}" in caplog.text
    assert f"removed {tmp_path / '.data.unfinished-ffffffff.whole'}, which" in caplog.text


def test_a_leftover_that_cannot_be_removed_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / ".data.unfinished-abcdefgh"
    left.mkdir()
    (left / ".storyproof-unfinished").touch()

    def fail(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise OSError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", fail)
    write(tmp_path / "data", False, "new")
    assert text_of(tmp_path / "data") == "new"


# --- moves that fail


def test_the_old_dataset_is_put_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "data"
    write(out, False, "old")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if ".unfinished-" in self.name and target == out:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(folders, "exchange", lambda first, second: False)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(DataError, match="Input/output error; nothing was kept"):
        write(out, True, "new")
    assert text_of(out) == "old"
    assert names(tmp_path) == ["data"]


def test_the_first_error_is_told_if_a_draft_inside_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def failing(self: Path, target: Path) -> Path:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rename", failing)
    monkeypatch.setattr(folders, "_take_back", lambda draft, out: shutil.rmtree(draft))
    with pytest.raises(DataError, match="Input/output error; nothing was kept"):
        write(tmp_path, False, "new")
