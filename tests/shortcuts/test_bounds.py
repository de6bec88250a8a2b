from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.families.belief.shortcuts.report import SLOTS, tomi_bound
from storyproof.shortcuts.bounds import force
from tests.shortcuts.stories import made

THIRD = Fraction(1, 3)


def test_balanced_tomi_by_the_formula() -> None:
    assert tomi_bound(THIRD, THIRD, THIRD) == (Fraction(5, 6), THIRD)


@pytest.mark.parametrize("kept", [(1, 1, 1), (3, 1, 1), (1, 3, 1), (1, 1, 3), (0, 1, 2)])
def test_the_formula_is_what_enumeration_finds_on_generated_tomi(kept: tuple[int, int, int]) -> None:
    types = ("true_belief", "false_belief", "second_order_false_belief")
    examples = made("tomi", "test", 297)
    chosen, counts = [], []
    for name, share in zip(types, kept, strict=True):
        stories = sorted({each.story_id for each in examples if each.story_type == name})[: 30 * share]
        chosen += [each for each in examples if each.story_id in stories]
        counts.append(Fraction(share, sum(kept)))
    forced = find_shortcuts(None, chosen, learned=False).forced
    expected = tomi_bound(*counts)
    assert forced.accuracy == pytest.approx(float(expected.accuracy))
    assert forced.joint_accuracy == pytest.approx(float(expected.joint_accuracy))


def test_the_best_choices_of_tomi_are_those_of_a_second_order_false_belief() -> None:
    forced = find_shortcuts(None, made("tomi", "test", 297), learned=False).forced
    assert forced.choices == {
        "memory": "first",
        "reality": "last",
        "first_order_0": "last",
        "first_order_1": "last",
        "second_order_0": "first",
        "second_order_1": "first",
    }
    assert forced.by_kind["second_order"] == pytest.approx(2 / 3)


CASES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.tuples(st.booleans(), st.booleans(), st.booleans())),
    min_size=1,
    max_size=12,
)


@given(CASES)
def test_no_fixed_choice_does_better(cases: list[tuple[int, str, tuple[bool, bool, bool]]]) -> None:
    stories, slots, rights = zip(*cases, strict=True)
    right, cluster = np.array(rights, np.bool_).T, np.unique(stories, return_inverse=True)[1]
    forced = force(right, slots, cluster, slots, ("x", "y", "z"), SLOTS)
    names = sorted(set(slots))
    average = joint = 0.0
    for choice in product(range(3), repeat=len(names)):
        hits = right[[choice[names.index(slot)] for slot in slots], np.arange(len(slots))]
        average = max(average, float(hits.mean()))
        joint = max(joint, float(np.mean([hits[cluster == story].all() for story in np.unique(cluster)])))
    assert forced.accuracy == pytest.approx(average)
    assert forced.joint_accuracy == pytest.approx(joint)
