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
    """Show a story: who is where and believes what, sentence by sentence; or the family, asked pair and proof."""
    import storyproof
    from storyproof.report.family_tree import FamilyStory, family_view
    from storyproof.report.terminal import timeline_view

    screen = console()
    story = storyproof.show(path, index, split=split)
    if isinstance(story, FamilyStory):
        screen.print(family_view(story, screen.width))
    else:
        screen.print(timeline_view(story, screen.width))
