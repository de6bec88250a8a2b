"""storyproof evaluate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storyproof.cli.output import console, write_results
from storyproof.errors import ConfigError

if TYPE_CHECKING:
    from storyproof.scoring.outcome import Evaluation
    from storyproof.scoring.questioning import Prices
    from storyproof.scoring.twins import Contamination

OUTPUT_DIR = Path("evaluation_results")

Model = Annotated[
    str,
    typer.Option(
        help="A solver (rules, oracle, random, majority), a path, openai/…, vllm/…, hf/…, local/…, module:function, "
        "or a model that vLLM finds; several with commas."
    ),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option("--base-url", help="openai: a server, such as http://localhost:8000/v1; may be repeated."),
]
Api = Annotated[str, typer.Option(help="Ask by 'chat' or by 'completion'.")]
KeyEnv = Annotated[str, typer.Option(help="openai: the environment variable with the key.")]
Concurrency = Annotated[int, typer.Option(help="openai: at most so many requests in flight; adapts to the server.")]
Timeout = Annotated[float, typer.Option(help="openai: seconds that one request may take.")]
Retries = Annotated[int, typer.Option(help="openai: how often a request is sent again.")]
Temperature = Annotated[float, typer.Option(help="0 takes the likeliest token each time.")]
TopP = Annotated[float | None, typer.Option(help="Draw from the likeliest tokens that make up this share.")]
MaxTokens = Annotated[int | None, typer.Option(help="How long a reply may be.", show_default="the prompt's")]
BatchSize = Annotated[int, typer.Option(help="hf: how many prompts the model reads at once.")]
Lora = Annotated[str | None, typer.Option(help="vllm: a folder with a LoRA adapter.")]
TensorParallel = Annotated[int, typer.Option(help="vllm: over how many devices the model is spread.")]
ModelOption = Annotated[
    list[str] | None,
    typer.Option("--model-option", help="KEY=VALUE passed on to the request (openai) or the engine; may be repeated."),
]


def evaluate(
    model: Model,
    data: Annotated[Path, typer.Option(help="A dataset folder or a file.")],
    split: Annotated[str | None, typer.Option(help="Which split; by default test, or the only one.")] = None,
    labels: Annotated[
        str, typer.Option(help="Score against the labels as 'given' or as 'proved' from the text.")
    ] = "given",
    max_stories: Annotated[int | None, typer.Option(help="Use only so many stories.")] = None,
    max_samples: Annotated[int | None, typer.Option(help="Use only so many questions.")] = None,
    exclude_memory_reality: Annotated[
        bool, typer.Option("--exclude-memory-reality", help="Ask about beliefs only.")
    ] = False,
    seed: Annotated[int, typer.Option(help="For solvers and prompts that draw.")] = 0,
    seeds: Annotated[int, typer.Option(help="Run so many seeds, from --seed on.")] = 1,
    prompt: Annotated[
        str, typer.Option(help="A prompt's name or file, or module:function; several with commas; 'all' compares them.")
    ] = "zero-shot",
    matching: Annotated[
        str, typer.Option(help="Judge replies 'strict', 'careful' or 'lenient', or by module:function.")
    ] = "careful",
    strict_matching: Annotated[bool, typer.Option("--strict-matching", help="The same as --matching strict.")] = False,
    likelihood: Annotated[
        bool, typer.Option("--likelihood/--generate", help="Choose between choices by likelihood, where possible.")
    ] = True,
    output_dir: Annotated[
        Path | None,
        typer.Option(
            help="Write <model>_<split>.json there, and keep replies.",
            show_default=f"{OUTPUT_DIR} for language models",
        ),
    ] = None,
    contamination: Annotated[
        bool, typer.Option("--contamination", help="Also run a freshly seeded twin of the data, and compare.")
    ] = False,
    base_url: BaseUrls = None,
    api: Api = "chat",
    api_key_env: KeyEnv = "OPENAI_API_KEY",
    concurrency: Concurrency = 256,
    timeout: Timeout = 300.0,
    retries: Retries = 8,
    temperature: Temperature = 0.0,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    batch_size: BatchSize = 8,
    lora: Lora = None,
    tensor_parallel_size: TensorParallel = 1,
    model_option: ModelOption = None,
    price: Annotated[
        str | None, typer.Option(help="READ,WRITTEN[,CACHED]: what a million tokens cost.", show_default="none")
    ] = None,
    max_failed: Annotated[
        float, typer.Option(help="Exit code 3 if a larger share than this is without an answer.")
    ] = 0.05,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the scores to a file; - for standard output.")
    ] = None,
) -> None:
    """Put a solver or a language model through a dataset. Exit code 3 if too many requests failed."""
    from storyproof.solvers.llm.options import ModelOptions

    options = ModelOptions(
        base_urls=tuple(base_url or ()),
        api=api,
        api_key_env=api_key_env,
        concurrency=concurrency,
        timeout_s=timeout,
        retries=retries,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        batch_size=batch_size,
        lora=lora,
        tensor_parallel_size=tensor_parallel_size,
        extra=dict(map(key_and_value, model_option or ())),
    )
    chosen = {
        "labels": labels,
        "max_stories": max_stories,
        "max_samples": max_samples,
        "exclude_memory_reality": exclude_memory_reality,
        "matching": "strict" if strict_matching else matching,
        "likelihood": likelihood,
        "max_tokens": max_tokens,
        "max_failed": max_failed,
        "prices": _prices(price),
    }
    plan = _Plan(model, prompt, range(seed, seed + seeds), data, split, output_dir, options, chosen)
    _show(plan.twins() if contamination else list(plan.runs()), json_out)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which runs are asked for."""

    models: str
    prompts: str
    seeds: Sequence[int]
    data: Path
    split: str | None
    output_dir: Path | None
    options: Any
    chosen: dict[str, Any]

    def runs(self) -> Iterator[Evaluation]:
        """Run each model with each prompt and seed; solvers know no prompts."""
        for name, prompt, seed in self._each():
            yield self._evaluate(name, prompt, seed, self.data, self.split)

    def twins(self) -> list[Contamination]:
        """Run the same on a twin of the data, too."""
        from storyproof.scoring.twins import contamination

        def twin(name: str, prompt: str, seed: int) -> Contamination:
            return contamination(
                lambda data, split: self._evaluate(name, prompt, seed, data, split),
                self.data,
                self.split,
                self.output_dir or OUTPUT_DIR,
                max_stories=self.chosen["max_stories"],
            )

        return [twin(*each) for each in self._each()]

    def _each(self) -> Iterator[tuple[str, str, int]]:
        from storyproof.solvers.solver import resolve

        names = [name.strip() for name in self.models.split(",")]
        for name in names:
            resolve(name)  # all names are looked at before the first is run
        for name in names:
            prompts = _prompts(self.prompts, self.data) if resolve(name).is_language_model else ["zero-shot"]
            for prompt in prompts:
                for seed in self.seeds:
                    yield name, prompt, seed

    def _evaluate(self, name: str, prompt: str, seed: int, data: Path | str, split: str | None) -> Evaluation:
        from dataclasses import replace

        import storyproof
        from storyproof.cli.run_progress import RunProgress
        from storyproof.solvers.solver import resolve

        asked = resolve(name).is_language_model
        return storyproof.evaluate(
            name,
            data,
            split=split,
            seed=seed,
            prompt=prompt,
            output_dir=self.output_dir or (OUTPUT_DIR if asked else None),
            options=replace(self.options, seed=seed),
            progress=RunProgress(),
            **self.chosen,
        )


def key_and_value(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE; the value is JSON if it can be, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"--model-option is '{text}'; expected KEY=VALUE.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _prompts(text: str, data: Path) -> list[str]:
    """List the prompts that are asked for; of all, those that these data can serve."""
    if text != "all":
        return [name.strip() for name in text.split(",")]
    from storyproof.scoring.evaluation import read_shots
    from storyproof.solvers.llm.prompting import needs_shots, prompt_names

    names = prompt_names()
    bare = [name for name in names if not needs_shots(name)]
    if len(bare) < len(names) and not read_shots(data):
        gone = ", ".join(name for name in names if name not in bare)
        typer.echo(f"storyproof: left out {gone}: there is no train split to draw solved examples from.", err=True)
        return bare
    return names


def _prices(text: str | None) -> Prices | None:
    from storyproof.scoring.questioning import Prices

    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or min(numbers) < 0:
        raise ConfigError(f"--price is '{text}'; expected two or three numbers, such as 0.15,0.60.")
    return Prices(*numbers)


def _show(found: Sequence[Evaluation] | Sequence[Contamination], json_out: Path | None) -> None:
    """Write and print what was found, and end with the exit code that it deserves."""
    from storyproof.scoring.asking import INTERRUPTED
    from storyproof.scoring.outcome import Evaluation

    runs = [each for each in found if isinstance(each, Evaluation)]
    twins = [each for each in found if not isinstance(each, Evaluation)]
    if not write_results(json_out, [each.as_dict() for each in found]):
        _print(runs, twins)
    runs += [run for each in twins for run in (each.published, each.twin)]
    for run in runs:
        if run.details.get("prompt") and run.path is not None:
            typer.echo(f"written to {run.path}", err=str(json_out) == "-")
    if any(run.ended == INTERRUPTED for run in runs):
        raise typer.Exit(130)
    if not all(run.counts for run in runs):
        raise typer.Exit(3)


def _print(runs: Sequence[Evaluation], twins: Sequence[Contamination]) -> None:
    from storyproof.report.runs import contamination_view, run_view, runs_view, sensitivity_view
    from storyproof.report.terminal import scores_view
    from storyproof.scoring.sensitivity import sensitivity

    screen = console()
    asked = [run for run in runs if "matchings" in run.details]
    plain = [run for run in runs if "matchings" not in run.details]
    if plain:
        screen.print(scores_view(plain))
    if len(asked) == 1:
        screen.print(run_view(asked[0]))
    elif asked:
        screen.print(runs_view(asked))
    if len(runs) > 1:
        screen.print(sensitivity_view(sensitivity(runs)))
    for each in twins:
        screen.print(contamination_view(each))
