"""Against the real `datasets` and `mlcroissant`: `make test-integrations`."""

from __future__ import annotations

import doctest
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.catalog import names
from storyproof.errors import ConfigError, DataError

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]

BENCHMARKS = sorted(names("benchmark"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_load_dataset_opens_the_folder(tmp_path: Path, benchmark: str) -> None:
    from datasets import load_dataset

    storyproof.generate(benchmark, train=24, val=12, test=12, seed=7, out=tmp_path / "data", format="hf")
    found = load_dataset(str(tmp_path / "data"), cache_dir=str(tmp_path / "cache"))
    assert list(found) == ["train", "validation", "test"]
    for split, name in (("train", "train"), ("val", "validation"), ("test", "test")):
        expected = storyproof.load(tmp_path / "data", split).to_pylist()
        assert found[name].to_list() == expected
        assert storyproof.hf.load(tmp_path / "data", name).to_list() == expected


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_croissant_is_valid_and_its_records_are_the_rows(tmp_path: Path, benchmark: str) -> None:
    import mlcroissant

    storyproof.generate(benchmark, train=12, test=12, seed=7, out=tmp_path / "data", format="hf")
    found = mlcroissant.Dataset(jsonld=tmp_path / "data" / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert all("datePublished" in each for each in found.metadata.ctx.issues.warnings)  # nothing depends on time
    plain = [_plain(each) for each in found.records("test")]
    expected = storyproof.load(tmp_path / "data", "test").to_pylist()
    assert plain == [{f"test/{name}": value for name, value in row.items()} for row in expected]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_dataset_has_the_stories_that_generate_makes(benchmark: str) -> None:
    found = storyproof.hf.load(benchmark, "test", stories=12, seed=7)
    assert found.to_list() == storyproof.generate(benchmark, test=12, seed=7).to_pylist()


def test_dials_and_presets_reach_the_benchmark() -> None:
    rows = storyproof.hf.load("clutrr", "train", stories=20, train_k="4", seed=1)
    assert set(rows["k"]) == {4}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_stream_has_the_stories_of_stream(benchmark: str) -> None:
    rows = storyproof.hf.load(benchmark, streaming=True, stories=30, seed=7)
    expected = [row.as_row() for story in storyproof.stream(benchmark, seed=7)[:30] for row in story.rows]
    assert list(rows) == expected
    assert list(rows.features) == list(expected[0])


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storyproof.hf, "SHARD_STORIES", 10)


def test_nodes_and_workers_share_a_stream(small_shards: None) -> None:
    from datasets.distributed import split_dataset_by_node
    from torch.utils.data import DataLoader

    rows = storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)
    assert rows.num_shards == 8
    whole = [row["id"] for row in rows]
    parts = [[row["id"] for row in split_dataset_by_node(rows, rank, 4)] for rank in range(4)]
    assert sorted(each for part in parts for each in part) == sorted(whole)
    assert {len(part) for part in parts} == {len(whole) // 4}
    loader = DataLoader(rows, batch_size=None, num_workers=2)
    assert sorted(row["id"] for row in loader) == sorted(whole)


@pytest.mark.parametrize("taken", [0, 1, 59, 60, 61, 200])
def test_a_stream_resumes_where_it_was(small_shards: None, taken: int) -> None:
    rows = storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)
    before = [row["id"] for row in islice(rows, taken)]
    state = rows.state_dict()
    again = storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)
    again.load_state_dict(state)
    whole = [row["id"] for row in storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)]
    assert before + [row["id"] for row in again] == whole


def test_a_resumed_stream_makes_no_more_than_one_shard_again(small_shards: None, monkeypatch: Any) -> None:
    from storyproof.datasets.stream import Stream

    rows = storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)
    for place, _ in enumerate(rows):
        if place == 400:
            break
    state = rows.state_dict()
    made: list[int] = []
    block = Stream._block
    monkeypatch.setattr(
        Stream,
        "_block",
        lambda self, made_by, number, place: made.append(number) or block(self, made_by, number, place),
    )
    again = storyproof.hf.load("tomi", streaming=True, stories=80, seed=7)
    again.load_state_dict(state)
    next(iter(again))
    assert set(made) == {2}  # stories 48 to 71; story 66 is at the place


def test_a_stream_has_practically_no_end() -> None:
    rows = storyproof.hf.load("tomi", streaming=True)
    assert rows.num_shards * storyproof.hf.SHARD_STORIES >= storyproof.hf.ENDLESS


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        (("tomi",), {"nose": 1}, ConfigError, "unknown dial of tomi 'nose'. Known: "),
        (("tomi", "dev"), {}, ConfigError, "unknown split 'dev'"),
        (("tomi",), {"stories": 0, "streaming": True}, ConfigError, "stories is 0; use a whole number from 1 on"),
        (("tomi",), {"labels": "proved"}, ConfigError, "labels is 'proved'"),
        (("tomy",), {}, DataError, "tomy does not exist"),
        (("tomy",), {"streaming": True}, ConfigError, "streaming is True, but tomy is not a benchmark"),
    ],
)
def test_bad_arguments(arguments: Any, settings: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as stop:
        storyproof.hf.load(*arguments, **settings)
    assert message in str(stop.value)


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [test] = doctest.DocTestFinder(recurse=False).find(storyproof.hf.load, "load", globs={})
    assert len(test.examples) == 5
    assert not doctest.DocTestRunner().run(test).failed


def test_import_storyproof_imports_no_peer() -> None:
    code = (
        "import sys, storyproof; dir(storyproof); storyproof.stream('tomi'); "
        "print([name for name in ('datasets', 'inspect_ai', 'lm_eval', 'mlcroissant') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from storyproof.reports import doctor

    monkeypatch.setattr(doctor.metadata, "version", lambda name: "2.9.0")
    with pytest.raises(ConfigError, match=r"needs datasets .*but 2\.9\.0 is installed: pip install --upgrade"):
        storyproof.hf.load("tomi")
