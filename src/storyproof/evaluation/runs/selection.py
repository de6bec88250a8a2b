"""Which examples of a dataset are asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from storyproof.datasets.examples import iterate_examples
from storyproof.datasets.reading import Source
from storyproof.errors import ConfigError
from storyproof.evaluation.metrics import kind_of
from storyproof.example import Example

_ROWS = 2048  # of a dataset held at a time


@dataclass(frozen=True, slots=True)
class Selection:
    """Which examples of a source are asked.

    Attributes:
        source: Where they are.
        proved: Whether labels are those that follow from the text.
        max_stories: Only so many stories.
        max_samples: Only so many questions.
        exclude_memory_reality: Only questions about beliefs.
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
        """Go through them; this may be done again."""
        left = self.max_samples
        for example in iterate_examples(self.source, proved=self.proved, max_stories=self.max_stories, rows=_ROWS):
            if self.exclude_memory_reality and kind_of(example) in ("memory", "reality"):
                continue
            if left is not None:
                if left == 0:
                    return
                left -= 1
            yield example
