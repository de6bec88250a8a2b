"""storyproof rescore."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import console, write_results

if TYPE_CHECKING:
    from rich.console import RenderableType

    from storyproof.scoring.intervals import Interval
    from storyproof.scoring.rescoring import Compared, Rescored


def rescore(
    run: Annotated[
        Path, typer.Argument(help="Recorded answers: what evaluate --json wrote, or JSON lines of id and answer.")
    ],
    against: Annotated[Path, typer.Option(help="The corrected data, a folder or a file.")],
    split: Annotated[str | None, typer.Option(help="Which split; by default that of the run.")] = None,
    published: Annotated[
        Path | None, typer.Option(help="The data as published, if the run does not record its labels.")
    ] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the scores to a file; - for standard output.")
    ] = None,
) -> None:
    """Score recorded answers on published and on corrected labels."""
    from storyproof.scoring.rescoring import rescore_all

    found = rescore_all(run, against, split=split, published=published)
    if not write_results(json_out, [each.as_dict() for each in found]):
        console().print(_view(found))


def _view(found: Sequence[Rescored]) -> RenderableType:
    """Show what each model scores on published and on corrected labels, and by which the two differ."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    table.add_column("questions")
    for heading in ("labels changed", "published", "corrected", "difference"):
        table.add_column(heading, justify="right")
    for each in found:
        table.add_row(Text(each.model), "all, average", *_cells(each.scores, "accuracy"))
        if each.scores.stories < each.scores.questions:
            table.add_row("", "all, joint", *_cells(each.scores, "joint"))
        for kind, compared in each.by_kind.items():
            table.add_row("", Text(kind.replace("_", " ")), *_cells(compared, "accuracy"), style="dim")
    return Group(table, *(Text(_caption(each), style="dim") for each in found))


def _cells(compared: Compared, score: str) -> list[str]:
    counts = f"{compared.changed_labels:,} of {compared.questions:,}" if score == "accuracy" else ""
    shown = [_shown(each[score]) for each in (compared.published, compared.corrected)]
    return [counts, *shown, _shown(compared.difference[score], "+")]


def _shown(interval: Interval, sign: str = "") -> str:
    value, low, high = (f"{100 * each:{sign}z.1f}" for each in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"


def _caption(found: Rescored) -> str:
    parts = [f"{found.model}: {found.scores.questions:,} questions of {found.scores.stories:,} stories"]
    if found.dropped:
        right = 100 * (found.dropped_accuracy or 0.0)
        parts.append(f"{found.dropped:,} more have no answer in the corrected data ({right:.1f} right as published)")
    if found.unanswered_stories:
        parts.append(f"{found.unanswered_stories:,} stories are not answered")
    return "; ".join([*parts, "percent right, with 95% intervals over stories"])
