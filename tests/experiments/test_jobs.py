"""Jobs must be told apart by all that decides what is trained: an encoder's files, not its name, and the recipe."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storyproof.experiments.declaring import read
from storyproof.experiments.jobs import plan
from storyproof.experiments.sets import Sets
from storyproof.solvers.neural.recipes import MODELS


def encoder(folder: Path, weights: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(weights)
    return folder


def folders(encoder: Path | str) -> dict[str, str]:
    declared = read("clutrr-generalization", quick=True)
    jobs = plan(declared, Sets(None), Path("runs"), None, str(encoder)).jobs
    return {job.title: job.folder.name for job in jobs}


def test_encoders_are_told_apart_by_their_files(tmp_path: Path) -> None:
    one = folders(encoder(tmp_path / "one/minilm", "weights"))
    other = folders(encoder(tmp_path / "other/minilm", "other weights"))
    moved = folders(encoder(tmp_path / "elsewhere/renamed", "weights"))
    assert one == moved
    changed = {title.partition(" ")[0] for title in one if one[title] != other[title]}
    assert changed == {"bert", "bert-lstm"}


def test_names_on_the_hub_are_told_apart() -> None:
    one, other = folders("some/minilm"), folders("other/minilm")
    assert {title.partition(" ")[0] for title in one if one[title] != other[title]} == {"bert", "bert-lstm"}


def test_an_encoder_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def identity(name: str) -> str:
        asked.append(name)
        return "some"

    monkeypatch.setattr("storyproof.solvers.neural.encoder_identity.encoder_identity", identity)
    folders(tmp_path)
    assert asked == [str(tmp_path)]
    plan(read("tomi-table3", quick=True), Sets(None), Path("runs"), None, str(tmp_path))  # no model stands on it
    assert asked == [str(tmp_path)]


@pytest.mark.parametrize("change", [{"version": 9}, {"training": {"clip": 3.0}}, {"options": {"policy": "learned"}}])
def test_what_a_recipe_says_counts(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = folders("some/minilm")
    monkeypatch.setitem(MODELS, "gat", replace(MODELS["gat"], **change))
    after = folders("some/minilm")
    assert {title.partition(" ")[0] for title in before if before[title] != after[title]} == {"gat"}


def test_planning_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from tests.experiments.test_jobs import folders; folders(sys.argv[1]);"
        "assert not {'torch', 'transformers'} & {*sys.modules}"
    )
    folder = encoder(tmp_path / "minilm", "weights")
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=root, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
