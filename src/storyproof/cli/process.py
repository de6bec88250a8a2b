"""storyproof process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import echo


def process(
    raw: Annotated[
        Path, typer.Argument(help="Raw data: a folder with .txt and .trace, any other dataset folder, or a file.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("processed_data"),
    force: Annotated[
        bool, typer.Option(help="Replace a folder that storyproof wrote, if nothing was added or changed.")
    ] = False,
) -> None:
    """Convert raw data to one JSON list per split, the input of many evaluations of language models."""
    import storyproof
    from storyproof.reports.numbers import counted

    with progress_bar("questions", None) as progress:
        manifest = storyproof.process(raw, out, force=force, progress=progress)
    for split, counts in manifest["splits"].items():
        echo(f"{split}: {counted(counts['stories'], 'story')}, {counted(counts['questions'], 'question')}")
    echo(f"written to {out}")
