"""The structural baseline of ToMi, derived by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

ABOUT = "question type and whether the mover is asked; always the same place for each (first, last or last but one)"


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
