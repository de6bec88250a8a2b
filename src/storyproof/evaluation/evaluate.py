"""The verb `evaluate`: put a solver through a dataset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from storyproof.datasets.examples import read_examples
from storyproof.datasets.protection import refuse_overwriting
from storyproof.datasets.reading import find_source
from storyproof.errors import DataError, ParseError, UnknownNameError
from storyproof.evaluation.matching.match import EXACT, NO_MATCH
from storyproof.evaluation.runs.asking import ask_model
from storyproof.evaluation.runs.files import Recorder, run_name
from storyproof.evaluation.runs.outcome import Evaluation
from storyproof.evaluation.runs.provenance import data_identity, provenance
from storyproof.evaluation.runs.questioning import Progress, Questioning
from storyproof.evaluation.runs.selection import Selection
from storyproof.evaluation.runs.tally import Tally
from storyproof.example import Example
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompting import needs_shots
from storyproof.solvers.solver import Limited, Solver, load_solver, resolve

GIVEN, PROVED = "given", "proved"
EXACTLY = "exact"  # how answers of solvers that choose from what there is are compared
_SHOT_STORIES = 3_000  # that solved examples are drawn from

__all__ = ["GIVEN", "PROVED", "Evaluation", "evaluate"]


def evaluate(
    model: str | Path,
    data: str | Path,
    *,
    split: str | None = None,
    labels: str = GIVEN,
    max_stories: int | None = None,
    max_samples: int | None = None,
    exclude_memory_reality: bool = False,
    seed: int = 0,
    encoder: str | None = None,
    output_dir: str | Path | None = None,
    progress: Progress | None = None,
    options: ModelOptions | None = None,
    **questioning: Any,
) -> Evaluation:
    """Score a solver on a dataset.

    Args:
        model: The solver's name: of the catalog, a path, `openai/…`, `vllm/…`, `hf/…`, `local/…`, `module:function`, or
            a model that vLLM finds. A `Path` is a path only.
        data: A dataset folder or a file.
        split: Which split of a folder; by default test.
        labels: Score against the labels as `given`, or against the answers that are `proved` from the text.
        max_stories: Use only so many stories.
        max_samples: Use only so many questions.
        exclude_memory_reality: Ask about beliefs only.
        seed: For solvers and prompts that draw.
        encoder: Where the encoder of a trained bert run lies, if it has moved.
        output_dir: Write `<model>_<split>.json` there; of a language model also every reply, so that the same call
            goes on where an earlier one stopped.
        progress: Told how it goes, of a language model.
        options: How a language model is run.
        **questioning: How a language model is asked and judged (see `Questioning`): `prompt`, `matching`, `max_tokens`,
            `likelihood`, `max_failed`, `prices`.

    Raises:
        ConfigError: If there is no such solver.
        DataError: If the data cannot be read.
        ModelError: If a language model cannot be asked.
    """
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    resolved = resolve(model)
    asked = Questioning(seed=seed, **questioning)
    if not resolved.is_language_model:
        solver = load_solver(model, seed, encoder)
    model = str(model)
    source = find_source(data, split)
    chosen = Selection(source, labels == PROVED, max_stories, max_samples, exclude_memory_reality)
    if next(chosen.examples(), None) is None:
        raise DataError(f"{source.name} holds no questions, so there is nothing to score; make or choose other data.")
    about = (model, str(data), source.split, labels, seed)
    path = None
    if output_dir is not None:
        more = [] if labels == GIVEN else [labels]
        more += asked.suffixes() if resolved.is_language_model else []
        path = Path(output_dir) / run_name(model, source.split or source.files[0].stem, *more)
        refuse_overwriting(source.files, path, "--output-dir")
    if resolved.is_language_model:
        run = {**provenance(), "data": data_identity(source)}
        if needs_shots(asked.prompt):
            asked = replace(asked, shots=_shots_besides(chosen, Path(data)))
        return ask_model(about, chosen, asked, options or ModelOptions(seed=seed), run, path, progress)
    return _predict(about, solver, chosen, path)


def read_shots(data: Path) -> list[Example]:
    """Read what solved examples are drawn from: the train split of the data, or beside them, if there is one."""
    for place in (data, data.parent):
        try:
            source = find_source(place, "train")
        except DataError:
            continue
        if source.split == "train":
            return read_examples(source, max_stories=_SHOT_STORIES)
    return []


def _shots_besides(chosen: Selection, data: Path) -> list[Example]:
    """Read what solved examples are drawn from, without the stories that are asked about."""
    shots = read_shots(data)
    if chosen.source.split != "train":
        return shots  # a story of both splits is kept from its own questions, whatever the prompt shows
    asked = {example.story for example in chosen.examples()}
    return [shot for shot in shots if shot.story not in asked]


def _predict(
    about: tuple[str, str, str | None, str, int], solver: Solver, chosen: Selection, path: Path | None
) -> Evaluation:
    """Score a solver that answers all examples at once, by equality."""
    run = {**provenance(), "data": data_identity(chosen.source)}
    examples = list(chosen.examples())
    try:
        answers = solver.predict(examples)
    except ParseError as error:
        raise DataError(f"{chosen.source.name}: {error}") from error
    unknown = solver.cannot_say(examples) if isinstance(solver, Limited) else 0
    limits = {"unknown_answers": unknown} if unknown else {}
    tally, recorder = Tally([EXACTLY]), Recorder(path)
    for example, answer in zip(examples, answers, strict=True):
        tally.add(example, {EXACTLY: EXACT if answer == example.answer else NO_MATCH})
        recorder.add(
            {
                "id": example.id,
                "story_id": example.story_id,
                "question_type": example.question_type,
                "answer": answer,
                "target": example.answer,
            }
        )
    found = Evaluation(
        *about,
        scores=tally.scores(EXACTLY),
        predictions=(),
        intervals=tally.intervals(EXACTLY),
        details={"matching": EXACTLY, **limits},
        run=run,
        path=path,
    )
    return replace(found, predictions=recorder.finish(found.about()))
