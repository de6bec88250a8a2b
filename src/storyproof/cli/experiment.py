"""storyproof experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli import completion
from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import console, note
from storyproof.errors import StoppedError

if TYPE_CHECKING:
    from storyproof.experiments.experiment import Outcome


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            help="tomi-table1, tomi-table2, tomi-table3, tomi-growth, tomi-matched, tom-k-orders, tom-k-plain, "
            "clutrr-generalization, clutrr-robust, clutrr-robust-synthetic, clutrr-settings, "
            "clutrr-placeholders or clutrr-embeddings.",
            autocompletion=completion.experiments,
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Use tiny data and models; the figures mean nothing.")] = False,
    published: Annotated[
        Path | None,
        typer.Option(help="The folder with published data (tomi, clutrr); without it, what needs them is left out."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The folder of the tables of all experiments and of the runs that they share.")
    ] = Path("experiments/results"),
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    runs: Annotated[int | None, typer.Option(help="Runs of each model.", show_default="that of the experiment")] = None,
    models: Annotated[str | None, typer.Option(help="Train only these of its models; comma-separated.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="The time limit in minutes; rerun the same command to resume.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="A pretrained encoder's folder; without it, bert and bert-lstm are left out.")
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep figures of the written table if their training and test are the same."),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<row>",
            help="Repeat only this row, given by its label, its group, or 'GROUP: LABEL', and keep all other figures "
            "of the written table; can be given several times.",
        ),
    ] = None,
    json_out: JsonOut = None,
) -> None:
    """Reproduce a paper's table beside its own figures; rerun the same command to resume, finished runs are skipped."""
    import storyproof
    from storyproof.experiments.table import view

    check_results(json_out, [published])
    try:
        with progress_bar("experiment", None):
            outcome = storyproof.experiment(
                name,
                out=out,
                quick=quick,
                published=published,
                device=device,
                runs=runs,
                models=[each.strip() for each in models.split(",")] if models is not None else None,
                minutes=minutes,
                encoder=encoder,
                keep=keep,
                only=only,
                progress=lambda line: note(line, err=True),
            )
    except KeyboardInterrupt:
        if any(path.is_file() and path.suffix != ".lock" for path in out.glob("runs/**/*")):
            raise StoppedError from None
        raise
    written = "written to" if outcome.written else "nothing written to"
    if write_results(json_out, [_as_dict(outcome)]):
        return
    console().print(view(outcome.table))
    for remark in outcome.remarks:
        console().print(remark, style="dim")
    note(f"{outcome.done} of {outcome.jobs} trainings done; {written} {outcome.folder}")


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "experiment": outcome.table.experiment.name,
        "done": outcome.done,
        "jobs": outcome.jobs,
        "written": outcome.written,
        "out": str(outcome.folder),
        "remarks": list(outcome.remarks),
    }
