"""storyproof rescore."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import console
from storyproof.display_names import display_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from storyproof.evaluation.rescore import Compared, Rescored


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
    from storyproof.evaluation.rescore import rescore_all

    check_results(json_out, [run, against, published])
    with progress_bar("rescoring", None):
        found = rescore_all(run, against, split=split, published=published)
    if not write_results(json_out, [each.as_dict() for each in found]):
        console().print(_view(found))


def _view(found: Sequence[Rescored]) -> RenderableType:
    """Show what each model scores on published and on corrected labels, and by which the two differ."""
    from rich.console import Group
    from rich.text import Text

    from storyproof.intervals import how
    from storyproof.reports.numbers import Column, Fitting

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
