"""The verb `train`: from files, or straight from the generator, to a folder of trained runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from storyproof.datasets.examples import read_examples
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.protection import refuse_same_folder
from storyproof.datasets.reading import find_source, find_sources
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.example import Example
from storyproof.files import writing_to
from storyproof.solvers.neural.fitting import Course, Lesson, Plan, identity_of
from storyproof.solvers.neural.keeping import begin, check_replaceable, claimed, fit, is_begun
from storyproof.solvers.neural.recipes import recipe
from storyproof.solvers.neural.runs import RUN, Run, load_run, save_run
from storyproof.solvers.neural.settings import Settings
from storyproof.solvers.neural.training import DivergedError, Epoch

DRAWN, GIVEN, PROVED = "drawn", "given", "proved"


def train(
    model: str,
    out: str | Path,
    *,
    data: str | Path | None = None,
    split: str | None = None,
    held: str = DRAWN,
    labels: str = "given",
    benchmark: str | None = None,
    stories: int = 0,
    benchmark_settings: Mapping[str, Any] | None = None,
    runs: int = 1,
    seed: int = 0,
    device: str = "auto",
    encoder: str | None = None,
    options: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Callable[[Epoch], None] = lambda epoch: None,
    **settings: Any,
) -> Run:
    """Train a model, all runs together; the same call again goes on where it was stopped.

    Args:
        model: Its name, such as `entnet`.
        out: The folder to write the runs to.
        data: A dataset folder or file to learn from.
        split: Which split of it; by default train, or what a single file holds.
        held: What to choose the best epoch by: stories `drawn` for each run, or the val split as `given`.
        labels: Learn the labels as `given`, or as `proved` from the text.
        benchmark: Learn from a benchmark's generator instead of from data.
        stories: How many stories it is to make.
        benchmark_settings: How to make them, such as `preset` or `noise`.
        runs: How many runs, each with its own weights, order and held-back stories.
        seed: Same seed, same runs (on the CPU).
        device: cpu, cuda or auto.
        encoder: A pretrained encoder's folder, for BERT models.
        options: The model's own, such as `width` or `policy`.
        force: Train anew what the folder already holds.
        progress: Told after every epoch.
        **settings: Those of training, such as `epochs`, `batch` or `rate` (see `Settings`).

    Raises:
        ConfigError: If it cannot be trained as asked.
        DataError: If the data cannot be read, or nothing can be written.
        KeyboardInterrupt: When interrupted; the best so far is written first.
    """
    refuse_same_folder([data], out)
    plan = Plan(model, runs, seed, settings_of(model, settings), dict(options or {}), encoder, device=device)
    if encoder is not None and not recipe(model).vectors:
        raise ConfigError(f"model '{model}' stands on no encoder, as bert and bert-lstm do; leave --encoder out.")
    lesson = _lesson(data, split, held, labels, benchmark, stories, seed, benchmark_settings or {})
    out, identity = Path(out), identity_of(plan, [lesson])
    if force:
        check_replaceable(out)
    elif (done := _done(out, identity)) is not None:  # the course alone may take long to prepare
        return done
    course = Course(plan, [lesson], identity)
    about = {"source": str(data) if data is not None else benchmark, "interrupted": False}
    with writing_to(out), claimed(out):
        begin(out, course, force=force)
        try:
            fit(out, course, progress)
        except (DivergedError, KeyboardInterrupt):
            if course.trainer.epoch:
                save_run(out, course.results({**about, "interrupted": True})[0])
            raise
        finished = course.results(about)[0]
        save_run(out, finished)
    return finished


def settings_of(model: str, given: Mapping[str, Any]) -> Settings:
    """Give a model's usual settings of training with these instead; None leaves one as it is.

    Raises:
        ConfigError: If there is no such setting, or it cannot be honoured.
    """
    known = Settings.__dataclass_fields__
    for name in given:
        if name not in known:
            raise UnknownNameError("setting of training", name, known)
    return Settings(**{**recipe(model).training, **{name: value for name, value in given.items() if value is not None}})


def _lesson(
    data: str | Path | None,
    split: str | None,
    held: str,
    labels: str,
    benchmark: str | None,
    stories: int,
    seed: int,
    benchmark_settings: Mapping[str, Any],
) -> Lesson:
    if held not in (DRAWN, GIVEN):
        raise UnknownNameError("kind of held-back stories", held, (DRAWN, GIVEN))
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    if (data is None) == (benchmark is None):
        raise ConfigError("give either --data to learn from files or --benchmark to learn from a generator.")
    if data is not None:
        if not isinstance(data, str | PathLike):
            raise ConfigError(
                f"data is a {type(data).__name__}; give the folder or file of a dataset, as generate writes."
            )
        if stories:
            raise ConfigError(
                f"--stories is {stories}, but that is for --benchmark, and --data is given; leave it out."
            )
        if benchmark_settings:
            given = ", ".join(benchmark_settings)
            raise ConfigError(
                f"settings of a benchmark are given ({given}), but --data is made already; leave them out."
            )
        return _read(data, split, held, proved=labels == PROVED)
    assert benchmark is not None
    if stories < 1:
        raise ConfigError(f"--stories is {stories}; say how many {benchmark} is to make, 1 or more.")
    if split is not None:
        raise ConfigError(f"--split is '{split}', but a generator makes training stories only; leave it out.")
    if labels == PROVED:
        raise ConfigError(f"--labels is '{labels}', but all that {benchmark} makes is proved; leave it out.")
    if held == GIVEN:
        raise ConfigError(f"{benchmark} has no stories given to hold back; use drawn, or --data with a val split.")
    made = make_benchmark(benchmark, seed, **benchmark_settings)
    count = -(-stories // made.round) * made.round  # they are made in rounds, of which the last may be cut short here
    made.check_count("train", count, "--stories")
    examples = [Example.from_row(row) for table in made.blocks("train", count) for row in table.to_pylist()]
    wanted = {*list(dict.fromkeys(each.story_id for each in examples))[:stories]}
    return Lesson([each for each in examples if each.story_id in wanted], name=benchmark)


def _read(data: str | Path, split: str | None, held: str, *, proved: bool) -> Lesson:
    if held == GIVEN and split == "val":
        raise ConfigError("the val split cannot be both learnt and held back; choose another --split, or --held drawn.")
    usual = "train" if Path(data).is_dir() else None
    source = find_source(data, split or usual)
    if held == GIVEN and all(each.split != "val" for each in find_sources(data)):
        raise ConfigError(f"{data} has no val split to hold back; add one, or use --held drawn.")
    some = read_examples(source, proved=proved)
    if not some:
        raise DataError(f"{data} holds no questions to learn from; make or choose other data.")
    back = read_examples(find_source(data, "val"), proved=proved) if held == GIVEN else None
    return Lesson(some, back, name=str(data))


def _done(out: Path, identity: Mapping[str, Any]) -> Run | None:
    """Give what this training came to, if it is done.

    Raises:
        ConfigError: If the folder holds something else.
        DataError: If what it holds is damaged.
    """
    wanted = json.loads(json.dumps(identity))
    if (out / RUN).is_file():
        found = load_run(out)
        if not found.about.get("interrupted") and all(found.about.get(name) == wanted[name] for name in wanted):
            return found
    is_begun(out, wanted)
    return None
