"""Small learned readers: what can be learned from a text with something taken away?

They need scikit-learn, which comes with `storyproof[audit]`; it is imported when a probe is first trained.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.families.belief.shortcuts.features import CATEGORICAL, Lexicon, Matrix, features
from storyproof.families.belief.shortcuts.stories import NONE, Told, by_batch
from storyproof.intervals import Ints
from storyproof.shortcuts.trial import Fold

_ROUNDS = 40
_RATE = 0.2
_LEAVES = 31
_CLASS_ROUNDS = 20  # each makes a tree for every class


def _one_thread() -> AbstractContextManager[object]:
    """Keep to one thread: on a busy machine several wait for each other, and take many times the work."""
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
            "pip install 'storyproof[audit]', or leave the probes out."
        ) from error


def choose(told: Told, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to say which of the candidates is right, and give their choice for each row to answer.

    Each kind of question has trees of its own: memory and reality want opposite places, which one set of greedy trees
    finds hard to see.
    """
    kinds = 2 * told.order + told.memory
    chosen = np.full(len(fold.ask), NONE)
    for kind in np.unique(kinds[fold.ask]):
        alike, here = fold.fit[kinds[fold.fit] == kind], kinds[fold.ask] == kind
        own = Fold(alike if len(alike) else fold.fit, fold.ask[here])
        chosen[here] = _choose_alike(told, own, seed)
    return chosen


def _choose_alike(told: Told, fold: Fold, seed: int) -> Ints:
    first: Ints = told.candidates[fold.ask, 0]
    fit = told.pick(fold.fit)
    known = fit.candidates != NONE
    right = (fit.candidates == fit.answer[:, None]) & known
    useful = np.flatnonzero(right.any(axis=1))
    if not len(useful) or known[useful].sum() == right.sum():
        return first  # nothing to choose between
    lexicon = Lexicon.of(fit)
    rows = known[useful].reshape(-1)
    matrix, target = features(fit.pick(useful), lexicon)[rows], right[useful].reshape(-1)[rows]
    telling = np.flatnonzero(matrix.min(axis=0) < matrix.max(axis=0))
    if not len(telling):
        return first
    codes = np.flatnonzero(np.isin(telling, CATEGORICAL)).tolist()
    model = boosted_trees(seed, codes or None)
    with _one_thread():
        model.fit(matrix[:, telling], target)
        return by_batch(told, fold.ask, lambda part: _best(model, part, lexicon, telling))


def classify(matrix: Matrix, answers: Ints, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to name the answer, and give theirs for each row to answer."""
    known = np.unique(answers[fold.fit])
    if len(known) < 2:
        return np.full(len(fold.ask), known[0] if len(known) else NONE)
    model = boosted_trees(seed, rounds=_CLASS_ROUNDS)
    with _one_thread():
        model.fit(matrix[fold.fit], answers[fold.fit])
        found: Ints = model.predict(matrix[fold.ask])
    return found


def boosted_trees(seed: int, categorical: list[int] | None = None, rounds: int = _ROUNDS) -> Any:
    """Set boosted trees up: shallow, few, and without early stopping, so that a seed gives one result."""
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


def _best(model: Any, told: Told, lexicon: Lexicon, telling: Ints) -> Ints:
    """Give the candidate that the model finds likeliest; of equals the first of them."""
    scores: npt.NDArray[np.float64] = model.predict_proba(features(told, lexicon)[:, telling])[:, 1]
    scores = np.where(told.candidates == NONE, -1.0, scores.reshape(told.candidates.shape))
    found: Ints = told.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
    return found
