"""storyproof train."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli import completion
from storyproof.cli.options import given_settings, key_and_value, refuse_settings, training_settings
from storyproof.cli.output import JsonOut, check_results, write_results
from storyproof.cli.safe_terminal import complain, note
from storyproof.errors import ConfigError, StoppedError

if TYPE_CHECKING:
    from storyproof.solvers.neural.saved_runs import TrainedRuns
    from storyproof.solvers.neural.training_loop import Epoch


def train(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            help="memnn, relnet or entnet; lstm, bilstm-mean, bilstm-attention, rn, mac, bert, bert-lstm, gat or rmc; "
            "or tracker or composer, which draw their own stories.",
            autocompletion=completion.trainable,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write the runs to.")],
    data: Annotated[Path | None, typer.Option(help="A dataset folder or file to train on.")] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="Train on a generator, such as tomi or clutrr, instead of data.", autocompletion=completion.benchmarks
        ),
    ] = None,
    stories: Annotated[int, typer.Option(help="How many stories to generate.")] = 0,
    split: Annotated[
        str | None, typer.Option(help="The split of the data; by default train, or the whole of a single file.")
    ] = None,
    held: Annotated[
        str, typer.Option(help="Choose the best epoch by stories 'drawn' for each run, or by the val split as 'given'.")
    ] = "drawn",
    labels: Annotated[str, typer.Option(help="Train on the labels as 'given' or as 'proved' from the text.")] = "given",
    runs: Annotated[int, typer.Option(help="How many runs to train, all at once.")] = 1,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<str>",
            help="NAME=VALUE, repeatable: an option of the model, such as policy=learned, or clip, held-back, "
            "weight-decay, word-dropout.",
        ),
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="For bert and bert-lstm: a pretrained encoder's folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    seed: Annotated[int, typer.Option(help="The same seed gives the same runs (on a CPU).")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Train again, and overwrite a training in the folder.")
    ] = False,
    json_out: JsonOut = None,
) -> None:
    """Train one of the classical models; rerun the same command to resume a training that was stopped."""
    import storyproof
    from storyproof.cli.progress import progress_bar
    from storyproof.datasets.generate import load_benchmark
    from storyproof.solvers.neural.models.registry import default_options
    from storyproof.solvers.neural.train import make_settings

    check_results(json_out, [data])
    if benchmark is None:
        refuse_settings(context)
    made_with = {} if benchmark is None else given_settings(context, load_benchmark(benchmark))
    settings, others = training_settings(context, option or ())
    if model in ("tracker", "composer"):
        given = {"--data": data, "--benchmark": benchmark, "--split": split, "--encoder": encoder}
        plan = {name: value for name, value in (("stories", stories), ("runs", runs), ("seed", seed)) if value}
        _train_small(
            model,
            out,
            plan,
            settings,
            others,
            [name for name, value in given.items() if value],
            device,
            force,
            json_out,
        )
        return
    defaults, most = default_options(model), make_settings(model, settings).epochs
    options = dict(read_option(text, defaults) for text in others)
    with _stopping(out), progress_bar(f"{model} epochs", most) as advance:
        trained = storyproof.train(
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
            progress=_counting(advance),
            **settings,
        )
    if write_results(json_out, [_as_dict(trained, out)]):
        return
    note(_summary(trained))
    note(f"written to {out}; try: storyproof evaluate --model {_named(out)} --data …")


def _train_small(
    model: str,
    out: Path,
    plan: dict[str, Any],
    settings: Mapping[str, Any],
    others: list[str],
    refused: list[str],
    device: str,
    force: bool,
    json_out: Path | None,
) -> None:
    """Train `tracker` or `composer`, which have no data but the stories that they draw."""
    from storyproof.solvers.neural.composer_training import ComposerPlan
    from storyproof.solvers.neural.drawn_training import train_drawn
    from storyproof.solvers.neural.tracker_training import TrackerPlan

    refused += [f"the setting {name}" for name in settings if name not in ("batch", "rate")]
    if refused:
        raise ConfigError(
            f"{model} draws its own stories and has its own options, so {refused[0]} has no effect; leave it out, or "
            "use --stories, --runs, --seed, --batch-size, --learning-rate and --option."
        )
    plan |= dict(settings) | dict(read_option(text, {}) for text in others)
    kind = TrackerPlan if model == "tracker" else ComposerPlan
    with _stopping(out):
        about = train_drawn(kind, out, plan, device=device, force=force)
    if write_results(json_out, [about]):
        return
    scores = ", ".join(f"{100 * score:.2f}" for score in about["scores"])
    note(f"{model}: {about['stories']:,} stories; percent right about held-back stories, by run: {scores}")
    note(f"written to {out}; try: storyproof evaluate --model {_named(out)} --data …")


def _as_dict(run: TrainedRuns, out: Path) -> dict[str, Any]:
    return {"model": run.model, "seeds": list(run.seeds), "held": list(run.held), "out": str(out), "about": run.about}


def _summary(run: TrainedRuns) -> str:
    from storyproof.reports.numbers import counted

    runs, epochs = counted(len(run.seeds), "run"), counted(run.about["epochs"], "epoch")
    average, best = 100 * sum(run.held) / len(run.held), 100 * max(run.held)
    return (
        f"{run.model}: {runs}, {epochs}; accuracy on held-back stories {average:.1f}% on average, {best:.1f}% at best"
    )


def _named(out: Path) -> str:
    """Return a folder as `evaluate` recognises it, quoted for a shell."""
    from storyproof.catalog import names

    return shlex.quote(f"./{out}" if str(out) in names("solver") else str(out))


@contextmanager
def _stopping(out: Path) -> Iterator[None]:
    """Treat SIGTERM, which batch systems send, like Ctrl-C, and report a stopped training without runs."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        if (out / "run.json").is_file():
            raise StoppedError from None
        complain(f"stopped before the end of the first epoch, so there is no run in {out}.")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _counting(advance: Callable[[int], None]) -> Callable[[Epoch], None]:
    """Return a function that advances a progress bar by epochs; after resuming, the first is not epoch 1."""
    seen = 0

    def count(epoch: Epoch) -> None:
        nonlocal seen
        advance(epoch.number - seen)
        seen = epoch.number

    return count


def read_option(text: str, defaults: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name and the value of `NAME=VALUE`; several values with commas where the default has several."""
    name, value = key_and_value(text)
    if "," in value or isinstance(defaults.get(name), tuple):
        return name, [_value(each) for each in value.split(",")]
    return name, _value(value)


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
