"""Models of users' own: an object with `predict`, its class, or a function from the text of a prompt to a reply."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from storyproof.errors import ModelError, quoted, shorten
from storyproof.example import Example


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
