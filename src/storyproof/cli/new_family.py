"""storyproof new-family."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.safe_terminal import note


def new_family(
    name: Annotated[str, typer.Argument(help="The name of the family, such as seating.")],
    out: Annotated[
        Path | None, typer.Option(help="A new folder for the package.", show_default="storyproof-NAME")
    ] = None,
) -> None:
    """Write a package with a family of reasoning problems and a benchmark that work, to be changed."""
    import storyproof

    folder = storyproof.new_family(name, out)
    note(f"written to {folder}; try: pip install -e {folder} && pytest {folder} && storyproof generate {name}")
