"""storyproof show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import console


def show(
    path: Annotated[Path, typer.Argument(help="A dataset folder or a file.")],
    index: Annotated[int, typer.Option(help="Which story, counted from 0.")] = 0,
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
) -> None:
    """Show a story: where everybody is, and who believes what, after each sentence."""
    import storyproof
    from storyproof.report.terminal import timeline_view

    screen = console()
    screen.print(timeline_view(storyproof.show(path, index, split=split), screen.width))
