"""Options of an evaluation: which examples are asked, how a language model is asked and judged, and who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from storyproof.datasets.reading import Source, iterate_examples
from storyproof.errors import ConfigError
from storyproof.evaluation.matching import load_matcher
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.llm.prompt import Prompt, load_prompt
from storyproof.solvers.solver import DEFAULT_PROMPT

CAREFUL = "careful"
_ROWS = 2048  # of a dataset held at a time


@dataclass(frozen=True, slots=True)
class Selection:
    """Which examples of a source are asked.

    Attributes:
        source: Where they are.
        proved: Whether labels are those that follow from the text.
        max_stories: Evaluate at most this many stories.
        max_samples: Evaluate at most this many questions.
        exclude_memory_reality: Leave out questions that only check reading (`Family.is_control`).
    """

    source: Source
    proved: bool = False
    max_stories: int | None = None
    max_samples: int | None = None
    exclude_memory_reality: bool = False

    def __post_init__(self) -> None:
        for name in ("max_stories", "max_samples"):
            most = getattr(self, name)
            if most is not None and most < 1:
                raise ConfigError(f"--{name.replace('_', '-')} is {most}; use 1 or more.")

    def examples(self) -> Iterator[Example]:
        """Yield them; this may be done several times."""
        left = self.max_samples
        for example in iterate_examples(self.source, proved=self.proved, max_stories=self.max_stories, rows=_ROWS):
            if self.exclude_memory_reality and family_of(example).is_control(example):
                continue
            if left is not None:
                if left == 0:
                    return
                left -= 1
            yield example

    def limits(self) -> dict[str, Any]:
        """Return what leaves out questions, as a run records it; nothing if all are asked."""
        limits = {name: getattr(self, name) for name in ("max_stories", "max_samples", "exclude_memory_reality")}
        given = {name: value for name, value in limits.items() if value}
        return {"limits": given} if given else {}

    def counts(self) -> dict[str, int]:
        """Return how many questions the source has (`loaded`), and how many of them may be asked (`kept`)."""
        loaded = kept = 0
        for example in iterate_examples(self.source, rows=_ROWS):
            loaded += 1
            kept += not (self.exclude_memory_reality and family_of(example).is_control(example))
        return {"loaded": loaded, "kept": kept}


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency: read, written, and read from a cache."""

    read: float
    written: float
    cached: float | None = None

    def cost(self, read: int, written: int, cached: int) -> float:
        """Return what a number of tokens costs."""
        cached_tokens = 0 if self.cached is None else cached
        return (
            (read - cached_tokens) * self.read + written * self.written + cached_tokens * (self.cached or 0.0)
        ) / 1e6


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How a language model is asked and judged.

    Attributes:
        prompt: A prompt's name, its file, or a user's function.
        conventions: Whether every prompt begins with the rules that its answer rests on.
        matching: How replies are judged: strict, careful, lenient, or a user's function.
        max_tokens: How long replies may be; by default what the prompt says.
        likelihood: Whether choices are scored by likelihood where the backend can.
        max_failed: If more than this share is without an answer, the scores do not count.
        prices: What tokens cost.
        seed: For prompts that draw.
        shots: The examples that a prompt may show.
    """

    prompt: str = DEFAULT_PROMPT
    conventions: bool = True
    matching: str = CAREFUL
    max_tokens: int | None = None
    likelihood: bool = True
    max_failed: float = 0.05
    prices: Prices | None = None
    seed: int = 0
    shots: Sequence[Example] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        load_matcher(self.matching)
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"--max-tokens is {self.max_tokens}; use 1 or more.")
        if not 0 <= self.max_failed <= 1:
            raise ConfigError(f"--max-failed is {self.max_failed}; use a share from 0 to 1.")

    def suffixes(self) -> list[str]:
        """Return what a run's file name has besides model and split."""
        suffixes = [] if self.prompt == DEFAULT_PROMPT else [self.prompt]
        return [
            *suffixes,
            *([] if self.conventions else ["no-conventions"]),
            *([f"seed{self.seed}"] if self.seed else []),
        ]

    def load_prompt(self) -> Prompt:
        """Load the prompt."""
        return load_prompt(
            self.prompt, conventions=self.conventions, seed=self.seed, shots=self.shots, max_tokens=self.max_tokens
        )


class Progress(Protocol):
    """Watches a run of a language model."""

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """Take note that a run begins; `total` counts its questions, if that is wanted."""

    def answered(self, right: bool | None) -> None:
        """Take note that a question was answered, rightly or not, or failed (None)."""

    def stopping(self) -> bool:
        """Return whether nothing more is to be asked."""

    def end(self) -> None:
        """Take note that the run is over."""
