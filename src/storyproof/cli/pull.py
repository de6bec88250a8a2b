"""storyproof pull."""

from __future__ import annotations

from typing import Annotated

import typer

from storyproof.cli.screen import echo


def pull(
    name: Annotated[str, typer.Argument(help="Which model: smollm2.")],
) -> None:
    """Bring a small model's weights into the cache, for local/NAME; checked by hash."""
    import storyproof

    echo(f"{name} is at {storyproof.pull(name)}; ask it as local/{name}")
