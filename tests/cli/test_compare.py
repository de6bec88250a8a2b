import json
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import DataError
from tests.cli.invocation import run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    storyproof.generate("tomi", test=12, seed=1, out=folder / "data")
    run("evaluate", "--model", "rules,oracle", "--data", folder / "data", "--json", folder / "runs.json")
    return folder / "runs.json"


def test_table(runs: Path) -> None:
    done = run("compare", f"{runs}:rules", f"{runs}:oracle")
    assert done.exit_code == 0, done.output
    for words in ("average", "joint", "memory", "rules", "oracle", "100.0", "72 questions of 12 stories"):
        assert words in done.stdout


def test_json(runs: Path) -> None:
    found = json.loads(run("compare", f"{runs}:rules", f"{runs}:oracle", "--json", "-").stdout)
    assert found["questions"] == 72
    assert found["accuracy"]["second"]["value"] == 1.0
    assert set(found["joint"]) == {"of", "first", "second", "difference", "p"}


def test_several_runs_in_a_file(runs: Path) -> None:
    assert isinstance(run("compare", runs, runs).exception, DataError)


def test_process(runs: Path, tmp_path: Path) -> None:
    done = run("process", runs.parent / "data", "--out", tmp_path / "out")
    assert done.stdout == f"test: 12 stories, 72 questions\nwritten to {tmp_path / 'out'}\n"
    assert isinstance(run("process", runs.parent / "data", "--out", tmp_path / "out").exception, DataError)
    assert run("process", runs.parent / "data", "--out", tmp_path / "out", "--force").exit_code == 0
    assert run("evaluate", "--model", "oracle", "--data", tmp_path / "out").exit_code == 0
