"""Scores as the terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from storyproof.evaluation.runs import Evaluation
from storyproof.report.numbers import Column, Fitting, counted, percent


def scores_view(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show scores, one solver per row: average, joint, and by kind of question."""
    scores = [each.scores for each in evaluations]
    columns = [
        Column("solver", [each.model for each in evaluations], name=True),
        Column("average", [percent(each.accuracy) for each in scores]),
        Column("joint", [percent(each.joint_accuracy if each.stories else None) for each in scores]),
    ]
    for kind in sorted({kind for each in scores for kind in each.kinds}):
        headings = {"no_false_belief": kind.name.replace("_", " ")}
        if kind.asks_belief:
            headings["false_belief"] = "false belief"
        for belief, heading in headings.items():
            found = [each.by_order.get(belief, {}).get(kind.name) for each in scores]
            cells = ["" if value is None else percent(value) for value in found]
            columns.append(Column(heading, cells, rank=len(columns)))
    first = evaluations[0]
    caption = Text(
        f"{counted(first.scores.questions, 'question')} of {counted(first.scores.stories, 'story')}, "
        f"{first.labels} labels; percent right; 'joint' requires all questions of a story right",
        style="dim",
    )
    unknown = [
        Text(
            f"{each.model} was never trained on the answers to {count:,} of them, and cannot give these", style="yellow"
        )
        for each in evaluations
        if (count := each.details.get("unknown_answers"))
    ]
    return Group(Fitting(columns), caption, *unknown)
