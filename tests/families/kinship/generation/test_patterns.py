"""Where the patterns of a schedule come from, and how runs of siblings are bounded."""

from __future__ import annotations

from functools import cache
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import MOST_K, ClutrrConfig
from storyproof.families.kinship.generation.pattern_search import SearchedPatterns
from storyproof.families.kinship.generation.patterns import FEWEST, PatternSource, ProvedPatterns, within_bound
from storyproof.families.kinship.generation.proof_file import LENGTHS, strict_proofs
from storyproof.families.kinship.rules import rules_of, strict_rules
from tests.families.kinship.generation.test_pattern_search import maker

STRICT = strict_rules()


@cache
def proved(bound: int = 3, seed: int = 0) -> ProvedPatterns:
    return ProvedPatterns(STRICT, strict_proofs(), bound, "tests", seed)


def listed(source: PatternSource, k: int, target: str) -> list[tuple[str, ...]]:
    return [source.pattern(number) for number in source.numbers(k, target).tolist()]


def run(pattern: tuple[str, ...]) -> int:
    return max((len([*each]) for relation, each in groupby(pattern) if relation == "sibling"), default=0)


@given(st.lists(st.integers(0, 15), max_size=30), st.integers(1, 15))
def test_a_bound_leaves_out_the_longest_runs_but_two(runs: list[int], bound: int) -> None:
    kept = within_bound(np.array(runs, np.int64), bound)
    left = [each for each, good in zip(runs, kept.tolist(), strict=True) if not good]
    used = [each for each, good in zip(runs, kept.tolist(), strict=True) if good]
    assert len(used) >= min(FEWEST, len(runs))
    assert all(each > bound for each in left)
    assert not left or max(used) < min(left)
    if sum(each <= bound for each in runs) >= FEWEST:
        assert max(used) <= bound
    elif used:
        shorter = [each for each in used if each < max(used)]
        assert len(shorter) < FEWEST  # the bound is not relaxed further than it must be


@pytest.mark.parametrize("bound", [1, 2, 3, 15])
@pytest.mark.parametrize("k", [2, 5, 10, 15])
def test_the_patterns_within_a_bound_are_all_there_are(k: int, bound: int) -> None:
    for target in STRICT.targets:
        every = set(listed(proved(15), k, target))
        found = listed(proved(bound), k, target)
        assert len(set(found)) == len(found) >= min(FEWEST, len(every))
        longest = max(map(run, found))
        assert proved(bound).longest_run(k, target) == longest
        assert set(found) == {each for each in every if run(each) <= max(bound, longest)}


def test_without_a_bound_nothing_is_left_out() -> None:
    for k in LENGTHS:
        assert sum(len(proved(15).numbers(k, target)) for target in STRICT.targets) == len(strict_proofs().of(k))


def test_a_seed_decides_the_order_only() -> None:
    for k in (3, 6, 10):
        for target in STRICT.targets:
            one, other = (listed(proved(3, seed), k, target) for seed in (0, 1))
            assert sorted(one) == sorted(other)
            assert one != other or len(one) < 5


def test_by_default_only_husbands_and_wives_need_six_siblings() -> None:
    usual = ClutrrConfig().sibling_run
    for k in range(7, 11):
        longest = {target: proved(usual).longest_run(k, target) for target in STRICT.targets}
        assert [target for target, siblings in longest.items() if siblings + 1 >= 6] == ["SO"]
        assert longest["SO"] == k - 2


def test_a_pattern_has_the_same_number_in_every_order() -> None:
    for k, target in ((4, "grand"), (10, "un")):
        sources = proved(3), proved(3, 1), proved(15)
        numbers = [{each.pattern(number): number for number in each.numbers(k, target).tolist()} for each in sources]
        assert numbers[0] == numbers[1]
        assert numbers[0].items() <= numbers[2].items()


@pytest.mark.parametrize("reading", ["strict", "published"])
def test_searched_patterns_are_numbered_as_they_are_found(reading: str) -> None:
    source = SearchedPatterns(maker(reading).search, MOST_K)
    for k in (2, 3, 6):
        for target in rules_of(reading).targets:
            assert listed(source, k, target) == maker(reading).patterns(k, target)


def test_searched_patterns_can_be_bounded() -> None:
    free, bound = (SearchedPatterns(maker("strict").search, siblings) for siblings in (MOST_K, 2))
    assert free.longest_run(6, "inv-un") > 2
    assert bound.longest_run(6, "inv-un") == 2
    assert set(listed(bound, 6, "inv-un")) < set(listed(free, 6, "inv-un"))


def test_strict_patterns_are_proved_and_others_searched() -> None:
    assert isinstance(Clutrr(ClutrrConfig(), 0).patterns, ProvedPatterns)
    assert isinstance(Clutrr(ClutrrConfig(reading="published"), 0).patterns, SearchedPatterns)
