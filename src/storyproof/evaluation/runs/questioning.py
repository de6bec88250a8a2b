"""How a language model is asked and judged, and who is told how it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from storyproof.errors import ConfigError
from storyproof.evaluation.matching import load_matcher
from storyproof.example import Example
from storyproof.solvers.llm.prompting import Prompt, load_prompt

ZERO_SHOT, CAREFUL = "zero-shot", "careful"


class Progress(Protocol):
    """Told how a run goes."""

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """A run begins; `total` counts its questions, for whoever wants to know."""

    def answered(self, right: bool | None) -> None:
        """A question was answered, rightly or not, or failed (None)."""

    def stopping(self) -> bool:
        """Whether nothing more is to be asked."""

    def end(self) -> None:
        """The run is over."""


class Quiet:
    """No progress."""

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """Say nothing."""

    def answered(self, right: bool | None) -> None:
        """Say nothing."""

    def stopping(self) -> bool:
        """Go on."""
        return False

    def end(self) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency: read, written, and read from a cache."""

    read: float
    written: float
    cached: float | None = None

    def cost(self, read: int, written: int, cached: int) -> float:
        """Say what so many tokens cost."""
        known = 0 if self.cached is None else cached
        return ((read - known) * self.read + written * self.written + known * (self.cached or 0.0)) / 1e6


@dataclass(frozen=True, slots=True)
class Questioning:
    """How a language model is asked and judged.

    Attributes:
        prompt: A prompt's name, its file, or a function of the user's.
        matching: How replies are judged: strict, careful, lenient, or a function of the user's.
        max_tokens: How long replies may be; by default what the prompt says.
        likelihood: Whether choices are scored by likelihood where the backend can.
        max_failed: If more than this share is without an answer, the scores do not count.
        prices: What tokens cost.
        seed: For prompts that draw.
        shots: The examples that a prompt may show.
    """

    prompt: str = ZERO_SHOT
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
        """Give what a run's file is called by, besides model and split."""
        return ([] if self.prompt == ZERO_SHOT else [self.prompt]) + ([f"seed{self.seed}"] if self.seed else [])

    def load(self) -> Prompt:
        """Load the prompt."""
        return load_prompt(self.prompt, seed=self.seed, shots=self.shots, max_tokens=self.max_tokens)
