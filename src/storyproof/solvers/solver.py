"""The one protocol that every solver follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storyproof.catalog import load
from storyproof.example import Example


class Solver(Protocol):
    """Answers examples, looking at their story and question only unless it says otherwise."""

    def predict(self, examples: Sequence[Example]) -> list[str]:
        """Give one answer an example, in order."""


def load_solver(name: str, seed: int = 0) -> Solver:
    """Set a solver up by name.

    Raises:
        UnknownNameError: If there is no such solver.
    """
    solver: Solver = load("solver", name)(seed=seed)
    return solver
