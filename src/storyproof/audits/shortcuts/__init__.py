"""How well can reasoning data be answered without what they claim to test?

The ToMi paper asked this of ToM-bAbI by hand. Here it is asked of any theory-of-mind or kinship data: by heuristics,
and by small probes that are trained on stories with something taken away. Each score stands beside chance and beside
what the structure alone forces (see `bounds`).
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.audits.shortcuts.belief import find_belief_shortcuts
from storyproof.audits.shortcuts.kinship import find_kinship_shortcuts
from storyproof.audits.shortcuts.results import Forced, Row, ShortcutReport
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example

__all__ = ["Forced", "Row", "ShortcutReport", "find_shortcuts"]


def find_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int = 0, learned: bool = True
) -> ShortcutReport:
    """Find how well data can be answered without what they claim to test.

    Args:
        train: Examples from which priors and probes learn, at most some twenty thousand of them; without any, they
            learn from the other stories of `test`, in five folds. (Where answers are exactly balanced, what is most
            frequent in four folds is rarest in the fifth, so priors learned that way come out below chance.)
        test: Examples that are answered, all about theory of mind or all about kinship.
        seed: For shuffled sentences, folds and probes.
        learned: Whether to train probes, which needs scikit-learn.

    Raises:
        ConfigError: If probes are wanted and scikit-learn is not installed.
        DataError: If there is nothing to answer, theory of mind and kinship are mixed, or a text cannot be read.
    """
    if not test:
        raise DataError("there are no questions, so no shortcuts can be looked for.")
    about = {each.edges is not None for each in (*test, *(train or ()))}
    if len(about) > 1:
        raise DataError("theory of mind and kinship are mixed; look for shortcuts in one of them at a time.")
    if seed < 0 or seed >= 2**32:
        raise ConfigError(f"the seed is {seed}; use a number from 0 to {2**32 - 1}.")
    find = find_kinship_shortcuts if about.pop() else find_belief_shortcuts
    return find(train, test, seed=seed, learned=learned)
