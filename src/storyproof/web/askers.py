"""The solvers and models that can be asked from the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from storyproof.catalog import names
from storyproof.errors import UnknownNameError
from storyproof.evaluation.answer_judge import MistakeFinder, describe
from storyproof.evaluation.ask import FEW_RETRIES, Asker
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompt import needs_shots, prompt_names
from storyproof.solvers.llm.streamed_reply import Hear
from storyproof.solvers.solver import DEFAULT_PROMPT, resolve

_COUNTS_ANSWERS = "majority"  # has nothing to count in one question


class Askers:
    """Loads each model once, when it is first asked, and asks it one question at a time.

    A page can only name models that the server was started with, and the solvers of the catalog: a name can stand for
    a Python function or an address, and a page must not choose these.

    Args:
        models: Names as for `evaluate`, besides the solvers of the catalog.
        options: How language models are run.

    Raises:
        ConfigError: If a name stands for nothing.
    """

    def __init__(self, models: Sequence[str] = (), options: ModelOptions | None = None) -> None:
        self._references = {name: resolve(name) for name in models}
        self._options = options or ModelOptions(retries=FEW_RETRIES, concurrency=1)
        self._lock = Lock()
        self._askers: dict[tuple[str, str, bool], tuple[Asker, Lock]] = {}

    def describe(self) -> dict[str, Any]:
        """Return the models and the prompts that there are."""
        solvers = [name for name in names("solver") if name != _COUNTS_ANSWERS and name not in self._references]
        models = [{"name": name, "prompts": ref.is_language_model} for name, ref in self._references.items()]
        return {
            "models": [*models, *({"name": name, "prompts": False} for name in solvers)],
            "prompts": [name for name in prompt_names() if not needs_shots(name)],
        }

    def ask(
        self,
        model: str,
        example: Example,
        prompt: str = DEFAULT_PROMPT,
        conventions: bool = True,
        hear: Hear | None = None,
    ) -> dict[str, Any]:
        """Ask a model; return what it was asked and what it said.

        Args:
            model: Its name.
            example: The question.
            prompt: How a language model is asked.
            conventions: Whether its prompt begins with the rules that the answer rests on.
            hear: Called with what it has said so far, if it can be heard.

        Raises:
            UnknownNameError: If there is no such model or prompt here.
            StoryproofError: If there is no answer.
        """
        known = self.describe()
        asked = next((each for each in known["models"] if each["name"] == model), None)
        if asked is None:
            raise UnknownNameError("model", model, [each["name"] for each in known["models"]])
        if prompt not in known["prompts"]:
            raise UnknownNameError("prompt", prompt, known["prompts"])
        how = (prompt, conventions) if asked["prompts"] else (DEFAULT_PROMPT, True)
        with self._lock:
            if (model, *how) not in self._askers:
                made = Asker(model, prompt=how[0], options=self._options, conventions=how[1])
                self._askers[(model, *how)] = made, Lock()
            asker, lock = self._askers[(model, *how)]
        with lock:
            exchange = asker.ask(example, hear)
        careful = exchange.matches.get("careful")
        if careful is None or careful.right:
            return exchange.as_dict()
        first = MistakeFinder(example).explain(exchange.answer)[0]
        return {**exchange.as_dict(), "mistake": describe(family_of(example))[first]}

    def close(self) -> None:
        """Release all models."""
        with self._lock:
            for asker, _ in self._askers.values():
                asker.close()
            self._askers.clear()
