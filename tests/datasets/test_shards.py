from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.audits import audit
from storyproof.benchmark import Benchmark
from storyproof.catalog import names
from storyproof.datasets.content_hash import ContentHash
from storyproof.datasets.folders import RECORDS
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.reading import find_source
from storyproof.datasets.shards import plan_shards
from storyproof.datasets.writing import usual_workers, write_dataset
from storyproof.engines import make_engine
from storyproof.errors import ConfigError, DataError
from storyproof.findings import UNREAD
from storyproof.io.storage import LocalFolder, RemoteFolder
from tests.groups import only_first

COUNTS = {"train": 120, "test": 60}
BLOCK = 48  # a multiple of the rounds of tomi


@pytest.fixture(autouse=True, scope="module")
def blocks() -> Iterator[None]:
    """Make smaller blocks, so that a few stories are several shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Benchmark, "block_stories", BLOCK)
        yield


class Stopping:
    """An engine that is stopped after some items."""

    workers = 1

    def __init__(self, most: int) -> None:
        self._most = most

    def run(self, work: Any, items: Any) -> Iterator[tuple[int, Any]]:
        for place, item in enumerate(items):
            if place == self._most:
                raise KeyboardInterrupt
            yield place, work(item)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make(out: str | Path, benchmark: str = "tomi", **more: Any) -> dict[str, Any]:
    return storyproof.generate(benchmark, **{**COUNTS, "seed": 7, "shard_stories": BLOCK, "out": out, **more})


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_shards_have_the_content_of_one_file(tmp_path: Path, format: str) -> None:
    whole = storyproof.generate("tomi", **COUNTS, seed=7, out=tmp_path / "one", format=format)
    manifest = make(tmp_path / "many", format=format)
    assert sorted(manifest["files"]) == [
        *(f"test-0000{number}-of-00002.{format}" for number in range(2)),
        *(f"train-0000{number}-of-00003.{format}" for number in range(3)),
    ]
    for split, entry in whole["splits"].items():
        found = ContentHash()
        for table in find_source(tmp_path / "many", split).tables():
            found.add(table)
        assert found.hexdigest() == entry.pop("content_sha256")
        del manifest["splits"][split]["content_sha256"]  # one over those of the shards
        assert {**entry, "shards": len(find_source(tmp_path / "many", split).files)} == manifest["splits"][split]
    assert storyproof.verify(tmp_path / "many").ok


def test_shards_depend_on_the_command_alone() -> None:
    made = make_benchmark("tomi", 7)
    whole, divided = BLOCK * 16, BLOCK * 17
    many = ((BLOCK * 128, 128), (BLOCK * 129, 65), (BLOCK * 2048, 128), (BLOCK * 8192, 512), (BLOCK * 90_000, 704))
    for count, shards in ((3, 1), (whole, 1), (divided, 17), *many):
        plan = plan_shards(made, {"train": count, "test": 0})
        assert len(plan) == shards
        assert sum(each.blocks for each in plan) == made.block_count(count)
        assert all(one.first + one.blocks == two.first for one, two in pairwise(plan))
        assert [each.name for each in plan] == (
            ["train"] if shards == 1 else [f"train-{number:05d}-of-{shards:05d}" for number in range(shards)]
        )


@pytest.mark.parametrize("name", [name for name in names("benchmark") if "@" not in name])
def test_workers_make_the_blocks_of_the_process_that_asks(name: str) -> None:
    made = make_benchmark(name, 7)
    small = made.with_blocks_of(2 * made.round)
    assert pickle.loads(pickle.dumps(small)).block_stories == small.block_stories


@pytest.mark.parametrize(
    ("benchmark", "format"), only_first(2, [("tomi", "parquet"), ("tom-babi", "babi"), ("tomi", "inspect")])
)
def test_workers_change_no_byte(tmp_path: Path, benchmark: str, format: str) -> None:
    made = make_benchmark(benchmark, 7).with_blocks_of(BLOCK)  # which workers have, too
    for workers in (1, 2, 3):
        with make_engine(workers=workers) as engine:
            how: dict[str, Any] = {"engine": engine, "shard_stories": BLOCK, "format_name": format}
            write_dataset(made, COUNTS, tmp_path / str(workers), **how)
    one = files_of(tmp_path / "1")
    assert len(one) > 5
    assert one == files_of(tmp_path / "2") == files_of(tmp_path / "3")


def test_a_large_split_is_divided_unasked(tmp_path: Path) -> None:
    manifest = storyproof.generate("tomi", train=BLOCK * 17, test=BLOCK * 16, seed=7, out=tmp_path / "x")
    assert sorted(manifest["files"]) == ["test.parquet", *(f"train-{each:05d}-of-00017.parquet" for each in range(17))]
    assert storyproof.load(tmp_path / "x", "train").num_rows == BLOCK * 17 * 6


def test_small_datasets_start_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.datasets.writing.available_cores", lambda: 16)
    made = make_benchmark("tomi", 7)
    found = [usual_workers(made, {"train": BLOCK * blocks, "val": 0}) for blocks in (0, 1, 7, 8, 63, 1000)]
    assert found == [1, 1, 1, 2, 15, 16]


def draft_of(out: Path) -> Path:
    [draft] = out.parent.glob(f".{out.name}.unfinished-*")
    return draft


def test_a_run_that_was_stopped_resumes_with_what_is_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make(tmp_path / "one")
    out = tmp_path / "two"
    with pytest.raises(KeyboardInterrupt):
        make(out, engine=Stopping(3))
    assert "the shards that are finished are kept; the same command resumes with them" in caplog.text
    assert not out.exists()
    for read in (storyproof.verify, storyproof.audit, storyproof.load):
        with pytest.raises(
            DataError, match="two is unfinished: the run that wrote it was killed; run the same command again"
        ):
            list(read(out))
    draft = draft_of(out)
    kept = draft / "train-00000-of-00003.parquet"
    before = kept.stat().st_mtime_ns
    (draft / "train-00001-of-00003.parquet").write_bytes(b"cut")  # is made again
    (draft / RECORDS / "tmp123").mkdir()  # what a killed worker leaves
    (draft / RECORDS / "test-00000-of-00002.json").write_text('{"files": {}')
    done: list[int] = []
    make(out, progress=done.append)
    assert "1 of 5 shards were done" in caplog.text
    assert sum(done) == 180
    assert (out / kept.name).stat().st_mtime_ns == before
    assert files_of(out) == files_of(tmp_path / "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_a_draft_without_a_finished_shard_is_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "out", engine=Stopping(1))
    assert list(tmp_path.iterdir()) == []


def test_a_run_resumes_in_the_folder_in_which_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "one")
    (tmp_path / "two").mkdir()
    monkeypatch.chdir(tmp_path / "two")
    with pytest.raises(KeyboardInterrupt):
        make(".", engine=Stopping(3))
    make(".")
    assert files_of(Path()) == files_of(tmp_path / "one")


def test_a_full_disk_keeps_finished_shards_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "one", seed=8)
    make(tmp_path / "out")
    before = files_of(tmp_path / "out")
    put = LocalFolder.put

    def fill(folder: LocalFolder, file: Path, name: str) -> None:
        if name.startswith("train-00001"):
            raise OSError(28, "No space left on device")
        put(folder, file, name)

    with monkeypatch.context() as patch:
        patch.setattr(LocalFolder, "put", fill)
        with pytest.raises(
            DataError, match=r"out: No space left on device; the shards that are finished are kept, and"
        ):
            make(tmp_path / "out", seed=8, force=True)
    assert files_of(tmp_path / "out") == before
    make(tmp_path / "out", seed=8, force=True)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "one")


class FullDisk(LocalFolder):
    """A folder in which one shard finds no space."""

    def put(self, file: Path, name: str) -> None:
        if name.startswith("train-00002"):
            raise OSError(28, "No space left on device")
        super().put(file, name)


def make_apart(out: Path, workers: int) -> None:
    """Make what `make` makes, in worker processes, which do not have its patch."""
    made = make_benchmark("tomi", 7).with_blocks_of(BLOCK)
    with make_engine(workers=workers) as engine:
        write_dataset(made, COUNTS, out, engine=engine, shard_stories=BLOCK)


def test_a_full_disk_in_one_worker_is_one_sentence_and_leaves_no_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "one")
    with monkeypatch.context() as patch:
        patch.setattr("storyproof.datasets.writing.LocalFolder", FullDisk)
        said = r"cannot write .*out: No space left on device; the shards that are finished are kept, and the same"
        with pytest.raises(DataError, match=said):
            make_apart(tmp_path / "out", 2)
    assert not (tmp_path / "out").exists()
    make_apart(tmp_path / "out", 2)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "one")


def test_more_workers_than_shards_change_nothing(tmp_path: Path) -> None:
    make(tmp_path / "one")
    make_apart(tmp_path / "many", 6)
    assert files_of(tmp_path / "many") == files_of(tmp_path / "one")
    assert len(list((tmp_path / "many").glob("*.parquet"))) == 5
    with make_engine(workers=6) as engine:
        assert storyproof.verify(tmp_path / "many", engine=engine).ok


def test_an_unfinished_dataset_of_another_command_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        make(out, engine=Stopping(3))
    before = files_of(draft_of(out))
    with pytest.raises(DataError, match=r"unfinished dataset of another command: its seed is 7, and now 8; run that"):
        make(out, seed=8)
    with pytest.raises(DataError, match=r"out contains an unfinished dataset of another command"):
        storyproof.generate("tomi", test=30, out=out)
    assert files_of(draft_of(out)) == before
    make(out, seed=8, force=True)
    make(tmp_path / "eight", seed=8)
    assert files_of(out) == files_of(tmp_path / "eight")


_KILLED = """
import sys
import storyproof
from storyproof.benchmark import Benchmark

if __name__ == "__main__":
    storyproof.generate("tomi", train=6144 * 24, seed=7, out=sys.argv[1], workers=int(sys.argv[2]), shard_stories=6144)
"""


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the script writes if nobody kills it, with one worker."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "script.py").write_text(_KILLED)
    subprocess.run([sys.executable, str(folder / "script.py"), str(folder / "data"), "1"], check=True)
    return folder / "data"


@pytest.mark.parametrize(("workers", "who"), only_first(2, [(2, "worker"), (2, "parent"), (1, "parent")]))
def test_a_run_that_is_killed_resumes_with_the_same_bytes(
    tmp_path: Path, whole_run: Path, workers: int, who: str
) -> None:
    """Kill -9, of the command or of one of its workers, when some shards are finished."""
    script, out = tmp_path / "script.py", tmp_path / "killed" / "data"
    script.write_text(_KILLED)
    command = [sys.executable, str(script), str(out), str(workers)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (done := [*tmp_path.glob(f"killed/.data.unfinished-*/{RECORDS}/*.json")]):
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            time.sleep(0.005)
        pid = process.pid if who == "parent" else _children(process.pid)[-1]
        os.kill(pid, signal.SIGKILL)
        said = process.communicate()[1]
    assert process.returncode != 0
    assert who == "parent" or "a worker process was killed" in said
    assert not out.exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "of 24 shards were done" in again.stderr, (done, again.stderr)
    assert [path.name for path in out.parent.iterdir()] == ["data"]
    assert files_of(out) == files_of(whole_run)


def _children(pid: int) -> list[int]:
    """Return the workers of a process."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_dataset_is_replaced_only_by_force_and_only_if_it_is_ours(tmp_path: Path) -> None:
    make(tmp_path / "out")
    with pytest.raises(DataError, match=r"is not empty; choose another folder or replace it with --force"):
        make(tmp_path / "out", seed=8)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"notes\.txt; --force does not remove them"):
        make(tmp_path / "out", seed=8, force=True)
    (tmp_path / "out" / "notes.txt").unlink()
    assert make(tmp_path / "out", seed=8, force=True)["seed"] == 8
    assert storyproof.verify(tmp_path / "out").ok


def test_a_url_is_written_protected_and_read(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/out"
    make(url)
    make(tmp_path / "one")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "one")
    with pytest.raises(DataError, match="is not empty; choose another folder or replace it with --force"):
        make(url, seed=8)
    found, near = storyproof.verify(url), storyproof.verify(tmp_path / "one")
    assert found == near
    assert storyproof.audit(url).totals == storyproof.audit(tmp_path / "one").totals
    far, here = (storyproof.evaluate("rules", place, split="train") for place in (url, tmp_path / "one"))
    assert (far.scores, far.intervals, list(far.predictions)) == (here.scores, here.intervals, list(here.predictions))
    assert far.run["data"] == here.run["data"]
    with pytest.raises(DataError, match="outx does not exist; give a dataset folder or a file"):
        storyproof.verify(f"{url}x")


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder in fsspec's memory, which behaves as a bucket does."""
    fsspec = pytest.importorskip("fsspec")
    yield "memory://lab/tomi"
    fsspec.filesystem("memory").store.clear()


def test_a_bucket_is_written_read_and_protected(tmp_path: Path, memory: str) -> None:
    make(memory)
    make(tmp_path / "one")
    folder = RemoteFolder(memory)
    assert {name: folder.read(name) for name in folder.sizes()} == files_of(tmp_path / "one")
    assert storyproof.verify(memory) == storyproof.verify(tmp_path / "one")
    assert storyproof.audit(memory).totals == storyproof.audit(tmp_path / "one").totals
    assert storyproof.load(memory, "train").equals(storyproof.load(tmp_path / "one", "train"))
    file = f"{memory}/train-00001-of-00003.parquet"
    assert storyproof.load(file).equals(storyproof.load(tmp_path / "one" / "train-00001-of-00003.parquet"))
    for model, more in (("rules", {}), ("majority", {}), ("rules", {"max_stories": 5})):
        far, here = (storyproof.evaluate(model, place, **more) for place in (memory, tmp_path / "one"))
        assert (far.scores, list(far.predictions)) == (here.scores, list(here.predictions))
        assert far.run["data"] == here.run["data"]
    with pytest.raises(DataError, match="is not empty; choose another folder or replace it with --force"):
        make(memory, seed=8)
    folder.write("notes.txt", b"mine")
    with pytest.raises(DataError, match=r"files that storyproof did not write.*notes\.txt"):
        make(memory, seed=8, force=True)
    folder.remove(["notes.txt"])
    assert make(memory, seed=8, force=True)["seed"] == 8
    with pytest.raises(DataError, match=f"{memory}/x contains no data; expected files ending in"):
        storyproof.load(f"{memory}/x")


def test_a_bucket_is_resumed(tmp_path: Path, memory: str, caplog: pytest.LogCaptureFixture) -> None:
    make(tmp_path / "one")
    with pytest.raises(KeyboardInterrupt):
        make(memory, engine=Stopping(3))
    with pytest.raises(DataError, match="tomi is unfinished: the run that wrote it was killed; run the same command"):
        storyproof.load(memory)
    with pytest.raises(DataError, match=r"unfinished dataset of another command: its seed is 7, and now 8; run that"):
        make(memory, seed=8)
    make(memory)
    assert "2 of 5 shards were done" in caplog.text
    folder = RemoteFolder(memory)
    assert {name: folder.read(name) for name in folder.sizes()} == files_of(tmp_path / "one")
    other = RemoteFolder(f"{memory}/2")
    with pytest.raises(KeyboardInterrupt):
        make(str(other), benchmark="clutrr", format="csv", seed=8, engine=Stopping(3))
    other.write("train-00002-of-00003.csv", b"a shard that was stored a moment before its record")
    make(str(other), force=True)
    assert other.sizes().keys() == files_of(tmp_path / "one").keys()


def test_what_a_bucket_lacks_is_named(memory: str) -> None:
    make(memory)
    RemoteFolder(memory).remove(["train-00001-of-00003.parquet"])
    with pytest.raises(DataError, match=r"memory://lab/tomi has no train-00001-of-00003\.parquet, one of the 3 shards"):
        storyproof.load(memory, "train")


def test_places_and_formats_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nonsense://x/y cannot be reached"):
        make("nonsense://x/y")
    with pytest.raises(ConfigError, match="--shard-stories is 0; use 1 or more"):
        make(tmp_path / "out", shard_stories=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("url", "extra"), [("s3://lab/x", "s3"), ("gs://lab/x", "gcs"), ("memory://x", "ray")])
def test_what_a_url_needs_is_named(url: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setattr("storyproof.runtime.optional_packages.installed", lambda package: False)
    with pytest.raises(ConfigError, match=rf"'fsspec', which is not installed: pip install 'storyproof\[{extra}\]'"):
        make(url)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    make(tmp_path / "shards", format="jsonl")
    return tmp_path / "shards"


def changed(folder: Path, name: str, change: Any) -> None:
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    change(rows)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def set_first(**values: Any) -> Any:
    return lambda rows: rows[0].update(values)


@pytest.mark.parametrize(
    "change",
    only_first(
        4,
        [
            lambda rows: None,
            set_first(answer="nowhere"),
            set_first(benchmark="other"),
            set_first(id="my own"),
            set_first(id="train-000000000-0", story_id="train-000000000"),
            lambda rows: rows.reverse(),
            lambda rows: [row.update(benchmark="other") for row in rows[1:]],
            lambda rows: rows[3].update(story_id="train-000000047"),
            lambda rows: rows.append(rows[0]),
            lambda rows: [row.update(id=f"own {place % 7}") for place, row in enumerate(rows)],
        ],
    ),
)
def test_files_that_are_read_apart_give_the_same_findings_in_the_same_order(shards: Path, change: Any) -> None:
    changed(shards, "train-00001-of-00003.jsonl", change)
    one = storyproof.verify(shards)
    with make_engine() as engine:
        assert storyproof.verify(shards, engine=engine) == one
        assert storyproof.audit(shards, engine=engine) == storyproof.audit(shards)


def test_whoever_reads_a_file_also_hashes_it(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process that hashes the files of all others would keep them waiting."""

    def refuse(path: Path) -> str:
        raise AssertionError(path)

    monkeypatch.setattr("storyproof.datasets.manifest.file_sha256", refuse)
    with make_engine(workers=2) as engine:
        assert storyproof.verify(shards, engine=engine).ok
    with (shards / "train-00001-of-00003.jsonl").open("a") as file:
        file.write("\n")
    with make_engine(workers=2) as engine:
        [finding] = storyproof.verify(shards, engine=engine).findings
    assert "train-00001-of-00003.jsonl differs from the manifest" in finding.found


def test_many_large_files_are_audited_on_all_cores(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.audits.audit.available_cores", lambda: 16)
    assert audit.usual_workers([shards]) == 1  # small ones are not worth a process
    monkeypatch.setattr("storyproof.audits.audit._WORKER_BYTES", 1)
    files = sorted(shards.glob("*.jsonl"))
    assert len(files) > 2
    assert [audit.usual_workers([shards]), audit.usual_workers(files[:2])] == [16, 16]  # they are divided
    assert audit.usual_workers(["s3://bucket/data", shards / "missing"]) == 1
    monkeypatch.setattr("storyproof.audits.audit.available_cores", lambda: 2)
    assert audit.usual_workers([shards]) == 2


def test_of_damaged_files_the_first_one_is_named(shards: Path) -> None:
    for number in (1, 2):
        (shards / f"train-0000{number}-of-00003.jsonl").write_text("{\n")
    with make_engine() as engine, pytest.raises(DataError, match="train-00001-of-00003"):
        storyproof.verify(shards, engine=engine)


@pytest.mark.parametrize("kind", ["here", "remote"])
def test_a_folder_names_its_files(tmp_path: Path, memory: str, kind: str) -> None:
    folder = LocalFolder(tmp_path, "scratch") if kind == "here" else RemoteFolder(memory)
    assert folder.sizes() == {}
    folder.write("a", b"123")
    folder.write("b/c", b"4")
    with folder.scratch() as scratch:
        (scratch / "file").write_bytes(b"56")
        folder.put(scratch / "file", "d")
    folder.remove_folder("scratch")
    assert folder.sizes() == {"a": 3, "b/c": 1, "d": 2}
    assert folder.read("a") == b"123"
    assert folder.read("x") is None
    folder.remove_folder("b")
    folder.remove_folder("b")
    assert folder.sizes() == {"a": 3, "d": 2}


# --- damaged datasets


def _remove(folder: Path) -> None:
    (folder / "train-00001-of-00003.jsonl").unlink()


def _copy(name: str) -> Any:
    return lambda folder: (folder / name).write_bytes((folder / "train-00001-of-00003.jsonl").read_bytes())


def _truncate(folder: Path) -> None:
    path = folder / "train-00001-of-00003.jsonl"
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_remove, r"shards has no train-00001-of-00003\.jsonl, one of the 3 shards of 'train'; copy the dataset again"),
        (_copy("train-00003-of-00003.jsonl"), r"contains train-00003-of-00003\.jsonl besides the 3 shards of 'train'"),
        (_copy("train.jsonl"), r"contains train\.jsonl besides the 3 shards of 'train'; remove one of them"),
        (_copy("train-00001-of-00003.csv"), r"contains train-00001-of-00003\.jsonl besides train-00001-of-00003\.csv,"),
        (_copy("train-00001-of-00004.jsonl"), r"contains train-00001-of-00004\.jsonl besides train-…-of-00003\.jsonl,"),
    ],
)
def test_damage_is_named_in_one_sentence_by_every_reader(shards: Path, damage: Any, said: str) -> None:
    damage(shards)
    for read in (
        lambda: storyproof.load(shards, "train"),
        lambda: storyproof.verify(shards),
        lambda: storyproof.audit(shards),
        lambda: storyproof.evaluate("rules", shards, split="train"),
        lambda: storyproof.process(shards, shards.parent / "processed"),
        lambda: storyproof.show(shards, BLOCK * 2 + 1, split="train"),
    ):
        with pytest.raises(DataError, match=said):
            read()
    assert not (shards.parent / "processed").exists()


def test_a_truncated_shard_is_named_by_every_reader_and_audited_but_for_its_last_row(shards: Path) -> None:
    name = "train-00001-of-00003.jsonl"
    _truncate(shards)
    for read in (
        lambda: storyproof.load(shards, "train"),
        lambda: storyproof.evaluate("rules", shards, split="train"),
        lambda: storyproof.process(shards, shards.parent / "processed"),
        lambda: storyproof.show(shards, BLOCK * 2 + 1, split="train"),
    ):
        with pytest.raises(DataError, match=r"train-00001-of-00003\.jsonl, line 288: not valid JSON"):
            read()
    assert not (shards.parent / "processed").exists()
    for check in (storyproof.verify, storyproof.audit):
        report = check(shards)
        assert not report.ok
        assert report.unread == {"record": 1}
        assert report.totals["judged"] == report.totals["rows"] - 1
        [unread] = [each for each in report.findings if each.kind == UNREAD]
        assert (unread.file, unread.row, unread.line) == (name, 287, 288)
        assert unread.found.startswith("not valid JSON (")
        assert f"{name} differs from the manifest (sha256)" in {each.found for each in report.findings}


def test_a_shard_of_another_dataset_is_named(tmp_path: Path) -> None:
    make(tmp_path / "one")
    make(tmp_path / "two", seed=8)
    name = "train-00001-of-00003.parquet"
    (tmp_path / "one" / name).write_bytes((tmp_path / "two" / name).read_bytes())
    [found] = storyproof.verify(tmp_path / "one").findings
    assert found.found == f"{name} differs from the manifest (sha256)"


def reading(folder: Path) -> list[Callable[[], Any]]:
    return [
        lambda: storyproof.load(folder, "train"),
        lambda: storyproof.verify(folder),
        lambda: storyproof.evaluate("rules", folder, split="train"),
        lambda: storyproof.evaluate("rules", folder, split="train", engine=make_engine()),
    ]


def test_a_shard_that_is_there_under_two_names_is_named(tmp_path: Path) -> None:
    make(tmp_path / "one")
    (first, second) = ("train-00000-of-00003.parquet", "train-00001-of-00003.parquet")
    (tmp_path / "one" / second).write_bytes((tmp_path / "one" / first).read_bytes())
    said = rf"one/{second} begins with the rows of {first}, from train-000000000-0 on, so they are there twice; copy"
    for read in reading(tmp_path / "one"):
        with pytest.raises(DataError, match=said):
            read()


def test_a_shard_of_another_benchmark_is_named(tmp_path: Path) -> None:
    make(tmp_path / "one")
    name = "train-00001-of-00003.parquet"
    table = pq.read_table(tmp_path / "one" / name)
    others, place = pa.array(["tomi-matched"] * table.num_rows), table.column_names.index("benchmark")
    pq.write_table(table.set_column(place, "benchmark", others), tmp_path / "one" / name)
    said = rf"one/{name} holds rows of 'tomi-matched'; expected 'tomi' as in the shards before it; copy the dataset"
    for read in reading(tmp_path / "one"):
        with pytest.raises(DataError, match=said):
            read()


def test_a_shard_with_another_schema_is_named(tmp_path: Path) -> None:
    make(tmp_path / "x")
    path = tmp_path / "x" / "train-00001-of-00003.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["chain"]), path)
    for read in reading(tmp_path / "x"):
        with pytest.raises(
            DataError, match=r"00001-of-00003\.parquet lacks the column 'chain'; expected the columns of the"
        ):
            read()
    path.write_bytes(b"PAR1")
    for read in reading(tmp_path / "x"):
        with pytest.raises(DataError, match=r"train-00001-of-00003\.parquet is not a readable Parquet file"):
            read()


def test_a_format_of_many_files_is_read_as_one_split(tmp_path: Path) -> None:
    """A shard is then several files, and not every shard has all of them."""
    counts = {"train": 120, "test": 60, "seed": 7, "shard_stories": BLOCK, "format": "csv"}
    storyproof.generate("clutrr", **counts, out=tmp_path / "many", test_k=(2, 3))
    storyproof.generate("clutrr", **{**counts, "shard_stories": 6144}, out=tmp_path / "one", test_k=(2, 3))
    for split in ("train", "test"):
        many, one = (storyproof.load(tmp_path / name, split) for name in ("many", "one"))
        columns = ["story", "question", "answer"]
        assert sorted(map(str, many.select(columns).to_pylist())) == sorted(map(str, one.select(columns).to_pylist()))
    assert storyproof.verify(tmp_path / "many").ok


@pytest.mark.parametrize("format", ["parquet", "hf", "babi"])
def test_a_sharded_split_is_one_for_solvers_and_pages(tmp_path: Path, format: str) -> None:
    make(tmp_path / "many", format=format)
    storyproof.generate("tomi", **COUNTS, seed=7, out=tmp_path / "one", format=format)
    many, one = (storyproof.load(tmp_path / name, "train") for name in ("many", "one"))
    columns = ["story", "question", "answer", "question_type", "story_type"]
    assert many.select(columns).equals(one.select(columns))
    scores = [storyproof.evaluate("rules", tmp_path / name, split="train").scores for name in ("many", "one")]
    assert scores[0] == scores[1]
    assert storyproof.process(tmp_path / "many", tmp_path / "p")["splits"]["train"] == {
        "stories": 120,
        "questions": 720,
    }
    if format == "hf":
        assert "path: train-*.parquet" in (tmp_path / "many" / "README.md").read_text()
        sets = json.loads((tmp_path / "many" / "croissant.json").read_text())
        ids = {each["@id"] for each in sets["distribution"]}
        used = {field["source"]["fileSet"]["@id"] for split in sets["recordSet"] for field in split["field"]}
        assert used == {"train-shards", "test-shards"}
        assert used <= ids
