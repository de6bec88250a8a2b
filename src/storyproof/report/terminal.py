"""Scores as the terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from storyproof.evaluation.evaluate import Evaluation
from storyproof.report.numbers import Column as Figures
from storyproof.report.numbers import Fitting, counted, percent


def scores_view(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show scores, one solver a row: average, joint, and by kind of question."""
    scores = [each.scores for each in evaluations]
    columns = [
        Figures("solver", [each.model for each in evaluations], name=True),
        Figures("average", [percent(each.accuracy) for each in scores]),
        Figures("joint", [percent(each.joint_accuracy if each.stories else None) for each in scores]),
    ]
    kinds = sorted({kind for each in scores for group in each.by_order.values() for kind in group}, key=_place)
    for kind in kinds:
        for heading, belief in ((kind.replace("_", " "), "no_false_belief"), ("false belief", "false_belief")):
            found = [each.by_order.get(belief, {}).get(kind) for each in scores]
            if belief == "no_false_belief" or kind.endswith("_order"):
                cells = ["" if value is None else percent(value) for value in found]
                columns.append(Figures(heading, cells, rank=len(columns)))
    first = evaluations[0]
    caption = Text(
        f"{counted(first.scores.questions, 'question')} of {counted(first.scores.stories, 'story')}, "
        f"{first.labels} labels; percent right; 'joint' wants all questions of a story right",
        style="dim",
    )
    unknown = [
        Text(f"{each.model} was never taught the answers to {count:,} of them, and cannot give these", style="yellow")
        for each in evaluations
        if (count := each.details.get("unknown_answers"))
    ]
    return Group(Fitting(columns), caption, *unknown)


def _place(kind: str) -> tuple[int, int]:
    """Order kinds of questions: memory, reality, beliefs by order, chains by length."""
    if kind.startswith("k="):
        return 9, int(kind[2:])
    orders = ("memory", "reality", "first_order", "second_order", "third_order", "fourth_order")
    return (orders.index(kind), 0) if kind in orders else (8, 0)
