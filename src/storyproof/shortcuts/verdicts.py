"""Pieces of the verdict of a shortcut audit."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.shortcuts.results import ShortcutScore

SOLVED = 0.99  # whoever scores so much has solved the data


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
