"""The worker that does a job: trains what is not trained yet, in slices, and tests what is not tested yet."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storyproof.errors import ConfigError, DataError, StoryproofError
from storyproof.experiments.datasets import Datasets
from storyproof.experiments.jobs import REMEDY, Job, Result, count
from storyproof.io.atomic_files import read_json, write_json, writing_to
from storyproof.io.locks import Claim
from storyproof.reports.numbers import counted
from storyproof.solvers.solver import load_solver

if TYPE_CHECKING:
    from storyproof.solvers.neural.training_job import Training

DONE, STOPPED, ELSEWHERE, TOO_LARGE = "done", "stopped", "elsewhere", "too large"
_TRAINING, _SPENT = "training", "spent.json"

Say = Callable[[str], None]


def is_done(results: Sequence[Result]) -> bool:
    """Return whether all results of a job are there; raise DataError if one is damaged."""
    return all(result.read() is not None for result in results)


def work(job: Job, results: Sequence[Result], sets: Datasets, device: str, until: Callable[[], bool], say: Say) -> str:
    """Do a job, or resume it.

    Args:
        job: The job.
        results: Its results.
        sets: The data sets.
        device: Where to train.
        until: Returns whether to stop, between two epochs.
        say: Called with lines of progress.

    Returns:
        `done`; `stopped` if the time limit was reached; `elsewhere` if another process is doing it; `too large` if the
        memory of the GPU is too small.
    """
    if is_done(results):
        return DONE
    with Claim(job.folder.with_name(f"{job.folder.name}.lock")) as ours:
        if not ours:
            return ELSEWHERE
        if is_done(results):  # by another process, just before
            return DONE
        if until():
            return STOPPED
        if job.model.solver:
            _ask_solver(job, results, sets)
            return DONE
        from torch import OutOfMemoryError

        try:
            if not _train(job, sets, device, until, say):
                return STOPPED
            _test(job, results, sets, device)
        except OutOfMemoryError:  # others may be smaller
            return TOO_LARGE
        finally:
            _free_memory()
        return DONE


def spent(job: Job) -> dict[str, Any]:
    """Return how long the training of a job took so far, in all slices, and on which hardware; empty if not started.

    Raises:
        DataError: If the file is damaged.
    """
    path = job.folder / _SPENT
    if not path.is_file():
        return {}
    record = read_json(path, REMEDY)
    seconds, where = record.get("seconds"), record.get("hardware")
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < math.inf
    if not is_time or not isinstance(where, str):
        wrong, wanted = ("hardware", "a name") if is_time else ("seconds", "a number")
        raise DataError(f"{path} is damaged ('{wrong}' is {record.get(wrong)!r}, expected {wanted}); {REMEDY}.")
    return record


def _ask_solver(job: Job, results: Sequence[Result], sets: Datasets) -> None:
    for result in results:
        examples = sets.tests(result.test)
        result.write(job, [count(examples, load_solver(job.model.solver).predict(examples))])


def _train(job: Job, sets: Datasets, device: str, until: Callable[[], bool], say: Say) -> bool:
    """Train what is not trained yet; return whether the training is finished."""
    from storyproof.solvers.neural.checkpoint import claimed, clear
    from storyproof.solvers.neural.saved_runs import RUN, save_runs
    from storyproof.solvers.neural.train import make_settings
    from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet, hardware

    if all((job.place(data) / RUN).is_file() for data in job.training_sets):
        return True
    plan = TrainingPlan(
        job.model.model,
        job.runs,
        settings=make_settings(job.model.model, job.training),
        options=dict(job.model.options),
        encoder=job.encoder,
        device=device,
    )
    folder = job.folder / _TRAINING
    started = time.monotonic()
    stories = zip(sets.training(job.training_sets), job.training_sets, strict=True)
    training = Training(plan, [TrainingSet(examples, name=data.name) for examples, data in stories])
    with writing_to(job.folder), claimed(folder):
        try:
            finished = _fit(job, folder, training, until, say)
        finally:
            before = spent(job).get("seconds", 0.0)
            seconds = round(before + time.monotonic() - started, 3)
            spent_on = {"seconds": seconds, "hardware": hardware(training.device), "torch": version("torch")}
            write_json(job.folder / _SPENT, spent_on)
        if not finished:
            say(f"{job.title}: stopped after epoch {training.trainer.epoch} of {plan.settings.epochs}")
            return False
        for data, runs in zip(job.training_sets, training.results(), strict=True):
            save_runs(job.place(data), runs)
        clear(folder)
    count, epochs = counted(job.runs, "run"), counted(training.trainer.epoch, "epoch")
    say(f"{job.title}: {count}, {epochs}, {seconds:.0f} s on {hardware(training.device)}")
    return True


def _fit(job: Job, folder: Path, training: Training, until: Callable[[], bool], say: Say) -> bool:
    from storyproof.solvers.neural.checkpoint import PLAN, fit, start
    from storyproof.solvers.neural.training_loop import DivergedError

    try:
        # Without a plan the folder has no training, at most metrics of one whose runs were deleted.
        start(folder, training, force=not (folder / PLAN).is_file())
        if training.trainer.epoch:
            say(f"{job.title}: resuming after epoch {training.trainer.epoch} of {training.plan.settings.epochs}")
        return fit(folder, training, until=until)
    except DivergedError as error:
        raise ConfigError(f"{_without_advice(error)}; lower the rate in the experiment's file.") from error
    except (ConfigError, DataError) as error:
        raise _unusable(job, error) from error


def _unusable(job: Job, error: StoryproofError) -> DataError:
    """Replace the advice of an error, which is about the verb `train`, by what to do about the folder of a job."""
    return DataError(f"{_without_advice(error)}. Delete {job.folder}, and run the experiment again.")


def _without_advice(error: StoryproofError) -> str:
    """Return the message of an error without its last part, the advice."""
    return str(error).rpartition("; ")[0] or str(error).rstrip(".")


def _free_memory() -> None:
    """Free unused memory of the GPU for other processes."""
    import torch

    if torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()


def _test(job: Job, results: Sequence[Result], sets: Datasets, device: str) -> None:
    from storyproof.solvers.neural.solver import NeuralSolver

    _free_memory()
    for data in job.training_sets:
        try:
            solver = NeuralSolver(job.place(data), device=device, encoder=job.encoder)
        except (ConfigError, DataError) as error:  # damaged, or of a version with other models
            raise _unusable(job, error) from error
        for result in results:
            if result.data is data and result.read() is None:
                examples = sets.tests(result.test)
                result.write(job, [count(examples, answers) for answers in solver.predict_all(examples)])
