"""The upshot of a shortcut audit, in a line."""

from __future__ import annotations

from collections.abc import Sequence

from storyproof.families.belief.shortcuts.heuristics import ALGORITHM_1
from storyproof.families.kinship.shortcuts.overlap import Overlap
from storyproof.shortcuts.results import Forced, Row

_ALL = 0.99  # who gets so much has solved the data
_FEW = 0.5  # where one answer for each gender gets more, few answers occur


def judge_belief(rows: Sequence[Row], forced: Forced) -> str:
    """Say what theory-of-mind data test, and what they can be answered without."""
    rules = next(row for row in rows if row.name == ALGORITHM_1)
    if rules.accuracy.value >= _ALL:
        return f"A reader who {rules.reader} gets {_percent(rules.accuracy.value)}: this data does not test belief."
    best = _best([row for row in rows if row.shortcut])
    if best.accuracy.value >= _ALL:
        return f"A reader who {best.reader} gets {_scores(best)}: this data does not test belief."
    limit = f"{_percent(forced.accuracy)} (joint {_percent(forced.joint_accuracy)})"
    if not (best.beats_structure or best.jointly_beats_structure):
        return f"A reader who {best.reader} gets {_scores(best)}, no more than the structure forces: {limit}."
    average, joint = (100 * each for each in (best.above_structure, best.joint_above_structure))
    return (
        f"A reader who {best.reader} gets {_scores(best)}, {average:.1f} (joint {joint:.1f}) points above the "
        f"{limit} that the structure forces: part of this data can be answered without reasoning about belief."
    )


def judge_kinship(rows: Sequence[Row], forced: Forced, overlap: Overlap) -> str:
    """Say what kinship data can be answered without."""
    best = _best([row for row in rows if row.shortcut])
    gets = f"A reader who {best.reader} gets {_percent(best.accuracy.value)}"
    limit = f"{_percent(forced.accuracy)} that the best answer for the asked person's gender scores"
    if best.accuracy.value >= _ALL:
        line = f"{gets}: this data does not test kinship."
    elif best.beats_structure:
        line = f"{gets}, {100 * best.above_structure:.1f} points above the {limit}."
    else:
        line = f"{gets}, no more than the {limit}."
    if forced.accuracy > _FEW:
        line += " So few answers occur that one for men and one for women are right more than half of the time."
    if overlap.shares:
        met = overlap.shares["queries_with_answer"].value
        line += f" {_percent(met)} of the questions occur in training between the same names with the same answer"
        worst, share = max(
            ((kind, shares["queries_with_answer"].value) for kind, shares in overlap.by_kind.items()),
            key=lambda each: each[1],
        )
        line += f", at {worst} {_percent(share)}." if share > met else "."
    return line


def _best(rows: Sequence[Row]) -> Row:
    """Give the row that lies highest above the structure; those that beat it first."""
    return max(rows, key=lambda row: (row.beats_structure or row.jointly_beats_structure, row.accuracy.value))


def _scores(row: Row) -> str:
    return f"{_percent(row.accuracy.value)} (joint {_percent(row.joint_accuracy.value)})"


def _percent(share: float) -> str:
    """Give a percentage; nothing is called 0% or 100% that is not."""
    text = f"{100 * share:.1f}"
    if text == "100.0":
        return "100%" if share == 1 else "over 99.9%"
    return "0%" if share == 0 else f"{text}%"
