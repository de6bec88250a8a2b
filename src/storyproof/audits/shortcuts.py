"""How well data can be answered without the reasoning that they claim to test.

The ToMi paper asked this of ToM-bAbI by hand. Here the family of the data answers it: by heuristics, and by small
probes that are trained on stories with parts removed. Each score is shown beside chance and the structural baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.shortcuts.results import Forced, ShortcutReport, ShortcutScore

__all__ = ["Forced", "ShortcutReport", "ShortcutScore", "find_shortcuts"]


def find_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int = 0, learned: bool = True
) -> ShortcutReport:
    """Measure how well data can be answered without the reasoning that they claim to test.

    Args:
        train: Examples from which priors and probes learn, at most some twenty thousand of them; without any, they
            learn from the other stories of `test`, in five folds. (Where answers are exactly balanced, what is most
            frequent in four folds is rarest in the fifth, so priors learned that way come out below chance.)
        test: Examples that are answered, all of one family.
        seed: For shuffled sentences, folds and probes.
        learned: Whether to train probes, which needs scikit-learn.

    Raises:
        ConfigError: If probes are wanted and scikit-learn is not installed.
        DataError: If there is nothing to answer, several families are mixed, or a text cannot be read.
    """
    if not test:
        raise DataError("there are no questions, so there can be no shortcuts.")
    about = {family_of(each) for each in (*test, *(train or ()))}
    if len(about) > 1:
        titles = " and ".join(sorted(family.title for family in about))
        raise DataError(f"{titles} are mixed; look for shortcuts in one of them at a time.")
    if seed < 0 or seed >= 2**32:
        raise ConfigError(f"the seed is {seed}; use a number from 0 to {2**32 - 1}.")
    return about.pop().shortcuts(train, test, seed=seed, learned=learned)
