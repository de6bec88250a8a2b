from pathlib import Path

import pytest

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.solvers import solver
from storyproof.solvers.baselines import Random
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.solver import Resolved, load_backend, load_solver, resolve
from tests.samples import examples


def test_seed_is_passed_on() -> None:
    rows = examples("tomi", "test")
    assert load_solver("random", 4).predict(rows) == Random(4).predict(rows) != Random(0).predict(rows)


def test_unknown() -> None:
    with pytest.raises(UnknownNameError, match="unknown solver 'orakle'"):
        load_solver("orakle")


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("rules", "solver", "rules"),
        ("openai/gpt-x", "openai", "gpt-x"),
        ("openai/org/model", "openai", "org/model"),
        ("vllm/org/model", "vllm", "org/model"),
        ("hf/org/model", "hf", "org/model"),
        ("local/smollm2", "local", "smollm2"),
        ("meta-llama/Llama-2-7b-hf", "vllm", "meta-llama/Llama-2-7b-hf"),
        ("my_module:answer", "function", "my_module:answer"),
        ("my.py:answer", "function", "my.py:answer"),
    ],
)
def test_names(name: str, kind: str, target: str) -> None:
    assert resolve(name) == Resolved(kind, target)


def test_paths(tmp_path: Path) -> None:
    for folder, file in (("run", "run.json"), ("weights", "config.json"), ("other", "notes.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch()
    (tmp_path / "tiny.gguf").touch()
    assert resolve(str(tmp_path / "run")) == Resolved("trained", str(tmp_path / "run"))
    assert resolve(str(tmp_path / "weights")) == Resolved("hf", str(tmp_path / "weights"))
    assert resolve(str(tmp_path / "tiny.gguf")) == Resolved("local", str(tmp_path / "tiny.gguf"))
    with pytest.raises(ConfigError, match=r"other is no model; expected a folder with run\.json"):
        resolve(str(tmp_path / "other"))
    with pytest.raises(ConfigError, match="there is no model at"):
        resolve(str(tmp_path / "nothing"))


def test_name_that_is_also_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("rules") == Resolved("solver", "rules")  # nothing of ours lies there
    (tmp_path / "rules" / "run.json").touch()
    with pytest.raises(
        ConfigError, match=r"'rules' is a solver, and here also a folder .*; write \./rules for the folder"
    ):
        resolve("rules")
    assert resolve("./rules") == Resolved("trained", "rules")
    monkeypatch.chdir("/")
    assert resolve("rules") == Resolved("solver", "rules")


def test_path_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="there is no model at rules; expected a trained run"):
        resolve(Path("rules"))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "run.json").touch()
    assert resolve(Path("rules")) == Resolved("trained", "rules")
    with pytest.raises(ConfigError, match="'rules' is not a language model"):
        load_backend(Path("rules"), ModelOptions())


def test_path_that_looks_like_a_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hf" / "mine").mkdir(parents=True)
    (tmp_path / "hf" / "mine" / "run.json").touch()
    monkeypatch.chdir(tmp_path)
    assert resolve("hf/mine").kind == "trained"
    assert resolve("hf/other").kind == "hf"


def test_name_without_slash_is_for_vllm_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "installed", lambda package: package == "vllm")
    assert resolve("gpt2") == Resolved("vllm", "gpt2")
    with pytest.raises(UnknownNameError, match="Did you mean 'rules'"):
        resolve("rulse")
    monkeypatch.setattr(solver, "installed", lambda package: False)
    with pytest.raises(UnknownNameError, match=r"unknown solver 'gpt2'\. Known: .*vllm/MODEL"):
        resolve("gpt2")


def test_missing_extra_comes_with_the_command_that_installs_it() -> None:
    with pytest.raises(ConfigError, match=r"needs the package 'vllm', .*: pip install 'storyproof\[vllm\]'"):
        load_backend("meta-llama/Llama-2-7b-hf", ModelOptions())


def test_no_language_model() -> None:
    with pytest.raises(ConfigError, match="'rules' is not a language model"):
        load_backend("rules", ModelOptions())
