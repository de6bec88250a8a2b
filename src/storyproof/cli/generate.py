"""storyproof generate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from storyproof.cli import options
from storyproof.cli.progress import progress_bar
from storyproof.errors import ConfigError


def generate(
    benchmark: options.Benchmark,
    out: options.Out,
    train: options.Train = None,
    val: options.Val = None,
    test: options.Test = None,
    seed: options.Seed = 0,
    format: options.Format = "parquet",
    workers: options.Workers = 1,
    force: options.Force = False,
    vocabulary: options.Vocabulary = None,
    disjoint: options.Disjoint = None,
    noise: options.Noise = None,
    preset: options.Preset = None,
    task: options.Task = None,
    test_task: options.TestTask = None,
    train_k: options.TrainK = None,
    test_k: options.TestK = None,
    reading: options.Reading = None,
    rules: options.Rules = None,
    text: options.Text = None,
    placeholders: options.Placeholders = None,
    test_placeholders: options.TestPlaceholders = None,
    bad_placeholders: options.BadPlaceholders = None,
    keep_placeholders: options.KeepPlaceholders = None,
    split_placeholders: options.SplitPlaceholders = None,
    holdout: options.Holdout = None,
    cloze: options.Cloze = None,
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
    settings = {**options.preset_settings(benchmark, preset), **chosen}
    counts = {"train": train, "val": val, "test": test}
    _generate(benchmark, counts, settings, seed=seed, out=out, format=format, workers=workers, force=force)


def _generate(
    benchmark: str, asked: dict[str, int | None], settings: dict[str, Any], *, out: Path, seed: int, **writing: Any
) -> None:
    import storyproof
    from storyproof.datasets.generate import make_benchmark
    from storyproof.report.numbers import counted

    made = make_benchmark(benchmark, seed, **settings)
    counts = {split: made.usual(split) if count is None else count for split, count in asked.items()}
    total = sum(made.stories(split, max(0, count)) for split, count in counts.items())
    with progress_bar("stories", total) as progress:
        manifest = storyproof.generate(
            benchmark, out=out, seed=seed, progress=progress, **counts, **writing, **settings
        )
    for split, entry in manifest["splits"].items():
        typer.echo(f"{split}: {counted(entry['stories'], 'story')}, {counted(entry['questions'], 'question')}")
    for note in made.remarks(manifest):
        typer.echo(note)
    typer.echo(f"written to {out}")


def _setting(name: str, value: Any) -> Any:
    """Read what the command line gives for a setting."""
    if name in ("disjoint", "test_tasks"):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if name in ("train_k", "test_k"):
        return _lengths(name, value)
    if name == "vocabulary":
        from storyproof.families.belief.vocabulary import load_vocabulary

        return load_vocabulary(value)
    if name == "rules":
        from storyproof.families.kinship.rules import load_rules

        return load_rules(value)
    if name in ("placeholders", "test_placeholders"):
        from storyproof.families.kinship.placeholders.files import load_placeholders

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
