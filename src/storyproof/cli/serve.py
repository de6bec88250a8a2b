"""storyproof serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli import evaluation_options as options
from storyproof.cli.safe_terminal import echo


def serve(
    context: typer.Context,
    data: Annotated[
        Path, typer.Option(help="The data folder: downloads are written there, runs and data there can be opened.")
    ] = Path("storyproof-data"),
    host: Annotated[
        str, typer.Option(help="The address to listen at; with another one, other machines can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes one that is free.")] = 8642,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<str>",
            help="A language model to offer, as for evaluate; may be repeated. Built-in solvers are always there.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed of fresh stories.", show_default="another one each time")
    ] = None,
) -> None:
    """Start a home page on this machine: explore stories, audit files, compare runs and follow studies."""
    import storyproof
    from storyproof.evaluation.ask import FEW_RETRIES
    from storyproof.solvers.solver import resolve

    options.refuse_ineffective(context, [resolve(name) for name in model or ()])
    usual = {"concurrency": 1, "retries": FEW_RETRIES, "timeout_s": 120.0, "max_wait_s": 30.0}  # somebody waits
    running = options.model_options(context, **usual)
    storyproof.serve(
        data,
        host=host,
        port=port,
        models=model or (),
        options=running,
        seed=seed,
        ready=lambda address: echo(f"storyproof is at {address} (Ctrl+C ends it)."),
    )
