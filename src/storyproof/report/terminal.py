"""Timelines and scores as the terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.report.timeline import Timeline
from storyproof.scoring.evaluation import Evaluation

_FALSE = "bold red"


def timeline_view(timeline: Timeline) -> RenderableType:
    """Show a story: rooms and beliefs after each sentence, then the questions with their proofs."""
    chains = list(timeline.steps[0].believed)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("story")
    table.add_column("rooms", style="dim")
    table.add_column(Text(f"the {timeline.thing} is in"), style="bold")
    for chain in chains:
        table.add_column(Text(" thinks ".join(chain)))
    for row, step in enumerate(timeline.steps, start=1):
        rooms = "  ".join(f"{room}: {', '.join(agents)}" for room, agents in step.rooms.items())
        beliefs = [
            Text("–", style="dim") if place is None else Text(place, style=_FALSE if place != step.place else "")
            for place in step.believed.values()
        ]
        table.add_row(str(row), Text(step.sentence), Text(rooms), Text(step.place or "–"), *beliefs)
    questions = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("question", "answer", "type", "proof", "holds under"):
        questions.add_column(heading)
    for example in timeline.examples:
        questions.add_row(
            Text(example.question),
            Text(example.answer, style=_FALSE if example.false_belief else "bold"),
            Text(example.question_type),
            Text(", ".join(map(str, example.proof))),
            Text(", ".join(example.readings)),
        )
    title = Text.assemble(("story ", "dim"), timeline.story_id, ("  type ", "dim"), timeline.story_type or "unknown")
    note = Text("red: a belief that is false", style="dim")
    return Group(title, table, questions, note)


def scores_view(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show scores, one solver a row: average, joint, and by kind of question."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("solver")
    for heading in ("average", "joint", "memory", "reality"):
        table.add_column(heading, justify="right")
    orders = sorted(
        {kind for each in evaluations for group in each.scores.by_order.values() for kind in group}
        - {"memory", "reality"},
        key=lambda kind: ("first", "second", "third", "fourth").index(kind.split("_")[0]) if "_order" in kind else 9,
    )
    for kind in orders:
        table.add_column(kind.replace("_", " "), justify="right")
        table.add_column("false belief", justify="right")
    for each in evaluations:
        true = each.scores.by_order.get("no_false_belief", {})
        false = each.scores.by_order.get("false_belief", {})
        cells = [each.scores.accuracy, each.scores.joint_accuracy, true.get("memory"), true.get("reality")]
        for kind in orders:
            cells += [true.get(kind), false.get(kind)]
        table.add_row(Text(each.model), *("" if cell is None else f"{100 * cell:.1f}" for cell in cells))
    first = evaluations[0]
    caption = Text(
        f"{first.scores.questions:,} questions of {first.scores.stories:,} stories, {first.labels} labels; "
        "percent right; 'joint' wants all questions of a story right",
        style="dim",
    )
    return Group(table, caption)
