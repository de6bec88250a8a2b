"""storyproof show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.screen import console


def show(
    path: Annotated[Path, typer.Argument(help="A dataset folder or a file.")],
    index: Annotated[int, typer.Option(help="Which story, counted from 0.")] = 0,
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
    conventions: Annotated[
        bool, typer.Option("--conventions/--no-conventions", help="Begin with the rules that the answers rest on.")
    ] = True,
) -> None:
    """Show a story with its questions, answers and proofs, and a drawing of what happens or who is related to whom."""
    import storyproof

    console().print(storyproof.show(path, index, split=split, conventions=conventions))
