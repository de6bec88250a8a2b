"""The verb `ask`: one question, to see how a model does."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError, ModelError
from storyproof.evaluation.evaluate import read_shots
from storyproof.evaluation.matching import MATCHERS, Match, candidates_of, judge
from storyproof.evaluation.runs.questioning import ZERO_SHOT, Questioning
from storyproof.evaluation.runs.selection import Selection
from storyproof.example import Example
from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompting import NoCandidatesError, Prompt, needs_shots
from storyproof.solvers.llm.requests import Request
from storyproof.solvers.llm.running import Answered, Run
from storyproof.solvers.llm.store import Store
from storyproof.solvers.solver import Solver, load_backend, load_solver, resolve

FEW_RETRIES = 2  # somebody waits for the one answer
_OWN = "own"
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came of it.

    Attributes:
        model: Who was asked.
        example: What was asked.
        steps: Each request with the reply to it; none for a solver that is not asked by prompts.
        answer: What is matched.
        matches: By each matcher, if the right answer is known.
        cut_off: Whether the last reply was cut off before its answer, so that there is none.
    """

    model: str
    example: Example
    steps: tuple[tuple[Request, str], ...]
    answer: str
    matches: dict[str, Match]
    cut_off: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            "model": self.model,
            "story": self.example.story,
            "question": self.example.question,
            "target": self.example.answer or None,
            "steps": [{"prompt": request.text, "reply": reply} for request, reply in self.steps],
            "answer": self.answer,
            "cut_off": self.cut_off,
            "matches": {name: {"kind": each.kind, "right": each.right} for name, each in self.matches.items()},
        }


class Asker:
    """Asks one model one question after the other; the model is loaded once.

    Args:
        model: Its name, as for `evaluate`.
        prompt: How it is asked.
        data: Where solved examples are drawn from, for prompts that show some.
        options: How it is run.
        seed: For whatever draws.
        max_tokens: How long replies may be.

    Raises:
        ConfigError: If there is no such model or prompt.
    """

    def __init__(
        self,
        model: str,
        *,
        prompt: str = ZERO_SHOT,
        data: str | Path | None = None,
        options: ModelOptions | None = None,
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> None:
        self._model = model
        self._solver: Solver | None = None
        self._backend: Backend | None = None
        self._prompt: Prompt | None = None
        if not resolve(model).is_language_model:
            self._solver = load_solver(model, seed)
            return
        shots = read_shots(Path(data)) if data is not None and needs_shots(prompt) else ()
        self._prompt = Questioning(prompt=prompt, max_tokens=max_tokens, seed=seed, shots=shots).load()
        self._backend = load_backend(model, options or ModelOptions(seed=seed, retries=FEW_RETRIES))

    def ask(self, example: Example) -> Asked:
        """Ask one question.

        Raises:
            ModelError: If there is no reply.
            DataError: If the question cannot be put in this way.
        """
        steps: tuple[tuple[Request, str], ...] = ()
        cut_off = False
        if self._solver is not None:
            answer = self._solver.predict([example])[0]
        else:
            found = self._put(example)
            answer, cut_off, steps = found.answer, found.cut_off, self._steps(found)
        matches = (
            {name: judge(matcher, example, answer) for name, matcher in MATCHERS.items()} if example.answer else {}
        )
        return Asked(self._model, example, steps, answer, matches, cut_off)

    def close(self) -> None:
        """Let go of the model."""
        if self._backend is not None:
            self._backend.close()

    def _put(self, example: Example) -> Answered:
        assert self._prompt is not None
        assert self._backend is not None
        with Store(None) as store:
            run = Run(lambda: [example], self._prompt, self._backend, store)
            try:
                run.ask()
            except NoCandidatesError as error:
                if example.id != _OWN:
                    raise
                raise DataError(
                    f"--prompt {self._prompt.name} needs a story whose containers can be read, in sentences such as "
                    "'The key is in the box.'; write it so, or choose another prompt."
                ) from error
            [found] = run.answers()
        if not found.complete:
            raise ModelError(f"{self._model} gave no reply: {found.error}.")
        return found

    def _steps(self, found: Answered) -> tuple[tuple[Request, str], ...]:
        assert self._prompt is not None
        texts = [reply.text for reply in found.replies]
        requests = [self._prompt.request(found.example, texts[:number]) for number in range(len(texts))]
        return tuple((request, text) for request, text in zip(requests, texts, strict=True) if request is not None)


def ask(
    model: str,
    *,
    data: str | Path | None = None,
    index: int = 0,
    split: str | None = None,
    exclude_memory_reality: bool = False,
    story: str | None = None,
    question: str | None = None,
    answer: str | None = None,
    **settings: Any,
) -> Asked:
    """Ask a model one question: of a dataset, or one of your own.

    Args:
        model: Its name, as for `evaluate`.
        data: A dataset folder or a file.
        index: Which question of it, counted from 0.
        split: Which split.
        exclude_memory_reality: Count questions about beliefs only.
        story: A story of your own.
        question: What to ask about it.
        answer: The right answer, if it is to be judged.
        **settings: As for `Asker`: `prompt`, `options`, `seed`, `max_tokens`.

    Raises:
        ConfigError: If it is not clear what to ask.
    """
    if (data is None) == (story is None):
        raise ConfigError("give either data and an index, or a story and a question.")
    if data is not None:
        example = pick(data, index, split, exclude_memory_reality)
    else:
        if not question:
            raise ConfigError("a story needs a question; give --question.")
        example = own_example(story or "", question, answer)
    asker = Asker(model, data=data, **settings)
    try:
        return asker.ask(example)
    finally:
        asker.close()


def pick(data: str | Path, index: int, split: str | None = None, exclude_memory_reality: bool = False) -> Example:
    """Find one question of a dataset.

    Raises:
        DataError: If there are not so many.
    """
    source = find_source(data, split)
    chosen = Selection(source, exclude_memory_reality=exclude_memory_reality)
    found = next(islice(chosen.examples(), index, None), None) if index >= 0 else None
    if found is None:
        count = sum(1 for _ in chosen.examples())
        raise DataError(f"{source.name} has {count:,} questions; --index is {index}, counted from 0.")
    return found


def own_example(story: str, question: str, answer: str | None = None) -> Example:
    """Make an example of somebody's own story and question, one sentence a line; candidates are those of the story."""
    lines = [line.strip() for part in story.splitlines() for line in _SENTENCE.split(part) if line.strip()]
    example = Example(
        id=_OWN,
        story_id=_OWN,
        benchmark="",
        split="",
        story="\n".join(lines),
        question=question.strip(),
        answer=(answer or "").strip(),
        candidates=[],
        question_type="",
        order=0,
        chain=[],
        story_type="",
        false_belief=False,
        readings=[],
        proof=[],
    )
    return replace(example, candidates=list(candidates_of(example)))
