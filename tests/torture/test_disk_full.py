"""Full disks, at every size that a disk can be too small by: one sentence, exit code 2, and no file is half-written.

A file that may not grow fails as a full disk does, so that each output can be met in turn. A small disk is a real one,
in memory: it runs out of space, or of names for files, in the middle of everything.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType

import pytest

from storyproof.solvers.neural.saved_runs import load_tensors
from tests.solvers.llm.serving import FakeServer
from tests.torture.program import Ended, Tree, run, tree
from tests.torture.trial import Trial
from tests.torture.works import (
    LESSON,
    MEMNN,
    OLD,
    OTHER,
    RAW,
    RULES,
    TOMI,
    Undisturbed,
    Work,
    assert_one_sentence,
    lasting,
    others,
    output,
)

PAGE = 4096  # bytes that the smallest file takes of a disk in memory
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000  # of unshare in Linux
_ENDS = {
    "table.csv": b"\n",
    "table.md": b"\n",
    "table.tex": b"\\end{tabular}\n",
    "figure.png": b"IEND\xaeB`\x82",
    "figure.svg": b"</svg>\n",
}
MODEL = "evaluate --model openai/fake --base-url URL --concurrency 2 --data given --output-dir out"
RUN = "evaluate --model rules --data given --json"
FOLDERS = [
    Work(f"{TOMI} --out out"),
    Work(f"{TOMI} --out out --format jsonl --force", (OLD,)),
    Work(f"{TOMI} --out out --format babi --force", (OLD,)),
    Work("generate clutrr --train 0 --val 0 --test 1 --test-k 2 --out out --format csv"),
    Work("process given --out out --force", (RAW, OLD)),
    Work("audit given --fix out", (RAW,), ends=1),
]
FILES = [
    Work("verify given --json out.json", (RAW, "evaluate --model majority --data given --json out.json")),
    Work("audit given --json out.json --html out.html", (RAW,), ends=1),
    Work(f"{RUN} out.json", (RAW, "evaluate --model majority --data given --json out.json")),
    Work("compare given/a given/b --json out.json", (RAW, f"{RUN} given/a", f"{RUN} given/b")),
    Work("compare given/a --labels given --json out.json", (RAW, f"{RUN} given/a")),
    Work("ask --model rules --data given --json out.json", (RAW,)),
    Work(RULES, (RAW, RULES.replace("rules", "majority,rules"))),
]
TRAIN = [Work(MEMNN, (LESSON,)), Work(f"{MEMNN} --force", (LESSON, OTHER))]
EXPERIMENT = [Work("experiment tomi-table3 --quick --out out --models memnn --device cpu --runs 1")]


def assert_no_half_file(usual: Undisturbed, found: Tree, place: Path) -> None:
    """Check that all files are whole, old or new, and that nothing hidden is left."""
    assert others(found) == others(usual.before)
    for name, content in found.items():
        if name in usual.before and content == usual.before[name]:
            continue
        assert not any(part.startswith(".") for part in PurePath(name).parts), f"{name} is left"
        if content is not None and content != usual.after.get(name):
            assert_whole(place / name, content)


def assert_whole(path: Path, content: bytes) -> None:
    """Check that a file that is neither an old nor a new one is a whole one."""
    if path.suffix == ".json":
        json.loads(content)
    elif path.suffix == ".jsonl":
        assert not content or content.endswith(b"\n"), f"{path.name} ends with half a line"
        [json.loads(line) for line in content.splitlines()]
    elif path.suffix == ".safetensors":
        load_tensors(path)
    elif path.suffix in (".sqlite", ".sqlite-wal", ".sqlite-shm"):
        with closing(sqlite3.connect(path.with_suffix(".sqlite"))) as base:
            assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    else:  # a table or a figure of what is done so far
        assert content.endswith(_ENDS[path.name]), f"{path.name} is neither old nor new"


def check(usual: Undisturbed, ended: Ended, place: Path) -> bool:
    """Check what a command did that may have met a full disk, and that it works on another; return whether it did."""
    work, found = usual.work, lasting(tree(place))
    if ended.code == work.ends:
        assert found == usual.after
        return False
    assert_one_sentence(ended)
    assert_no_half_file(usual, found, place)
    if work in FOLDERS:
        assert output(found) == output(usual.before)
    again = run(work.command, place)
    assert again.code == work.ends, again
    assert lasting(tree(place)) == usual.after
    return True


# --- files that may not grow


def limits(usual: Undisturbed, place: Path) -> list[int]:
    """Return numbers of bytes that one output or another does not fit into, and that none fits into."""
    sizes = {  # what is written again counts too, even if nothing in it changes
        len(content)
        for name, content in tree(place).items()
        if content and (name not in usual.before or PurePath(name).parts[0].startswith("out"))
    }
    sizes |= {len(content) for name, content in usual.after.items() if content and usual.before.get(name) != content}
    return sorted({0, 60, max(sizes) // 2, *(size - 1 for size in sizes)})


def meet_limits(trial: Trial, works: Iterable[Work], place: Path) -> None:
    for number, work in enumerate(works):
        folder = place / str(number)
        usual = Undisturbed(work, folder)
        met = False
        for limit in limits(usual, folder / "operations"):
            with trial.case(f"{work.command}, {limit} bytes"):
                copy = usual.copy(folder / str(limit))
                met |= check(usual, run(work.command, copy, limit=limit), copy)
        assert met, f"{work.command} met no limit"


def test_full_disks_and_folders(trial: Trial, tmp_path: Path) -> None:
    meet_limits(trial, FOLDERS, tmp_path)


def test_full_disks_and_files(trial: Trial, tmp_path: Path) -> None:
    meet_limits(trial, FILES, tmp_path)


def test_full_disks_and_train(trial: Trial, tmp_path: Path) -> None:
    meet_limits(trial, TRAIN, tmp_path)


def test_full_disks_and_experiment(trial: Trial, tmp_path: Path) -> None:
    meet_limits(trial, EXPERIMENT, tmp_path)


def test_full_disks_and_replies(trial: Trial, tmp_path: Path) -> None:
    with FakeServer() as server:
        meet_limits(trial, [Work(MODEL.replace("URL", server.url), (RAW,))], tmp_path)
        twins = MODEL.replace("URL", server.url).replace("given", "given --contamination")
        meet_limits(trial, [Work(twins, (RAW,))], tmp_path / "twins")


# --- small disks


@dataclass
class SmallDisk:
    """A disk in memory, which only one process sees.

    Attributes:
        place: Where it is mounted.
        before: The folder to copy to it.
        after: The folder to copy it to.
        options: Its size.
    """

    place: Path
    before: Path
    after: Path
    options: str

    def __enter__(self) -> None:
        system, user, group = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
        self._check(system.unshare(_NEW_USER | _NEW_MOUNTS))
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path(f"/proc/self/{name}").write_text(text)
        self.place.mkdir(parents=True)
        self._check(system.mount(b"tmpfs", bytes(self.place), b"tmpfs", 0, self.options.encode()))
        shutil.copytree(self.before, self.place, dirs_exist_ok=True)
        end = os._exit

        def leave(code: int) -> None:
            self.__exit__(None, None, None)
            end(code)

        os._exit = leave  # type: ignore[assignment]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.after.exists():
            shutil.copytree(self.place, self.after)

    def _check(self, failed: int) -> None:
        if failed:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@pytest.fixture
def _small_disks(tmp_path: Path) -> None:
    """Skip tests where the system lets nobody but its administrator mount a disk."""
    (tmp_path / "nothing").mkdir()
    disk = SmallDisk(tmp_path / "try", tmp_path / "nothing", tmp_path / "tried", "size=64k")
    if run("--version", tmp_path, around=disk).code:
        pytest.skip("no disk can be mounted here")


def enlarge(trial: Trial, work: Work, place: Path, steps: int = 8) -> None:
    """Run a command on disks with too few bytes, and then on disks with too few names, until one is large enough."""
    usual = Undisturbed(work, place)
    before, after = (tree(folder) for folder in (usual.template, place / "operations"))
    least, enough = (sum(1 + len(content or b"") // PAGE for content in found.values()) for found in (before, after))
    stride = max(1, (enough - least) // steps)
    sizes = [f"size={pages * PAGE}" for pages in range(least + 1, enough + 40 * stride, stride)]
    names = [f"nr_inodes={count}" for count in range(len(before) + 2, len(after) + 40)]
    for disks in (sizes, names):
        for options in disks:
            large_enough = False
            with trial.case(f"{work.command}, {options}"):
                found, disk = place / options, place / f"{options} disk"
                ended = run(work.command, disk, around=SmallDisk(disk, usual.template, found, options))
                large_enough = not check(usual, ended, found)
            if large_enough:
                break
        assert large_enough, f"{work.command} fits on no disk"


@pytest.mark.usefixtures("_small_disks")
def test_small_disks_and_folders(trial: Trial, tmp_path: Path) -> None:
    for number, work in enumerate(FOLDERS):
        enlarge(trial, work, tmp_path / str(number))


@pytest.mark.usefixtures("_small_disks")
def test_small_disks_and_files(trial: Trial, tmp_path: Path) -> None:
    for number, work in enumerate(FILES):
        enlarge(trial, work, tmp_path / str(number))


@pytest.mark.usefixtures("_small_disks")
def test_small_disks_and_train(trial: Trial, tmp_path: Path) -> None:
    for number, work in enumerate(TRAIN):
        enlarge(trial, work, tmp_path / str(number))


@pytest.mark.usefixtures("_small_disks")
def test_small_disks_and_replies(trial: Trial, tmp_path: Path) -> None:
    with FakeServer() as server:
        enlarge(trial, Work(MODEL.replace("URL", server.url), (RAW,)), tmp_path / "replies")


# --- standard output that goes to a full disk


class FullOutput:
    """Standard output that goes to a full disk."""

    def __enter__(self) -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be put back: the process ends."""


PRINTED = [
    "show given",
    "verify given",
    "audit given",
    "evaluate --model rules --data given",
    "ask --model rules --data given",
]
PRINTED += [f"{command} --json -" for command in PRINTED[3:]]
PRINTED += ["--help", "--version", "generate --help", f"{TOMI} --out new", "process given --out new"]
PRINTED += ["compare given/a given/a", "compare given/a --labels given"]
REFUSED = [
    "show nowhere",
    "verify given --json nowhere/x",
    "evaluate --model none --data given",
    "generate tomi --out x --test -1",
]


def test_full_standard_output(trial: Trial, tmp_path: Path) -> None:
    Work("", (RAW, f"{RUN} given/a")).prepare(tmp_path / "here")
    for command in PRINTED:
        with trial.case(command):
            assert_one_sentence(run(command, tmp_path / "here", around=FullOutput()))
            shutil.rmtree(tmp_path / "here" / "new", ignore_errors=True)
    for command in REFUSED:
        with trial.case(f"{command}, with nowhere to say so"):
            words = [sys.executable, "-m", "storyproof", *shlex.split(command)]
            with Path("/dev/full").open("w") as full:
                ended = subprocess.run(words, cwd=tmp_path / "here", stdout=subprocess.PIPE, stderr=full, check=False)
            assert (ended.returncode, ended.stdout) == (2, b""), ended
    for command in ("verify given --json /dev/full", "audit given --html /dev/full", f"{RUN} /dev/full"):
        with trial.case(command):
            assert_one_sentence(run(command, tmp_path / "here"))
    for command in (f"{TOMI} --out /dev/full", RULES.replace("out", "/dev/full"), MEMNN.replace("out", "/dev/full")):
        with trial.case(command):
            assert_one_sentence(run(command, tmp_path / "here"))
