"""storyproof evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from storyproof.cli import engine_options as engines
from storyproof.cli import evaluation_options as options
from storyproof.cli.output import check_folder, check_results, write_results
from storyproof.cli.safe_terminal import complain, console, note
from storyproof.errors import (
    ConfigError,
    ModelError,
    NoAnswersError,
    NoRulesError,
    OutputError,
    StoppedError,
    StoryproofError,
)
from storyproof.io.storage import as_place

PROCESSED = Path("processed_data")

if TYPE_CHECKING:
    from storyproof.engines import Engine
    from storyproof.evaluation.fresh_twin import Contamination
    from storyproof.evaluation.runs import Evaluation
    from storyproof.solvers.llm.options import ModelOptions
    from storyproof.solvers.solver import ModelReference


def evaluate(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    split: options.Split = None,
    labels: options.Labels = "given",
    max_stories: options.MaxStories = None,
    max_samples: options.MaxSamples = None,
    exclude_memory_reality: options.BeliefsOnly = False,
    seed: options.Seed = 0,
    seeds: options.Seeds = 1,
    prompt: options.Prompts = "zero-shot",
    conventions: options.Conventions = True,
    matching: options.Matching = "careful",
    strict_matching: options.StrictMatching = False,
    likelihood: options.Likelihood = True,
    output_dir: options.OutputDir = None,
    contamination: options.Twin = False,
    max_tokens: options.MaxTokens = None,
    encoder: options.Encoder = None,
    price: options.Price = None,
    max_failed: options.MaxFailed = 0.05,
    engine: engines.Name = engines.PROCESSES,
    address: engines.Address = None,
    workers: engines.Workers = None,
    json_out: options.JsonOut = None,
) -> None:
    """Evaluate a solver or a language model on a dataset. Exit code 3 if too many requests failed."""
    running = options.model_options(context, seed=seed)
    chosen = {
        "labels": labels,
        "max_stories": max_stories,
        "max_samples": max_samples,
        "exclude_memory_reality": exclude_memory_reality,
        "conventions": conventions,
        "matching": "strict" if strict_matching else matching,
        "likelihood": likelihood,
        "max_tokens": max_tokens,
        "max_failed": max_failed,
        "prices": options.prices(price),
    }
    place = as_place(data or str(_processed()))
    if contamination:
        engines.refuse_urls([place], "--contamination")
    check_results(json_out, [place, *model.split(","), *prompt.split(",")])
    references = _references(model)
    if output_dir is not None or any(each.is_language_model for each in references):
        check_folder(output_dir or options.OUTPUT_DIR, "--output-dir")
    plan = _Plan(references, prompt, options.run_seeds(seed, seeds), place, split, output_dir, running, chosen, encoder)
    plan.check_encoder()
    plan.check_prompt()
    options.refuse_ineffective(context, references)
    with engines.needed(engine, address, workers, place) as started:
        plan = replace(plan, engine=started)
        outcome = plan.carry_out(plan.twin if contamination else plan.run)
    _end(*outcome, json_out)


def _processed() -> Path:
    """Return the folder that `process` writes, for commands that name a split only."""
    if not PROCESSED.is_dir():
        raise ConfigError(f"--data is missing, and there is no folder {PROCESSED} here, as process writes it.")
    return PROCESSED


def _references(models: str) -> list[ModelReference]:
    """Resolve all names before the first model is run, and only here."""
    from storyproof.solvers.solver import resolve

    with suppress(OSError):  # too long for the name of a file
        if Path(models).exists():
            return [resolve(models)]
    return [resolve(name.strip()) for name in models.split(",")]


def _end(
    results: list[Evaluation | Contamination],
    troubles: dict[str, StoryproofError | KeyboardInterrupt],
    json_out: Path | None,
) -> None:
    """Show what was found and what went wrong, and exit with the code for both."""
    if (
        not results and len({str(error) for error in troubles.values()}) == 1
    ):  # of the data or the command, not of a model
        raise troubles.popitem()[1]
    code = _show(results, json_out) if results else 0
    for title, error in troubles.items():
        if results and isinstance(error, NoRulesError):
            note(f"left out {title}: {error}", err=True)
        elif isinstance(error, StoryproofError):
            complain(f"{title}: {error}")
            code = code or error.exit_code
        else:
            code = StoppedError.exit_code
    if code == StoppedError.exit_code:
        raise StoppedError if results else KeyboardInterrupt
    if code:
        raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which runs are asked for."""

    models: Sequence[ModelReference]
    prompts: str
    seeds: Sequence[int]
    data: str | Path
    split: str | None
    output_dir: Path | None
    running: ModelOptions
    chosen: dict[str, Any]
    encoder: str | None
    engine: Engine | None = None

    def check_encoder(self) -> None:
        """Refuse the path of an encoder if no model has one.

        Raises:
            ConfigError: If so.
        """
        if self.encoder is not None and not any(map(_has_encoder, self.models)):
            raise ConfigError(
                f"--encoder is '{self.encoder}', but none of {', '.join(each.name for each in self.models)} has one, "
                "as trained runs of bert and bert-lstm do; leave it out."
            )

    def check_prompt(self) -> None:
        """Refuse a prompt if no model is asked by prompts.

        Raises:
            ConfigError: If so.
        """
        from storyproof.solvers.solver import DEFAULT_PROMPT

        if any(model.is_language_model for model in self.models):
            return
        if self.prompts != DEFAULT_PROMPT:
            models = ", ".join(each.name for each in self.models)
            raise ConfigError(
                f"--prompt is '{self.prompts}', but {models} is not asked by prompts, as language models are; leave it "
                "out."
            )

    def carry_out(
        self, do: Callable[[ModelReference, str, int], Evaluation | Contamination]
    ) -> tuple[list[Evaluation | Contamination], dict[str, StoryproofError | KeyboardInterrupt]]:
        """Do something with each model, prompt and seed until interrupted; return what was found, and what went wrong.

        A model that does not fit the data or gives no answers does not stop the others. Output that cannot be written
        does, because that would only be repeated.
        """
        results: list[Evaluation | Contamination] = []
        troubles: dict[str, StoryproofError | KeyboardInterrupt] = {}
        unfit: set[tuple[str, str]] = set()
        for model, prompt, seed in self._each():
            if (model.name, prompt) in unfit:  # with another seed it does not fit either
                continue
            title = ", ".join([model.name, prompt, *([f"seed {seed}"] if len(self.seeds) > 1 else [])])
            try:
                results.append(do(model, prompt, seed))
            except ModelError as error:
                troubles[title] = error
                continue
            except (OutputError, KeyboardInterrupt) as error:
                troubles[title] = error
                break
            except StoryproofError as error:
                troubles[title] = error
                unfit.add((model.name, prompt))
                continue
            if results[-1].interrupted:
                break
        return results, troubles

    def run(self, model: ModelReference, prompt: str, seed: int) -> Evaluation:
        """Run a model with a prompt and a seed."""
        return self._evaluate(model, prompt, seed, self.data, self.split, self.output_dir)

    def twin(self, model: ModelReference, prompt: str, seed: int) -> Contamination:
        """Run a model on the data and on a twin of them."""
        from storyproof.evaluation.fresh_twin import contamination

        return contamination(
            lambda data, split, folder: self._evaluate(model, prompt, seed, data, split, folder),
            self.data,
            self.split,
            self.output_dir or options.OUTPUT_DIR,
            max_stories=self.chosen["max_stories"],
        )

    def _each(self) -> Iterator[tuple[ModelReference, str, int]]:
        for model in self.models:
            prompts = _prompts(self.prompts, self.data) if model.is_language_model else ["zero-shot"]
            for prompt in prompts:
                for seed in self.seeds:
                    yield model, prompt, seed

    def _evaluate(
        self, model: ModelReference, prompt: str, seed: int, data: Path | str, split: str | None, folder: Path | None
    ) -> Evaluation:
        import storyproof
        from storyproof.cli.progress import RunProgress, progress_bar

        progress = RunProgress()
        shown = progress.running(model.name) if model.is_language_model else progress_bar(model.name, None)
        try:
            with shown:
                return storyproof.evaluate(
                    model,
                    data,
                    split=split,
                    seed=seed,
                    encoder=self.encoder if self.encoder and _has_encoder(model) else None,
                    prompt=prompt,
                    output_dir=folder or (options.OUTPUT_DIR if model.is_language_model else None),
                    options=replace(self.running, seed=seed),
                    progress=progress,
                    engine=self.engine,
                    **self.chosen,
                )
        except NoAnswersError:
            if progress.stopping():  # a user stopped it
                raise KeyboardInterrupt from None
            raise


def _has_encoder(model: ModelReference) -> bool:
    """Return whether a model is a trained run with an encoder."""
    from storyproof.solvers.solver import TRAINED

    if model.kind != TRAINED:
        return False
    from storyproof.solvers.neural.solver import stands_on_encoder

    return stands_on_encoder(model.target)


def _prompts(text: str, data: str | Path) -> list[str]:
    """Return the prompts that are asked for; for `all`, those that work with these data."""
    if text != "all":
        return [name.strip() for name in text.split(",")]
    from storyproof.evaluation.evaluate import read_shots
    from storyproof.solvers.llm.prompt import needs_shots, prompt_names

    names = prompt_names()
    bare = [name for name in names if not needs_shots(name)]
    if len(bare) < len(names) and not read_shots(Path(data)):
        gone = ", ".join(name for name in names if name not in bare)
        complain(f"left out {gone}: there is no train split to draw solved examples from.")
        return bare
    return names


def _show(results: Sequence[Evaluation | Contamination], json_out: Path | None) -> int:
    """Write and print what was found; return the exit code."""
    from storyproof.evaluation.runs import Evaluation

    runs = [each for each in results if isinstance(each, Evaluation)]
    twins = [each for each in results if not isinstance(each, Evaluation)]
    if not write_results(json_out, [each.as_dict() for each in results]):
        _print(runs, twins)
    runs += [run for each in twins for run in (each.published, each.twin)]
    for run in runs:
        if run.path is not None:
            note(f"written to {run.path}", err=str(json_out) == "-")
        if run.kept is not None:
            note(f"the run of other data or settings that was there is kept as {run.kept}", err=str(json_out) == "-")
    if any(run.interrupted for run in runs):
        return StoppedError.exit_code
    return 0 if all(run.counts for run in runs) else 3


def _print(runs: Sequence[Evaluation], twins: Sequence[Contamination]) -> None:
    from storyproof.evaluation.compare import sensitivity
    from storyproof.reports.runs import contamination_view, run_view, runs_view, scores_view, sensitivity_view

    screen = console()
    language_models = [run for run in runs if run.free_text]
    plain = [run for run in runs if not run.free_text]
    if plain:
        screen.print(scores_view(runs))  # side by side, whatever they are
    elif len(language_models) == 1:
        screen.print(run_view(language_models[0]))
    elif language_models:
        screen.print(runs_view(language_models))
    if len(runs) > 1:
        screen.print(sensitivity_view(sensitivity(runs)))
    for each in twins:
        screen.print(contamination_view(each))
