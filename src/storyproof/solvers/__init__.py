"""Solvers: whatever answers examples, from rules and baselines to neural networks and language models."""

from storyproof.solvers.solver import Answer, Limited, ModelReference, Solver, load_backend, load_solver, resolve

__all__ = ["Answer", "Limited", "ModelReference", "Solver", "load_backend", "load_solver", "resolve"]
