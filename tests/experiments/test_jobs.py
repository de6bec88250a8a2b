"""Jobs must be told apart by all that decides what is trained: an encoder's files, not its name, and the recipe."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.datasets.generate import generate
from storyproof.experiments.datasets import Datasets, _sample_hash
from storyproof.experiments.declaration import Experiment, read
from storyproof.experiments.jobs import plan
from storyproof.solvers.neural.models.registry import MODELS


def encoder(folder: Path, weights: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text(weights)
    return folder


def folders(encoder: Path | str) -> dict[str, str]:
    declared = read("clutrr-generalization", quick=True)
    jobs = plan(declared, Datasets(None), Path("runs"), None, str(encoder)).jobs
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

    monkeypatch.setattr("storyproof.experiments.jobs.encoder_identity", identity)
    folders(tmp_path)
    assert asked == [str(tmp_path)]
    plan(read("tomi-table3", quick=True), Datasets(None), Path("runs"), None, str(tmp_path))  # no model stands on it
    assert asked == [str(tmp_path)]


@pytest.mark.parametrize("change", [{"version": 9}, {"training": {"clip": 3.0}}, {"options": {"policy": "learned"}}])
def test_what_a_recipe_says_counts(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = folders("some/minilm")
    monkeypatch.setitem(MODELS, "gat", replace(MODELS["gat"], **change))
    after = folders("some/minilm")
    assert {title.partition(" ")[0] for title in before if before[title] != after[title]} == {"gat"}


def with_model(found: Experiment, name: str, **changes: Any) -> Experiment:
    return replace(found, models={**found.models, name: replace(found.models[name], **changes)})


def with_data(found: Experiment, name: str, **changes: Any) -> Experiment:
    return replace(found, data={**found.data, name: replace(found.data[name], **changes)})


CHANGES: dict[str, Callable[[Experiment], Experiment]] = {
    "model": lambda found: with_model(found, "memnn", model="entnet"),
    "options": lambda found: with_model(found, "memnn", options={"width": 7}),
    "training": lambda found: with_model(found, "memnn", training={"epochs": 7}),
    "training on the data": lambda found: with_data(found, "tomi-proved", training={"epochs": 7}),
    "runs": lambda found: replace(found, runs=7),
    "seed": lambda found: with_data(found, "tomi-proved", seed=7),
    "benchmark": lambda found: with_data(found, "tomi-proved", benchmark="tom-babi"),
    "settings": lambda found: with_data(found, "tomi-proved", settings={"robust": True}),
    "stories": lambda found: with_data(found, "tomi-proved", train=18),
}


def folder_of(found: Experiment, data: str, published: Path | None = None, runs: int | None = None) -> Path:
    jobs = plan(found, Datasets(published), Path("runs"), runs, None).jobs
    (job,) = [job for job in jobs if job.model.name == "memnn" and job.training_sets[0].name == data]
    return job.folder


@pytest.mark.parametrize("change", list(CHANGES))
def test_another_folder_for_another(change: str) -> None:
    declared = read("tomi-table2", quick=True)
    before, after = (folder_of(each, "tomi-proved") for each in (declared, CHANGES[change](declared)))
    assert before != after
    other = folder_of(CHANGES[change](declared), "tomi-30k") != folder_of(declared, "tomi-30k")
    assert other == (change in ("model", "options", "training", "runs"))  # what is not of the one data set alone


def test_noise_is_at_the_end_where_the_proof_comes_first() -> None:
    found = read("clutrr-robust-synthetic", quick=True)
    plain, ordered = (found.data[f"synthetic-supporting{end}"] for end in ("", "-ordered"))
    sets = Datasets(None)
    assert sets.identity(plain, 0) != sets.identity(ordered, 0)
    pairs = list(zip(sets.tests(plain), sets.tests(ordered), strict=True))
    assert any(before.story != after.story for before, after in pairs)
    for before, after in pairs:
        lines = before.story.split("\n")
        first = [lines[number - 1] for number in before.proof]
        assert after.story.split("\n") == [*first, *(line for line in lines if line not in first)]
        assert after.proof == list(range(1, len(first) + 1))
        assert (after.answer, after.question) == (before.answer, before.question)


def test_another_folder_for_another_text_of_the_same_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before release 1.0 a benchmark's stories change within its version, and so does what is trained on them."""
    declared = read("tomi-table2", quick=True)
    before = folder_of(declared, "tomi-proved")
    _sample_hash.cache_clear()
    monkeypatch.setattr(
        "storyproof.experiments.datasets.generate", lambda *given, **more: generate("tomi", train=3, seed=8)
    )
    after = folder_of(declared, "tomi-proved")
    _sample_hash.cache_clear()
    assert before != after


def test_what_leaves_a_job_as_it_is() -> None:
    declared = read("tomi-table2", quick=True)
    before = folder_of(declared, "tomi-proved")
    assert folder_of(declared, "tomi-proved", runs=declared.runs) == before
    assert folder_of(declared, "tomi-proved", runs=7) != before
    assert folder_of(with_model(declared, "memnn", label="M"), "tomi-proved") == before
    assert folder_of(with_data(declared, "tomi-proved", test=18), "tomi-proved") == before


def test_another_folder_for_other_labels_and_files(tmp_path: Path) -> None:
    storyproof.generate("tomi", out=tmp_path / "one/tomi", train=12, val=6, format="babi", seed=5)
    storyproof.generate("tomi", out=tmp_path / "other/tomi", train=12, val=6, format="babi", seed=6)
    declared = read("tomi-table2", quick=True)
    proved = with_data(declared, "tomi", labels="proved")
    found = {folder_of(each, "tomi", tmp_path / files) for each in (declared, proved) for files in ("one", "other")}
    assert len(found) == 4


def test_planning_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from tests.experiments.test_jobs import folders; folders(sys.argv[1]);"
        "assert not {'torch', 'transformers'} & {*sys.modules}"
    )
    folder = encoder(tmp_path / "minilm", "weights")
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=root, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
