"""Timelines and scores as the terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storyproof.report.figures import Column as Figures
from storyproof.report.figures import Fitting, counted, percent
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
