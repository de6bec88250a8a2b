"""storyproof pull."""

from __future__ import annotations

from typing import Annotated

import typer

from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import note


def pull(
    name: Annotated[str, typer.Argument(help="Which model: smollm2.")],
) -> None:
    """Bring a small model's weights into the cache, for local/NAME; checked by hash."""
    import storyproof

    with progress_bar(name, None):
        path = storyproof.pull(name)
    note(f"{name} is at {path}; ask it as local/{name}")
