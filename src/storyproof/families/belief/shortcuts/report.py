"""The shortcut audit of theory-of-mind data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from storyproof.example import Example
from storyproof.families.belief.shortcuts.ablations import ABLATIONS
from storyproof.families.belief.shortcuts.heuristics import ALGORITHM_1, answer
from storyproof.families.belief.shortcuts.probe import choose
from storyproof.families.belief.shortcuts.stories import POSITIONS, Told, positions, slots, tell
from storyproof.shortcuts.bounds import force
from storyproof.shortcuts.results import ABLATION, HEURISTIC, Forced, ShortcutReport, ShortcutScore
from storyproof.shortcuts.trial import Trial, set_up
from storyproof.shortcuts.verdicts import SOLVED, best_score, both_scores, percent, points_above

SLOTS = "question type and whether the mover is asked; always the same place for each (first, last or last but one)"


def find_belief_shortcuts(
    train: Sequence[Example] | None, test: Sequence[Example], *, seed: int, learned: bool
) -> ShortcutReport:
    """Answer theory-of-mind data without reasoning about belief; see `find_shortcuts`."""
    groups = ["false_belief" if each.false_belief else "no_false_belief" for each in test]
    trial = set_up(train, test, seed, groups)
    told = tell(trial.examples)
    places, seen = positions(told), slots(told, trial.examples)
    right = (places == told.answer)[:, trial.asked]
    forced = force(right, seen[trial.first :], trial.cluster, trial.kinds, POSITIONS, SLOTS)
    rows = [
        trial.score(name, HEURISTIC, reader, True, hits, forced)
        for name, reader, hits in answer(trial, told, places, seen)
    ]
    if learned:
        rows += _probe(trial, told, forced, seed)
    return trial.report("theory_of_mind", forced, rows, verdict_on(rows, forced))


def _probe(trial: Trial, told: Told, forced: Forced, seed: int) -> Iterator[ShortcutScore]:
    """Train a probe on each ablation and have it answer."""
    label = told.answer[trial.asked]
    for ablation in ABLATIONS:
        left = ablation.apply(told, seed)
        chosen = trial.by_fold(lambda fold: choose(left, fold, seed))  # noqa: B023
        yield trial.score(ablation.name, ABLATION, ablation.reader, ablation.shortcut, chosen == label, forced)


def verdict_on(rows: Sequence[ShortcutScore], forced: Forced) -> str:
    """Return in a line what the data test, and what they can be answered without."""
    rules = next(row for row in rows if row.name == ALGORITHM_1)
    if rules.accuracy.value >= SOLVED:
        return f"A reader who {rules.reader} gets {percent(rules.accuracy.value)}: this data does not test belief."
    best = best_score([row for row in rows if row.shortcut])
    if best.accuracy.value >= SOLVED:
        return f"A reader who {best.reader} gets {both_scores(best)}: this data does not test belief."
    limit = f"{percent(forced.accuracy)} (joint {percent(forced.joint_accuracy)})"
    if not (best.beats_structure or best.jointly_beats_structure):
        return f"A reader who {best.reader} gets {both_scores(best)}, no more than the structural baseline: {limit}."
    return (
        f"A reader who {best.reader} gets {both_scores(best)}, {points_above(best)} the "
        f"structural baseline of {limit}: part of this data can be answered without reasoning about belief."
    )


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
