"""Small learned models: what can be learned from a text with something removed?

They need scikit-learn, which comes with `storyproof[audit]`; it is imported when a probe is first trained.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.shortcuts.split_setup import Fold
from storyproof.stats.intervals import Ints

Matrix = npt.NDArray[np.float32]

NO_ANSWER = -1
_ROUNDS = 40
_RATE = 0.2
_LEAVES = 31
_CLASS_ROUNDS = 20  # each makes a tree for every class


def one_thread() -> AbstractContextManager[object]:
    """Limit numeric libraries to one thread: on a busy machine several wait for each other."""
    limits: AbstractContextManager[object] = import_module("threadpoolctl").threadpool_limits(1)
    return limits


def load_learner(module: str, name: str) -> Any:
    """Import a class of scikit-learn.

    Raises:
        ConfigError: If it is not installed.
    """
    try:
        return getattr(import_module(f"sklearn.{module}"), name)
    except ImportError as error:
        raise ConfigError(
            "learned probes need scikit-learn, which is not installed: "
            "pip install 'storyproof[audit]', or leave --shortcuts out."
        ) from error


def classify(matrix: Matrix, answers: Ints, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to name the answer, and return theirs for each row to answer."""
    known = np.unique(answers[fold.fit])
    if len(known) < 2:
        return np.full(len(fold.ask), known[0] if len(known) else NO_ANSWER)
    model = boosted_trees(seed, rounds=_CLASS_ROUNDS)
    with one_thread():
        model.fit(matrix[fold.fit], answers[fold.fit])
        found: Ints = model.predict(matrix[fold.ask])
    return found


def boosted_trees(seed: int, categorical: list[int] | None = None, rounds: int = _ROUNDS) -> Any:
    """Build boosted trees: shallow, few, and without early stopping, so that a seed gives one result."""
    return load_learner("ensemble", "HistGradientBoostingClassifier")(
        max_iter=rounds,
        learning_rate=_RATE,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=20,
        l2_regularization=1.0,
        early_stopping=False,
        categorical_features=categorical,
        random_state=seed,
    )
