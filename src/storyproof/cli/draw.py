"""storyproof draw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import check_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import note


def draw(
    path: Annotated[Path, typer.Argument(help="A dataset folder or a file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture: a file that ends in .svg, .png or .pdf.")],
    index: Annotated[int, typer.Option(help="Which story, counted from 0.")] = 0,
    question: Annotated[
        int | None,
        typer.Option(help="Which of its questions, counted from 0.", show_default="a false belief, else the last"),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
) -> None:
    """Draw a story with one of its questions: who believes what after each sentence, or who is related to whom."""
    import storyproof
    from storyproof.reports.draw import check_format, files_of

    check_format(out)
    check_results(out, [path], "--out")
    with progress_bar("drawing", None):
        drawn = storyproof.draw(path, index, split=split, question=question, out=out)
    for file in files_of(out, len(drawn)):
        note(f"the picture was written to {file}")
