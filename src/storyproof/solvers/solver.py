"""The one protocol that every solver follows, and what a model's name stands for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from storyproof.catalog import load, names
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import Example
from storyproof.solvers.llm.extras import installed

if TYPE_CHECKING:
    from storyproof.solvers.llm.backend import Backend
    from storyproof.solvers.llm.options import ModelOptions

SOLVER, TRAINED, FUNCTION, BACKEND = "solver", "trained", "function", "backend"
_TRAINED = "storyproof.solvers.neural.solver:NeuralSolver"


class Solver(Protocol):
    """Answers examples, looking at their story and question only unless it says otherwise."""

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""


@runtime_checkable
class Limited(Protocol):
    """A solver that can give some answers only."""

    def cannot_say(self, examples: Sequence[Example]) -> int:
        """Count the examples whose label is none of its answers."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a model's name stands for.

    Attributes:
        kind: `solver` (of the catalog), `trained` (a folder), `function`, or the backend of a language model.
        target: Its name or path there.
    """

    kind: str
    target: str

    @property
    def is_language_model(self) -> bool:
        """Whether it is asked by prompts."""
        return self.kind not in (SOLVER, TRAINED)


def resolve(name: str | Path) -> Resolved:
    """Find out what a model's name stands for.

    In turn: a name of the catalog, an existing path, a prefix (`openai/`, `vllm/`, `hf/`, `local/`), a Python function
    (`module:function`), and otherwise a model that vLLM is to find. A `Path` is a path only.

    Raises:
        UnknownNameError: If it looks like a misspelt name of the catalog.
        ConfigError: If it is a path at which there is no model, or both a name of the catalog and a trained run.
    """
    if isinstance(name, Path):
        return _at(name)
    if name in names(SOLVER):
        if (Path(name) / "run.json").is_file():  # nobody is to be given the one for the other
            raise ConfigError(
                f"'{name}' is a solver, and here also a folder with a trained run; write ./{name} for the folder, or "
                "go to another working folder for the solver."
            )
        return Resolved(SOLVER, name)
    prefix, _, rest = name.partition("/")
    if prefix in names(BACKEND) and rest and not Path(name).exists():
        return Resolved(prefix, rest)
    if Path(name).exists():
        return _at(Path(name))
    if ":" in name:
        return Resolved(FUNCTION, name)
    if "/" not in name:
        close = difflib.get_close_matches(name, names(SOLVER), n=1)
        if close or not installed("vllm"):
            raise UnknownNameError(SOLVER, name, [*names(SOLVER), *(f"{each}/MODEL" for each in names(BACKEND))])
    if name.startswith((".", "/", "~")) or (rest and Path(name).parent.is_dir()):  # a slip in a path
        raise _nothing_at(name)
    return Resolved("vllm", name)


def _at(path: Path) -> Resolved:
    """Say what lies at a path."""
    if (path / "run.json").is_file():
        return Resolved(TRAINED, str(path))
    if (path / "config.json").is_file():
        return Resolved("hf", str(path))
    if path.suffix == ".gguf" and path.is_file():
        return Resolved("local", str(path))
    if not path.exists():
        raise _nothing_at(path)
    raise ConfigError(
        f"{path} is no model; expected a folder with run.json (a trained run) or config.json (Hugging Face), or a "
        ".gguf file."
    )


def _nothing_at(path: str | Path) -> ConfigError:
    return ConfigError(f"there is no model at {path}; expected a trained run or a Hugging Face folder.")


def load_solver(name: str | Path, seed: int = 0, encoder: str | None = None) -> Solver:
    """Set a solver up by name; a language model is asked with the usual prompt, and its replies are kept nowhere.

    Args:
        name: Its name, or the path of a trained run or a language model.
        seed: For solvers that draw.
        encoder: Where the encoder of a trained run lies, if it has moved.

    Raises:
        UnknownNameError: If there is no such solver.
        ConfigError: If an encoder is given for what stands on none.
    """
    found = resolve(name)
    if encoder and found.kind != TRAINED:
        raise ConfigError(f"'{name}' stands on no encoder, as trained runs of bert and bert-lstm do; leave it out.")
    if found.is_language_model:
        from storyproof.solvers.llm.model import LanguageModel
        from storyproof.solvers.llm.options import ModelOptions

        return LanguageModel(load_backend(name, ModelOptions(seed=seed)), seed=seed)
    solver: Solver
    if found.kind == SOLVER:
        solver = load(SOLVER, found.target)(seed=seed)
    else:
        solver = _import(_TRAINED)(Path(found.target), encoder=encoder)
    return solver


def load_backend(name: str | Path, options: ModelOptions) -> Backend:
    """Set a language model up by name.

    Raises:
        ConfigError: If it is none, or needs a package that is not installed.
    """
    found = resolve(name)
    if not found.is_language_model:
        known = ", ".join(f"{each}/…" for each in names(BACKEND))
        raise ConfigError(f"'{name}' is not a language model; use one of {known}.")
    if found.kind == FUNCTION:
        from storyproof.solvers.llm.functions import Function

        return Function(found.target)
    backend: Backend = load(BACKEND, found.kind)(found.target, options)
    return backend


def _import(place: str) -> type:
    module, _, attribute = place.partition(":")
    try:
        made: type = getattr(import_module(module), attribute)
    except ImportError as error:
        raise ConfigError(f"this needs the package '{error.name}', which is not installed.") from error
    return made
