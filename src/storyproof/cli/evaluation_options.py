"""The options of `storyproof evaluate`: what is asked, how it is asked and judged, and how the model is run.

`storyproof ask` shares those that mean the same there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.catalog import load, names
from storyproof.cli import completion
from storyproof.cli.command import is_given
from storyproof.errors import ConfigError, listed
from storyproof.inputs import parse_json

if TYPE_CHECKING:
    from storyproof.evaluation.options import Prices
    from storyproof.solvers.llm.options import ModelOptions
    from storyproof.solvers.solver import ModelReference

OUTPUT_DIR = Path("evaluation_results")

Model = Annotated[
    str,
    typer.Option(
        help="A solver (rules, oracle, random, majority, entnet, gat), a path, openai/…, vllm/…, hf/…, local/…, "
        "module:function, file.py:Class, or a model that vLLM finds; several with commas.",
        autocompletion=completion.models,
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="<path>",
        help="A dataset folder or a file, or a URL (s3://…).",
        show_default="processed_data, where it is here",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(help="Which split; by default test, or the only one.", autocompletion=completion.splits),
]
Labels = Annotated[str, typer.Option(help="Score against the labels as 'given' or as 'proved' from the text.")]
MaxStories = Annotated[int | None, typer.Option(help="Evaluate at most N stories.")]
MaxSamples = Annotated[int | None, typer.Option(help="Evaluate at most N questions.")]
BeliefsOnly = Annotated[bool, typer.Option("--exclude-memory-reality", help="Evaluate only questions about beliefs.")]
Seed = Annotated[int, typer.Option(help="For solvers and prompts that draw.")]
Seeds = Annotated[int, typer.Option(help="Number of seeds, starting at --seed.")]
Prompts = Annotated[
    str,
    typer.Option(
        help="A prompt's name or file, or module:function; several with commas; 'all' compares them.",
        autocompletion=completion.prompts,
    ),
]
Conventions = Annotated[
    bool,
    typer.Option("--conventions/--no-conventions", help="Begin every prompt with the rules that its answer rests on."),
]
Matching = Annotated[str, typer.Option(help="Judge replies 'strict', 'careful' or 'lenient', or by module:function.")]
StrictMatching = Annotated[bool, typer.Option("--strict-matching", help="The same as --matching strict.")]
Likelihood = Annotated[
    bool, typer.Option("--likelihood/--generate", help="Score the candidates by likelihood if the backend can.")
]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        help="Write <model>_<split>.json there, and keep replies.",
        show_default=f"{OUTPUT_DIR} for language models",
    ),
]
Twin = Annotated[bool, typer.Option("--contamination", help="Also run a freshly seeded twin of the data, and compare.")]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--base-url", metavar="<str>", help="openai: a server, such as http://localhost:8000/v1; may be repeated."
    ),
]
Api = Annotated[str, typer.Option(help="Ask by 'chat' or by 'completion'.")]
KeyEnv = Annotated[str, typer.Option(help="openai: the environment variable with the key.")]
Concurrency = Annotated[int, typer.Option(help="openai: at most N requests in flight; adapts to the server.")]
Timeout = Annotated[float, typer.Option(help="openai: seconds that one request may take.")]
MaxWait = Annotated[float, typer.Option(help="openai: the longest pause in seconds that a server may ask for.")]
MaxReplyMb = Annotated[float, typer.Option(help="openai: the longest reply in megabytes, unpacked.")]
Retries = Annotated[int, typer.Option(help="openai: how often a request is sent again.")]
Temperature = Annotated[float, typer.Option(help="0 takes the likeliest token each time.")]
TopP = Annotated[float | None, typer.Option(help="Draw from the likeliest tokens that make up this share.")]
MaxTokens = Annotated[int | None, typer.Option(help="How long a reply may be.", show_default="the prompt's")]
BatchSize = Annotated[
    int | None,
    typer.Option(help="hf, vllm: how many prompts the model reads at once.", show_default="8; vllm chooses itself"),
]
Lora = Annotated[str | None, typer.Option(help="vllm: a folder with a LoRA adapter.")]
TensorParallel = Annotated[int, typer.Option(help="vllm: over how many devices the model is spread.")]
Encoder = Annotated[
    str | None, typer.Option(help="Where the encoder of a trained bert run lies, if it has moved.", show_default="none")
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="<str>", help="KEY=VALUE passed on to the request (openai) or the engine; may be repeated."
    ),
]
Price = Annotated[
    str | None, typer.Option(help="READ,WRITTEN[,CACHED]: what a million tokens cost.", show_default="none")
]
MaxFailed = Annotated[float, typer.Option(help="Exit code 3 if a larger share than this is without an answer.")]
JsonOut = Annotated[Path | None, typer.Option("--json", help="Write the scores to a file; - for standard output.")]


def model_options(
    *,
    base_url: Iterable[str] | None,
    timeout: float,
    max_wait: float,
    model_option: Iterable[str] | None,
    **others: Any,
) -> ModelOptions:
    """Put together how a model is run from options by their names on the command line.

    Raises:
        ConfigError: If one of them cannot be.
    """
    from storyproof.solvers.llm.options import ModelOptions

    extra = dict(map(_key_and_value, model_option or ()))
    return ModelOptions(base_urls=tuple(base_url or ()), timeout_s=timeout, max_wait_s=max_wait, extra=extra, **others)


# Which field of `ModelOptions` an option sets; a backend lists those that it uses.
_FIELDS = {
    "base_url": "base_urls",
    "api": "api",
    "api_key_env": "api_key_env",
    "concurrency": "concurrency",
    "timeout": "timeout_s",
    "retries": "retries",
    "max_wait": "max_wait_s",
    "max_reply_mb": "max_reply_mb",
    "temperature": "temperature",
    "top_p": "top_p",
    "batch_size": "batch_size",
    "lora": "lora",
    "tensor_parallel_size": "tensor_parallel_size",
    "model_option": "extra",
}
# What only matters to language models, which answer in free text.
_OF_PROMPTS = ("conventions", "matching", "strict_matching", "likelihood", "max_tokens", "max_failed", "price")


def refuse_ineffective(context: typer.Context, models: Sequence[ModelReference]) -> None:
    """Refuse options that change nothing for any of the models.

    Raises:
        ConfigError: If one was given on the command line.
    """
    given = [name for name in context.params if is_given(context, name)]
    asked = any(model.is_language_model for model in models)
    called = ", ".join(model.name for model in models) or "no language model"
    for name in given:
        if name in _OF_PROMPTS and not asked:
            raise ConfigError(
                f"{_flag(context, name)} is given, but {called} is not a language model, for which alone it has an "
                "effect; leave it out."
            )
        if name in _FIELDS and not any(_uses(model, _FIELDS[name]) for model in models):
            users = listed([each for each in names("backend") if _backend_uses(each, _FIELDS[name])])
            effect = f"it has an effect on models of {users} only" if users else "it has no effect"
            raise ConfigError(f"{_flag(context, name)} is given, but the model is {called}: {effect}; leave it out.")


def _flag(context: typer.Context, name: str) -> str:
    """Return how users call a parameter."""
    return next(each.opts[0] for each in context.command.params if each.name == name)


def _uses(model: ModelReference, field: str) -> bool:
    """Return whether an option of models has an effect on this one."""
    return model.is_language_model and _backend_uses(model.kind, field)


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


def _key_and_value(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE; the value is JSON if it can be, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"--option is '{text}'; expected KEY=VALUE.")
    try:
        return key, parse_json(value)
    except ValueError:
        return key, value
