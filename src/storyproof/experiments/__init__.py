"""The papers' tables as declared lists of runs: what to train on what, what to measure, and the papers' figures."""

from __future__ import annotations

from storyproof.experiments.declaration import Experiment, names, read

__all__ = ["Experiment", "names", "read"]
