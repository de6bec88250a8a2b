"""What a shell offers for an argument that is half typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from storyproof.catalog import names


def _offer(choices: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes a word to one of some names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in choices() if name.startswith(incomplete)]

    return complete


def _prompts() -> Iterable[str]:
    from storyproof.solvers.llm.prompt import prompt_names

    return prompt_names()


def _experiments() -> Iterable[str]:
    from storyproof.experiments import declaration

    return declaration.names()


def _trainable() -> Iterable[str]:
    from storyproof.solvers.neural.models.registry import MODELS

    return MODELS


benchmarks = _offer(lambda: names("benchmark"))
formats = _offer(lambda: ["auto", *names("format")])
models = _offer(lambda: [*names("solver"), *(f"{backend}/" for backend in names("backend"))])
splits = _offer(lambda: ("train", "val", "test"))
prompts = _offer(_prompts)
experiments = _offer(_experiments)
trainable = _offer(_trainable)
engines = _offer(lambda: names("engine"))
