"""storyproof generate."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from storyproof.cli import completion
from storyproof.cli import engine_options as engines
from storyproof.cli.options import given_settings
from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.screen import note
from storyproof.storage import as_place, is_url

_USUAL = "if no split is given, the preset's or the usual number"


def generate(
    context: typer.Context,
    benchmark: Annotated[
        str,
        typer.Argument(
            help="A benchmark, such as tomi or clutrr; with @ a version of it, such as tomi@1.",
            autocompletion=completion.benchmarks,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(metavar="<path>", help="The folder to write; a URL (s3://…, gs://…) is written in shards."),
    ],
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
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; the content is the same for any number.", show_default="1; with ray all cores"),
    ] = None,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    shard_stories: Annotated[
        int | None,
        typer.Option(
            help="Write shards of so many stories, in whole blocks, instead of one file per split.",
            show_default="with ray a 64th of a split, at most 983,040",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a dataset that storyproof wrote, if nothing was added or changed.")
    ] = False,
    json_out: JsonOut = None,
) -> None:
    """Generate a dataset in which every answer is proved."""
    from storyproof.datasets.generate import load_benchmark, make_benchmark
    from storyproof.datasets.shards import write_shards
    from storyproof.datasets.writing import write_dataset
    from storyproof.reports.numbers import counted

    check_results(json_out)
    chosen = load_benchmark(benchmark, version)
    settings = given_settings(context, chosen)
    made = make_benchmark(benchmark, seed, version=version, **settings)
    counts = made.counts(train=train, val=val, test=test, preset=settings.get("preset"))
    total = sum(made.stories(split, max(0, count)) for split, count in counts.items())
    place = as_place(out)
    how: dict[str, Any] = {"format_name": format, "force": force}
    in_shards = engine != engines.PROCESSES or shard_stories is not None or is_url(place)
    with progress_bar("stories", total) as progress:
        if in_shards:
            with engines.started(engine, address, workers) as started:
                manifest = write_shards(
                    made, counts, place, started, shard_stories=shard_stories, progress=progress, **how
                )
        else:
            engines.check(engine, address, workers)
            manifest = write_dataset(made, counts, place, workers=workers or 1, progress=progress, **how)
    if write_results(json_out, [manifest]):
        return
    for split, entry in manifest["splits"].items():
        note(f"{split}: {counted(entry['stories'], 'story')}, {counted(entry['questions'], 'question')}")
    for remark in made.remarks(manifest):
        note(remark)
    note(f"written to {out}")
