"""The verb `prompt`: what a language model is asked for a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from storyproof.datasets.examples import as_example
from storyproof.errors import ConfigError
from storyproof.example import Example
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.prompt import Prompt, load_prompt, prompt_names
from storyproof.solvers.solver import DEFAULT_PROMPT

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
    found = prompt_of(name, conventions=conventions, shots=[as_example(shot) for shot in shots], seed=seed)
    request = found.request(as_example(row), list(replies))
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
