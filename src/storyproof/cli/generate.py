"""storyproof generate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from storyproof.cli.progress import progress_bar

_DEFAULT = "999 for tomi, 1200 for tom-babi"


def generate(
    benchmark: Annotated[str, typer.Argument(help="tomi, tom-babi or tom-babi-easy.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    train: Annotated[
        int | None, typer.Option(help="Stories in the training split; 0 leaves it out.", show_default=_DEFAULT)
    ] = None,
    val: Annotated[int | None, typer.Option(help="Stories in the validation split.", show_default=_DEFAULT)] = None,
    test: Annotated[int | None, typer.Option(help="Stories in the test split.", show_default=_DEFAULT)] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same content.")] = 0,
    format: Annotated[str, typer.Option(help="parquet, jsonl or babi (the published text form).")] = "parquet",
    vocabulary: Annotated[Path | None, typer.Option(help="A YAML file with your own words.")] = None,
    disjoint: Annotated[
        str, typer.Option(help="Roles with no word in two splits: agents, rooms, objects, containers; comma-separated.")
    ] = "",
    noise: Annotated[float | None, typer.Option(help="tom-babi: how likely a distractor sentence is.")] = None,
    workers: Annotated[int, typer.Option(help="Processes; the content is the same for any number.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder if it is there.")] = False,
) -> None:
    """Make a dataset of proved stories."""
    import storyproof
    from storyproof.catalog import load
    from storyproof.tom.vocabulary import load_vocabulary

    settings: dict[str, Any] = {}
    if vocabulary is not None:
        settings["vocabulary"] = load_vocabulary(vocabulary)
    if disjoint:
        settings["disjoint"] = tuple(role.strip() for role in disjoint.split(","))
    if noise is not None:
        settings["noise"] = noise
    usual = load("benchmark", benchmark).usual_stories
    counts = {
        split: usual if count is None else count for split, count in (("train", train), ("val", val), ("test", test))
    }
    with progress_bar("stories", sum(counts.values())) as progress:
        manifest = storyproof.generate(
            benchmark,
            **counts,
            seed=seed,
            out=out,
            format=format,
            workers=workers,
            force=force,
            progress=progress,
            **settings,
        )
    for split, entry in manifest["splits"].items():
        typer.echo(f"{split}: {entry['stories']:,} stories, {entry['questions']:,} questions")
    typer.echo(f"written to {out}")
