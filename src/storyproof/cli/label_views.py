"""What recorded answers score on published and on corrected labels, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from storyproof.language.display_names import display_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from storyproof.evaluation.rescore import Compared, Rescored


def rescored_view(found: Sequence[Rescored]) -> RenderableType:
    """Show what each model scores on published and on corrected labels, and by which the two differ."""
    from rich.console import Group
    from rich.text import Text

    from storyproof.reports.numbers import Column, Fitting
    from storyproof.stats.intervals import how

    parts: list[RenderableType] = []
    for each in found:
        rows = [("all, average", _cells(each.scores, "accuracy"))]
        if each.scores.stories < each.scores.questions:
            rows.append(("all, joint", _cells(each.scores, "joint")))
        styles = [""] * len(rows) + ["dim"] * len(each.by_kind)
        rows += [(display_name(kind), _cells(compared, "accuracy")) for kind, compared in each.by_kind.items()]
        columns = [Column("questions", [name for name, _ in rows], name=True)]
        headings = ("labels changed", "published", "corrected", "difference")
        columns += map(Column, headings, zip(*(cells for _, cells in rows), strict=True))
        parts += [Text(each.model), Fitting(columns, styles), Text(_caption(each), style="dim")]
    stories = max(each.scores.stories for each in found)
    lines = ["percent right", *how(stories), *how(stories, paired=True)]
    return Group(*parts, *(Text(line, style="dim") for line in lines))


def _cells(compared: Compared, score: str) -> list[str]:
    from storyproof.reports.numbers import signed, with_interval

    counts = f"{compared.changed_labels:,} of {compared.questions:,}" if score == "accuracy" else ""
    sides = [each[score] for each in (compared.published, compared.corrected)]
    difference = compared.difference[score]
    return [
        counts,
        *(with_interval(each.value, (each.low, each.high)) for each in sides),
        signed(difference.value, difference.low, difference.high),
    ]


def _caption(found: Rescored) -> str:
    from storyproof.reports.numbers import counted, percent

    parts = [f"{counted(found.scores.questions, 'question')} of {counted(found.scores.stories, 'story')}"]
    if found.dropped:
        have = "has" if found.dropped == 1 else "have"
        right = percent(found.dropped_accuracy)
        parts.append(f"{found.dropped:,} more {have} no answer in the corrected data ({right} right as published)")
    if found.unanswered_stories:
        be = "is" if found.unanswered_stories == 1 else "are"
        parts.append(f"{counted(found.unanswered_stories, 'story')} {be} not answered")
    return "; ".join(parts)
