"""The checkpoints that ship with the package; `checkpoints/README.md` says how they were trained and how they score."""

from __future__ import annotations

from pathlib import Path

from storyproof.solvers.neural.solver import Trained

_CHECKPOINTS = Path(__file__).parent / "checkpoints"


def entnet(seed: int = 0) -> Trained:
    """Give the entity network that was trained on `tomi`."""
    return Trained(_CHECKPOINTS / "entnet", seed=seed)


def gat(seed: int = 0) -> Trained:
    """Give the graph attention network that was trained on `clutrr`."""
    return Trained(_CHECKPOINTS / "gat", seed=seed)
