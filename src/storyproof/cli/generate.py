"""storyproof generate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from storyproof.cli.progress import progress_bar
from storyproof.errors import ConfigError, UnknownNameError

_DEFAULT = "999 for tomi, 1200 for tom-babi, 10000 for clutrr"
_DEFAULT_VAL = "999 for tomi, 1200 for tom-babi, 0 for clutrr"
_DEFAULT_TEST = "999 for tomi, 1200 for tom-babi, 100 for clutrr"
_TOM, _KINSHIP = "Theory of mind", "Kinship"


def generate(
    benchmark: Annotated[str, typer.Argument(help="tomi, tom-babi, tom-babi-easy or clutrr.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    train: Annotated[
        int | None, typer.Option(help="Stories in the training split; 0 leaves it out.", show_default=_DEFAULT)
    ] = None,
    val: Annotated[int | None, typer.Option(help="Stories in the validation split.", show_default=_DEFAULT_VAL)] = None,
    test: Annotated[
        int | None,
        typer.Option(help="Stories in the test split; clutrr: for each test task and k.", show_default=_DEFAULT_TEST),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same content.")] = 0,
    format: Annotated[
        str, typer.Option(help="parquet, jsonl, or the published form: babi (tomi, tom-babi), csv (clutrr).")
    ] = "parquet",
    workers: Annotated[int, typer.Option(help="Processes; the content is the same for any number.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder if it is there.")] = False,
    vocabulary: Annotated[
        Path | None, typer.Option(help="A YAML file with your own words.", rich_help_panel=_TOM)
    ] = None,
    disjoint: Annotated[
        str | None,
        typer.Option(
            help="Roles with no word in two splits: agents, rooms, objects, containers; comma-separated.",
            rich_help_panel=_TOM,
        ),
    ] = None,
    noise: Annotated[
        float | None, typer.Option(help="tom-babi: how likely a distractor sentence is.", rich_help_panel=_TOM)
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="One of the paper's data sets: generalization-23, generalization-234, robust-clean, "
            "robust-supporting, robust-irrelevant, robust-disconnected.",
            rich_help_panel=_KINSHIP,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="clean, supporting, irrelevant, disconnected, all, memory or mixed (clean and memory).",
            show_default="clean",
            rich_help_panel=_KINSHIP,
        ),
    ] = None,
    test_task: Annotated[
        str | None,
        typer.Option(help="Tasks of the test stories, comma-separated; by default the same.", rich_help_panel=_KINSHIP),
    ] = None,
    train_k: Annotated[
        str | None,
        typer.Option(help="Facts in training chains: 2,3 or 2-4.", show_default="2,3", rich_help_panel=_KINSHIP),
    ] = None,
    test_k: Annotated[
        str | None, typer.Option(help="Facts in test chains.", show_default="2-10", rich_help_panel=_KINSHIP)
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(help="strict or published (the paper's rules).", show_default="strict", rich_help_panel=_KINSHIP),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="A YAML file with your own rules.", rich_help_panel=_KINSHIP)
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="natural or synthetic.", show_default="natural", rich_help_panel=_KINSHIP)
    ] = None,
    placeholders: Annotated[
        Path | None,
        typer.Option(help="A JSON file of templates in the published form, instead of ours.", rich_help_panel=_KINSHIP),
    ] = None,
    test_placeholders: Annotated[
        Path | None, typer.Option(help="Another for the test stories.", rich_help_panel=_KINSHIP)
    ] = None,
    bad_placeholders: Annotated[
        str | None,
        typer.Option(
            help="What to do with templates that fail our checks: refuse (those that lack a person or reveal an "
            "answer), keep or drop.",
            show_default="refuse",
            rich_help_panel=_KINSHIP,
        ),
    ] = None,
    keep_placeholders: Annotated[
        float | None,
        typer.Option(help="Share of the templates that is used.", show_default="1.0", rich_help_panel=_KINSHIP),
    ] = None,
    split_placeholders: Annotated[
        bool | None,
        typer.Option(
            "--split-placeholders/--no-split-placeholders",
            help="Whether training and test have templates of their own.",
            show_default="split",
            rich_help_panel=_KINSHIP,
        ),
    ] = None,
    holdout: Annotated[
        bool | None,
        typer.Option(
            "--holdout/--no-holdout",
            help="Whether test patterns of 3 facts and more are kept out of training.",
            show_default="holdout",
            rich_help_panel=_KINSHIP,
        ),
    ] = None,
    cloze: Annotated[
        bool | None,
        typer.Option("--cloze", help="Call people @entity-n instead of names.", rich_help_panel=_KINSHIP),
    ] = None,
) -> None:
    """Make a dataset of proved stories."""
    given = {
        "vocabulary": vocabulary,
        "disjoint": disjoint,
        "noise": noise,
        "task": task,
        "test_tasks": test_task,
        "train_k": train_k,
        "test_k": test_k,
        "reading": reading,
        "rules": rules,
        "text": text,
        "placeholders": placeholders,
        "test_placeholders": test_placeholders,
        "bad_placeholders": bad_placeholders,
        "keep_placeholders": keep_placeholders,
        "split_placeholders": split_placeholders,
        "holdout": holdout,
        "cloze": cloze,
    }
    chosen = {name: _setting(name, value) for name, value in given.items() if value is not None}
    settings = {**_preset(benchmark, preset), **chosen}
    counts = {"train": train, "val": val, "test": test}
    _generate(benchmark, counts, settings, seed=seed, out=out, format=format, workers=workers, force=force)


def _generate(
    benchmark: str, asked: dict[str, int | None], settings: dict[str, Any], *, out: Path, seed: int, **options: Any
) -> None:
    import storyproof
    from storyproof.datasets.generation import make_benchmark

    made = make_benchmark(benchmark, seed, **settings)
    counts = {split: made.usual(split) if count is None else count for split, count in asked.items()}
    total = sum(made.stories(split, max(0, count)) for split, count in counts.items())
    with progress_bar("stories", total) as progress:
        manifest = storyproof.generate(
            benchmark, out=out, seed=seed, progress=progress, **counts, **options, **settings
        )
    for split, entry in manifest["splits"].items():
        typer.echo(f"{split}: {entry['stories']:,} stories, {entry['questions']:,} questions")
    for note in made.remarks(manifest):
        typer.echo(note)
    typer.echo(f"written to {out}")


def _preset(benchmark: str, name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    from storyproof.kinship.config import PRESETS

    if benchmark != "clutrr":
        raise ConfigError(f"--preset is for clutrr, not for {benchmark}; leave it out.")
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return dict(PRESETS[name])


def _setting(name: str, value: Any) -> Any:
    """Read what the command line gives for a setting."""
    if name in ("disjoint", "test_tasks"):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if name in ("train_k", "test_k"):
        return _lengths(name, value)
    if name == "vocabulary":
        from storyproof.tom.vocabulary import load_vocabulary

        return load_vocabulary(value)
    if name == "rules":
        from storyproof.kinship.rules import load_rules

        return load_rules(value)
    if name in ("placeholders", "test_placeholders"):
        from storyproof.kinship.placeholders import load_placeholders

        return load_placeholders(value)
    return value


def _lengths(name: str, value: str) -> tuple[int, ...]:
    """Read lengths such as `2,3` or `2-10`."""
    found: list[int] = []
    for part in value.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ConfigError(f"--{name.replace('_', '-')} is '{value}'; expected numbers such as 2,3 or 2-10.")
        if len(first) > 4 or len(last) > 4:  # nobody means that, and it would fill the memory
            raise ConfigError(f"--{name.replace('_', '-')} is '{value}'; chains have 2 to 15 facts.")
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise ConfigError(f"--{name.replace('_', '-')} is '{value}', which names no length; give 2-10 or the like.")
    return tuple(found)
