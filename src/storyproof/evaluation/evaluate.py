"""The verb `evaluate`: one loop for every kind of solver.

Select examples, ask the solver, judge its answers, score them, write the run. Solvers that choose among answers are
judged by equality; language models and functions reply in free text and are judged by all matchers side by side. Files
can be evaluated apart, wherever an engine likes; scores and predictions are those of one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from storyproof.datasets.frames import Data, data_name, takes_rows
from storyproof.datasets.manifest import file_sha256
from storyproof.datasets.path_conflicts import refuse_overwriting
from storyproof.datasets.reading import DataFile, Source, check_shards_fit, find_source, read_examples
from storyproof.engines import Engine, in_order, make_engine
from storyproof.errors import ConfigError, DataError, NoAnswersError, ParseError, UnknownNameError
from storyproof.evaluation.answer_judge import AnswerJudge
from storyproof.evaluation.matching import MATCHERS, exact, load_matcher
from storyproof.evaluation.options import AskOptions, Progress, Selection
from storyproof.evaluation.provenance import data_identity, provenance
from storyproof.evaluation.runs import Evaluation, Prediction, Recorder, run_name
from storyproof.evaluation.scores import EXACTLY, Tally
from storyproof.example import Example
from storyproof.io.bounded_input import name_of
from storyproof.io.locks import Claim
from storyproof.runtime.progress import beat
from storyproof.solvers.llm.language_model import LanguageModel
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompt import needs_shots
from storyproof.solvers.llm.store import Store
from storyproof.solvers.solver import (
    Answer,
    Divisible,
    Limited,
    ModelName,
    ModelReference,
    Solver,
    StreamingSolver,
    answers_of,
    load_solver,
    resolve,
)

GIVEN, PROVED = "given", "proved"
STORE = "replies.sqlite"
_SHOT_STORIES = 3_000  # that solved examples are drawn from

__all__ = ["GIVEN", "PROVED", "Evaluation", "evaluate"]


@takes_rows("data")
def evaluate(
    model: ModelName,
    data: Data,
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
    engine: Engine | None = None,
    **asking: Any,
) -> Evaluation:
    """Score a solver on a dataset.

    Args:
        model: The solver's name, or what `resolve` returned for it: of the catalog, a path, `openai/…`, `vllm/…`,
            `hf/…`, `local/…`, `module:name` or `file.py:name` (a function or a class), or a model that vLLM finds. A
            `Path` is a path only. Or a model itself: an object with `predict(examples)`, which gets all questions at
            once and returns one of each one's `candidates`, or a function from the text of a prompt to a reply.
        data: A dataset folder or a file; or a URL such as `s3://bucket/folder`; or rows in memory: a frame of pandas or
            polars, an Arrow table, or a list of rows.
        split: Which split of a folder, or of rows in memory that have several; by default test.
        labels: Score against the labels as `given`, or against the answers that are `proved` from the text.
        max_stories: Evaluate at most this many stories.
        max_samples: Evaluate at most this many questions.
        exclude_memory_reality: Leave out questions that only check reading, so that beliefs are asked about only.
        seed: For solvers and prompts that draw.
        encoder: Where the encoder of a trained bert run is, if it has moved.
        output_dir: Write `<model>_<split>.json` there; of a language model also every reply, so that the same call
            resumes where an earlier one stopped. A run of other data or settings that is in this file is kept under
            another name, see `Evaluation.kept`.
        progress: Watches a language model.
        options: How a language model is run.
        engine: Where files are answered, see `storyproof.engines`; by default one after the other, here.
        **asking: How a language model is asked and judged (see `AskOptions`): `prompt`, `conventions`, `matching`,
            `max_tokens`, `likelihood`, `max_failed`, `prices`.

    Raises:
        ConfigError: If there is no such solver.
        DataError: If the data cannot be read.
        ModelError: If a language model cannot be asked.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> run = storyproof.evaluate("oracle", "data")
        >>> run.scores.accuracy, run.scores.joint_accuracy
        (1.0, 1.0)
    """
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    reference = resolve(model)
    ask_options = AskOptions(seed=seed, **asking)
    limits = {"max_stories": max_stories, "max_samples": max_samples}
    if engine is not None:
        refuse_indivisible(reference, seed, encoder, limits)
    source = find_source(data, split)
    if engine is None and source.is_remote and why_indivisible(reference, seed, encoder, limits) is None:
        engine = make_engine()  # which fetches every file once
    chosen = Selection(source, labels == PROVED, max_stories, max_samples, exclude_memory_reality)
    if engine is None and next(chosen.examples(), None) is None:
        raise _nothing_to_score(source.name)
    path = None
    named = [reference.name, source.split or source.files[0].stem]
    asking_for = run_name(*named, *ask_options.suffixes())  # whatever labels the replies are scored against
    if output_dir is not None:
        more = [] if labels == GIVEN else [labels]
        more += ask_options.suffixes() if reference.is_language_model else []
        path = Path(output_dir) / run_name(*named, *more)
        refuse_overwriting(source.paths, path, "--output-dir")
    start, about = time.monotonic(), provenance()
    options = options or ModelOptions(seed=seed)
    solver: Solver | None = None
    with ExitStack() as stack:
        counts: dict[str, Any] = {}
        if engine is None:
            about["data"] = data_identity(source)  # before anything is asked, which may take days
            how: dict[str, Any] = {}
            if reference.is_language_model:
                # Rows that cannot be read are refused before anything is asked, which may cost money.
                counts = {"selection": chosen.counts()}
                if needs_shots(ask_options.prompt):
                    ask_options = replace(ask_options, shots=_shots_besides(chosen, data))
                prompt = ask_options.load_prompt()
                if path is not None:
                    _claim(path.with_name(asking_for), stack)
                store = stack.enter_context(Store(None if path is None else path.parent / STORE))
                how = {"options": options, "prompt": prompt, "store": store, "likelihood": ask_options.likelihood}
            solver = load_solver(reference, seed, encoder, **how)
            stack.callback(getattr(solver, "close", _nothing))
        recorder = Recorder(path)
        stack.callback(recorder.drop)  # nothing is left of a run that does not finish
        if solver is not None:
            judge = _judge(solver, ask_options)
            _answer(reference.name, solver, chosen, judge, recorder, progress)
        else:
            assert engine is not None
            work = AnswerFile(reference, seed, encoder, labels == PROVED, exclude_memory_reality)
            judge, hashes = _answer_files(work, source, engine, recorder)
            about["data"] = data_identity(source, hashes)
        ended = getattr(solver, "ended", None)
        if not len(judge.tally):
            why = ended or next(iter(judge.tally.errors), "nothing was asked")
            raise NoAnswersError(
                f"{reference.name} gave no answer at all, so there is nothing to score: {why.rstrip('.')}."
            )
        details = {**_solver_details(solver, ask_options, options), **counts, **chosen.limits(), **judge.details()}
        evaluation = Evaluation(
            name_of(reference.name),
            data_name(data),
            source.split,
            labels,
            seed,
            scores=judge.tally.scores(details["matching"]),
            predictions=(),
            intervals=judge.tally.intervals(details["matching"]),
            details=details,
            run={**about, "seconds": time.monotonic() - start},
            path=path,
            ended=ended,
            counts=judge.missing <= ask_options.max_failed,
            free_text=judge.free_text,
        )
        predictions = recorder.finish(evaluation.about())
        return replace(evaluation, predictions=predictions, kept=recorder.kept)


def _answer_files(
    work: AnswerFile, source: Source, engine: Engine, recorder: Recorder
) -> tuple[AnswerJudge, dict[str, str]]:
    """Let an engine answer the files of a source; return what judged all answers, and the hashes of the files."""
    judge = AnswerJudge({EXACTLY: exact}, EXACTLY, free_text=False)
    hashes: dict[str, str] = {}
    check_shards_fit(source.files)
    results = in_order(engine, work, [(file, source.split) for file in source.files])
    for file, part in zip(source.files, results, strict=True):
        judge.extend(part.tally, part.unknown_answers)
        hashes[file.name] = part.sha256
        for prediction in part.predictions:
            recorder.add(prediction)
        beat("questions", judge.tally.asked)
    if not judge.tally.asked:
        raise _nothing_to_score(source.name)
    return judge, hashes


def _nothing_to_score(name: str) -> DataError:
    return DataError(f"{name} contains no questions, so there is nothing to score; generate or choose other data.")


def _judge(solver: Solver, asked: AskOptions) -> AnswerJudge:
    """Return what judges a solver's answers: all matchers for free text, else equality."""
    if not isinstance(solver, StreamingSolver):
        return exact_judge(solver)
    matchers = {**MATCHERS, asked.matching: load_matcher(asked.matching)}
    return AnswerJudge(matchers, asked.matching, free_text=True, prices=asked.prices)


def _claim(path: Path, stack: ExitStack) -> None:
    """Claim a run until the stack is closed, so that no other process pays for the same replies.

    Raises:
        DataError: If another process is asking the same.
    """
    if not stack.enter_context(Claim(path.with_name(f".{path.name}.lock"), "--output-dir")):
        raise DataError(
            f"another process is asking for {path}; wait until it ends and run the same command again, which uses its "
            "replies, or choose another --output-dir."
        )


def _answer(
    name: str, solver: Solver, chosen: Selection, judge: AnswerJudge, recorder: Recorder, progress: Progress | None
) -> None:
    """Ask the solver everything, and judge and record its answers."""
    watch: Callable[[Answer], None] | None = None
    stopping: Callable[[], bool] | None = None
    with ExitStack() as stack:
        if progress is not None and isinstance(solver, StreamingSolver):
            stack.callback(progress.end)
            prompt = getattr(getattr(solver, "prompt", None), "name", "")
            progress.begin(name, prompt, lambda: sum(1 for _ in chosen.examples()))
            watch, stopping = _watch(progress, judge), progress.stopping
        try:
            for answer in answers_of(solver, chosen.examples, watch, stopping):
                judge.add(answer, recorder)
        except ParseError as error:
            raise DataError(f"{chosen.source.name}: {error}") from error


def _watch(progress: Progress, judge: AnswerJudge) -> Callable[[Answer], None]:
    """Return what tells a watcher of every answer as it comes."""
    return lambda answer: progress.answered(judge.is_right(answer) if answer.complete else None)


def _solver_details(solver: Solver | None, asked: AskOptions, options: ModelOptions) -> dict[str, Any]:
    """Return what is known of a language model's run, as plain values for JSON."""
    if not isinstance(solver, LanguageModel):
        return {}
    return {
        "prompt": {
            **{name: getattr(solver.prompt, name, None) for name in ("name", "version", "sha256")},
            "conventions": asked.conventions,
        },
        "traffic": solver.traffic.as_dict(),
        "options": {**options.identity(), "max_tokens": asked.max_tokens, "likelihood": asked.likelihood},
        "backend": solver.backend.about(),
    }


def _nothing() -> None:
    """Release nothing, of solvers that hold nothing."""


def read_shots(data: str | Path) -> list[Example]:
    """Read the examples that shots are drawn from: the train split of the data, or of their folder, if there is one."""
    for place in (data, DataFile(str(data)).folder):
        try:
            source = find_source(place, "train")
        except DataError:
            continue
        if source.split == "train":
            return read_examples(source, max_stories=_SHOT_STORIES)
    return []


def _shots_besides(chosen: Selection, data: str | Path) -> list[Example]:
    """Read the examples that shots are drawn from, without the stories that are asked about."""
    shots = read_shots(data)
    if chosen.source.split != "train":
        return shots  # a prompt never shows the story of its own question
    own_stories = {example.story for example in chosen.examples()}
    return [shot for shot in shots if shot.story not in own_stories]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a solver made of one file.

    Attributes:
        tally: What is right.
        unknown_answers: How many answers the solver could not have given.
        predictions: All answers, in order.
        sha256: The hash of the file.
    """

    tally: Tally
    unknown_answers: int
    predictions: Sequence[Prediction]
    sha256: str


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """Answers the examples of files.

    Attributes:
        model: The solver.
        seed: For solvers that draw.
        encoder: Where the encoder of a trained run is, if it has moved.
        proved: Whether labels are those that follow from the text.
        exclude_memory_reality: Leave out questions that only check reading.
    """

    model: ModelReference
    seed: int
    encoder: str | None
    proved: bool
    exclude_memory_reality: bool

    def __call__(self, item: tuple[DataFile, str | None]) -> Answered:
        """Answer the examples of a file of a split."""
        file, split = item
        solver = _solver(self.model, self.seed, self.encoder)
        judge = exact_judge(solver)
        predictions = _Collected()
        with file.opened() as path:
            source = Source((DataFile(str(path)),), split)
            chosen = Selection(source, self.proved, exclude_memory_reality=self.exclude_memory_reality)
            try:
                for answer in answers_of(solver, chosen.examples):
                    judge.add(answer, predictions)
            except ParseError as error:
                raise DataError(f"{source.name}: {error}") from error
            return Answered(judge.tally, judge.unknown_answers, predictions.found, file_sha256(path))


class _Collected:
    """Predictions in memory."""

    def __init__(self) -> None:
        self.found: list[Prediction] = []

    def add(self, prediction: Prediction) -> None:
        self.found.append(prediction)


def _solver(model: ModelReference, seed: int, encoder: str | None) -> Solver:
    """Load a solver once for all files that a process reads."""
    return _loaded(model, id(model.value), seed, encoder)


@lru_cache(maxsize=1)
def _loaded(model: ModelReference, value: int, seed: int, encoder: str | None) -> Solver:
    """Load a solver; `value` tells apart what the same file held at two times."""
    return load_solver(model, seed, encoder)


def exact_judge(solver: Solver) -> AnswerJudge:
    """Return what judges answers by equality with the label."""
    can_answer = solver.can_answer if isinstance(solver, Limited) else None
    return AnswerJudge({EXACTLY: exact}, EXACTLY, free_text=False, can_answer=can_answer)


def refuse_indivisible(model: ModelReference, seed: int, encoder: str | None, limits: Mapping[str, int | None]) -> None:
    """Raise ConfigError if a run cannot be divided by files with the same result."""
    reason = why_indivisible(model, seed, encoder, limits)
    if reason is not None:
        raise ConfigError(f"{reason}; leave out --engine and --workers.")


def why_indivisible(
    model: ModelReference, seed: int, encoder: str | None, limits: Mapping[str, int | None]
) -> str | None:
    """Return why a run cannot be divided by files with the same result; None if it can.

    Args:
        model: The solver.
        seed: For solvers that draw.
        encoder: Where the encoder of a trained run is, if it has moved.
        limits: The most that is to be asked, by name.
    """
    for name, value in limits.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            return f"{option} is {value}, which takes the first ones in order, so files cannot be answered apart"
    if model.value is not None and not model.target:
        return (
            f"{model.name} is an object of this program, which other processes do not have, unlike its class "
            "(file.py:Class)"
        )
    if model.is_language_model:
        return f"{model.name} is a language model, to which one process sends many requests at a time (--concurrency)"
    if not isinstance(_solver(model, seed, encoder), Divisible):
        return f"{model.name} looks at all examples at once, so files cannot be answered apart"
    return None
