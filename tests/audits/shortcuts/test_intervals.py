import numpy as np
import pytest

from storyproof.audits.shortcuts.intervals import share, share_of_stories, wilson

SIX = np.repeat(np.arange(100), 6)


def test_wilson_is_the_textbook_interval() -> None:
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


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
