"""A learned model that chooses among the candidates of theory-of-mind questions by shallow features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.shortcuts.features import CATEGORICAL, Lexicon, features
from storyproof.families.belief.shortcuts.stories import NONE, Told, by_batch
from storyproof.intervals import Ints
from storyproof.shortcuts.probes import boosted_trees, one_thread
from storyproof.shortcuts.trial import Fold


def choose(told: Told, fold: Fold, seed: int = 0) -> Ints:
    """Train boosted trees to tell which candidate is right, and return their choice for each row to answer.

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
    with one_thread():
        model.fit(matrix[:, telling], target)
        return by_batch(told, fold.ask, lambda part: _best(model, part, lexicon, telling))


def _best(model: Any, told: Told, lexicon: Lexicon, telling: Ints) -> Ints:
    """Return the candidate that the model finds likeliest; of equals the first of them."""
    scores: npt.NDArray[np.float64] = model.predict_proba(features(told, lexicon)[:, telling])[:, 1]
    scores = np.where(told.candidates == NONE, -1.0, scores.reshape(told.candidates.shape))
    found: Ints = told.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
    return found
