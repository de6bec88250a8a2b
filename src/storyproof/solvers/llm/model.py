"""A language model as a solver like any other."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.errors import ModelError
from storyproof.example import Example
from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.prompting import load_prompt
from storyproof.solvers.llm.running import Run
from storyproof.solvers.llm.store import Store

USUAL_PROMPT = "zero-shot"


class LanguageModel:
    """Answers examples by asking a language model.

    Args:
        backend: The model.
        prompt: How it is asked.
        store: Where replies are kept; by default in memory only.
        seed: For prompts that draw.
    """

    def __init__(
        self, backend: Backend, prompt: str = USUAL_PROMPT, store: Store | None = None, *, seed: int = 0
    ) -> None:
        self._backend, self._prompt, self._store = backend, load_prompt(prompt, seed=seed), store or Store(None)

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one reply an example, in order.

        Raises:
            ModelError: If a request failed: there is no answer then, not even a wrong one.
        """
        run = Run(lambda: examples, self._prompt, self._backend, self._store)
        run.ask()
        answers = []
        for each in run.answers():
            if not each.complete:
                raise ModelError(f"{self._backend.name} gave no reply for {each.example.id}: {each.error}.")
            answers.append(each.answer)
        return answers
