"""Kills a process that writes a folder before each of its steps in turn, and looks at what is left and at the next run.

python -m tests.datasets.killing SCENARIO FOLDER
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from storyproof.datasets import folders
from storyproof.datasets.folders import whole_folder
from storyproof.datasets.manifest import (
    file_sha256,
    hash_in,
    is_dataset,
    manifest_problems,
    read_manifest,
    write_manifest,
)

_STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.listdir", "os.scandir")


def write(out: Path, force: bool, text: str, manifest: bool = True) -> None:
    """Write a small dataset of two files."""
    with whole_folder(out, force) as folder:
        files = [folder / name for name in ("train.txt", "test.txt")]
        for path in files:
            path.write_text(text)
        if not manifest:
            return
        listed = {path.name: {"bytes": len(text), "sha256": file_sha256(path)} for path in files}
        write_manifest(folder, {"storyproof": "0", "splits": {}, "files": listed})


def ended(do: Callable[[], None], step: int = 0) -> int:
    """Do something in a process of its own that is killed before a step; return how it ended, 0 if well."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        left = step

        def count(event: str, details: Any) -> None:
            nonlocal left
            if event in _STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        if step:
            sys.addaudithook(count)
        try:
            do()
        except BaseException:
            os._exit(2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def text_of(out: Path, manifest: bool = True) -> str:
    """Return what a whole dataset says; nothing if there is none."""
    if not manifest and out.is_dir():
        [text] = {path.read_text() for path in out.iterdir()} or [""]
        return text
    if not out.is_dir() or not is_dataset(out):
        return ""
    listed = read_manifest(out)
    assert listed is not None
    assert manifest_problems(listed, [], hash_in(out)) == []
    return (out / "test.txt").read_text()


def main(scenario: str, root: Path) -> None:
    """Kill at every step; what is there before and after must be whole, and the next run must leave nothing behind."""
    if scenario == "renaming":
        folders.exchange = lambda first, second: False  # as where there is no such step
    force, manifest = scenario in ("replacing", "renaming"), scenario != "without a manifest"
    step, code = 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        step += 1
        out = root / str(step) / "data"
        out.parent.mkdir(parents=True)
        if force:
            write(out, False, "old")
        elif scenario in ("empty", "inside"):
            out.mkdir()
        if scenario == "inside":
            os.chdir(out)
        code = ended(lambda out=out: write(out, force, "new", manifest), step)  # type: ignore[misc]
        found = text_of(out, manifest)
        if force and not found:  # only where two folders cannot be swapped in one step
            assert scenario == "renaming", step
            assert "old" in [text_of(path) for path in out.parent.glob(".data.*")], step
        again = ended(lambda out=out: write(out, force, "again", manifest))  # type: ignore[misc]
        assert again == (2 if found and not force else 0), (step, found, again)
        assert text_of(out, manifest) == (found if again else "again"), step
        assert [path.name for path in out.parent.iterdir()] == ["data"], (step, list(out.parent.iterdir()))
        names = {"train.txt", "test.txt", *(["manifest.json"] if manifest else [])}
        assert {path.name for path in out.iterdir()} == names, step
        os.chdir(root)
        shutil.rmtree(out.parent)
    assert code == 0, code
    print(step)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
