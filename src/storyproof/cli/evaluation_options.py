"""The options of `storyproof evaluate`: what is asked, how it is asked and judged, and how the model is run.

`storyproof ask` shares those that mean the same there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.catalog import load, names
from storyproof.cli import completion
from storyproof.cli.command import is_given
from storyproof.cli.options import RARE, declared_values
from storyproof.errors import ConfigError, listed
from storyproof.io.bounded_input import parse_json

if TYPE_CHECKING:
    from storyproof.evaluation.options import Prices
    from storyproof.solvers.llm.options import ModelOptions
    from storyproof.solvers.solver import ModelReference

OUTPUT_DIR = Path("evaluation_results")

Model = Annotated[
    str,
    typer.Option(
        help="A solver (rules, oracle, random, majority, entnet, gat, tracker, composer), a path, openai/…, "
        "vllm/…, hf/…, local/…, module:function or file.py:Class; several with commas.",
        autocompletion=completion.models,
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="<path>",
        help="A folder, a file or a URL (s3://…).",
        show_default="processed_data, if present",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(help="Which split; by default test, or the only one.", autocompletion=completion.splits),
]
Labels = Annotated[str, typer.Option(help="Labels as 'given' or as 'proved' from the text.")]
MaxStories = Annotated[int | None, typer.Option(help="Evaluate at most N stories.")]
MaxSamples = Annotated[int | None, typer.Option(help="Evaluate at most N questions.")]
BeliefsOnly = Annotated[bool, typer.Option("--exclude-memory-reality", help="Ask about beliefs only.")]
Seed = Annotated[int, typer.Option(help="For solvers and prompts that draw.")]
Seeds = Annotated[int, typer.Option(help="Number of seeds, starting at --seed.")]
Prompts = Annotated[
    str,
    typer.Option(
        help="Prompts, with commas: names, files or module:function; 'all'.",
        autocompletion=completion.prompts,
    ),
]
Conventions = Annotated[
    bool,
    typer.Option("--conventions/--no-conventions", help="Begin prompts with the rules that answers rest on."),
]
Matching = Annotated[str, typer.Option(help="'strict', 'careful', 'lenient' or module:function.")]
StrictMatching = Annotated[bool, typer.Option("--strict-matching", hidden=True, help="The same as --matching strict.")]
Likelihood = Annotated[
    bool, typer.Option("--likelihood/--generate", help="Score candidates by likelihood if the backend can.")
]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        help="Where to write the run and replies.",
        show_default=f"{OUTPUT_DIR} for language models",
    ),
]
Twin = Annotated[bool, typer.Option("--contamination", help="Also run a twin of the data that no model can have seen.")]
MaxTokens = Annotated[int | None, typer.Option(help="How long a reply may be.", show_default="the prompt's")]
Encoder = Annotated[
    str | None, typer.Option(help="The encoder of a trained bert run, if it was moved.", show_default="none")
]
Price = Annotated[
    str | None, typer.Option(help="READ,WRITTEN[,CACHED]: price of a million tokens.", show_default="none")
]
MaxFailed = Annotated[float, typer.Option(help="Exit code 3 if more than this share failed.")]
JsonOut = Annotated[Path | None, typer.Option("--json", help="Write the scores to a file; - for standard output.")]


def model_options(context: typer.Context, **usual: Any) -> ModelOptions:
    """Put together how a model is run, from the options of the command line.

    Args:
        context: Of the command, see `ModelCommand`.
        **usual: The command's own values of fields that were not given.

    Raises:
        ConfigError: If one of them cannot be.
    """
    from storyproof.solvers.llm.options import ModelOptions

    values, others = declared_values(context)
    extra = {name: _plain(value) for name, value in others.items()}
    return ModelOptions(**{**usual, **values, "extra": extra})


# What only matters to language models, which answer in free text.
_OF_PROMPTS = ("conventions", "matching", "strict_matching", "likelihood", "max_tokens", "max_failed", "price")


def refuse_ineffective(context: typer.Context, models: Sequence[ModelReference]) -> None:
    """Refuse options that change nothing for any of the models.

    Raises:
        ConfigError: If one was given on the command line.
    """
    has_language_model = any(model.is_language_model for model in models)
    called = ", ".join(model.name for model in models) or "no language model"
    for name in context.params:
        if is_given(context, name) and name in _OF_PROMPTS and not has_language_model:
            raise ConfigError(
                f"{_flag(context, name)} is given, but {called} is not a language model, for which alone it has an "
                "effect; leave it out."
            )
    command: Any = context.command
    values, others = declared_values(context)
    spoken = {name: each.spoken for name, each in command.declarations().items() if name in values}
    for field, name in (spoken | ({"extra": f"{RARE} {next(iter(others))}"} if others else {})).items():
        if not any(model.is_language_model and _backend_uses(model.kind, field) for model in models):
            users = listed([each for each in names("backend") if _backend_uses(each, field)])
            effect = f"it has an effect on models of {users} only" if users else "it has no effect"
            raise ConfigError(f"{name} is given, but the model is {called}: {effect}; leave it out.")


def _flag(context: typer.Context, name: str) -> str:
    """Return how users call a parameter."""
    return next(each.opts[0] for each in context.command.params if each.name == name)


def _backend_uses(kind: str, field: str) -> bool:
    """Return whether a backend uses an option; one of another package that does not say so may use all."""
    if kind not in names("backend"):
        return False  # a function of the user's own
    used = getattr(load("backend", kind), "options", None)
    return used is None or field in used


def run_seeds(first: int, count: int) -> range:
    """List the seeds of the runs.

    Raises:
        ConfigError: If there are none.
    """
    if count < 1:
        raise ConfigError(f"--seeds is {count}; use 1 or more.")
    return range(first, first + count)


def prices(text: str | None) -> Prices | None:
    """Read what tokens cost, if it is given.

    Raises:
        ConfigError: If these are not prices.
    """
    from storyproof.evaluation.options import Prices

    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number < inf for number in numbers):
        raise ConfigError(f"--price is '{text}'; expected two or three numbers, such as 0.15,0.60.")
    return Prices(*numbers)


def _plain(text: str) -> Any:
    """Return the value of a text: as JSON if it is, else the text."""
    try:
        return parse_json(text)
    except ValueError:
        return text
