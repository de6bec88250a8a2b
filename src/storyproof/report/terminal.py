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
_WIDE = 140  # columns from which on beliefs fit beside the story

Column = tuple[Text, list[Text]]  # heading and cells


def timeline_view(timeline: Timeline, width: int = 200) -> RenderableType:
    """Show a story: rooms and beliefs after each sentence, then the questions with their proofs.

    Args:
        timeline: The story.
        width: How wide the screen is; on a narrow one beliefs stand below the story.
    """
    numbers = (Text(""), [Text(str(row), style="dim") for row in range(1, len(timeline.steps) + 1)])
    story, beliefs = _story_columns(timeline), _belief_columns(timeline)
    if width >= _WIDE:
        tables = [_table([numbers, *story, *beliefs])]
    else:
        tables = [_table([numbers, *story]), _table([numbers, *beliefs])]
    examples = timeline.examples
    questions: list[Column] = [
        (Text("question"), [Text(example.question) for example in examples]),
        (Text("answer"), [Text(each.answer, style=_FALSE if each.false_belief else "bold") for each in examples]),
        (Text("proof"), [Text(", ".join(map(str, example.proof))) for example in examples]),
    ]
    if width >= _WIDE:
        questions.append((Text("type"), [Text(example.question_type) for example in examples]))
        questions.append((Text("holds under"), [Text(", ".join(example.readings)) for example in examples]))
    title = Text.assemble(("story ", "dim"), timeline.story_id, ("  type ", "dim"), timeline.story_type or "unknown")
    note = Text("red: a belief that is wrong about the object, or about what the other believes", style="dim")
    return Group(title, *tables, _table(questions), note)


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, _ in columns:
        table.add_column(heading)
    for cells in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*cells)
    return table


def _story_columns(timeline: Timeline) -> list[Column]:
    rooms = [
        Text("  ".join(f"{room}: {', '.join(agents)}" for room, agents in step.rooms.items()), style="dim")
        for step in timeline.steps
    ]
    return [(Text("story"), [Text(step.sentence) for step in timeline.steps]), (Text("rooms"), rooms)]


def _belief_columns(timeline: Timeline) -> list[Column]:
    places = [Text(step.place or "–", style="bold") for step in timeline.steps]
    columns: list[Column] = [(Text(f"the {timeline.thing} is in"), places)]
    for chain in timeline.steps[0].believed:
        cells = []
        for step in timeline.steps:
            believed = step.believed[chain]
            about = step.believed.get(chain[1:], step.place)  # a belief about a belief, or about the object
            style = "dim" if believed is None else _FALSE if believed != about else ""
            cells.append(Text(believed or "–", style=style))
        columns.append((Text(" thinks ".join((*chain, ""))), cells))
    return columns


def scores_view(evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show scores, one solver a row: average, joint, and by kind of question."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("solver")
    for heading in ("average", "joint"):
        table.add_column(heading, justify="right")
    groups = [
        each.scores.by_order.get(name, {}) for each in evaluations for name in ("no_false_belief", "false_belief")
    ]
    kinds = sorted({kind for group in groups for kind in group}, key=_place)
    for kind in kinds:
        table.add_column(kind.replace("_", " "), justify="right")
        if kind.endswith("_order"):
            table.add_column("false belief", justify="right")
    for each in evaluations:
        cells: list[float | None] = [each.scores.accuracy, each.scores.joint_accuracy]
        for kind in kinds:
            cells.append(each.scores.by_order.get("no_false_belief", {}).get(kind))
            if kind.endswith("_order"):
                cells.append(each.scores.by_order.get("false_belief", {}).get(kind))
        table.add_row(Text(each.model), *("" if cell is None else f"{100 * cell:.1f}" for cell in cells))
    first = evaluations[0]
    caption = Text(
        f"{first.scores.questions:,} questions of {first.scores.stories:,} stories, {first.labels} labels; "
        "percent right; 'joint' wants all questions of a story right",
        style="dim",
    )
    return Group(table, caption)


def _place(kind: str) -> tuple[int, int]:
    """Order kinds of questions: memory, reality, beliefs by order, chains by length."""
    if kind.startswith("k="):
        return 9, int(kind[2:])
    orders = ("memory", "reality", "first_order", "second_order", "third_order", "fourth_order")
    return (orders.index(kind), 0) if kind in orders else (8, 0)
