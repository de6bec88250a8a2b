"""Shares of right answers with 95% intervals that respect that the questions of one story hang together."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_Z = 1.959963984540054  # 97.5% of the normal distribution lie below


@dataclass(frozen=True, slots=True)
class Share:
    """A fraction with its 95% interval.

    Attributes:
        value: The fraction.
        low: Lower end of the interval.
        high: Upper end of the interval.
        of: Of how many questions, or stories.
    """

    value: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


def share(right: Flags, cluster: Ints) -> Share:
    """Give the share of right answers with a cluster-robust interval.

    The share is a ratio: right answers over questions, both summed over stories. With residuals r_s − p·n_s of the
    stories s its variance is S/(S−1) · Σ_s (r_s − p·n_s)² / N². That variance is worth as many independent questions
    as n = p(1−p) / variance; Wilson's interval for n questions then also holds near 0 and 1, where the variance itself
    tells nothing. Three precautions, all on the wide side: n is at most the number of questions; if all answers are
    right, or all wrong, n is the number of stories; and few stories take Student's t instead of the normal quantile.

    Args:
        right: Whether each question was answered rightly.
        cluster: The story of each, numbered from 0.
    """
    asked = np.bincount(cluster)
    good = np.bincount(cluster, weights=right)[asked > 0]
    asked = asked[asked > 0]
    stories, questions = len(asked), int(asked.sum())
    if not questions:
        return Share(0.0, 0.0, 1.0, 0)
    value = float(good.sum()) / questions
    if stories == 1:
        return Share(value, 0.0, 1.0, questions)
    spread = float(((good - value * asked) ** 2).sum())
    variance = spread / questions**2 * stories / (stories - 1)
    worth = float(stories)
    if 0 < value < 1:
        worth = min(value * (1 - value) / variance, questions) if variance > 0 else float(questions)
    low, high = wilson(value, worth, _t(stories - 1))
    return Share(value, low, high, questions)


def share_of_stories(right: Flags, cluster: Ints) -> Share:
    """Give the share of stories all of whose questions were answered rightly."""
    asked = np.bincount(cluster)
    whole = (np.bincount(cluster, weights=right) == asked)[asked > 0]
    return share(whole, np.arange(len(whole)))


def wilson(value: float, count: float, quantile: float = _Z) -> tuple[float, float]:
    """Give Wilson's interval for a share that was seen in so many independent trials."""
    weight = quantile**2 / count
    middle = (value + weight / 2) / (1 + weight)
    half = quantile / (1 + weight) * sqrt(value * (1 - value) / count + weight / (4 * count))
    return max(0.0, min(value, middle - half)), min(1.0, max(value, middle + half))


def _t(freedom: int) -> float:
    """Give the 97.5% quantile of Student's t by its expansion around the normal one."""
    z = _Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
