"""The verb `train`: from files, or directly from a generator, to a folder of trained runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from storyproof.datasets.frames import Data, data_name, takes_rows
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.path_conflicts import refuse_same_folder
from storyproof.datasets.reading import find_source, find_sources, read_examples
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.example import Example
from storyproof.io.atomic_files import writing_to
from storyproof.solvers.neural.checkpoint import (
    check_replaceable,
    claimed,
    clear,
    clear_leftovers,
    find_finished,
    fit,
    start,
)
from storyproof.solvers.neural.models.registry import recipe
from storyproof.solvers.neural.saved_runs import TrainedRuns, save_runs
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet, identity_of
from storyproof.solvers.neural.training_loop import DivergedError, Epoch
from storyproof.solvers.training_settings import Settings

DRAWN, GIVEN, PROVED = "drawn", "given", "proved"
_OTHER_NAMES = {  # what the command line calls a setting
    name: field
    for field, each in Settings.options().items()
    if (name := each.flag.removeprefix("--").replace("-", "_")) != field
}
_log = logging.getLogger(__name__)


@takes_rows("data")
def train(
    model: str,
    out: str | Path,
    *,
    data: Data | None = None,
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
) -> TrainedRuns:
    """Train a model, all runs together; repeat the same call to resume a training that was stopped.

    Args:
        model: Its name, such as `entnet`.
        out: The folder to write the runs to.
        data: A dataset folder or file to train on, or rows in memory: a frame, an Arrow table, or a list of rows.
        split: Its split; by default train, or the whole of a single file.
        held: How to choose the best epoch: by stories `drawn` for each run, or by the val split as `given`.
        labels: Train on the labels as `given`, or as `proved` from the text.
        benchmark: Train on a benchmark's generator instead of data.
        stories: How many stories to generate.
        benchmark_settings: Settings of the benchmark, such as `preset` or `noise`.
        runs: How many runs, each with its own weights, order and held-back stories.
        seed: The same seed gives the same runs (on a CPU).
        device: cpu, cuda or auto.
        encoder: A pretrained encoder's folder, for BERT models.
        options: Options of the model, such as `width` or `policy`.
        force: Train again, and overwrite a training in the folder.
        progress: Called after every epoch.
        **settings: Settings of training, such as `epochs`, `batch_size` or `learning_rate` (see `Settings`).

    Raises:
        ConfigError: If an argument is not valid, or the folder contains something else.
        DataError: If the data cannot be read, or the folder cannot be written.
        KeyboardInterrupt: When interrupted; the best weights so far are written first.

    Example:
        >>> import storyproof
        >>> trained = storyproof.train("memnn", "run", benchmark="tomi", stories=30, epochs=1, device="cpu")
        >>> len(trained.held), storyproof.stream("tomi", seed=1, split="test")[0].rows[0].id
        (1, 's1-test-000000000-0')
    """
    refuse_same_folder([data], out)
    plan = TrainingPlan(model, runs, seed, make_settings(model, settings), dict(options or {}), encoder, device=device)
    if encoder is not None and not recipe(model).vectors:
        raise ConfigError(f"model '{model}' does not use an encoder, unlike bert and bert-lstm; leave --encoder out.")
    examples = _training_set(data, split, held, labels, benchmark, stories, seed, benchmark_settings or {})
    out, identity = Path(out), identity_of(plan, [examples])
    if force:
        check_replaceable(out)
    elif (done := find_finished(out, identity)) is not None:  # before the preparation, which may take long
        clear_leftovers(out, identity)
        return done
    training = Training(plan, [examples], identity)
    about = {"source": data_name(data) if data is not None else benchmark, "interrupted": False}
    with writing_to(out), claimed(out):
        if not force and (done := find_finished(out, identity)) is not None:  # by another process, meanwhile
            return done
        start(out, training, force=force)
        resumed = f", resuming after epoch {training.trainer.epoch}" if training.trainer.epoch else ""
        _log.info("training %s: runs %d, epochs at most %d%s.", model, runs, plan.settings.epochs, resumed)
        try:
            fit(out, training, progress)
        except (DivergedError, KeyboardInterrupt):
            if training.trainer.epoch:
                save_runs(out, training.results({**about, "interrupted": True})[0])
            raise
        finished = training.results(about)[0]
        save_runs(out, finished)
        clear(out)
    return finished


def make_settings(model: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings of training of a model's recipe, with changes; None leaves a setting as it is.

    They may have the names that the command line has for them: `batch_size` for `batch`, `learning_rate` for `rate`.

    Raises:
        ConfigError: If there is no such setting, its value is not valid, or it is given under two names.
    """
    settings_fields = Settings.__dataclass_fields__
    values: dict[str, Any] = {}
    for name, value in given.items():
        plain = _OTHER_NAMES.get(name, name)
        if plain not in settings_fields:
            raise UnknownNameError("setting of training", name, [*settings_fields, *_OTHER_NAMES])
        if value is None:
            continue
        if plain in values:
            raise ConfigError(f"{plain} is given twice, as {name} too; give one of them.")
        values[plain] = value
    return Settings(**{**recipe(model).training, **values})


def _training_set(
    data: str | Path | None,
    split: str | None,
    held: str,
    labels: str,
    benchmark: str | None,
    stories: int,
    seed: int,
    benchmark_settings: Mapping[str, Any],
) -> TrainingSet:
    if held not in (DRAWN, GIVEN):
        raise UnknownNameError("kind of held-back stories", held, (DRAWN, GIVEN))
    if labels not in (GIVEN, PROVED):
        raise UnknownNameError("kind of labels", labels, (GIVEN, PROVED))
    if (data is None) == (benchmark is None):
        raise ConfigError("give either --data to train on files or --benchmark to train on a generator.")
    if data is not None:
        if stories:
            raise ConfigError(
                f"--stories is {stories}, but it applies to --benchmark only, and --data is given; leave it out."
            )
        if benchmark_settings:
            given = ", ".join(benchmark_settings)
            raise ConfigError(
                f"settings of a benchmark are given ({given}), but they apply to --benchmark only; leave them out."
            )
        return _read(data, split, held, proved=labels == PROVED)
    assert benchmark is not None
    if stories < 1:
        raise ConfigError(f"--stories is {stories}; give the number of stories to generate, 1 or more.")
    if split is not None:
        raise ConfigError(f"--split is '{split}', but a generator is used for training stories only; leave it out.")
    if labels == PROVED:
        raise ConfigError(f"--labels is '{labels}', but all labels of {benchmark} are proved; leave it out.")
    if held == GIVEN:
        raise ConfigError(
            f"--held is '{held}', but {benchmark} has no val split here; use drawn, or --data with a val split."
        )
    made = make_benchmark(benchmark, seed, **benchmark_settings)
    count = -(-stories // made.round) * made.round  # stories are generated in rounds; the last may be cut short
    made.check_count("train", count, "--stories")
    examples = [Example.from_row(row) for table in made.blocks("train", count) for row in table.to_pylist()]
    wanted = {*list(dict.fromkeys(each.story_id for each in examples))[:stories]}
    return TrainingSet([each for each in examples if each.story_id in wanted], name=benchmark)


def _read(data: str | Path, split: str | None, held: str, *, proved: bool) -> TrainingSet:
    if held == GIVEN and split == "val":
        raise ConfigError(
            "the val split cannot be both trained on and held back; choose another --split, or --held drawn."
        )
    usual = "train" if Path(data).is_dir() else None
    source = find_source(data, split or usual)
    if held == GIVEN and all(each.split != "val" for each in find_sources(data)):
        raise ConfigError(f"{data} has no val split to hold back; add one, or use --held drawn.")
    examples = read_examples(source, proved=proved)
    if not examples:
        raise DataError(f"{data} has no questions to train on; choose other data.")
    back = read_examples(find_source(data, "val"), proved=proved) if held == GIVEN else None
    return TrainingSet(examples, back, name=data_name(data))
