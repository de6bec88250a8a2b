"""Pieces of the verdict of a shortcut audit."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.shortcuts.results import Forced, ShortcutScore

SOLVED = 0.99  # a solver with this score has solved the data


def best_score(rows: Sequence[ShortcutScore]) -> ShortcutScore:
    """Return the highest score; those that beat the structure come first."""
    return max(rows, key=lambda row: (row.beats_structure or row.jointly_beats_structure, row.accuracy.value))


def both_scores(row: ShortcutScore) -> str:
    """Return average and joint accuracy as text."""
    return f"{percent(row.accuracy.value)} (joint {percent(row.joint_accuracy.value)})"


def percent(share: float) -> str:
    """Return a percentage; nothing is called 0% or 100% that is not."""
    text = f"{100 * share:.1f}"
    if text == "100.0":
        return "100%" if share == 1 else "over 99.9%"
    return "0%" if share == 0 else f"{text}%"


def describe_best(rows: Sequence[ShortcutScore], forced: Forced, tested: str) -> str:
    """Return a sentence about the best reader: whether it beats the structural baseline.

    Args:
        rows: All readers.
        forced: The structural baseline.
        tested: What data that such a reader solves does not test, such as "reasoning".
    """
    best = best_score(rows)
    gets = f"A reader who {best.reader} gets {both_scores(best)}"
    if best.accuracy.value >= SOLVED:
        return f"{gets}: this data does not test {tested}."
    limit = f"{percent(forced.accuracy)} (joint {percent(forced.joint_accuracy)})"
    if not (best.beats_structure or best.jointly_beats_structure):
        return f"{gets}, no more than the structural baseline: {limit}."
    return f"{gets}, {points_above(best)} the structural baseline of {limit}."


def points_above(row: ShortcutScore) -> str:
    """Return by how much a score is above the structural baseline; a reader may beat it in whole stories only."""
    joint = f"joint {100 * row.joint_above_structure:.1f}"
    if row.above_structure < 0:
        return f"{joint} points above"
    return f"{100 * row.above_structure:.1f} ({joint}) points above"
