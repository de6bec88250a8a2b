"""storyproof show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import check_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console, note
from storyproof.errors import ConfigError


def show(
    path: Annotated[Path, typer.Argument(help="A dataset folder or a file.")],
    index: Annotated[int, typer.Option(help="Which story, counted from 0.")] = 0,
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
    conventions: Annotated[
        bool, typer.Option("--conventions/--no-conventions", help="Begin with the rules that the answers rest on.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Draw the story to a file: .svg, .png, .pdf, or .gif, which plays it."),
    ] = None,
    question: Annotated[
        int | None,
        typer.Option(
            help="With --out: which of its questions, counted from 0.", show_default="a false belief, else the last"
        ),
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="With --out story.svg: play it sentence by sentence.")] = False,
) -> None:
    """Show a story with its questions, answers and proofs in the terminal, or draw it with one question to a file."""
    import storyproof

    if out is None:
        if question is not None:
            raise ConfigError(f"--question is {question}, but it applies to pictures only; add --out, or leave it out.")
        if play:
            raise ConfigError("--play needs a file to play in; add --out story.svg or --out story.gif.")
        console().print(storyproof.show(path, index, split=split, conventions=conventions))
        return
    from storyproof.reports.draw import check_format, files_of

    check_format(out, play=play)
    check_results(out, [path], "--out")
    with progress_bar("drawing", None):
        pictures = storyproof.draw(path, index, split=split, question=question, out=out, play=play)
    for file in files_of(out, len(pictures)):
        note(f"the picture was written to {file}")
