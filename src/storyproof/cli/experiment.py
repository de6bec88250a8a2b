"""storyproof experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli.output import console


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            help="tomi-table1, tomi-table2, tomi-table3, tomi-growth, clutrr-generalization, clutrr-robust, "
            "clutrr-robust-synthetic, clutrr-placeholders or clutrr-embeddings."
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Everything tiny; the figures mean nothing.")] = False,
    published: Annotated[
        Path | None,
        typer.Option(help="The folder that holds published data (tomi, clutrr); else what needs them is left out."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The folder for the tables of all experiments, and the runs that they share.")
    ] = Path("experiments/results"),
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    runs: Annotated[
        int | None, typer.Option(help="So many runs of each model.", show_default="what the experiment says")
    ] = None,
    models: Annotated[str | None, typer.Option(help="Train only these of its models; comma-separated.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after about so many; the same command goes on from there.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="For bert and bert-lstm, else left out: a pretrained encoder's folder.")
    ] = None,
) -> None:
    """Reproduce a paper's table beside its own figures; what is done is skipped, so it can be run in slices."""
    import storyproof
    from storyproof.experiments.viewing import view

    found = storyproof.experiment(
        name,
        out=out,
        quick=quick,
        published=published,
        device=device,
        runs=runs,
        models=[each.strip() for each in models.split(",")] if models is not None else None,
        minutes=minutes,
        encoder=encoder,
        progress=lambda line: typer.echo(line, err=True),
    )
    console().print(view(found.table))
    for remark in found.remarks:
        console().print(remark, style="dim")
    written = "written to" if found.written else "nothing written to"
    typer.echo(f"{found.done} of {found.jobs} trainings done; {written} {found.folder}")
