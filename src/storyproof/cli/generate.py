"""storyproof generate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from storyproof.cli import completion
from storyproof.cli.options import given_settings
from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import note

_USUAL = "the usual number of the benchmark, or that of the preset"


def generate(
    context: typer.Context,
    benchmark: Annotated[
        str,
        typer.Argument(
            help="A benchmark, such as tomi or clutrr; with @ a version of it, such as tomi@1.",
            autocompletion=completion.benchmarks,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    train: Annotated[
        int | None, typer.Option(help="Stories in the training split; 0 leaves it out.", show_default=_USUAL)
    ] = None,
    val: Annotated[int | None, typer.Option(help="Stories in the validation split.", show_default=_USUAL)] = None,
    test: Annotated[
        int | None,
        typer.Option(
            help="Stories in the test split, or in each of its parts, which are listed below.", show_default=_USUAL
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same content.")] = 0,
    version: Annotated[
        int | None, typer.Option(help="Generate what this version generated.", show_default="the current one")
    ] = None,
    format: Annotated[
        str, typer.Option(help="One of the formats of the benchmark, which are listed below.")
    ] = "parquet",
    workers: Annotated[int, typer.Option(help="Processes; the content is the same for any number.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a dataset that storyproof wrote, if nothing was added or changed.")
    ] = False,
    json_out: JsonOut = None,
) -> None:
    """Generate a dataset in which every answer is proved."""
    from storyproof.datasets.generate import load_benchmark, make_benchmark
    from storyproof.datasets.writing import write_dataset
    from storyproof.reports.numbers import counted

    check_results(json_out)
    chosen = load_benchmark(benchmark, version)
    settings = given_settings(context, chosen)
    made = make_benchmark(benchmark, seed, version=version, **settings)
    preset = settings.get("preset")
    usual = {**chosen.usual_counts, **(chosen.preset(preset)[1] if preset else {})}
    asked = {"train": train, "val": val, "test": test}
    counts = {split: usual[split] if count is None else count for split, count in asked.items()}
    total = sum(made.stories(split, max(0, count)) for split, count in counts.items())
    with progress_bar("stories", total) as progress:
        manifest = write_dataset(made, counts, out, format_name=format, workers=workers, force=force, progress=progress)
    if write_results(json_out, [manifest]):
        return
    for split, entry in manifest["splits"].items():
        note(f"{split}: {counted(entry['stories'], 'story')}, {counted(entry['questions'], 'question')}")
    for remark in made.remarks(manifest):
        note(remark)
    note(f"written to {out}")
