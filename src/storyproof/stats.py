"""Confidence intervals and a test of paired differences, for scores whose questions of one story are not independent.

Scores of runs are computed in one way, wherever they are shown (`mean_interval`, `difference_interval`; `how`
names the method): the bootstrap draws stories, not questions, because six questions of one story are far from six
independent trials. Every interval of one number of stories uses the same draws, and stories are sorted by their result,
so that the same answers have the same interval, to the digit. Audits, which compute hundreds of shares, use a formula
that draws nothing (`share`). The exact permutation test (`permutation_p`) assigns runs at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.errors import ConfigError
from storyproof.generation.seeds import Draws

LEVEL = 0.95
RESAMPLES = 2000
FEW_GROUPS = 10  # below this the bootstrap is too sure: of 5 stories its 95% intervals hold the truth 87 times in 100
MANY_GROUPS = 5_000  # from here on the bootstrap only takes longer to say what the formula says

_CELLS = 1 << 21  # resamples times groups to draw at a time
_KEPT_CELLS = MANY_GROUPS * RESAMPLES  # draws that are kept for the next interval, 80 MB at most

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, or a difference of means, with its interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return plain values, for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


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


def how(stories: int, *, paired: bool = False) -> list[str]:
    """Return how intervals of scores, or of paired differences, are computed, in lines that fit a narrow screen."""
    way = f"by {'bootstrap' if stories < MANY_GROUPS else 'variance'} over stories"
    if paired:
        alike = "by Wilson's formula where all stories differ alike (one gives no information)"
        return [f"95% intervals of paired differences {way};", alike]
    few = f"where fewer than {FEW_GROUPS} (one gives no information), all alike, or of one answer each"
    return [f"95% intervals {way}; by Wilson's formula over stories", few]


def mean_interval(
    values: npt.ArrayLike,
    groups: Sequence[Any] | npt.NDArray[Any],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of values with its interval, by a bootstrap over groups.

    Where a bootstrap would be too sure of itself it is not asked: if there are fewer than `FEW_GROUPS`, if all are
    alike, and if each has one value that is right or wrong, it is Wilson's interval for as many tries as there are
    groups; a single group says nothing.

    Args:
        values: How right each answer is, from 0 to 1.
        groups: Which story each belongs to.
        level: How often such an interval holds the true mean.
        resamples: How often the groups are drawn anew; from `MANY_GROUPS` groups on the formula is used.

    Raises:
        ValueError: If there are no values, some are not from 0 to 1, or groups are not as many.
    """
    sums, counts = _by_group(values, groups, 0.0, 1.0)
    mean = float(sums.sum() / counts.sum())
    if len(sums) == 1:
        return Interval(mean, 0.0, 1.0)
    plain = np.all(counts == 1) and np.all((sums == 0) | (sums == 1))
    if len(sums) < FEW_GROUPS or plain or _all_alike(sums, counts):
        return Interval(mean, *wilson(mean, len(sums), _quantile(level)))
    order = np.lexsort((counts, sums))
    interval = _clustered(sums[order], counts[order], level, resamples)
    return Interval(interval.value, max(0.0, interval.low), min(1.0, interval.high))


def difference_interval(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    groups: Sequence[Any] | npt.NDArray[Any],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of `second` minus that of `first` with its interval, by a paired bootstrap over groups.

    Of what is the same in every pair there is no doubt. Where all groups differ alike, a bootstrap would be as sure of
    that; how far the interval reaches from there is how often, by Wilson, something that no group shows may yet happen.

    Args:
        first: How right each answer is in one way of scoring, from 0 to 1.
        second: How right the same answers are in the other.
        groups: Which story each belongs to.
        level: How often such an interval holds the true difference.
        resamples: How often the groups are drawn anew; from `MANY_GROUPS` groups on the formula is used.

    Raises:
        ValueError: As `mean_interval`.
    """
    before, after = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if before.shape != after.shape:
        raise ValueError(f"found {before.size} and {after.size} values; expected pairs.")
    sums, counts = _by_group(after - before, groups, -1.0, 1.0)
    if np.array_equal(before, after):
        return Interval(0.0, 0.0, 0.0)
    if len(sums) == 1:
        return Interval(float(sums[0] / counts[0]), -1.0, 1.0)
    mean = float(sums.sum() / counts.sum())
    if _all_alike(sums, counts):
        reach = wilson_interval(0, len(sums), level=level).high
        return Interval(mean, max(-1.0, mean - reach), min(1.0, mean + reach))
    return _clustered(sums, counts, level, resamples)


def difference(first: Interval, second: Interval) -> Interval:
    """Return the difference of two independent shares, first less second.

    By the method of variance estimates recovery (Zou and Donner 2008): it uses only the
    interval of each, so that intervals over stories give an interval over stories, which stays valid near 0 and 1.
    """
    value = first.value - second.value
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Interval(value, max(-1.0, value - below), min(1.0, value + above))


def gap_interval(values: npt.ArrayLike, second: npt.ArrayLike, groups: Sequence[Any] | npt.NDArray[Any]) -> Interval:
    """Return how much higher the mean of the first values is than that of the second, with its interval over groups.

    Both kinds of values may occur in the same groups, so groups are drawn as a whole. Where a bootstrap would be too
    sure of itself (see `mean_interval`), both means count as independent.

    Args:
        values: How right each answer is, from 0 to 1.
        second: Which of them are of the second kind.
        groups: Which story each belongs to.

    Raises:
        ValueError: As `mean_interval`; also if there is nothing of one kind.
    """
    given, kind, group_of = np.asarray(values, np.float64), np.asarray(second, np.bool_), np.asarray(groups)
    means = [mean_interval(given[chosen], group_of[chosen]) for chosen in (~kind, kind)]
    _, places = np.unique(group_of, return_inverse=True)
    stories = int(places.max()) + 1
    if stories < FEW_GROUPS or any(each.value in (0.0, 1.0) for each in means):
        return difference(means[0], means[1])
    sums = [np.bincount(places[chosen], given[chosen], stories).astype(np.float64) for chosen in (~kind, kind)]
    counts = [np.bincount(places[chosen], minlength=stories).astype(np.float64) for chosen in (~kind, kind)]
    value = means[0].value - means[1].value
    if stories >= MANY_GROUPS:
        parts = [(s - each.value * n) / n.sum() for s, n, each in zip(sums, counts, means, strict=True)]
        reach = _quantile(LEVEL) * float(np.sqrt(stories / (stories - 1) * np.sum((parts[0] - parts[1]) ** 2)))
        return Interval(value, max(-1.0, value - reach), min(1.0, value + reach))
    with np.errstate(invalid="ignore", divide="ignore"):  # a draw may lack one kind
        drawn = bootstrap_means(sums[0], counts[0]) - bootstrap_means(sums[1], counts[1])
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high)) if low < high else difference(means[0], means[1])


def wilson_interval(right: int, total: int, *, level: float = LEVEL) -> Interval:
    """Return a proportion with Wilson's score interval, for independent trials.

    Raises:
        ValueError: If there are no tries, or more are right than there are.
    """
    if total < 1 or not 0 <= right <= total:
        raise ValueError(f"found {right} right of {total}; expected 0 to {total} of at least 1.")
    return Interval(right / total, *wilson(right / total, total, _quantile(level)))


def share(right: Flags, cluster: Ints) -> Share:
    """Return the share of correct answers with a cluster-robust interval.

    The share is a ratio: right answers over questions, both summed over stories. With residuals r_s − p·n_s of the
    stories s its variance is S/(S−1) · Σ_s (r_s − p·n_s)² / N². That variance is worth as many independent questions
    as n = p(1−p) / variance; Wilson's interval for n questions then also holds near 0 and 1, where the variance itself
    tells nothing. Three precautions, all on the wide side: n is at most the number of questions; if all answers are
    right, or all wrong, n is the number of stories; and few stories take Student's t instead of the normal quantile.

    Args:
        right: Whether each question was answered rightly.
        cluster: The story of each, numbered from 0.
    """
    sizes = np.bincount(cluster)
    good = np.bincount(cluster, weights=right)[sizes > 0]
    sizes = sizes[sizes > 0]
    stories, questions = len(sizes), int(sizes.sum())
    if not questions:
        return Share(0.0, 0.0, 1.0, 0)
    value = float(good.sum()) / questions
    if stories == 1:
        return Share(value, 0.0, 1.0, questions)
    spread = float(((good - value * sizes) ** 2).sum())
    variance = spread / questions**2 * stories / (stories - 1)
    worth = float(stories)
    if 0 < value < 1:
        worth = min(value * (1 - value) / variance, questions) if variance > 0 else float(questions)
    low, high = wilson(value, worth, _t(stories - 1))
    return Share(value, low, high, questions)


def share_of_stories(right: Flags, cluster: Ints) -> Share:
    """Return the share of stories all of whose questions were answered correctly."""
    sizes = np.bincount(cluster)
    whole = (np.bincount(cluster, weights=right) == sizes)[sizes > 0]
    return share(whole, np.arange(len(whole)))


def wilson(value: float, count: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval for a share of a number of independent trials."""
    weight = quantile**2 / count
    middle = (value + weight / 2) / (1 + weight)
    half = quantile / (1 + weight) * sqrt(value * (1 - value) / count + weight / (4 * count))
    return max(0.0, min(value, middle - half)), min(1.0, max(value, middle + half))


def analytic_interval(sums: Floats, counts: Floats, *, level: float = LEVEL) -> Interval:
    """Return the mean with its interval by the formula for groups: the linearised variance of a ratio of sums.

    Args:
        sums: What the values of each group add up to.
        counts: How many values each group has; at least two groups.
        level: How often such an interval holds the true mean.
    """
    mean = float(sums.sum() / counts.sum())
    off = sums - mean * counts
    deviation = float(np.sqrt(len(sums) / (len(sums) - 1) * np.sum(off * off))) / float(counts.sum())
    reach = _quantile(level) * deviation
    return Interval(mean, mean - reach, mean + reach)


def bootstrap_means(sums: Floats, counts: Floats, resamples: int = RESAMPLES) -> Floats:
    """Resample the groups repeatedly, and return the mean of each resample."""
    if len(sums) * resamples <= _KEPT_CELLS:
        drawn = _kept_draws(len(sums), resamples)
        return np.asarray((drawn @ sums) / (drawn @ counts))
    parts = [(drawn @ sums) / (drawn @ counts) for drawn in _draws(len(sums), resamples)]
    return np.concatenate(parts)


def _clustered(sums: Floats, counts: Floats, level: float, resamples: int) -> Interval:
    if len(sums) >= MANY_GROUPS:
        return analytic_interval(sums, counts, level=level)
    _quantile(level)  # says if it is none
    means = bootstrap_means(sums, counts, resamples)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high))


def _all_alike(sums: Floats, counts: Floats) -> bool:
    """Return whether all groups have the same mean; computed by products, which are exact for 0 and 1."""
    return bool(np.all(sums * counts[0] == counts * sums[0]))


def _draws(groups: int, resamples: int) -> Iterator[Floats]:
    """Yield how often each group is drawn, [resample, group], some resamples at a time."""
    stream = Draws("bootstrap", groups)
    step = max(2, _CELLS // groups // 2 * 2)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        # Two draws share one raw number: an even count at a time keeps the stream the same whatever the step.
        chosen = stream.below(groups, rows * groups).reshape(rows, groups)
        chosen += np.arange(rows)[:, None] * groups
        yield np.bincount(chosen.ravel(), minlength=rows * groups).reshape(rows, groups).astype(np.float64)


@lru_cache(maxsize=1)
def _kept_draws(groups: int, resamples: int) -> Floats:
    return np.concatenate(list(_draws(groups, resamples)))


def _by_group(
    values: npt.ArrayLike, groups: Sequence[Any] | npt.NDArray[Any], least: float, most: float
) -> tuple[Floats, Floats]:
    """Return sums by group; groups are sorted, so that the order of the rows does not matter."""
    given, group_of = np.asarray(values, np.float64), np.asarray(groups)
    if given.ndim != 1 or given.shape != group_of.shape or not given.size:
        raise ValueError(f"found {given.size} values and {group_of.size} groups; expected as many, and some.")
    if not np.all((given >= least) & (given <= most)):
        raise ValueError(f"found values that are not from {least:g} to {most:g}.")
    _, places, counts = np.unique(group_of, return_inverse=True, return_counts=True)
    return np.bincount(places, weights=given).astype(np.float64), counts.astype(np.float64)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ConfigError(f"level is {level}; use a number between 0 and 1, such as 0.95.")
    return NormalDist().inv_cdf((1 + level) / 2)


def _t(freedom: int) -> float:
    """Return the 97.5% quantile of Student's t by its expansion around the normal one."""
    z = _quantile(LEVEL)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


_DIRECT = 1 << 26  # multiplications up to which distributions are folded directly, and beyond by Fourier transform


def permutation_p(differences: npt.ArrayLike) -> float:
    """Return the two-sided p-value of whole-numbered differences, one for each story.

    Under the null hypothesis each story's difference could equally have had the other sign. The sum over all 2ⁿ ways to
    choose signs has a distribution that can be computed without sampling: stories that differ by the same amount add up
    to a binomial, and there are only as many amounts as a story has questions.

    Args:
        differences: Right answers of one run less those of the other, by story.

    Raises:
        ValueError: If they are not whole numbers.
    """
    given = np.asarray(differences)
    if given.size and not np.all(given == np.rint(given)):
        raise ValueError("found differences that are not whole numbers; expected counts of right answers.")
    sizes, counts = np.unique(np.abs(given[given != 0]).astype(np.int64), return_counts=True)
    chances = np.ones(1)  # of the sums -reach … +reach in steps of 2
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        spread = np.zeros(size * count + 1)
        spread[::size] = _binomial(count)
        chances = _fold(chances, spread)
    reach = int((sizes * counts).sum())
    sums = np.abs(np.arange(-reach, reach + 1, 2))
    observed = abs(int(given.sum()))
    return min(1.0, float(chances[sums >= observed].sum()))


def _binomial(count: int) -> npt.NDArray[np.float64]:
    """Return the probabilities of 0 … count heads among `count` coins."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    return np.asarray(np.exp(logs[count] - logs - logs[::-1] - count * np.log(2)))


def _fold(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if first.size * second.size <= _DIRECT:
        return np.convolve(first, second)
    length = first.size + second.size - 1
    size = 1 << (length - 1).bit_length()
    folded = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)[:length]
    return np.maximum(folded, 0.0)
