from math import atan, cos, sin, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof import stats
from storyproof.errors import ConfigError
from storyproof.generation.seeds import Draws
from storyproof.stats import (
    Interval,
    analytic_interval,
    bootstrap_means,
    difference,
    difference_interval,
    gap_interval,
    how,
    mean_interval,
    share,
    share_of_stories,
    wilson,
    wilson_interval,
)

# Right or wrong before and after, and of which story.
ROWS = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), min_size=1, max_size=40)


def slow_means(sums: list[float], counts: list[float], resamples: int) -> list[float]:
    """The bootstrap as one would tell it."""
    groups = len(sums)
    drawn = Draws("bootstrap", groups).below(groups, resamples * groups).tolist()
    means = []
    for start in range(0, len(drawn), groups):
        chosen = drawn[start : start + groups]
        means.append(sum(sums[group] for group in chosen) / sum(counts[group] for group in chosen))
    return means


@pytest.mark.parametrize("cells", [1, 50, 1 << 20])
@pytest.mark.parametrize("groups", [2, 7, 30])
def test_bootstrap_is_the_slow_one(groups: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "_CELLS", cells)
    monkeypatch.setattr(stats, "_KEPT_CELLS", 0)
    random = np.random.default_rng(groups)
    counts = random.integers(1, 7, groups).astype(float)
    sums = random.integers(0, counts + 1).astype(float)
    expected = slow_means(sums.tolist(), counts.tolist(), 101)
    assert bootstrap_means(sums, counts, 101).tolist() == pytest.approx(expected, abs=1e-12)


def test_kept_draws_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, counts = np.arange(20.0), np.full(20, 19.0)
    kept = bootstrap_means(sums, counts, 300)
    assert len(bootstrap_means(sums, counts)) == 2_000
    monkeypatch.setattr(stats, "_KEPT_CELLS", 0)
    assert bootstrap_means(sums, counts, 300).tolist() == pytest.approx(kept.tolist(), abs=1e-12)


@given(ROWS)
def test_interval_holds_the_mean(rows: list[tuple[bool, bool, int]]) -> None:
    values, _, groups = zip(*rows, strict=True)
    found = mean_interval(values, groups)
    assert found.value == pytest.approx(sum(values) / len(values))
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


@given(ROWS)
def test_swapping_turns_the_difference_around(rows: list[tuple[bool, bool, int]]) -> None:
    first, second, groups = zip(*rows, strict=True)
    there, back = difference_interval(first, second, groups), difference_interval(second, first, groups)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low), abs=1e-12)
    assert there.value == pytest.approx(sum(second) / len(rows) - sum(first) / len(rows))


@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(rows: list[tuple[bool, bool, int]], random: Random) -> None:
    values, others, groups = zip(*rows, strict=True)
    mixed = list(rows)
    random.shuffle(mixed)
    mixed_values, mixed_others, mixed_groups = zip(*mixed, strict=True)
    named = [f"story {group}" for group in mixed_groups]
    assert mean_interval(mixed_values, named) == mean_interval(values, groups)
    assert difference_interval(mixed_values, mixed_others, named) == difference_interval(values, others, groups)


def test_covers_the_truth_about_as_often_as_it_says() -> None:
    # Questions of a story are right or wrong together: what counts them singly is far too sure.
    random = np.random.default_rng(5)
    stories = np.repeat(np.arange(60), 6)
    held = naive = 0
    for _ in range(300):
        easy = random.beta(1.4, 0.6, 60)
        right = random.random(360) < easy[stories]
        found, single = mean_interval(right, stories, resamples=400), wilson_interval(int(right.sum()), 360)
        held += found.low <= 0.7 <= found.high
        naive += single.low <= 0.7 <= single.high
    assert 0.9 <= held / 300 <= 0.98
    assert naive / 300 < 0.85


def test_pairing_tells_more_than_two_intervals() -> None:
    random = np.random.default_rng(1)
    stories = np.repeat(np.arange(200), 3)
    before = random.random(600) < 0.5
    after = before | (random.random(600) < 0.04)
    found = difference_interval(before, after, stories)
    assert found.low > 0
    assert mean_interval(before, stories).high > mean_interval(after, stories).low


def test_formula_agrees_with_the_bootstrap() -> None:
    random = np.random.default_rng(2)
    counts = random.integers(1, 7, 1500).astype(float)
    sums = random.binomial(counts.astype(int), 0.7).astype(float)
    formula, (low, high) = analytic_interval(sums, counts), np.quantile(bootstrap_means(sums, counts), [0.025, 0.975])
    assert (formula.low, formula.high) == pytest.approx((low, high), abs=0.002)


def test_many_groups_go_by_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    values, groups = [1, 0, 1, 1, 0, 1, 0, 0], [0, 0, 1, 1, 2, 2, 3, 3]
    monkeypatch.setattr(stats, "FEW_GROUPS", 2)
    monkeypatch.setattr(stats, "MANY_GROUPS", 4)
    found = mean_interval(values, groups)
    sums, counts = np.array([1.0, 2, 1, 0]), np.full(4, 2.0)
    plain = analytic_interval(sums, counts)
    # By hand: deviations 0, 1, 0, -1 from a mean of 1/2.
    assert plain.high - plain.value == pytest.approx(1.959964 * (4 / 3 * 2) ** 0.5 / 8, rel=1e-6)
    assert found == Interval(0.5, max(0.0, plain.low), min(1.0, plain.high))


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(8, 10, 0.490162, 0.943318), (0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0), (50, 100, 0.403830, 0.596170)],
)
def test_wilson_by_the_book(right: int, total: int, low: float, high: float) -> None:
    found = wilson_interval(right, total)
    assert (found.value, found.low, found.high) == pytest.approx((right / total, low, high), abs=1e-5)


@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_the_same_for_right_and_wrong(total: int, data: st.DataObject, level: float) -> None:
    right = data.draw(st.integers(0, total))
    found, turned = wilson_interval(right, total, level=level), wilson_interval(total - right, total, level=level)
    assert (found.low, found.high) == pytest.approx((1 - turned.high, 1 - turned.low), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_one_try_a_story_is_a_plain_proportion() -> None:
    assert mean_interval([1, 1, 0, 1], list("abcd")) == wilson_interval(3, 4)


def test_all_right_is_not_certain() -> None:
    assert mean_interval([1] * 6, [0, 0, 0, 1, 1, 1]) == wilson_interval(2, 2)
    found = difference_interval([0] * 4, [1] * 4, [0, 1, 2, 3])
    assert (found.value, found.low, found.high) == (1, 1 - wilson_interval(0, 4).high, 1)


def test_stories_that_are_all_alike_leave_doubt() -> None:
    pairs = np.repeat(np.arange(40), 2)
    assert mean_interval([1, 0] * 40, pairs) == wilson_interval(20, 40)
    found, reach = difference_interval([1, 0] * 40, [0, 1] * 40, pairs), wilson_interval(0, 40).high
    assert found == Interval(0.0, -reach, reach)
    uneven = [0, 0, *range(1, 12)]
    assert mean_interval([1] * 13, uneven) == wilson_interval(12, 12)


def test_few_stories_go_by_wilson() -> None:
    nine, ten = np.repeat(np.arange(9), 2), np.repeat(np.arange(10), 2)
    found = mean_interval([1, 1, 1, 0, *[1, 0] * 7], nine)
    assert (found.low, found.high) == pytest.approx(wilson(found.value, 9, 1.959963984540054))
    found = mean_interval([1, 1, 1, 0, *[1, 0] * 8], ten)
    assert (found.low, found.high) != pytest.approx(wilson(found.value, 10, 1.959963984540054))


@given(ROWS)
def test_between_runs_that_are_the_same_there_is_no_difference(rows: list[tuple[bool, bool, int]]) -> None:
    values, _, groups = zip(*rows, strict=True)
    assert difference_interval(values, values, groups) == Interval(0.0, 0.0, 0.0)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 15)), min_size=12, max_size=60), st.randoms())
def test_interval_hangs_on_the_answers_alone(rows: list[tuple[bool, int]], random: Random) -> None:
    # Commands name and sort stories each in their way.
    values, groups = zip(*rows, strict=True)
    other = list(range(16))
    random.shuffle(other)
    assert mean_interval(values, [other[group] for group in groups]) == mean_interval(values, groups)


def test_captions_say_what_was_done() -> None:
    assert how(24) == [
        "95% intervals by bootstrap over stories; by Wilson's formula over stories",
        "where fewer than 10 (one gives no information), all alike, or of one answer each",
    ]
    assert "bootstrap over stories" in how(4_999)[0]
    assert "variance over stories" in how(5_000)[0]
    assert how(24, paired=True)[0] == "95% intervals of paired differences by bootstrap over stories;"


def test_one_story_says_nothing() -> None:
    assert mean_interval([1, 0], ["a", "a"]) == Interval(0.5, 0.0, 1.0)
    assert difference_interval([1, 0], [1, 1], ["a", "a"]) == Interval(0.5, -1.0, 1.0)


def test_what_cannot_be_averaged() -> None:
    with pytest.raises(ValueError, match="found 0 values and 0 groups"):
        mean_interval([], [])
    with pytest.raises(ValueError, match="found 2 values and 1 groups"):
        mean_interval([0, 1], [0])
    with pytest.raises(ValueError, match="not from 0 to 1"):
        mean_interval([0, 1.5], [0, 1])
    with pytest.raises(ValueError, match="not from 0 to 1"):
        mean_interval([0, float("nan")], [0, 1])
    with pytest.raises(ValueError, match="found 2 and 1 values; expected pairs"):
        difference_interval([0, 1], [0], [0, 1])
    with pytest.raises(ValueError, match="found 3 right of 2"):
        wilson_interval(3, 2)
    with pytest.raises(ConfigError, match="level is 95; use a number between 0 and 1"):
        mean_interval([0, 1, 1], [0, 0, 1], level=95)


def test_plain_values() -> None:
    assert Interval(0.5, 0.25, 0.75).as_dict() == {"value": 0.5, "low": 0.25, "high": 0.75}


# ------------------------------------------------------------------------------------------------ shares by the formula

SIX = np.repeat(np.arange(100), 6)


def test_wilson_is_the_textbook_interval() -> None:
    assert wilson(0.8, 10, 1.959963984540054) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize(("right", "value"), [(True, 1.0), (False, 0.0)])
def test_all_alike_still_leaves_doubt(right: bool, value: float) -> None:
    found = share(np.full(600, right), SIX)
    assert found.value == value
    assert 0.02 < found.high - found.low < 0.06


def test_questions_that_hang_together_count_as_one() -> None:
    alike = np.repeat(np.arange(100) < 70, 6)
    apart = share(alike, np.arange(600))
    together = share(alike, SIX)
    assert together.value == apart.value == 0.7
    assert together.high - together.low == pytest.approx((apart.high - apart.low) * 6**0.5, rel=0.05)


def test_a_story_is_right_if_all_its_questions_are() -> None:
    right = np.ones(600, np.bool_)
    right[[0, 6, 7]] = False
    assert share_of_stories(right, SIX).value == 0.98
    assert share_of_stories(right, SIX).of == 100


def test_nothing_and_one_story_say_nothing() -> None:
    nothing = share(np.array([], np.bool_), np.array([], np.int64))
    assert (nothing.low, nothing.high, nothing.of) == (0, 1, 0)
    one = share(np.array([True, True, False]), np.zeros(3, np.int64))
    assert (one.low, one.high) == (0, 1)


@pytest.mark.parametrize("middle", [0.5, 0.9, 0.98])
def test_intervals_hold_the_truth_as_often_as_they_say(middle: float) -> None:
    dice = np.random.default_rng(1)
    story = np.repeat(np.arange(300), 6)
    held = apart = 0
    for _ in range(400):
        hangs_together = dice.beta(2 * middle, 2 * (1 - middle), 300)[story]
        right = dice.random(1800) < hangs_together
        found, naive = share(right, story), share(right, np.arange(1800))
        held += found.low <= middle <= found.high
        apart += naive.low <= middle <= naive.high
    assert 0.92 < held / 400 <= 0.985
    assert apart / 400 < 0.85  # those that take questions for independent are too narrow


def student_t(freedom: int) -> float:
    """Return the 97.5% quantile of Student's t for an even number of degrees of freedom, by its closed form."""

    def below(t: float) -> float:
        angle = atan(t / sqrt(freedom))
        term = total = 1.0
        for power in range(2, freedom, 2):
            term *= cos(angle) ** 2 * (power - 1) / power
            total += term
        return 0.5 + sin(angle) / 2 * total

    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if below(middle) > 0.975 else (middle, high)
    return low


@pytest.mark.parametrize(("freedom", "within"), [(4, 0.01), (10, 2e-4), (100, 2e-8), (1000, 3e-12)])
def test_students_t(freedom: int, within: float) -> None:
    assert student_t(10) == pytest.approx(2.228139, abs=1e-6)  # by the book
    # Errors of the expansion fall with the fourth power of the degrees of freedom, so every coefficient counts.
    assert stats._t(freedom) == pytest.approx(student_t(freedom), abs=within, rel=0)


def test_a_share_by_hand() -> None:
    # Stories 0, 2, 3, 5 and 8 have 2 of 2, 1 of 2, 1 of 3, 1 of 1 and 0 of 2 right: 5 of 10.
    right = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0], np.bool_)
    story = np.array([0, 0, 2, 2, 3, 3, 3, 5, 8, 8])
    found = share(right, story)
    variance = 5 / 4 * (1 + 0 + 0.25 + 0.25 + 1) / 10**2
    low, high = wilson(0.5, 0.25 / variance, student_t(4))
    assert (found.value, found.of) == (0.5, 10)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3)
    assert str(found) == f"50.0% [{found.low:.1%}, {found.high:.1%}]"


def test_a_share_is_worth_at_most_its_questions() -> None:
    story = np.repeat(np.arange(13), 2)
    even = np.tile([True, False], 13)
    uneven = np.concatenate([even[:22], [True, True, False, False]])
    for right in (even, uneven):  # stories that are all alike, or nearly, would be worth more
        found = share(right, story)
        assert (found.low, found.high) == pytest.approx(wilson(0.5, 26, student_t(12)), abs=1e-4)


def test_all_right_is_worth_its_stories() -> None:
    found = share(np.ones(26, np.bool_), np.repeat(np.arange(13), 2))
    assert (found.low, found.high) == pytest.approx(wilson(1.0, 13, student_t(12)), abs=1e-4)


def test_stories_without_questions_do_not_count() -> None:
    right, story = np.array([1, 1, 0, 1, 0], np.bool_), np.array([0, 2, 3, 3, 7])
    found = share_of_stories(right, story)
    assert (found.value, found.of) == (0.5, 4)
    assert share(np.zeros(0, np.bool_), np.zeros(0, np.int64)).value == 0


def test_a_share_of_none_begins_at_none() -> None:
    assert {wilson_interval(0, total).low for total in range(1, 400)} == {0.0}  # not at a rounding error above


def test_one_answer_a_story_goes_by_wilson() -> None:
    stories = list(range(14))
    assert mean_interval([1, 0] * 7, stories) == wilson_interval(7, 14)
    assert mean_interval([1] * 13 + [0], stories) == wilson_interval(13, 14)
    for values, groups in (
        ([0.5, 1, 0, 1] * 4, list(range(16))),  # not right or wrong
        ([0.5, 0.25] * 7, stories),
        ([0, 0, 1, 0] * 7, stories * 2),  # two answers each
        ([0] * 14 + [1, 0] * 7, stories * 2),
    ):
        found = mean_interval(values, groups)
        wrong = wilson(found.value, len(set(groups)), 1.959963984540054)
        assert (found.low, found.high) != pytest.approx(wrong, abs=1e-6)


def test_the_formula_is_cut_at_none_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "MANY_GROUPS", 12)
    groups = np.repeat(np.arange(12), 2)
    mostly = np.array([1] * 23 + [0])
    assert mean_interval(mostly, groups).high == 1.0
    assert mean_interval(mostly, groups).low > 0.5
    assert mean_interval(1 - mostly, groups).low == 0.0
    assert mean_interval(1 - mostly, groups).high < 0.5
    found = difference_interval([1] * 4, [0] * 4, [0, 1, 2, 3])
    assert (found.value, found.low, found.high) == (-1, -1, wilson_interval(0, 4).high - 1)


@pytest.mark.parametrize("level", [-0.5, 0, 1, 1.5, 95])
def test_what_is_no_level(level: float) -> None:
    for values, groups in (([0, 1, 1], [0, 0, 1]), ([1, 1, 0, 0, 1, 0] * 4, list(range(12)) * 2)):
        with pytest.raises(ConfigError, match="use a number between 0 and 1"):
            mean_interval(values, groups, level=level)


def test_what_is_no_share() -> None:
    for right, total in ((0, 0), (-1, 5), (6, 5)):
        with pytest.raises(ValueError, match=f"found {right} right of {total}"):
            wilson_interval(right, total)
    with pytest.raises(ValueError, match="not from 0 to 1"):
        mean_interval([0, -0.5], [0, 1])
    for first, second in (([2, 0], [0.5, 0]), ([0.5, 0], [2, 0])):
        with pytest.raises(ValueError, match="not from -1 to 1"):
            difference_interval(first, second, [0, 1])
    with pytest.raises(ValueError, match="found 4 values and 4 groups"):
        mean_interval([[1, 0], [0, 1]], [[0, 0], [1, 1]])  # type: ignore[list-item]


@pytest.mark.parametrize(("first", "second"), [(1.0, 0.6), (0.4, 0.0)])
def test_a_gap_beside_all_or_nothing_is_as_wide_as_two_independent_means(first: float, second: float) -> None:
    """A bootstrap cannot draw what never occurred, so it would take 30 of 30 for certain."""
    stories, kinds = np.repeat(np.arange(30), 2), np.tile([False, True], 30)
    values = np.empty(60)
    values[~kinds] = np.arange(30) < 30 * first
    values[kinds] = np.arange(30) < 30 * second
    means = [mean_interval(values[each], stories[each]) for each in (~kinds, kinds)]
    assert gap_interval(values, kinds, stories) == difference(*means)


# ------------------------------------------------------------------------------------------- differences of two shares


def test_a_difference_of_independent_shares_by_hand() -> None:
    found = difference(Interval(0.8, 0.7, 0.86), Interval(0.5, 0.42, 0.55))
    assert found.value == pytest.approx(0.3)
    assert found.low == pytest.approx(0.3 - sqrt(0.1**2 + 0.05**2))
    assert found.high == pytest.approx(0.3 + sqrt(0.06**2 + 0.08**2))


def test_a_difference_is_cut_at_all_and_nothing() -> None:
    sure, unsure = Interval(1.0, 0.1, 1.0), Interval(0.0, 0.0, 0.9)
    assert difference(sure, unsure) == Interval(1.0, 1 - sqrt(0.9**2 + 0.9**2), 1.0)
    assert difference(unsure, sure) == Interval(-1.0, -1.0, sqrt(0.9**2 + 0.9**2) - 1)
    wide = Interval(0.5, 0.0, 1.0)
    assert difference(wide, Interval(0.5, 0.5, 0.5)) == Interval(0.0, -0.5, 0.5)
    assert difference(Interval(0.0, 0.0, 1.0), Interval(0.4, 0.0, 1.0)).low == -1.0
    assert difference(Interval(0.4, 0.0, 1.0), Interval(0.0, 0.0, 1.0)).high == 1.0


SHARES = (
    st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted).map(lambda each: Interval(each[1], each[0], each[2]))
)


@given(SHARES, SHARES)
def test_swapping_shares_turns_their_difference_around(first: Interval, second: Interval) -> None:
    found, other = difference(first, second), difference(second, first)
    assert (found.value, found.low, found.high) == pytest.approx((-other.value, -other.high, -other.low))
    assert -1 <= found.low <= found.value <= found.high <= 1


# ----------------------------------------------------------------------------------- gaps within the same stories


def gap_sample(stories: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values of two kinds in stories of different sizes, some of which have one kind only."""
    draws = np.random.default_rng(stories)
    sizes = draws.integers(1, 5, stories)
    groups = np.repeat(np.arange(stories), sizes)
    kinds = draws.random(len(groups)) < 0.4
    ease = draws.random(stories)[groups]
    return (draws.random(len(groups)) < np.where(kinds, 0.5 * ease, ease)).astype(float), kinds, groups


def by_story(values: np.ndarray, groups: np.ndarray, stories: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sum and count of each story, by a loop."""
    sums, counts = np.zeros(stories), np.zeros(stories)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value
        counts[group] += 1
    return sums, counts


@pytest.mark.parametrize("stories", [10, 11, 40])
def test_a_gap_is_a_bootstrap_over_stories(stories: int) -> None:
    values, kinds, groups = gap_sample(stories)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = bootstrap_means(*by_story(values[~kinds], groups[~kinds], stories))
        drawn = drawn - bootstrap_means(*by_story(values[kinds], groups[kinds], stories))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    found = gap_interval(values, kinds, groups)
    assert found.value == pytest.approx(values[~kinds].mean() - values[kinds].mean())
    assert (found.low, found.high) == pytest.approx((low, high))
    assert gap_interval(values, kinds, groups + 7) == found  # the names of stories do not matter


def test_few_stories_count_as_independent() -> None:
    values, kinds, groups = gap_sample(9)
    means = [mean_interval(values[each], groups[each]) for each in (~kinds, kinds)]
    assert 0 < means[0].value < 1
    assert 0 < means[1].value < 1
    assert gap_interval(values, kinds, groups) == difference(*means)


def test_many_stories_go_by_the_formula_for_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    values, kinds, groups = gap_sample(40)
    drawn = gap_interval(values, kinds, groups)
    monkeypatch.setattr(stats, "MANY_GROUPS", 41)
    assert gap_interval(values, kinds, groups) == drawn
    monkeypatch.setattr(stats, "MANY_GROUPS", 40)
    found = gap_interval(values, kinds, groups)
    parts = []
    for each in (~kinds, kinds):
        sums, counts = by_story(values[each], groups[each], 40)
        parts.append((sums - values[each].mean() * counts) / counts.sum())
    reach = 1.959963984540054 * sqrt(40 / 39 * sum((parts[0] - parts[1]) ** 2))
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.03)


def test_the_formula_for_gaps_is_cut_at_none_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "MANY_GROUPS", 10)
    kinds, groups = np.arange(40) % 2 == 1, np.repeat(np.arange(10), 4)
    values = (~kinds).astype(float)
    values[:2] = 1 - values[:2]
    found = gap_interval(values, kinds, groups)
    assert found.value == pytest.approx(0.9)
    assert 0.5 < found.low < 0.9
    assert found.high == 1.0
    assert gap_interval(1 - values, kinds, groups).low == -1.0


def test_a_gap_that_no_draw_changes_counts_as_independent() -> None:
    """Where all stories have the same gap, a bootstrap would be certain of it."""
    groups, kinds = np.repeat(np.arange(12), 4), np.tile([False, False, True, True], 12)
    values = np.tile([1.0, 0.0, 1.0, 0.0], 12)
    found = gap_interval(values, kinds, groups)
    assert found == difference(*(mean_interval(values[each], groups[each]) for each in (~kinds, kinds)))
    assert found.low < 0 < found.high


def test_gaps_by_hand() -> None:
    right = np.array([1, 1, 0, 1, 0, 0] * 10, float)
    false = np.array([0, 0, 0, 1, 1, 1] * 10, bool)
    stories = np.repeat(np.arange(20), 3)
    found = gap_interval(right, false, stories)
    assert found.value == pytest.approx(1 / 3)
    assert found.low < 1 / 3 < found.high


def test_gaps_cover_the_truth() -> None:
    """Of 300 samples of 60 stories whose difficulty varies, about 95 in 100 intervals hold the true gap."""
    draws = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        easy = draws.beta(4, 2, 60)
        right = draws.random((60, 4)) < np.stack([easy, easy, easy * 0.6, easy * 0.6], axis=1)
        false = np.tile([False, False, True, True], 60)
        found = gap_interval(right.ravel().astype(float), false, np.repeat(np.arange(60), 4))
        hits += found.low <= (4 / 6) * 0.4 <= found.high
    assert 0.90 <= hits / 300 <= 0.99


def test_gaps_where_one_side_is_certain() -> None:
    right = np.array([1.0] * 30 + [0.0, 1.0] * 15)
    found = gap_interval(right, np.arange(60) >= 30, np.arange(60))
    assert isinstance(found, Interval)
    assert found.value == 0.5
    assert 0 < found.low < 0.5 < found.high < 1
    few = gap_interval(right[:4], np.array([0, 1, 0, 1], bool), np.array([0, 0, 1, 1]))
    assert few.low < few.value < few.high or few.value in (-1.0, 0.0, 1.0)
