"""The verb `ask`: put one question to a solver."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from storyproof.datasets.frames import Data, takes_rows
from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError, DataError, ModelError
from storyproof.evaluation.evaluate import read_shots
from storyproof.evaluation.matching import MATCHERS, Match, judge
from storyproof.evaluation.options import AskOptions, Selection
from storyproof.example import Example
from storyproof.families import family
from storyproof.solvers.llm.language_model import INTERRUPTED, LanguageModel
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompt import NoCandidatesError, needs_shots
from storyproof.solvers.llm.streamed_reply import Hear
from storyproof.solvers.solver import DEFAULT_PROMPT, Answer, ModelName, answers_of, load_solver, resolve
from storyproof.stories import OwnText, read_own

FEW_RETRIES = 2  # a user waits for the one answer
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and the answer to it.

    Attributes:
        model: The solver's name.
        example: What was asked.
        steps: Each request with the reply to it; none for a solver that is not asked by prompts.
        answer: What is matched.
        matches: By each matcher, if the right answer is known.
        cut_off: Whether the last reply was cut off before its answer, so that there is none.
        read_as: Sentences that a program read as others, as (what was written, what it was read as).
    """

    model: str
    example: Example
    steps: tuple[tuple[Request, str], ...]
    answer: str
    matches: dict[str, Match]
    cut_off: bool = False
    read_as: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model,
            "story": self.example.story,
            "question": self.example.question,
            "target": self.example.answer or None,
            "steps": [{"prompt": request.text, "reply": reply} for request, reply in self.steps],
            "answer": self.answer,
            "cut_off": self.cut_off,
            "matches": {name: {"kind": each.kind, "right": each.right} for name, each in self.matches.items()},
            **({"read_as": [list(each) for each in self.read_as]} if self.read_as else {}),
        }


class Asker:
    """Asks one solver one question after the other; it is loaded once.

    Args:
        model: Its name, as for `evaluate`.
        prompt: How it is asked.
        data: Where solved examples are drawn from, for prompts that show some.
        options: How it is run.
        seed: For whatever draws.
        max_tokens: How long replies may be.
        conventions: Whether the prompt begins with the rules that the answer rests on.

    Raises:
        ConfigError: If there is no such model or prompt.
    """

    def __init__(
        self,
        model: ModelName,
        *,
        prompt: str = DEFAULT_PROMPT,
        data: str | Path | None = None,
        options: ModelOptions | None = None,
        seed: int = 0,
        max_tokens: int | None = None,
        conventions: bool = True,
    ) -> None:
        self._reference, self._prompt = resolve(model), prompt
        how: dict[str, Any] = {}
        if self._reference.is_language_model:
            shots = read_shots(data) if data is not None and needs_shots(prompt) else ()
            ask_options = AskOptions(
                prompt=prompt, conventions=conventions, max_tokens=max_tokens, seed=seed, shots=shots
            )
            how = {
                "prompt": ask_options.load_prompt(),
                "options": options or ModelOptions(seed=seed, retries=FEW_RETRIES),
            }
        self._solver = load_solver(self._reference, seed, **how)

    def ask(self, example: Example, hear: Hear | None = None) -> Exchange:
        """Ask one question.

        Args:
            example: The question.
            hear: Called with what a language model has said so far, if it can be heard.

        Raises:
            ModelError: If there is no reply.
            DataError: If the question cannot be asked in this way.
        """
        if isinstance(self._solver, LanguageModel):
            self._solver.forget()  # a model that draws may answer the same question otherwise
            self._solver.listen(hear)
        read_as: tuple[tuple[str, str], ...] = ()
        if not self._reference.is_language_model and example.id == family.OWN:
            example, read_as = _reworded(example)
        try:
            [answer] = answers_of(self._solver, lambda: [example])
        except NoCandidatesError as error:
            if example.id != family.OWN:
                raise
            raise DataError(
                f"the prompt '{self._prompt}' offers possible answers, and none can be read from the story; write its "
                "sentences as the benchmarks do, such as 'The key is in the box.', or choose another prompt."
            ) from error
        if getattr(self._solver, "ended", None) == INTERRUPTED:
            raise KeyboardInterrupt
        if not answer.complete:
            raise ModelError(f"{self._reference.name} gave no reply: {answer.error}.")
        matches = (
            {name: judge(matcher, example, answer.text) for name, matcher in MATCHERS.items()} if example.answer else {}
        )
        return Exchange(
            self._reference.name, example, self._steps(answer), answer.text, matches, answer.cut_off, read_as
        )

    def close(self) -> None:
        """Release the model."""
        if isinstance(self._solver, LanguageModel):
            self._solver.close()

    def _steps(self, answer: Answer) -> tuple[tuple[Request, str], ...]:
        if not isinstance(self._solver, LanguageModel):
            return ()
        texts = [reply.text for reply in answer.replies]
        requests = [self._solver.prompt.request(answer.example, texts[:number]) for number in range(len(texts))]
        return tuple((request, text) for request, text in zip(requests, texts, strict=True) if request is not None)


def _reworded(example: Example) -> tuple[Example, tuple[tuple[str, str], ...]]:
    """Return an example in sentences that programs read, and what was read as what; as it is if it cannot be read."""
    _, text, problems = read_own(OwnText(example.story, example.question))
    if not text.read_as or any(problem.is_fatal for problem in problems):
        return example, ()
    return replace(example, story=text.story, question=text.question), text.read_as


@takes_rows("data")
def ask(
    model: ModelName,
    *,
    data: Data = None,
    index: int = 0,
    split: str | None = None,
    exclude_memory_reality: bool = False,
    story: str | None = None,
    question: str | None = None,
    answer: str | None = None,
    **settings: Any,
) -> Exchange:
    """Ask a model one question: of a dataset, or one of your own.

    Args:
        model: Its name, a function or an object with `predict`, as for `evaluate`.
        data: A dataset folder or a file, or rows in memory.
        index: Which question of it, counted from 0.
        split: Which split.
        exclude_memory_reality: Count questions about beliefs only.
        story: A story of your own.
        question: The question about the story.
        answer: The right answer, if it is to be judged.
        **settings: As for `Asker`: `prompt`, `conventions`, `options`, `seed`, `max_tokens`.

    Raises:
        ConfigError: If it is not clear what to ask.

    Example:
        >>> import storyproof
        >>> found = storyproof.ask(
        ...     "oracle",
        ...     story="Ann entered the den. The key is in the box. Ann exited the den.",
        ...     question="Where will Ann look for the key?",
        ...     answer="box",
        ... )
        >>> found.answer, found.matches["strict"].right
        ('box', True)
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
    """Return one question of a dataset.

    Raises:
        DataError: If there are fewer examples.
    """
    source = find_source(data, split)
    chosen = Selection(source, exclude_memory_reality=exclude_memory_reality)
    example = next(islice(chosen.examples(), index, None), None) if index >= 0 else None
    if example is None:
        count = sum(1 for _ in chosen.examples())
        raise DataError(f"{source.name} has {count:,} questions; --index is {index}, counted from 0.")
    return example


def own_example(story: str, question: str, answer: str | None = None) -> Example:
    """Build an example from a user's own story and question, one sentence per line.

    It has no candidates: its family finds them in the text.
    """
    lines = [line.strip() for part in story.splitlines() for line in _SENTENCE.split(part) if line.strip()]
    return family.own_example(
        {"story": "\n".join(lines), "question": question.strip(), "answer": (answer or "").strip()}
    )
