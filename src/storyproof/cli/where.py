"""storyproof where."""

from __future__ import annotations

from typing import Annotated

import typer

from storyproof.cli.screen import echo


def where(
    tool: Annotated[str, typer.Argument(help="Which tool: lm-eval.")],
) -> None:
    """Print where the files that another tool needs are: lm-eval --include_path $(storyproof where lm-eval)."""
    import storyproof

    echo(str(storyproof.where(tool)))
