"""What came out of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.evaluation.metrics import Scores

INTERRUPTED = "interrupted"  # why a run ended, when somebody wanted it to


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A solver's scores on a dataset, with what is needed to repeat them, and every answer beside its label.

    Attributes:
        model: The solver's name.
        data: What it was put through.
        split: Which split.
        labels: Whether labels are as `given` or as `proved`.
        seed: For whatever draws.
        scores: By the chosen matching.
        predictions: Every answer beside its label.
        intervals: 95% intervals of the scores.
        details: Of a language model: prompt, matchings side by side, failures, tokens, traffic.
        run: When, on what and with what it ran, and the hashes of the data.
        path: The file it was written to.
        ended: Why it ended before all was asked, if it did.
        counts: Whether enough was answered for the scores to mean something.
    """

    model: str
    data: str
    split: str | None
    labels: str
    seed: int
    scores: Scores
    predictions: Sequence[dict[str, Any]]
    intervals: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    ended: str | None = None
    counts: bool = True

    @property
    def interrupted(self) -> bool:
        """Whether somebody wanted it to end before all was asked."""
        return self.ended == INTERRUPTED

    def about(self) -> dict[str, Any]:
        """Give plain values for JSON, without the predictions."""
        about = {name: getattr(self, name) for name in ("model", "data", "split", "labels", "seed")}
        ended = {} if self.ended is None else {"ended": self.ended}
        return {
            "storyproof": __version__,
            **about,
            **ended,
            **self.scores.as_dict(),
            "intervals": self.intervals,
            **self.details,
            "run": self.run,
        }

    def as_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {**self.about(), "predictions": list(self.predictions)}
