"""storyproof generate."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from storyproof.cli import completion
from storyproof.cli import engine_options as engines
from storyproof.cli.options import given_settings
from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import note
from storyproof.io.storage import as_place

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
        typer.Option(metavar="<path>", help="The folder to write; a path or a URL (s3://…, gs://…)."),
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
        typer.Option(
            help="Processes, each of which makes shards; the content is the same for any number.",
            show_default="all available cores, fewer for small datasets",
        ),
    ] = None,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    shard_stories: Annotated[
        int | None,
        typer.Option(
            help="The number of stories in a shard, rounded up to whole blocks of 6,144.",
            show_default="one file for a split of at most 98,304; else a 128th of it, at most 98,304 or a 512th",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a dataset that storyproof wrote, if nothing was added or changed.")
    ] = False,
    json_out: JsonOut = None,
) -> None:
    """Generate a dataset in which every answer is proved."""
    from storyproof.datasets.generate import load_benchmark, make_benchmark
    from storyproof.datasets.writing import usual_workers, write_dataset
    from storyproof.reports.numbers import counted

    check_results(json_out)
    chosen = load_benchmark(benchmark, version)
    settings = given_settings(context, chosen)
    made = make_benchmark(benchmark, seed, version=version, **settings)
    counts = made.counts(train=train, val=val, test=test, preset=settings.get("preset"))
    total = sum(made.stories(split, max(0, count)) for split, count in counts.items())
    place = as_place(out)
    how: dict[str, Any] = {"format_name": format, "shard_stories": shard_stories, "force": force}
    if workers is None and engine == engines.PROCESSES:
        workers = usual_workers(made, counts)
    with engines.started(engine, address, workers) as started, progress_bar("stories", total) as progress:
        manifest = write_dataset(made, counts, place, engine=started, progress=progress, **how)
    if write_results(json_out, [manifest]):
        return
    for split, entry in manifest["splits"].items():
        note(f"{split}: {counted(entry['stories'], 'story')}, {counted(entry['questions'], 'question')}")
    for remark in made.remarks(manifest):
        note(remark)
    note(f"written to {out}")
