"""The options of `storyproof generate`: for all benchmarks, for theory of mind, and for kinship."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from storyproof.errors import ConfigError, UnknownNameError

_DEFAULT = "999 for tomi, 1200 for tom-babi, 10000 for clutrr"
_DEFAULT_VAL = "999 for tomi, 1200 for tom-babi, 0 for clutrr"
_DEFAULT_TEST = "999 for tomi, 1200 for tom-babi, 100 for clutrr"
_TOM, _KINSHIP = "Theory of mind", "Kinship"

Benchmark = Annotated[str, typer.Argument(help="tomi, tomi-matched, tom-babi, tom-babi-easy or clutrr.")]
Out = Annotated[Path, typer.Option(help="The folder to make.")]
Train = Annotated[
    int | None, typer.Option(help="Stories in the training split; 0 leaves it out.", show_default=_DEFAULT)
]
Val = Annotated[int | None, typer.Option(help="Stories in the validation split.", show_default=_DEFAULT_VAL)]
Test = Annotated[
    int | None,
    typer.Option(help="Stories in the test split; clutrr: for each test task and k.", show_default=_DEFAULT_TEST),
]
Seed = Annotated[int, typer.Option(help="Same seed, same content.")]
Format = Annotated[
    str, typer.Option(help="parquet, jsonl, or the published form: babi (tomi, tom-babi), csv (clutrr).")
]
Workers = Annotated[int, typer.Option(help="Processes; the content is the same for any number.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace a dataset that storyproof wrote, if nothing was added or changed.")
]
Vocabulary = Annotated[Path | None, typer.Option(help="A YAML file with your own words.", rich_help_panel=_TOM)]
Disjoint = Annotated[
    str | None,
    typer.Option(
        help="Roles with no word in two splits: agents, rooms, objects, containers; comma-separated.",
        rich_help_panel=_TOM,
    ),
]
Noise = Annotated[
    float | None, typer.Option(help="tom-babi: how likely a distractor sentence is.", rich_help_panel=_TOM)
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="One of the paper's data sets: generalization-23, generalization-234, robust-clean, "
        "robust-supporting, robust-irrelevant, robust-disconnected.",
        rich_help_panel=_KINSHIP,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        help="clean, supporting, irrelevant, disconnected, all, memory or mixed (clean and memory).",
        show_default="clean",
        rich_help_panel=_KINSHIP,
    ),
]
TestTask = Annotated[
    str | None,
    typer.Option(help="Tasks of the test stories, comma-separated; by default the same.", rich_help_panel=_KINSHIP),
]
TrainK = Annotated[
    str | None,
    typer.Option(help="Facts in training chains: 2,3 or 2-4.", show_default="2,3", rich_help_panel=_KINSHIP),
]
TestK = Annotated[str | None, typer.Option(help="Facts in test chains.", show_default="2-10", rich_help_panel=_KINSHIP)]
Reading = Annotated[
    str | None,
    typer.Option(help="strict or published (the paper's rules).", show_default="strict", rich_help_panel=_KINSHIP),
]
Rules = Annotated[Path | None, typer.Option(help="A YAML file with your own rules.", rich_help_panel=_KINSHIP)]
Text = Annotated[
    str | None, typer.Option(help="natural or synthetic.", show_default="natural", rich_help_panel=_KINSHIP)
]
Placeholders = Annotated[
    Path | None,
    typer.Option(help="A JSON file of templates in the published form, instead of ours.", rich_help_panel=_KINSHIP),
]
TestPlaceholders = Annotated[Path | None, typer.Option(help="Another for the test stories.", rich_help_panel=_KINSHIP)]
BadPlaceholders = Annotated[
    str | None,
    typer.Option(
        help="What to do with templates that fail our checks: refuse (those that lack a person or reveal an "
        "answer), keep or drop.",
        show_default="refuse",
        rich_help_panel=_KINSHIP,
    ),
]
KeepPlaceholders = Annotated[
    float | None,
    typer.Option(help="Share of the templates that is used.", show_default="1.0", rich_help_panel=_KINSHIP),
]
SplitPlaceholders = Annotated[
    bool | None,
    typer.Option(
        "--split-placeholders/--no-split-placeholders",
        help="Whether training and test have templates of their own.",
        show_default="split",
        rich_help_panel=_KINSHIP,
    ),
]
Holdout = Annotated[
    bool | None,
    typer.Option(
        "--holdout/--no-holdout",
        help="Whether test patterns of 3 facts and more are kept out of training.",
        show_default="holdout",
        rich_help_panel=_KINSHIP,
    ),
]
Cloze = Annotated[
    bool | None,
    typer.Option("--cloze", help="Call people @entity-n instead of names.", rich_help_panel=_KINSHIP),
]


def preset_settings(benchmark: str | None, name: str | None) -> dict[str, Any]:
    """Give what a preset of clutrr settles; nothing without a name."""
    if name is None:
        return {}
    if benchmark is None:
        raise ConfigError(f"--preset is '{name}', which goes with --benchmark clutrr; give that, or leave it out.")
    from storyproof.families.kinship.config import PRESETS

    if benchmark != "clutrr":
        raise ConfigError(f"--preset is for clutrr, not for {benchmark}; leave it out.")
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return dict(PRESETS[name])
