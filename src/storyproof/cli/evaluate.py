"""storyproof evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import console, write_results


def evaluate(
    model: Annotated[str, typer.Option(help="A solver: rules, oracle, random or majority; several with commas.")],
    data: Annotated[Path, typer.Option(help="A dataset folder or a file.")],
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
    labels: Annotated[
        str, typer.Option(help="Score against the labels as 'given' or as 'proved' from the text.")
    ] = "given",
    max_stories: Annotated[int | None, typer.Option(help="Use only so many stories.")] = None,
    seed: Annotated[int, typer.Option(help="For solvers that draw.")] = 0,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the scores to a file; - for standard output.")
    ] = None,
) -> None:
    """Put a solver through a dataset."""
    import storyproof
    from storyproof.report.terminal import scores_view

    evaluations = [
        storyproof.evaluate(name.strip(), data, split=split, labels=labels, max_stories=max_stories, seed=seed)
        for name in model.split(",")
    ]
    if not write_results(json_out, [each.as_dict() for each in evaluations]):
        console().print(scores_view(evaluations))
