import json
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from storyproof.errors import DataError, StoryproofError
from storyproof.io.atomic_files import read_json
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS, load_runs, load_tensors, save_runs, save_tensors
from storyproof.solvers.neural.solver import NeuralSolver
from tests.solvers.neural.damage import SPOILT, make_run, told


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "gat")


def test_runs_come_back(made: Path, tmp_path: Path) -> None:
    run = load_runs(made)
    save_runs(tmp_path / "again", run)
    again = load_runs(tmp_path / "again")
    for field in ("model", "options", "shape", "vocabulary", "seeds", "held", "about"):
        assert getattr(again, field) == getattr(run, field)
    assert run.weights.keys() == again.weights.keys()
    assert all(torch.equal(value, again.weights[name]) for name, value in run.weights.items())
    assert (tmp_path / "again" / RUN).read_bytes() == (made / RUN).read_bytes()
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == (made / WEIGHTS).read_bytes()


def test_runs_are_never_mixed(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed between two files leaves none that another file contradicts."""
    run, move = load_runs(made), Path.replace
    save_runs(tmp_path, run)

    def kill(self: Path, target: Path) -> Path:
        if target.name == RUN:
            raise KeyboardInterrupt
        return move(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", kill)
        with pytest.raises(KeyboardInterrupt):
            save_runs(tmp_path, run)
    assert [path.name for path in tmp_path.iterdir()] == [WEIGHTS]


@pytest.mark.parametrize("too_large", [RUN, WEIGHTS])
def test_a_full_disk_keeps_the_old_runs(made: Path, tmp_path: Path, too_large: str) -> None:
    run = load_runs(made)
    save_runs(tmp_path, run)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    other = {name: value + 1 for name, value in run.weights.items()}
    larger = replace(run, weights=other, about={**run.about, "note": "x" * len(before[WEIGHTS])})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before[WEIGHTS]) - (too_large == WEIGHTS), limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_runs(tmp_path, larger)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_that_does_not_say_the_hash_of_its_weights_is_refused(made: Path, tmp_path: Path) -> None:
    damaged = make_copy(made, tmp_path / "run", told(lambda plain: plain.pop("weights_sha256")))
    with pytest.raises(DataError, match="has no 'weights_sha256'"):
        load_runs(damaged)


def test_runs_are_shown_in_short(made: Path) -> None:
    assert len(repr(load_runs(made))) < 500


def test_tensors_come_back(tmp_path: Path) -> None:
    tensors = {"a": torch.randn(2, 3), "b": torch.tensor(4), "c": torch.zeros(0, 5)}
    save_tensors(tmp_path / "x", tensors, {"epoch": 3, "held": [0.1]})
    found, plain = load_tensors(tmp_path / "x")
    assert plain == {"epoch": 3, "held": [0.1]}
    assert all(torch.equal(value, tensors[name]) for name, value in found.items())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]  # no drafts


@pytest.mark.parametrize("name", list(SPOILT))
def test_spoilt_runs(made: Path, tmp_path: Path, name: str) -> None:
    spoil, said = SPOILT[name]
    out = make_copy(made, tmp_path / "run", spoil)
    with pytest.raises(StoryproofError, match=said) as found:
        NeuralSolver(out, device="cpu")
    assert "\n" not in str(found.value)


def make_copy(made: Path, out: Path, spoil: Callable[[Path], Any]) -> Path:
    out.mkdir()
    for path in made.iterdir():
        (out / path.name).write_bytes(path.read_bytes())
    spoil(out)
    return out


def test_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere/run\.json cannot be read: .*give the folder of a trained run"):
        load_runs(tmp_path / "nowhere")
    (tmp_path / "x.json").write_text(json.dumps([1]))
    with pytest.raises(DataError, match=r"x\.json cannot be read: expected a JSON object; give the folder"):
        read_json(tmp_path / "x.json", "give the folder of a trained run")
