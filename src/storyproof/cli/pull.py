"""storyproof pull."""

from __future__ import annotations

from typing import Annotated

import typer


def pull(
    name: Annotated[str, typer.Argument(help="Which model: smollm2.")],
) -> None:
    """Bring a small model's weights into the cache, for local/NAME; checked by hash."""
    import storyproof

    typer.echo(f"{name} is at {storyproof.pull(name)}; ask it as local/{name}")
