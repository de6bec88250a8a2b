"""A job that cannot be done must say what to do, and keep no other up."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError, StoryproofError
from storyproof.experiments import worker
from storyproof.experiments.experiment import Outcome
from storyproof.experiments.jobs import Job
from tests.groups import only_first

pytestmark = pytest.mark.slow  # an experiment of one model runs by default (test_experiment)

TITLE = "memnn-plain on tomi-proved"


def quick(out: Path, *models: str, **more: object) -> Outcome:
    chosen = list(models) or ["memnn-plain"]
    return storyproof.experiment("tomi-table3", quick=True, out=out, device="cpu", models=chosen, **more)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Train something, forget its results, and give its folder."""
    assert quick(tmp_path).done == 1
    (folder,) = (tmp_path / "runs").glob("memnn-plain.tomi-proved.*")
    (result,) = folder.glob("tomi-proved.*.json")
    result.unlink()
    return folder


def refused(job: Path) -> str:
    with pytest.raises(DataError) as refusal:
        quick(job.parents[1])
    said = str(refusal.value)
    assert said.startswith(f"{TITLE}: {job}/")
    table = job.parents[1] / "tomi-table3-quick"
    assert said.endswith(f". Delete {job}, and run the experiment again. The table in {table} was not changed.")
    assert "--force" not in said
    assert "train the model again" not in said
    assert "give the folder of a trained run" not in said
    return said


@pytest.mark.parametrize("name", only_first(1, ["weights.safetensors", "run.json"]))
def test_damaged_runs_are_to_be_deleted_and_then_trained_again(job: Path, name: str) -> None:
    path = job / "tomi-proved" / name
    path.write_bytes(path.read_bytes()[:100])
    assert f"{name} cannot be read" in refused(job)
    shutil.rmtree(job)
    lines: list[str] = []
    assert quick(job.parents[1], progress=lines.append).done == 1
    assert lines[-1].startswith(f"{TITLE}: 2 runs, 1 epoch, ")


def test_runs_of_a_model_that_is_no_more_are_to_be_deleted(job: Path) -> None:
    path = job / "tomi-proved/run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "memnn", "options": {"breadth": 3}}))
    with pytest.raises(DataError, match=rf"Delete {job}, and run the experiment again\."):
        quick(job.parents[1])


def test_runs_that_are_gone_are_trained_again(job: Path) -> None:
    assert (job / "training").is_dir()
    shutil.rmtree(job / "tomi-proved")
    lines: list[str] = []
    assert quick(job.parents[1], progress=lines.append).done == 1
    assert [line.partition(",")[0] for line in lines] == [f"{TITLE}: 2 runs"]
    assert (job / "tomi-proved/run.json").is_file()


@pytest.mark.parametrize("plan", only_first(1, ["{}", "{"]))
def test_a_training_that_is_not_ours_is_to_be_deleted(job: Path, plan: str) -> None:
    shutil.rmtree(job / "tomi-proved")
    (job / "training/training.json").write_text(plan)
    refused(job)
    shutil.rmtree(job)
    assert quick(job.parents[1]).done == 1


@pytest.mark.slow
def test_a_training_that_another_process_is_at_is_not_to_be_deleted(job: Path) -> None:
    """It may be, although the job is claimed: one that stood still for long lost its claim, and woke up again."""
    from storyproof.solvers.neural import checkpoint

    shutil.rmtree(job / "tomi-proved")
    with (
        checkpoint.claimed(job / "training"),
        pytest.raises(ConfigError, match=rf"{TITLE}: another process is training in .*; wait until it ends") as said,
    ):
        quick(job.parents[1])
    assert "Delete" not in str(said.value)
    assert quick(job.parents[1]).done == 1


@pytest.mark.slow
def test_one_that_breaks_down_would_again(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from storyproof.solvers.neural import checkpoint
    from storyproof.solvers.neural.training_loop import DivergedError, Epoch

    def fit(*_: Any, **__: Any) -> bool:
        raise DivergedError(Epoch(3, [1.0, float("nan")], [0.5, 0.0], [0.5, 0.5]), [1], 0.001)

    shutil.rmtree(job / "tomi-proved")
    monkeypatch.setattr(checkpoint, "fit", fit)
    with pytest.raises(ConfigError, match=r"run 2 of 2 failed in epoch 3: .*; lower the rate in the"):
        quick(job.parents[1])


@pytest.mark.parametrize("kind", only_first(1, [ConfigError, DataError]))
def test_one_that_fails_keeps_nobody_else_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[StoryproofError]
) -> None:
    trained, lines = worker._train, list[str]()

    def train(job: Job, *rest: Any) -> bool:
        if job.model.name == "memnn":
            raise kind("it is broken; mend it.")
        return trained(job, *rest)

    monkeypatch.setattr(worker, "_train", train)
    folder = tmp_path / "tomi-table3-quick"
    with pytest.raises(kind) as refusal:
        quick(tmp_path, "memnn", "memnn-plain", progress=lines.append)
    assert str(refusal.value) == (
        "memnn on tomi-proved: it is broken; mend it. These failed too: memnn on tomi-30k. The table so far is "
        f"in {folder}."
    )
    assert [line.partition(",")[0] for line in lines] == [
        "memnn on tomi-proved: it is broken; mend it.",
        f"{TITLE}: 2 runs",
        "memnn on tomi-30k: it is broken; mend it.",
    ]
    cells = json.loads((folder / "results.json").read_text())["cells"]
    assert {cell["model"] for cell in cells if cell["runs"]} == {"memnn-plain"}
    assert json.loads((folder / "about.json").read_text())["done"] == 1
    monkeypatch.undo()
    assert quick(tmp_path, "memnn", "memnn-plain").done == 3


@pytest.mark.parametrize("place", only_first(1, ["training", "tomi-proved"]))
def test_one_that_cannot_be_written_keeps_nobody_else_up(job: Path, place: str) -> None:
    shutil.rmtree(job / "tomi-proved")
    shutil.rmtree(job / "training")
    (job / place).touch()
    table = job.parents[1] / "tomi-table3-quick"
    shutil.rmtree(table)
    with pytest.raises(DataError) as refusal:
        quick(job.parents[1], "memnn", "memnn-plain")
    assert str(refusal.value) == (
        f"{TITLE}: cannot write to {job}: File exists; choose another --out. The table so far is in {table}."
    )
    cells = json.loads((table / "results.json").read_text())["cells"]
    assert {(cell["model"], cell["data"]) for cell in cells if cell["runs"]} == {
        ("memnn", "tomi-proved"),
        ("memnn", "tomi-30k"),
    }


def test_other_errors_are_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: object) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "_train", train)
    with pytest.raises(ZeroDivisionError):
        quick(tmp_path)


def test_damaged_published_data_keep_nobody_else_up(tmp_path: Path) -> None:
    storyproof.generate("tomi", out=tmp_path / "published/tomi", train=12, val=6, format="babi", seed=5)
    (damaged,) = (tmp_path / "published/tomi").rglob("train.txt")
    damaged.write_text("1 There is no such story.\n2 Where is it?\tnowhere\tat all\n")
    with pytest.raises(DataError, match=r"memnn-plain on tomi: .*The table so far is in"):
        quick(tmp_path / "out", published=tmp_path / "published")
    cells = json.loads((tmp_path / "out/tomi-table3-quick/results.json").read_text())["cells"]
    assert {cell["data"] for cell in cells if cell["runs"]} == {"tomi-proved"}
