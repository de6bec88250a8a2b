"""The classical models as plain PyTorch modules, one per file, and the registry that builds them by name."""

from __future__ import annotations

from storyproof.solvers.neural.models.registry import MODELS, Recipe, build, default_options, recipe

__all__ = ["MODELS", "Recipe", "build", "default_options", "recipe"]
