"""Tables as the terminal shows them."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Shown
from rich.text import Text

from storyproof.experiments.tabulating import Table
from storyproof.experiments.writing import caption_of, cells_of


def view(table: Table) -> RenderableType:
    """Show the table in the terminal."""
    heads, body = cells_of(table)
    shown = Shown(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(table.experiment.title), title_justify="left")
    for number, head in enumerate(heads):
        is_label = number < len(heads) - len(table.columns)
        shown.add_column(Text(head), justify="left" if is_label else "right")
    for row in body:
        shown.add_row(*(Text(cell.replace(" (", "\n(")) for cell in row))  # narrow enough for a terminal
    return Group(shown, *(Text(line, style="dim") for line in (caption_of(table), *table.notes)))
