from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.solvers import solver
from storyproof.solvers.baselines import Random
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.solver import ModelReference, load_backend, load_solver, resolve
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
        ("textwrap:dedent", "function", "textwrap:dedent"),
        ("storyproof.solvers.baselines:Random", "object", "storyproof.solvers.baselines:Random"),
    ],
)
def test_names(name: str, kind: str, target: str) -> None:
    assert resolve(name) == ModelReference(kind, target)


def test_paths(tmp_path: Path) -> None:
    for folder, file in (("run", "run.json"), ("weights", "config.json"), ("other", "notes.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch()
    (tmp_path / "tiny.gguf").touch()
    assert resolve(str(tmp_path / "run")) == ModelReference("trained", str(tmp_path / "run"))
    assert resolve(str(tmp_path / "weights")) == ModelReference("hf", str(tmp_path / "weights"))
    assert resolve(str(tmp_path / "tiny.gguf")) == ModelReference("local", str(tmp_path / "tiny.gguf"))
    with pytest.raises(ConfigError, match=r"other is not a model; expected a folder with run\.json"):
        resolve(str(tmp_path / "other"))
    with pytest.raises(ConfigError, match="there is no model at"):
        resolve(str(tmp_path / "nothing"))


def test_name_that_is_also_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("rules") == ModelReference("solver", "rules")  # nothing of ours lies there
    (tmp_path / "rules" / "run.json").touch()
    with pytest.raises(
        ConfigError, match=r"'rules' is a solver, and here also a folder .*; write \./rules for the folder"
    ):
        resolve("rules")
    assert resolve("./rules") == ModelReference("trained", "rules")
    monkeypatch.chdir("/")
    assert resolve("rules") == ModelReference("solver", "rules")


def test_path_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="there is no model at rules; expected a trained run"):
        resolve(Path("rules"))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "run.json").touch()
    assert resolve(Path("rules")) == ModelReference("trained", "rules")
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
    assert resolve("gpt2") == ModelReference("vllm", "gpt2")
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


def test_names_are_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = resolve("rules")
    assert (found.name, resolve(found)) == ("rules", found)
    monkeypatch.setattr(solver, "_resolve", lambda name: pytest.fail("resolved again"))
    assert load_solver(found).predict(examples("tomi", "test")[:1])


BACKEND = """
from storyproof.solvers.llm import Reply

class Echo:
    def __init__(self, model, options):
        self.name, self._model, self._options = f"echo/{model}", model, options

    def identity(self):
        return {"model": self.name, **self._options.identity()}

    def about(self):
        return {"backend": "echo"}

    def complete(self, requests):
        for name, request in requests:
            yield name, Reply(self._model)

    def close(self):
        pass
"""


def test_backend_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution is a module and a folder with its metadata, entry points among them."""
    (tmp_path / "echoing.py").write_text(BACKEND)
    about = tmp_path / "echoing-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: echoing\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[storyproof.backends]\necho = echoing:Echo\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert resolve("echo/drawer") == ModelReference("echo", "drawer")
    storyproof.generate("tomi", test=3, seed=1, out=tmp_path / "tomi")
    found = storyproof.evaluate("echo/drawer", tmp_path / "tomi", output_dir=tmp_path / "out")
    assert {row["reply"] for row in found.predictions} == {"drawer"}
    assert (found.free_text, found.details["backend"]) == (True, {"backend": "echo"})
    assert found.path is not None
    assert found.path.name == "echo-drawer_test.json"
    with pytest.raises(UnknownNameError, match="echo/MODEL"):
        resolve("ruless")
