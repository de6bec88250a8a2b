from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.benchmark import Benchmark
from storyproof.datasets.content import ContentHash
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.reading import find_source
from storyproof.datasets.shards import RECORDS, plan_shards
from storyproof.engines import make_engine
from storyproof.errors import ConfigError, DataError
from storyproof.storage import StoredFolder
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

    def __init__(self, most: int) -> None:
        self._most = most

    def run(self, work: Any, items: Any) -> Iterator[tuple[int, Any]]:
        for place, item in enumerate(items):
            if place == self._most:
                raise KeyboardInterrupt
            yield place, work(item)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make(out: str | Path, **more: Any) -> dict[str, Any]:
    return storyproof.generate("tomi", **{**COUNTS, "seed": 7, "shard_stories": BLOCK, "out": out, **more})


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
        assert {**entry, "shards": len(find_source(tmp_path / "many", split).files)} == manifest["splits"][split]
    assert storyproof.verify(tmp_path / "many").ok


def test_shards_depend_on_the_command_alone() -> None:
    made = make_benchmark("tomi", 7)
    for count, shards in ((3, 1), (BLOCK * 64, 64), (BLOCK * 65, 33), (BLOCK * 160 * 70, 70)):
        plan = plan_shards(made, {"train": count, "test": 0})
        assert len(plan) == shards
        assert sum(each.blocks for each in plan) == made.block_count(count)
        assert all(one.first + one.blocks == two.first for one, two in pairwise(plan))


def test_a_run_that_was_stopped_resumes_with_what_is_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make(tmp_path / "one")
    out = tmp_path / "two"
    with pytest.raises(KeyboardInterrupt):
        make(out, engine=Stopping(2))
    assert not (out / "manifest.json").exists()
    [problem] = [each.found for each in storyproof.verify(out).findings if each.kind == "manifest"]
    assert problem == "the folder is unfinished: the run that wrote it was killed"
    kept = out / "train-00000-of-00003.parquet"
    before = kept.stat().st_mtime_ns
    (out / "train-00001-of-00003.parquet").write_bytes(b"cut")  # is made again
    (out / RECORDS / "tmp123").mkdir()  # what a killed worker leaves
    done: list[int] = []
    make(out, progress=done.append)
    assert "1 of 5 shards were done" in caplog.text
    assert sum(done) == 180
    assert kept.stat().st_mtime_ns == before
    assert files_of(out) == files_of(tmp_path / "one")


def test_a_folder_without_a_first_shard_is_unfinished(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        make(out, engine=Stopping(2))
    for path in out.glob("*.parquet"):
        path.unlink()
    for read in (storyproof.verify, storyproof.load):
        with pytest.raises(
            DataError, match="out is unfinished: the run that wrote it was killed; run the same command again"
        ):
            list(read(out))


def test_an_unfinished_dataset_of_another_command_is_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "out", engine=Stopping(2))
    before = files_of(tmp_path / "out")
    with pytest.raises(DataError, match=r"unfinished dataset of another command: its seed is 7, and now 8; run that"):
        make(tmp_path / "out", seed=8)
    with pytest.raises(DataError, match="is not empty"):
        storyproof.generate("tomi", test=30, out=tmp_path / "out")
    assert files_of(tmp_path / "out") == before
    make(tmp_path / "out", seed=8, force=True)
    make(tmp_path / "eight", seed=8)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "eight")


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
    with pytest.raises(DataError, match=f"{url}x holds no data"):
        storyproof.verify(f"{url}x")


def test_places_and_formats_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nonsense://x/y cannot be reached"):
        make("nonsense://x/y")
    with pytest.raises(ConfigError, match="--format is 'babi', which is not written in shards; use"):
        make(tmp_path / "out", format="babi")
    with pytest.raises(ConfigError, match="--shard-stories is 0; use 1 or more"):
        make(tmp_path / "out", shard_stories=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("url", "extra"), [("s3://lab/x", "s3"), ("gs://lab/x", "gcs"), ("memory://x", "ray")])
def test_what_a_url_needs_is_named(url: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setattr("storyproof.extras.installed", lambda package: False)
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
            lambda rows: [row.update(benchmark="other") for row in rows],
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


def test_of_damaged_files_the_first_one_is_named(shards: Path) -> None:
    for number in (1, 2):
        (shards / f"train-0000{number}-of-00003.jsonl").write_text("{\n")
    with make_engine() as engine, pytest.raises(DataError, match="train-00001-of-00003"):
        storyproof.verify(shards, engine=engine)


def test_a_folder_names_its_files(tmp_path: Path) -> None:
    folder = StoredFolder(tmp_path / "new", "scratch")
    assert folder.sizes() == {}
    folder.write("a", b"123")
    folder.write("b/c", b"4")
    assert folder.sizes() == {"a": 3, "b/c": 1}
    assert folder.read("a") == b"123"
    assert folder.read("x") is None
    folder.remove(["a", "x"])
    folder.remove_folder("b")
    folder.remove_folder("b")
    assert folder.sizes() == {}
