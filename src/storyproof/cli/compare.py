"""storyproof compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import console, write_results

if TYPE_CHECKING:
    from rich.console import RenderableType

    from storyproof.scoring.comparison import Comparison, Gap
    from storyproof.scoring.intervals import Interval


def compare(
    first: Annotated[str, typer.Argument(help="A run, as evaluate wrote it; FILE.json:MODEL chooses one of several.")],
    second: Annotated[str, typer.Argument(help="Another run on the same questions.")],
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the comparison to a file; - for standard output.")
    ] = None,
) -> None:
    """Compare two runs, question by question: is one really better?"""
    import storyproof

    found = storyproof.compare(first, second)
    if not write_results(json_out, [found.as_dict()]):
        console().print(_view(found))


def _view(found: Comparison) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("percent right")
    for heading in ("of", found.first, found.second, "difference", "p"):
        table.add_column(Text(heading), justify="right")
    table.add_row("average", *_cells(found.accuracy))
    if found.joint is not None and found.stories < found.questions:
        table.add_row("joint", *_cells(found.joint))
    if len(found.by_question_type) > 1:
        for name, gap in found.by_question_type.items():
            table.add_row(Text(name), *_cells(gap), style="dim")
    counts = found.agreement
    lines = [
        f"{found.questions:,} questions of {found.stories:,} stories: both right {counts['both']:,}, only the first "
        f"{counts['first']:,}, only the second {counts['second']:,}, neither {counts['neither']:,}",
    ]
    if found.only_first or found.only_second:
        lines.append(
            f"left out because the other run has no answer: {found.only_first:,} of the first, "
            f"{found.only_second:,} of the second"
        )
    lines.append("95% intervals by bootstrap over stories; p by an exact permutation test over stories, not corrected")
    return Group(table, *(Text(line, style="dim") for line in lines))


def _cells(gap: Gap) -> list[str]:
    p = "<0.0001" if gap.p < 0.0001 else f"{gap.p:.4f}"
    return [f"{gap.of:,}", f"{100 * gap.first.value:.1f}", f"{100 * gap.second.value:.1f}", _shown(gap.difference), p]


def _shown(interval: Interval) -> str:
    value, low, high = (f"{100 * each:+z.1f}" for each in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"
