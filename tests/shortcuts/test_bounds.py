from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.audits.shortcuts import find_shortcuts
from storyproof.families.belief.shortcuts.report import SLOTS
from storyproof.shortcuts.bounds import force
from tests.shortcuts.stories import made

THIRD = Fraction(1, 3)


class Bound(NamedTuple):
    """Average and joint score."""

    accuracy: Fraction
    joint_accuracy: Fraction


def tomi_bound(true_belief: Fraction, false_belief: Fraction, second_order_false_belief: Fraction) -> Bound:
    """Return the structural baseline of ToMi, from the shares of its story types.

    Six questions a story. The mover is asked about as agent 0, the other as agent 1; the object is moved once, so
    there are a first and a last place (F, L). Memory is F and reality is L by definition. The mover puts the object
    into its last place, so knows it: first_order_0 is L. The rest hangs on the story type:

    ===========================  =============  ==============  ==============
    story type (share)           first_order_1  second_order_0  second_order_1
    ===========================  =============  ==============  ==============
    true belief (t)              L              L               L
    false belief (f)             F              F               F
    second-order false (s)       L              F               F
    ===========================  =============  ==============  ==============

    In a false-belief story only the other can be wrong, and has missed the move: the two were last together before
    it, so either takes the other to believe F. In a second-order false-belief story both know L, but were not
    together after the move. A belief about a belief is decided by when the two were last together, so second_order_0
    and second_order_1 are always alike.

    The best fixed answers score 1 for three questions, max(f, 1−f) for first_order_1 and max(t, 1−t) for each of the
    second order: on average (3 + max(f, 1−f) + 2·max(t, 1−t)) / 6. A fixed answer gets a whole story right if it is
    the table's line for that story's type, so joint it is max(t, f, s). Balanced, with a third each: 5/6 and 1/3.

    Args:
        true_belief: Share of stories.
        false_belief: Share of stories.
        second_order_false_belief: Share of stories.
    """
    average = (3 + max(false_belief, 1 - false_belief) + 2 * max(true_belief, 1 - true_belief)) / 6
    return Bound(average, max(true_belief, false_belief, second_order_false_belief))


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
