"""The exact paired permutation test: how often is the gap as great if runs are assigned at random?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
