"""storyproof train."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli.options import given_settings, refuse_settings
from storyproof.errors import ConfigError

if TYPE_CHECKING:
    from storyproof.solvers.neural.runs import Run
    from storyproof.solvers.neural.training import Epoch


def train(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            help="memnn, relnet or entnet; bilstm-mean, bilstm-attention, rn, mac, bert, bert-lstm, gat or rmc."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write the runs to.")],
    data: Annotated[Path | None, typer.Option(help="A dataset folder or file to learn from.")] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Learn straight from a generator, such as tomi or clutrr, instead.")
    ] = None,
    stories: Annotated[int, typer.Option(help="How many stories the generator is to make.")] = 0,
    split: Annotated[
        str | None, typer.Option(help="Which split of the data; by default train, or what a single file holds.")
    ] = None,
    held: Annotated[
        str, typer.Option(help="Choose the best epoch by stories 'drawn' for each run, or by the val split as 'given'.")
    ] = "drawn",
    labels: Annotated[str, typer.Option(help="Learn the labels as 'given' or as 'proved' from the text.")] = "given",
    runs: Annotated[int, typer.Option(help="Train so many runs, all at once.")] = 1,
    epochs: Annotated[int | None, typer.Option(help="At most so many times through the data.")] = None,
    batch: Annotated[int | None, typer.Option(help="Examples a step.")] = None,
    rate: Annotated[float | None, typer.Option(help="Adam's learning rate.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after so many epochs without anything better; 0 for never.")
    ] = None,
    recast: Annotated[
        bool | None, typer.Option(help="Retell every story with other words in the same parts at every step.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the model, NAME=VALUE, such as policy=learned; repeatable.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="For bert and bert-lstm: a pretrained encoder's folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    seed: Annotated[int, typer.Option(help="Same seed, same runs (on the CPU).")] = 0,
    force: Annotated[bool, typer.Option(help="Train anew what the folder already holds.")] = False,
) -> None:
    """Train one of the classical models; the same command again goes on where it was stopped."""
    import storyproof
    from storyproof.cli.progress import progress_bar
    from storyproof.datasets.generate import load_benchmark
    from storyproof.solvers.neural.models import usual_options
    from storyproof.solvers.neural.teaching import settings_of

    if benchmark is None:
        refuse_settings(context)
    made_with = {} if benchmark is None else given_settings(context, load_benchmark(benchmark))
    settings = {"epochs": epochs, "batch": batch, "rate": rate, "patience": patience, "recast": recast}
    usual, most = usual_options(model), settings_of(model, settings).epochs
    options = dict(_option(text, usual) for text in option or ())
    with _stopping(out), progress_bar(model, most) as told:
        run = storyproof.train(
            model,
            out,
            data=data,
            benchmark=benchmark,
            stories=stories,
            benchmark_settings=made_with,
            split=split,
            held=held,
            labels=labels,
            runs=runs,
            seed=seed,
            device=device,
            encoder=encoder,
            options=options,
            force=force,
            progress=_counting(told),
            **settings,
        )
    typer.echo(_summary(run))
    typer.echo(f"written to {out}; try: storyproof evaluate --model {_named(out)} --data …")


def _summary(run: Run) -> str:
    from storyproof.report.numbers import counted

    runs, epochs = counted(len(run.seeds), "run"), counted(run.about["epochs"], "epoch")
    average, best = 100 * sum(run.held) / len(run.held), 100 * max(run.held)
    return f"{run.model}: {runs}, {epochs}; on what was held back {average:.1f}% right on average, {best:.1f}% the best"


def _named(out: Path) -> str:
    """Write a folder so that `evaluate` takes it for one, and a shell for one word."""
    from storyproof.catalog import names

    return shlex.quote(f"./{out}" if str(out) in names("solver") else str(out))


@contextmanager
def _stopping(out: Path) -> Iterator[None]:
    """Let SIGTERM, which batch systems send, do what Ctrl-C does, and say it if nothing came of a stopped training."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        if not (out / "run.json").is_file():
            typer.echo(f"storyproof: nothing was learnt yet, so there is no run in {out}.", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _counting(told: Callable[[int], None]) -> Callable[[Epoch], None]:
    """Tell a progress bar of epochs; the first one may be far on, when training goes on where it was stopped."""
    seen = 0

    def count(epoch: Epoch) -> None:
        nonlocal seen
        told(epoch.number - seen)
        seen = epoch.number

    return count


def _option(text: str, usual: Mapping[str, Any]) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ConfigError(f"--option is '{text}'; write it as NAME=VALUE, such as policy=learned.")
    if "," in value or isinstance(usual.get(name), tuple):
        return name, [_value(each) for each in value.split(",")]
    return name, _value(value)


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
