"""storyproof process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import note


def process(
    raw: Annotated[
        Path, typer.Argument(help="Raw data: a folder with .txt and .trace, any other dataset folder, or a file.")
    ] = Path(),
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("processed_data"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that storyproof wrote, if nothing was added or changed.")
    ] = False,
    json_out: JsonOut = None,
) -> None:
    """Convert raw data to one JSON list per split, the input of many evaluations of language models."""
    import storyproof
    from storyproof.reports.numbers import counted

    check_results(json_out, [raw])
    with progress_bar("questions", None) as progress:
        manifest = storyproof.process(raw, out, force=force, progress=progress)
    if write_results(json_out, [manifest]):
        return
    for split, counts in manifest["splits"].items():
        note(f"{split}: {counted(counts['stories'], 'story')}, {counted(counts['questions'], 'question')}")
    note(f"written to {out}")
