"""The protocol that every solver follows, and what a model's name stands for.

A user's own model is an object with `predict`, its class, or a function from the text of a prompt to a reply.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from storyproof.catalog import load, names
from storyproof.errors import ConfigError, ModelError, UnknownNameError, quoted, shorten
from storyproof.example import Example
from storyproof.runtime.optional_packages import installed

if TYPE_CHECKING:
    from storyproof.solvers.llm.backend import Backend
    from storyproof.solvers.llm.messages import Reply
    from storyproof.solvers.llm.options import ModelOptions
    from storyproof.solvers.llm.prompt import Prompt
    from storyproof.solvers.llm.store import Store


SOLVER, TRAINED, OBJECT, FUNCTION, BACKEND = "solver", "trained", "object", "function", "backend"
DEFAULT_PROMPT = "zero-shot"
_TRAINED = "storyproof.solvers.neural.solver:load_trained"


Examples = Callable[[], Iterable[Example]]  # may be iterated several times


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver made of one example.

    Attributes:
        example: What was asked.
        text: The answer; empty if there is none.
        replies: Of a language model the reply to each step of the prompt, as far as it got.
        error: Why there is no answer; a request that failed is never a wrong answer.
        asked: Whether it was asked at all, or the run ended before.
        cut_off: Whether the last reply was cut off before its answer, so that there is none to be matched.
        at_limit: Whether the last reply used all tokens that it was given, so that it may have been cut off anywhere.
    """

    example: Example
    text: str
    replies: tuple[Reply, ...] = ()
    error: str | None = None
    asked: bool = True
    cut_off: bool = False
    at_limit: bool = False

    @property
    def complete(self) -> bool:
        """Whether there is an answer."""
        return self.asked and self.error is None


class Solver(Protocol):
    """Answers examples, looking at story and question only unless it says otherwise."""

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order."""


@runtime_checkable
class StreamingSolver(Protocol):
    """A solver that answers in free text, one example at a time, and may fail at some of them.

    Attributes:
        ended: Why the last stream ended before all was asked, if it did.
    """

    ended: str | None

    def stream(
        self,
        examples: Examples,
        watch: Callable[[Answer], None] | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> Iterator[Answer]:
        """Yield an answer for every example, in order; those without an answer say why.

        Args:
            examples: What to ask.
            watch: Called with each answer as it comes, in any order.
            stopping: Returns whether nothing more is to be asked.
        """


@runtime_checkable
class Limited(Protocol):
    """A solver that can give some answers only."""

    def can_answer(self, example: Example) -> bool:
        """Return whether the example's label is one of its answers."""


@runtime_checkable
class Divisible(Protocol):
    """A solver whose answer to an example does not depend on the other examples.

    Attributes:
        answers_apart: True.
    """

    answers_apart: bool


def answers_of(
    solver: Solver | StreamingSolver,
    examples: Examples,
    watch: Callable[[Answer], None] | None = None,
    stopping: Callable[[], bool] | None = None,
) -> Iterator[Answer]:
    """Yield a solver's answers in the order of the examples, whether it streams or answers all at once."""
    if isinstance(solver, StreamingSolver):
        yield from solver.stream(examples, watch, stopping)
        return
    rows = list(examples())
    for example, text in zip(rows, solver.predict(rows), strict=True):
        yield Answer(example, text)


@dataclass(frozen=True, slots=True)
class ModelReference:
    """What a model's name stands for.

    Attributes:
        kind: `solver` (of the catalog), `trained` (a folder), `object` (with `predict`, or a class of such),
            `function`, or the backend of a language model.
        target: Its name or path there; empty for an object or a function that was not given by name.
        name: The name as it was given.
        value: The object, class or function.
    """

    kind: str
    target: str
    name: str = field(default="", compare=False)
    value: Any = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the value, which other processes load by its name."""
        return ModelReference, (self.kind, self.target, self.name)

    @property
    def is_language_model(self) -> bool:
        """Whether it is asked by prompts."""
        return self.kind not in (SOLVER, TRAINED, OBJECT)

    def load_value(self) -> Any:
        """Return the object, class or function."""
        return _named_value(self.target) if self.value is None else self.value


ModelName = str | Path | ModelReference | Solver | type[Solver] | Callable[[str], str]


def resolve(name: ModelName) -> ModelReference:
    """Return what a model's name stands for; a reference is returned as it is.

    In turn: a name of the catalog, an existing path, a prefix (`openai/`, `vllm/`, `hf/`, `local/`), a Python function
    or class (`module:name`, `file.py:name`), and otherwise a model that vLLM is asked to find. A `Path` is a path only.
    What is no name is a model itself: an object with `predict`, its class, or a function from text to text.

    Raises:
        UnknownNameError: If it looks like a misspelt name of the catalog.
        ConfigError: If it is a path at which there is no model, both a name of the catalog and a trained run, or no
            model.
    """
    if isinstance(name, ModelReference):
        return name
    if isinstance(name, str | Path):
        return replace(_resolve(name), name=str(name))
    return _own(name, "", own_name(name))


def _own(value: object, target: str, name: str) -> ModelReference:
    """Return what a value of a Python program is as a model.

    Raises:
        ConfigError: If it is none.
    """
    if has_predict(value):
        return ModelReference(OBJECT, target, name, value)
    if isinstance(value, type):
        raise ConfigError(f"the class {name} has no method predict(examples), by which models answer; add it.")
    if callable(value):
        return ModelReference(FUNCTION, target, name, value)
    raise ConfigError(
        f"the model is {quoted(value)} ({type(value).__name__}); expected a name, a path, a function from the text of "
        "a prompt to a reply, or an object with predict(examples)."
    )


def _named_value(name: str) -> Any:
    from storyproof.solvers.llm.function_backend import load_function

    return load_function(name)


def _resolve(name: str | Path) -> ModelReference:
    if isinstance(name, Path):
        return _at(name)
    if name in names(SOLVER):
        if (Path(name) / "run.json").is_file():  # users must not get the one for the other
            raise ConfigError(
                f"'{name}' is a solver, and here also a folder with a trained run; write ./{name} for the folder, or "
                "go to another working folder for the solver."
            )
        return ModelReference(SOLVER, name)
    prefix, _, rest = name.partition("/")
    if prefix in names(BACKEND) and rest and not Path(name).exists():
        return ModelReference(prefix, rest)
    if Path(name).exists():
        return _at(Path(name))
    if ":" in name:
        return _own(_named_value(name), name, name)
    if "/" not in name:
        close = difflib.get_close_matches(name, names(SOLVER), n=1)
        if close or not installed("vllm"):
            raise UnknownNameError(SOLVER, name, [*names(SOLVER), *(f"{each}/MODEL" for each in names(BACKEND))])
    if name.startswith((".", "/", "~")) or (rest and Path(name).parent.is_dir()):  # a slip in a path
        raise _nothing_at(name)
    return ModelReference("vllm", name)


def _at(path: Path) -> ModelReference:
    """Return what is at a path."""
    if (path / "run.json").is_file():
        return ModelReference(TRAINED, str(path))
    if (path / "config.json").is_file():
        return ModelReference("hf", str(path))
    if path.suffix == ".gguf" and path.is_file():
        return ModelReference("local", str(path))
    if not path.exists():
        raise _nothing_at(path)
    raise ConfigError(
        f"{path} is not a model; expected a folder with run.json (a trained run) or config.json (Hugging Face), or a "
        ".gguf file."
    )


def _nothing_at(path: str | Path) -> ConfigError:
    return ConfigError(f"there is no model at {path}; expected a trained run or a Hugging Face folder.")


def load_solver(
    name: ModelName,
    seed: int = 0,
    encoder: str | None = None,
    *,
    options: ModelOptions | None = None,
    prompt: str | Prompt = DEFAULT_PROMPT,
    store: Store | None = None,
    likelihood: bool = True,
) -> Solver:
    """Load a solver by name.

    Args:
        name: Its name, the path of a trained run or a language model, or a model itself; see `resolve`.
        seed: For solvers and prompts that draw.
        encoder: Where the encoder of a trained run is, if it has moved.
        options: How a language model is run.
        prompt: How a language model is asked.
        store: Where replies of a language model are kept; by default in memory only.
        likelihood: Whether a language model's choices are scored by likelihood where its backend can.

    Raises:
        UnknownNameError: If there is no such solver.
        ConfigError: If an encoder is given for a solver that has none.
    """
    reference = resolve(name)
    if encoder and reference.kind != TRAINED:
        raise ConfigError(
            f"'{reference.name}' has no encoder, unlike trained runs of bert and bert-lstm; leave --encoder out."
        )
    if reference.is_language_model:
        from storyproof.solvers.llm.language_model import LanguageModel
        from storyproof.solvers.llm.options import ModelOptions

        backend = load_backend(reference, options or ModelOptions(seed=seed))
        return LanguageModel(backend, prompt, store, seed=seed, likelihood=likelihood)
    solver: Solver
    if reference.kind == OBJECT:
        value = reference.load_value()
        is_streaming = isinstance(value, StreamingSolver) and not isinstance(value, type)
        solver = value if is_streaming else OwnSolver(reference.name, value, seed)
    elif reference.kind == SOLVER:
        solver = load(SOLVER, reference.target)(seed=seed)
    else:
        solver = _import(_TRAINED)(Path(reference.target), encoder=encoder)
    return solver


def load_backend(name: ModelName, options: ModelOptions) -> Backend:
    """Load the backend of a language model by name.

    Raises:
        ConfigError: If it is not a language model, or needs a package that is not installed.
    """
    reference = resolve(name)
    if not reference.is_language_model:
        prefixes = ", ".join(f"{each}/…" for each in names(BACKEND))
        raise ConfigError(f"'{reference.name}' is not a language model; use one of {prefixes}.")
    if reference.kind == FUNCTION:
        from storyproof.solvers.llm.function_backend import Function

        return Function(reference.name, reference.load_value(), is_named=bool(reference.target))
    backend: Backend = load(BACKEND, reference.kind)(reference.target, options)
    return backend


def _import(place: str) -> Callable[..., Solver]:
    module, _, attribute = place.partition(":")
    try:
        made: Callable[..., Solver] = getattr(import_module(module), attribute)
    except ImportError as error:
        raise ConfigError(f"this needs the package '{error.name}', which is not installed.") from error
    return made


def has_predict(model: object) -> bool:
    """Return whether an object, or those of a class, answer examples."""
    return callable(getattr(model, "predict", None))


def own_name(model: object) -> str:
    """Return what runs call an object that was not given by name."""
    return str(getattr(model, "__name__", "") or type(model).__name__)


class OwnSolver:
    """A solver around a user's object; what the object returns is checked.

    Args:
        name: What messages call it.
        model: An object with `predict`, or a class of such objects, which is made with `seed` if it takes that.
        seed: For a class.

    Raises:
        ModelError: If an object of the class cannot be made.
    """

    def __init__(self, name: str, model: Any, seed: int) -> None:
        self._name = name
        self._model = self._make(model, seed) if isinstance(model, type) else model
        # Whether it is divisible or limited (see `solvers.solver`) is told from attributes.
        for attribute in ("answers_apart", "can_answer", "close"):
            if hasattr(self._model, attribute):
                setattr(self, attribute, getattr(self._model, attribute))

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Return one answer per example, in order.

        Raises:
            ModelError: If the object raises, or returns something other than one text for each example.
        """
        try:
            answers = list(self._model.predict(examples))
        except Exception as error:
            raise self._failure(error) from error
        if len(answers) != len(examples):
            raise ModelError(
                f"{self._name} returned {len(answers):,} answers to {len(examples):,} questions; expected one for each."
            )
        for example, answer in zip(examples, answers, strict=True):
            if not isinstance(answer, str):
                raise ModelError(
                    f"{self._name} answered {quoted(example.id)} by {quoted(answer)} ({type(answer).__name__}); "
                    "expected text."
                )
        return [str(answer) for answer in answers]

    def _make(self, kind: type, seed: int) -> Any:
        try:
            takes_seed = "seed" in inspect.signature(kind).parameters
        except ValueError:  # a class of an extension module
            takes_seed = False
        try:
            return kind(seed=seed) if takes_seed else kind()
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> ModelError:
        return ModelError(f"{self._name} failed: {type(error).__name__}: {shorten(str(error))}")
