import importlib
import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.solvers import neural
from storyproof.solvers.neural.data import pretrained
from storyproof.solvers.neural.saved_runs import save_runs
from storyproof.solvers.neural.solver import NeuralSolver, stands_on_encoder
from storyproof.solvers.solver import load_solver
from tests.samples import example
from tests.solvers.neural.damage import make_run, told
from tests.solvers.neural.fixtures import CLUTRR, CPU, SMALL, TOMI, FakeEncoder, course, some, trained


@pytest.fixture(scope="module")
def gat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "gat")


@pytest.fixture(scope="module")
def memnn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "memnn", "memnn", "tomi", 24)


def test_answers_by_the_best_run(gat: Path) -> None:
    solver = NeuralSolver(gat, device="cpu")
    rows = some(CLUTRR, 40)
    everybody = solver.predict_all(rows)
    assert len(everybody) == 2
    assert solver.predict(rows) == everybody[int(np.argmax(solver.run.held))]
    assert set(everybody[0]) <= set(solver.run.vocabulary.answers)
    assert solver.predict(rows[5:9]) == solver.predict(rows)[5:9]
    assert solver.predict([]) == []


def test_is_found_by_its_path(gat: Path) -> None:
    rows = some(CLUTRR, 10)
    for path in (gat, str(gat)):
        assert load_solver(path).predict(rows) == NeuralSolver(gat, device="cpu").predict(rows)


def test_evaluation(memnn: Path, tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=3, out=tmp_path / "data")
    found = storyproof.evaluate(str(memnn), tmp_path / "data", output_dir=tmp_path / "out")
    assert found.scores.questions == 36
    assert found.path is not None
    assert found.path.is_file()
    again = storyproof.evaluate(memnn, tmp_path / "data", output_dir=tmp_path / "again")
    assert again.as_dict()["model"] == str(memnn)


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A run that stands on an encoder in a folder beside it, which the real one would be loaded from."""
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}")
    settings: dict[str, Any] = {
        "epochs": 1,
        "device": "cpu",
        "encoder": str(tmp_path / "encoder"),
        "options": SMALL["bert"],
    }
    storyproof.train("bert", tmp_path / "run", benchmark="tomi", stories=12, **settings)
    return tmp_path


def test_encoder_that_has_moved(bert: Path) -> None:
    rows = some(TOMI, 12)
    known = NeuralSolver(bert / "run", device="cpu").predict(rows)
    (bert / "encoder").rename(bert / "moved")
    moved = str(bert / "moved")
    assert NeuralSolver(bert / "run", device="cpu", encoder=moved).predict(rows) == known
    assert load_solver(str(bert / "run"), encoder=moved).predict(rows) == known
    assert NeuralSolver(bert / "run", device="cpu").encoder == str(bert / "encoder")  # as before
    with pytest.raises(ConfigError, match=r"run was trained with an encoder in .*encoder, which is gone; give"):
        NeuralSolver(bert / "run", device="cpu").predict(rows)
    told(lambda plain: plain["about"].pop("encoder_identity"))(bert / "run")  # as of older versions: it may be a name
    assert NeuralSolver(bert / "run", device="cpu").predict(rows) == known


def test_encoder_is_loaded_once(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []

    def load(*given: Any) -> FakeEncoder:
        loaded.append(given)
        return FakeEncoder()

    monkeypatch.setattr(pretrained, "FrozenEncoder", load)
    solver = NeuralSolver(bert / "run", device="cpu")
    assert solver.predict(some(TOMI, 12)) == solver.predict(some(TOMI, 12))
    assert loaded == [(str(bert / "encoder"), CPU)]


def test_other_encoder(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bert / "encoder" / "config.json").write_text("[]")
    rows = some(TOMI, 12)
    said = "encoder' is not the one that .*run was trained with: its files differ; give --encoder that one"
    with pytest.raises(ConfigError, match=said):
        NeuralSolver(bert / "run", device="cpu").predict(rows)
    told(lambda plain: plain["about"].pop("encoder_identity"))(bert / "run")
    assert len(NeuralSolver(bert / "run", device="cpu").predict(rows)) == 12  # older runs do not say
    monkeypatch.setattr(FakeEncoder, "width", 16)
    said = "encoder' returns vectors of 16 numbers, but .*run was trained on vectors of 12; give --encoder the one"
    with pytest.raises(ConfigError, match=said):
        NeuralSolver(bert / "run", device="cpu").predict(rows)
    told(lambda plain: plain["about"].pop("encoder"))(bert / "run")
    with pytest.raises(ConfigError, match="does not record where its encoder is; give --encoder its folder"):
        NeuralSolver(bert / "run", device="cpu").predict(rows)


def test_encoder_for_a_run_that_stands_on_none(bert: Path, gat: Path) -> None:
    assert stands_on_encoder(bert / "run")
    assert not stands_on_encoder(gat)
    with pytest.raises(ConfigError, match="is a run of 'gat', which does not use an encoder; leave --encoder out"):
        NeuralSolver(gat, device="cpu", encoder="x")
    with pytest.raises(ConfigError, match="'rules' has no encoder, unlike trained runs of bert"):
        load_solver("rules", encoder="x")


def test_other_family(gat: Path, memnn: Path) -> None:
    with pytest.raises(ConfigError, match=r"gat was trained on kinship, and these data are about theory of mind"):
        NeuralSolver(gat, device="cpu").predict(some(TOMI, 6))
    with pytest.raises(ConfigError, match=r"memnn was trained on theory of mind, and these data are about kinship"):
        NeuralSolver(memnn, device="cpu").predict(some(CLUTRR, 6))


def test_too_long_a_question(memnn: Path) -> None:
    long = example(id="long", question="Where does Ada think that Ben thinks that Ada searches for the key?")
    with pytest.raises(DataError, match="the question of 'long' has 13 words, but the model reads at most 10"):
        NeuralSolver(memnn, device="cpu").predict([long])


def test_too_many_people(gat: Path) -> None:
    solver = NeuralSolver(gat, device="cpu")
    solver.run = replace(solver.run, vocabulary=replace(solver.run.vocabulary, pool=2))
    with pytest.raises(DataError, match="names 3 people, but the model knows at most 2; leave it out"):
        solver.predict(some(CLUTRR, 1))


def test_words_and_answers_never_met(memnn: Path) -> None:
    odd = example(story="Zoe entered the zoo.\nThe zither is in the zeppelin.", question="Where is the zither really?")
    solver = NeuralSolver(memnn, device="cpu")
    known, unknown = replace(odd, answer=solver.run.vocabulary.answers[0]), replace(odd, answer="zeppelin")
    assert set(solver.predict([known, unknown])) <= set(solver.run.vocabulary.answers)
    assert len(solver.predict([replace(odd, answer="")])) == 1  # nobody says what is right
    said = r"memnn cannot give any of the answers of these data, such as 'zeppelin', but .*; choose data or"
    with pytest.raises(ConfigError, match=said):
        solver.predict([unknown, replace(odd, answer="zoo")])
    assert len(solver.predict([unknown])) == 1
    assert solver.can_answer(known)
    assert not solver.can_answer(unknown)


def test_answers_never_met_are_counted(memnn: Path, tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path, format="jsonl")
    known = set(NeuralSolver(memnn, device="cpu").run.vocabulary.answers)
    (path,) = tmp_path.glob("test*")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    unknown = sum(row["answer"] not in known for row in rows)
    assert 0 < unknown < len(rows)
    assert storyproof.evaluate(str(memnn), path).details["unknown_answers"] == unknown
    assert "unknown_answers" not in storyproof.evaluate("rules", path).details


def test_longer_stories_than_in_training(memnn: Path) -> None:
    long = example(story="\n".join(["Ada entered the attic.", "Ada exited the attic."] * 40))
    assert len(NeuralSolver(memnn, device="cpu").predict([long])) == 1


@pytest.mark.parametrize("package", ["torch", "safetensors"])
def test_missing_package_comes_with_the_command_that_brings_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find: Any = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == package else find(name, *more))
    for name in [name for name in sys.modules if name.startswith(neural.__name__)]:
        monkeypatch.delitem(sys.modules, name)
    said = rf"models need the package '{package}', which is not installed; .*: pip install 'storyproof\[models\]'"
    with pytest.raises(ConfigError, match=said):
        storyproof.train("gat", "out", benchmark="clutrr", stories=3)
    with pytest.raises(ConfigError, match=said):
        importlib.import_module("storyproof.solvers.neural.solver")


@pytest.mark.parametrize("family", [TOMI, CLUTRR])
@pytest.mark.parametrize("name", ["memnn", "relnet", "entnet", "lstm", "bilstm-attention", "mac", "bert-lstm", "rmc"])
def test_stories_without_a_word(name: str, family: str, tmp_path: Path) -> None:
    made = trained(course(name, some(family, 40), epochs=1))
    save_runs(tmp_path, made.results()[0])
    solver = NeuralSolver(tmp_path, device="cpu")
    silent = [replace(each, story="") for each in some(family, 3)]
    assert set(solver.predict(silent)) <= set(solver.run.vocabulary.answers)
    assert len(solver.predict([*silent, *some(family, 3)])) == 6
