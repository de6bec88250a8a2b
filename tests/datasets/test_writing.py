import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof import __version__
from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.content_hash import ContentHash
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.manifest import file_sha256
from storyproof.datasets.shards import tally_rows
from storyproof.datasets.writing import write_dataset
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.families.belief.benchmarks.tomi import Tomi
from storyproof.formats.jsonl import JsonlSplit
from tests.groups import only_first, try_examples
from tests.samples import table


def write(out: Path, benchmark: str = "tomi", **options: Any) -> dict[str, Any]:
    return write_dataset(make_benchmark(benchmark, seed=0), {"test": 96}, out, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def break_blocks(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    whole: Callable[..., Any] = Tomi.beginning  # which makes whole blocks, too

    def beginning(self: Tomi, split: str, index: int, stories: int) -> Any:
        if split == "test":
            raise error
        return whole(self, split, index, stories)

    monkeypatch.setattr(Tomi, "beginning", beginning)


FORMATS = ("parquet", "jsonl", "babi")


@pytest.mark.parametrize("format_name", FORMATS)
def test_manifest(tmp_path: Path, format_name: str) -> None:
    out = tmp_path / "deep" / "data"
    counts = {"train": 6, "val": 0, "test": 96}
    manifest = write_dataset(make_benchmark("tomi", seed=0), counts, out, format_name=format_name)
    assert manifest == json.loads((out / "manifest.json").read_text())
    about = {name: manifest[name] for name in ("storyproof", "benchmark", "version", "seed", "format", "readings")}
    assert about == {
        "storyproof": __version__,
        "benchmark": "tomi",
        "version": Tomi.version,
        "seed": 0,
        "format": format_name,
        "readings": ["open", "closed", "infer-mover"],
    }
    assert manifest["config"]["disjoint"] == []
    assert len(manifest["config"]["vocabulary"]["agents"]) >= 40
    assert list(manifest["splits"]) == ["train", "test"]
    test = manifest["splits"]["test"]
    assert (test["stories"], test["questions"]) == (96, 576)
    assert test["story_types"] == {"false_belief": 32, "second_order_false_belief": 32, "true_belief": 32}
    types = table("tomi", "test").column("question_type").to_pylist()
    assert test["question_types"] == {name: types.count(name) for name in sorted(set(types))}
    content = ContentHash()
    content.add(table("tomi", "test"))
    assert test["content_sha256"] == content.hexdigest()
    for name, entry in manifest["files"].items():
        assert entry == {"bytes": (out / name).stat().st_size, "sha256": file_sha256(out / name)}
    assert {path.name for path in out.iterdir()} == {*manifest["files"], "manifest.json"}
    assert storyproof.verify(out).ok


def test_names_in_the_published_form(tmp_path: Path) -> None:
    storyproof.generate("tomi", train=3, val=3, test=3, out=tmp_path / "x", format="babi")
    assert set(contents(tmp_path / "x")) == {
        *(f"{split}.{end}" for split in ("train", "val", "test") for end in ("txt", "trace")),
        "manifest.json",
    }


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("format_name", FORMATS)
def test_failure_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, format_name: str
) -> None:
    break_blocks(monkeypatch, error)
    expected = DataError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):  # in the second split, when the first is written
        storyproof.generate("tomi", train=3, test=3, out=tmp_path / "data", format=format_name)
    assert list(tmp_path.iterdir()) == []


def test_failure_closes_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    close = JsonlSplit.close

    def recorded(self: JsonlSplit) -> list[Path]:
        (path,) = close(self)
        closed.append(path.name)
        return [path]

    monkeypatch.setattr(JsonlSplit, "close", recorded)
    break_blocks(monkeypatch, RuntimeError("no"))
    with pytest.raises(RuntimeError):
        write(tmp_path / "data", format_name="jsonl")
    assert closed == ["test.jsonl"]


def test_full_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_blocks(monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(DataError, match=r"cannot write .*data: No space left on device; nothing was kept"):
        write(tmp_path / "data")


def test_folder_that_holds_something_is_kept(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    with pytest.raises(DataError, match="is not empty; choose another folder or replace it with --force"):
        write(tmp_path)
    assert contents(tmp_path) == {"note": b"mine"}


def test_empty_folder_is_used(tmp_path: Path) -> None:
    out = tmp_path / "data"
    out.mkdir()
    write(out)
    assert set(contents(out)) == {"test.parquet", "manifest.json"}
    assert list(tmp_path.iterdir()) == [out]


def test_force_replaces(tmp_path: Path) -> None:
    out = tmp_path / "data"
    write(out, format_name="jsonl")
    write(out, format_name="parquet", force=True)
    assert set(contents(out)) == {"test.parquet", "manifest.json"}
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
def test_force_keeps_the_old_one_if_the_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    out = tmp_path / "data"
    write(out)
    before = contents(out)
    break_blocks(monkeypatch, error)
    with pytest.raises(type(error)):
        write(out, force=True)
    assert contents(out) == before
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("exchanging", [False, True])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_force_keeps_the_old_one_if_the_last_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, exchanging: bool
) -> None:
    out = tmp_path / "data"
    write(out)
    before = contents(out)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if "unfinished" in self.name:
            raise error
        return rename(self, target)

    def refusing(first: Path, second: Path) -> bool:
        if exchanging:
            raise error
        return False

    monkeypatch.setattr(Path, "rename", failing)
    monkeypatch.setattr("storyproof.datasets.folders.exchange", refusing)
    with pytest.raises(DataError if isinstance(error, OSError) else KeyboardInterrupt):
        write(out, force=True)
    assert contents(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_unwritable(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(DataError, match="file is a file; choose a folder for --out"):
        write(file)
    with pytest.raises(DataError, match=r"cannot write to .*file: .*; choose another folder for --out"):
        write(file / "data")
    with pytest.raises(DataError, match=r"cannot write to /proc: .*; choose another folder for --out"):
        write(Path("/proc/data"))
    assert contents(tmp_path) == {"file": b"mine"}


def test_wrong_settings_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "data"
    with pytest.raises(
        UnknownNameError, match=r"unknown format of tomi 'parkett'.*Known: babi, hf, inspect, jsonl, parquet"
    ):
        write(out, format_name="parkett")
    with pytest.raises(ConfigError, match="--workers is 0; use 1 or more"):
        storyproof.generate("tomi", test=96, out=out, workers=0)
    with pytest.raises(ConfigError, match="no stories requested; set --train, --val or --test"):
        write_dataset(make_benchmark("tomi"), {"test": 0}, out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("benchmark", "format_name"), only_first(1, [("tomi", "babi"), ("tom-babi-easy", "jsonl")]))
def test_workers_change_nothing(tmp_path: Path, benchmark: str, format_name: str) -> None:
    stories = BLOCK_STORIES + 12
    for workers in (1, 2):
        out = tmp_path / str(workers)
        storyproof.generate(benchmark, test=stories, out=out, format=format_name, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_formats_hold_the_same_content(tmp_path: Path) -> None:
    # Parquet's bytes may change with its library, so the content hash is what counts.
    parquet, jsonl = (write(tmp_path / name, "tom-babi-easy", format_name=name) for name in ("parquet", "jsonl"))
    assert parquet["splits"] == jsonl["splits"]


def test_progress_adds_up(tmp_path: Path) -> None:
    done: list[int] = []
    storyproof.generate("tom-babi-easy", train=BLOCK_STORIES + 12, test=24, out=tmp_path / "x", progress=done.append)
    assert done == [BLOCK_STORIES, 12, 24]


def test_a_longer_dataset_begins_with_the_shorter_one(tmp_path: Path) -> None:
    for stories in (12, 24):
        storyproof.generate("tom-babi-easy", test=stories, out=tmp_path / str(stories), format="jsonl")
    short, long = ((tmp_path / stories / "test.jsonl").read_bytes() for stories in ("12", "24"))
    assert long.startswith(short)
    assert len(long) > len(short)


def test_hash_seed_changes_nothing(tmp_path: Path) -> None:
    for benchmark in ("tomi", "tom-babi-easy"):
        made = []
        for hash_seed in ("0", "1"):
            out = tmp_path / benchmark / hash_seed
            code = f"import storyproof; storyproof.generate({benchmark!r}, train=24, test=12, out={str(out)!r}, seed=5)"
            subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})
            made.append((out / "manifest.json").read_bytes())
        assert made[0] == made[1]


# ---------------------------------------------------------------------------------------------------------- counts


words = st.none() | st.sampled_from(["a", "b", "c"])


@try_examples(40)
@given(st.lists(st.tuples(st.integers(0, 3), words, words), min_size=1, max_size=30))
def test_rows_are_counted_by_the_values_of_columns(rows: list[tuple[int, str | None, str | None]]) -> None:
    """Story types once per story: rows that follow each other share one."""
    rows = sorted(rows, key=lambda row: row[0])
    stories = pa.array([f"story {row[0]}" for row in rows]).dictionary_encode()
    columns = [stories, pa.array([row[1] for row in rows], pa.string()).dictionary_encode()]
    table = pa.table([*columns, pa.array([row[2] for row in rows], pa.string())], ["story", "story_type", "answer"])
    counted = {"story_types": ("story_type",), "answers": ("answer",), "both": ("story_type", "answer")}
    found: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in counted}
    for part in (table, table):  # block after block
        tally_rows(part, counted, found)
    firsts = [row for place, row in enumerate(rows) if place == 0 or rows[place - 1][0] != row[0]]
    assert found["story_types"] == Counter((str(row[1]),) for row in firsts * 2)
    assert found["answers"] == Counter((str(row[2]),) for row in rows * 2)
    assert found["both"] == Counter((str(row[1]), str(row[2])) for row in rows * 2)


def test_a_benchmark_imports_no_other(tmp_path: Path) -> None:
    """Starting takes as long as generating some thousand stories, so nothing is imported that is not needed."""
    command = ["storyproof", "generate", "clutrr", "--train", "6", "--test", "0", "--out", str(tmp_path / "x")]
    program = (
        "import sys\n"
        "from storyproof.cli import main\n"
        f"sys.argv = {command}\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code\n"
        "unwanted = ('storyproof.families.belief', 'rich.console', 'storyproof.families.kinship.oracle')\n"
        "print([name for name in sys.modules if name.startswith(unwanted)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
