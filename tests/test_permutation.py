from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof import stats
from storyproof.stats import permutation_p


def by_all_signs(differences: list[int]) -> float:
    sums = [sum(sign * each for sign, each in zip(signs, differences, strict=True)) for signs in _signs(differences)]
    return sum(abs(each) >= abs(sum(differences)) for each in sums) / len(sums)


def _signs(differences: list[int]) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=len(differences)))


@given(st.lists(st.integers(-6, 6), max_size=8))
def test_as_by_trying_all_signs(differences: list[int]) -> None:
    assert permutation_p(differences) == pytest.approx(by_all_signs(differences))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=40))
def test_which_run_comes_first_does_not_matter(differences: list[int]) -> None:
    assert permutation_p(differences) == pytest.approx(permutation_p([-each for each in differences]))
    assert 0 < permutation_p(differences) <= 1


def test_no_difference() -> None:
    assert permutation_p([]) == permutation_p([0, 0]) == permutation_p([1, -1]) == 1.0


def test_sign_test() -> None:
    assert permutation_p([1] * 10) == pytest.approx(2 / 2**10)


def test_many_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.tile([1, 2, 3, -1, -2, 0, 5], 300)
    direct = permutation_p(differences - (np.arange(2100) % 2))
    monkeypatch.setattr(stats, "_DIRECT", 0)
    assert permutation_p(differences - (np.arange(2100) % 2)) == pytest.approx(direct, abs=1e-10)


def test_only_whole_numbers() -> None:
    with pytest.raises(ValueError, match="not whole numbers"):
        permutation_p([0.5])
