"""Prompts: they turn examples into requests, and replies into answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

from storyproof.datasets.reading import as_example
from storyproof.errors import ConfigError, DataError, quoted
from storyproof.example import WRITTEN, Example
from storyproof.families.family import convention_text, family_of
from storyproof.generation.seeds import Draws, digest
from storyproof.language.answer_language import people_sets
from storyproof.solvers.llm.choices import chosen, letters, shuffled
from storyproof.solvers.llm.function_backend import load_function
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.prompt_files import (
    BELIEF,
    LETTERS,
    PromptStep,
    Template,
    Wording,
    load_template,
    template_names,
)
from storyproof.solvers.solver import DEFAULT_PROMPT

_MOST_SHOTS = 20_000  # examples that shots are drawn from; more would not make them better
_SPARE_SHOTS = 4  # drawn beyond what is shown, to replace shots about the story that is asked about


class NoCandidatesError(DataError):
    """A prompt lists candidates, but neither the data nor the story contain any."""


class Prompt(Protocol):
    """Turns examples into requests, and replies into answers."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def version(self) -> str:
        """Its version; a change of the text is a new version."""

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        """Return the next request after the replies so far; None if there is none."""

    def answer(self, replies: Sequence[str], example: Example) -> str:
        """Return the text that is matched with the label."""


def _story_of(example: Example) -> str:
    """Return a story as models read it: as it was written, or else as its family shows it."""
    return example.get(WRITTEN) or family_of(example).prompt_values(example).get("story", example.story)


def prompt_names() -> list[str]:
    """Return the names of the prompts that are part of storyproof."""
    return template_names()


def needs_shots(name: str) -> bool:
    """Return whether a prompt shows solved examples and so needs a train split."""
    if _is_function(name):
        return False
    return any(wording.shots for wording in load_template(name).wordings.values())


def load_prompt(
    name: str,
    *,
    conventions: bool = True,
    seed: int = 0,
    shots: Sequence[Example] = (),
    max_tokens: int | None = None,
) -> Prompt:
    """Load a prompt by its name, by the path of its file, or as a function by `module:function`.

    A function takes an example and returns the text of the request, or a `Request`. A class, or an object with the
    methods `request` and `answer`, is used as a prompt itself.

    Args:
        name: The name, file or function.
        conventions: Whether requests begin with the rules that the answer rests on (`Family.conventions`).
        seed: The seed for shots and for the order of options.
        shots: Examples of the train split, from which shots are drawn.
        max_tokens: The maximum length of the last reply; by default that of the prompt.

    Raises:
        ConfigError: If there is no such prompt, its file is not valid, or it needs shots and there are none.
    """
    prompt: Prompt
    if not _is_function(name):
        prompt = TemplatePrompt(load_template(name), seed=seed, shots=shots, max_tokens=max_tokens)
    else:
        loaded = load_function(name, "prompt")
        made: Any = loaded() if isinstance(loaded, type) else loaded
        is_prompt = hasattr(made, "request") and hasattr(made, "answer")
        prompt = made if is_prompt else FunctionPrompt(name, made, max_tokens or 10)
    return ConventionsPrompt(prompt) if conventions else prompt


def _is_function(name: str) -> bool:
    place, colon, function = name.rpartition(":")
    return bool(colon and place) and function.isidentifier()


class TemplatePrompt:
    """A prompt from a file."""

    def __init__(
        self, template: Template, *, seed: int = 0, shots: Sequence[Example] = (), max_tokens: int | None = None
    ) -> None:
        self.name, self.version, self.sha256 = template.name, template.version, template.sha256
        self._template, self._seed, self._max_tokens = template, seed, max_tokens
        most = max((wording.shots for wording in template.wordings.values()), default=0)
        self._shots = {
            family: draw_shots([each for each in shots if family_of(each).name == family], most + _SPARE_SHOTS, seed)
            for family in dict.fromkeys(family_of(each).name for each in shots)
        }
        if most and not any(self._shots.values()):
            raise ConfigError(
                f"the prompt '{template.name}' shows solved examples, but there are none to draw from; give data with "
                "a train split whose stories are not all asked about, or choose another prompt."
            )

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        """Return the next request after the replies so far; None if there is none."""
        wording, steps = self._steps(example)
        if len(replies) >= len(steps):
            return None
        step = steps[len(replies)]
        values = self._values(example, wording, step, replies)
        said = [Message("system", step.system.format(**values))] if step.system else []
        last = len(replies) == len(steps) - 1
        return Request(
            messages=(*said, Message("user", step.user.format(**values))),
            max_tokens=self._max_tokens if last and self._max_tokens is not None else step.max_tokens,
            stop=step.stop,
            choices=self._choices(example, step),
        )

    def answer(self, replies: Sequence[str], example: Example) -> str:
        """Return the last reply, or the text after the marker in it; a letter is replaced by its candidate."""
        if not replies:
            return ""
        reply = replies[-1]
        for marker in (self._in_language_of(example).answer_after, self._template.answer_after):
            after = None if marker is None else after_marker(reply, marker)
            if after is not None:
                reply = after
                break
        if self._steps(example)[1][-1].choices != LETTERS:
            return reply
        return chosen(reply, self._options(example))

    def answers(self, reply: str) -> bool:
        """Return whether a last reply contains an answer: text after the marker, or any text if there is no marker."""
        markers = (each.answer_after for each in (self._template, *self._template.translations.values()))
        return any(marker is None or after_marker(reply, marker) is not None for marker in markers)

    def _in_language_of(self, example: Example) -> Template:
        return self._template.in_language(family_of(example).language(example))

    def _steps(self, example: Example) -> tuple[Wording, list[PromptStep]]:
        wording = self._in_language_of(example).wording(family_of(example).prompt_keys(example))
        return wording, [step for step in wording.steps if step.when != BELIEF or example.chain]

    def _values(self, example: Example, wording: Wording, step: PromptStep, replies: Sequence[str]) -> dict[str, str]:
        options = self._options(example) if "{options}" in step.user + step.system else []
        values, story = family_of(example).prompt_values(example), _story_of(example)
        return {
            "question": example.question,
            "candidates": _listed(example),
            "options": "\n".join(f"{letter}. {name}" for letter, name in zip(letters(options), options, strict=True)),
            "shots": self._shown(example, wording) if wording.shots else "",
            **values,
            "story": story,
            "known": replies[-1].strip() if replies else story,
            "reply": replies[-1].strip() if replies else "",
        }

    def _shown(self, example: Example, wording: Wording) -> str:
        return "\n\n".join(
            wording.shot.format(
                story=_story_of(shot),
                question=shot.question,
                answer=shot.answer,
                candidates=_listed(shot),
            )
            for shot in shots_for(example, self._shots.get(family_of(example).name, ()), wording.shots)
        )

    def _options(self, example: Example) -> list[str]:
        known = family_of(example).candidates(example)
        if not known:
            raise NoCandidatesError(
                f"{example.id} has no candidates and none follow from its story, but the prompt '{self.name}' lists "
                "them; add the column 'candidates', or choose another prompt."
            )
        return shuffled(example, known, self._seed)

    def _choices(self, example: Example, step: PromptStep) -> tuple[str, ...]:
        if step.choices is None:
            return ()
        options = self._options(example)
        return tuple(letters(options) if step.choices == LETTERS else options)


class FunctionPrompt:
    """A user's function from an example to the text of a request."""

    version = "1"

    def __init__(self, name: str, function: Callable[[Example], object], max_tokens: int) -> None:
        self.name, self._function, self._max_tokens = name, function, max_tokens

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        """Return the request that the function makes; there is one step."""
        if replies:
            return None
        made = self._function(example)
        if isinstance(made, Request):
            return made
        if not isinstance(made, str):
            raise ConfigError(f"the prompt '{self.name}' returned {quoted(made)}; expected text or a Request.")
        return Request((Message("user", made),), self._max_tokens)

    def answer(self, replies: Sequence[str], example: Example) -> str:
        """Return the reply."""
        del example
        return replies[-1] if replies else ""


class ConventionsPrompt:
    """Another prompt, after the rules that its answers rest on (`Family.conventions`)."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self.name, self.version = prompt.name, prompt.version
        self.sha256 = getattr(prompt, "sha256", None)

    def request(self, example: Example, replies: Sequence[str]) -> Request | None:
        """Return the next request, with the conventions before the first message of the user."""
        request, rules = self._prompt.request(example, replies), convention_text(example)
        if request is None or not rules:
            return request
        messages = list(request.messages)
        place = next((number for number, message in enumerate(messages) if message.role == "user"), 0)
        messages[place] = replace(messages[place], content=f"{rules}\n\n{messages[place].content}")
        return replace(request, messages=tuple(messages))

    def answer(self, replies: Sequence[str], example: Example) -> str:
        """Return the text that is matched with the label."""
        return self._prompt.answer(replies, example)

    def answers(self, reply: str) -> bool:
        """Return whether a last reply contains an answer, as far as the prompt can tell."""
        has_answer = getattr(self._prompt, "answers", None)
        return has_answer is None or bool(has_answer(reply))


def _listed(example: Example) -> str:
    """Return all candidates of an example in one line; of sets of people, the people."""
    family = family_of(example)
    known, language = sorted(family.candidates(example)), family.language(example)
    sets = people_sets(tuple(known))
    return sets.describe(language) if sets is not None else ("、" if language == "zh" else ", ").join(known)


def ends_before_answer(prompt: Prompt, last: Reply) -> bool:
    """Return whether the last reply to a prompt was cut off before its answer.

    A reply that was not cut off is always judged. A user's own prompt may have a method `answers`, which returns
    whether a reply contains an answer.
    """
    answers = getattr(prompt, "answers", None)
    return last.cut_off and answers is not None and not answers(last.text)


def after_marker(reply: str, marker: str) -> str | None:
    """Return the first line of text after the last marker that has text after it; None if there is none."""
    pieces = re.split(re.escape(marker), reply, flags=re.IGNORECASE)
    for piece in reversed(pieces[1:]):
        lines = [line.strip(" \t*_#>") for line in piece.split("\n")]
        first_line = next((line for line in lines if line), "")
        if first_line:
            return first_line
    return None


def draw_shots(pool: Sequence[Example], count: int, seed: int) -> list[Example]:
    """Draw examples of different stories, balanced over question types, and over answers within each type.

    Answers are balanced by their class (`Family.answer_class`). For theory of mind the class is not the container, but
    whether the object was there first, last or in between. Otherwise all shots might have the last place as the answer.

    Args:
        pool: Examples of the train split; their order does not matter.
        count: How many to draw.
        seed: The seed of the draw.
    """
    drawn = sorted(pool, key=lambda each: digest("shots", seed, each.story, each.question))[:_MOST_SHOTS]
    chosen: list[Example] = []
    types: Counter[str] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    words: Counter[str] = Counter()
    classes = {id(example): family_of(example).answer_class(example) for example in drawn}
    while drawn and len(chosen) < count:
        best = min(
            drawn,
            key=lambda each: (
                types[each.question_type],
                answers["", classes[id(each)]],
                answers[each.question_type, classes[id(each)]],
                words[each.answer],
            ),
        )
        chosen.append(best)
        types[best.question_type] += 1
        answers["", classes[id(best)]] += 1
        answers[best.question_type, classes[id(best)]] += 1
        words[best.answer] += 1
        drawn = [each for each in drawn if each.story != best.story]
    order = Draws("order of shots", seed, len(chosen)).order(len(chosen)).tolist()
    return [chosen[place] for place in order]


def shots_for(example: Example, drawn: Sequence[Example], count: int) -> list[Example]:
    """Return the first `count` drawn examples that are not about the example's own story."""
    return [shot for shot in drawn if shot.story != example.story][:count]


Row = Example | Mapping[str, Any]


def prompt(
    row: Row,
    name: str = DEFAULT_PROMPT,
    *,
    conventions: bool = True,
    replies: Sequence[str] = (),
    shots: Sequence[Row] = (),
    seed: int = 0,
) -> Request:
    """Return what a language model is asked for a row, as `evaluate` would ask it.

    Args:
        row: An example, or a row of a table as a dictionary; `story` and `question` are enough.
        name: A prompt's name or file, or `module:function`.
        conventions: Whether it begins with the rules that the answer rests on, in the language of the row.
        replies: What the model replied to the steps before, for prompts of several steps such as `perspective`.
        shots: Rows from which solved examples are drawn, for prompts that show some.
        seed: For prompts that draw.

    Returns:
        The request: `text` (also `str()`), `chat` (messages with role and content), `choices`, `stop`, `max_tokens`.

    Raises:
        ConfigError: If there is no such prompt, it lacks shots, or it has no further step.
        DataError: If the row lacks what the prompt shows.

    Example:
        >>> import storyproof
        >>> row = storyproof.stream("tomi", seed=7)[0].rows[2]
        >>> print(storyproof.prompt(row, conventions=False).text.splitlines()[0])
        Read the story and answer the question. Answer with one container and nothing else.
        >>> print(storyproof.prompt(row).text.splitlines()[0])
        Rules for this story:
        >>> asked = storyproof.prompt(row, "multiple-choice")
        >>> asked.choices, asked.chat[0]["role"]
        (('A', 'B'), 'user')
    """
    loaded = prompt_of(name, conventions=conventions, shots=[as_example(shot) for shot in shots], seed=seed)
    request = loaded.request(as_example(row), list(replies))
    if request is None:
        raise ConfigError(f"the prompt '{name}' asks nothing after {len(replies)} replies; judge() takes the last one.")
    return request


def prompt_of(name: str, *, conventions: bool = True, shots: Sequence[Example] = (), seed: int = 0) -> Prompt:
    """Return a prompt; those of storyproof are kept, as files of users may change."""
    if shots or name not in prompt_names():
        return load_prompt(name, conventions=conventions, seed=seed, shots=shots)
    return _kept(name, conventions, seed)


@lru_cache(maxsize=32)
def _kept(name: str, conventions: bool, seed: int) -> Prompt:
    return load_prompt(name, conventions=conventions, seed=seed)
