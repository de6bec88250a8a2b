"""Full disks, at every size that a disk can be too small by: one sentence, exit code 2, and no file is half-written.

A file that may not grow fails as a full disk does, so that each output can be met in turn. A small disk is a real one, in
memory: it runs out of space, or of names for files, in the middle of everything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path, PurePath

from storyproof.solvers.neural.trained_runs import load_tensors
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
    Work("verify given --json out.json", (RAW, "verify given --json out.json")),
    Work("audit given --json out.json --html out.html", (RAW,), ends=1),
    Work(f"{RUN} out.json", (RAW, "evaluate --model majority --data given --json out.json")),
    Work("compare given/a given/b --json out.json", (RAW, f"{RUN} given/a", f"{RUN} given/b")),
    Work("rescore given/a --against given --json out.json", (RAW, f"{RUN} given/a")),
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
    else:
        raise AssertionError(f"{path.name} is neither old nor new, with {len(content)} bytes")


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
    """Return numbers of bytes that one output or another does not fit into: none, half of it, all but one."""
    sizes = {len(content) for name, content in tree(place).items() if content and name not in usual.before}
    sizes |= {len(content) for name, content in usual.after.items() if content and usual.before.get(name) != content}
    return sorted({0, 1, 60, *(size // 2 for size in sizes), *(size - 1 for size in sizes)})


def meet_limits(trial: Trial, works: Iterable[Work], place: Path) -> None:
    for number, work in enumerate(works):
        usual = Undisturbed(work, place / str(number))
        met = []
        for limit in limits(usual, place / str(number) / "operations"):
            with trial.case(f"{work.command}, {limit} bytes"):
                copy = usual.copy(place / str(number) / str(limit))
                met.append(check(usual, run(work.command, copy, limit=limit), copy))
        with trial.case(f"{work.command}, some limit"):
            assert any(met)


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
