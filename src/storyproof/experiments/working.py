"""Doing a job: trains what is not trained, in slices, and tests what is not tested."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storyproof.errors import ConfigError, DataError, StoryproofError
from storyproof.experiments.files import read_json, write_json
from storyproof.experiments.jobs import Job, Result
from storyproof.experiments.measures import count
from storyproof.experiments.sets import Sets
from storyproof.files import writing_to
from storyproof.locks import Claim
from storyproof.report.numbers import counted
from storyproof.solvers.solver import load_solver

if TYPE_CHECKING:
    from storyproof.solvers.neural.fitting import Course

DONE, STOPPED, ELSEWHERE, TOO_LARGE = "done", "stopped", "elsewhere", "too large"
_TRAINING, _SPENT = "training", "spent.json"

Say = Callable[[str], None]


def is_done(results: Sequence[Result]) -> bool:
    """Say whether all results of a job are there; raises DataError if one is damaged."""
    return all(result.read() is not None for result in results)


def work(job: Job, results: Sequence[Result], sets: Sets, device: str, until: Callable[[], bool], say: Say) -> str:
    """Do a job, or go on with it.

    Args:
        job: What to do.
        results: What is to come of it.
        sets: Where stories come from.
        device: Where to train.
        until: Says when to stop, between two epochs.
        say: Told in a line how it goes.

    Returns:
        `done`; `stopped` if time was up before; `elsewhere` if another process is at it; `too large` if the GPU's
        memory does not hold it.
    """
    if is_done(results):
        return DONE
    with Claim(job.folder.with_name(f"{job.folder.name}.lock")) as ours:
        if not ours:
            return ELSEWHERE
        if is_done(results):  # by another process, until a moment ago
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
            _let_go()
        return DONE


def spent(job: Job) -> dict[str, Any]:
    """Say how long a job's training took so far, in all slices, and on what; nothing if it has not begun.

    Raises:
        DataError: If the file that says so is damaged.
    """
    path = job.folder / _SPENT
    if not path.is_file():
        return {}
    found = read_json(path)
    seconds, where = found.get("seconds"), found.get("hardware")
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < math.inf
    if not is_time or not isinstance(where, str):
        wrong, wanted = ("hardware", "a name") if is_time else ("seconds", "a number")
        raise DataError(
            f"{path} is damaged ('{wrong}' is {found.get(wrong)!r}, expected {wanted}); delete it, and run the "
            "experiment again."
        )
    return found


def _ask_solver(job: Job, results: Sequence[Result], sets: Sets) -> None:
    for result in results:
        examples = sets.tests(result.test)
        result.write(job, [count(examples, load_solver(job.model.solver).predict(examples))])


def _train(job: Job, sets: Sets, device: str, until: Callable[[], bool], say: Say) -> bool:
    """Train what is not trained; gives whether it is finished."""
    from storyproof.solvers.neural.fitting import Course, Lesson, Plan, hardware
    from storyproof.solvers.neural.keeping import claimed
    from storyproof.solvers.neural.runs import CHECKPOINT, PLAN, RUN, save_run
    from storyproof.solvers.neural.teaching import settings_of

    if all((job.place(lesson) / RUN).is_file() for lesson in job.lessons):
        return True
    plan = Plan(
        job.model.model,
        job.runs,
        settings=settings_of(job.model.model, job.training),
        options=dict(job.model.options),
        encoder=job.encoder,
        device=device,
    )
    folder = job.folder / _TRAINING
    started = time.monotonic()
    stories = sets.lessons(job.lessons)
    course = Course(plan, [Lesson(some, name=each.name) for some, each in zip(stories, job.lessons, strict=True)])
    with writing_to(job.folder), claimed(folder):
        try:
            finished = _fit(job, folder, course, until, say)
        finally:
            before = spent(job).get("seconds", 0.0)
            seconds = round(before + time.monotonic() - started, 1)
            spent_on = {"seconds": seconds, "hardware": hardware(course.device), "torch": version("torch")}
            write_json(job.folder / _SPENT, spent_on)
        if not finished:
            say(f"{job.title}: stopped after epoch {course.trainer.epoch} of {plan.settings.epochs}")
            return False
        for lesson, run in zip(job.lessons, course.results(), strict=True):
            save_run(job.place(lesson), run)
        for name in (PLAN, CHECKPOINT):
            (folder / name).unlink(missing_ok=True)
    runs, epochs = counted(job.runs, "run"), counted(course.trainer.epoch, "epoch")
    say(f"{job.title}: {runs}, {epochs}, {seconds:.0f} s on {hardware(course.device)}")
    return True


def _fit(job: Job, folder: Path, course: Course, until: Callable[[], bool], say: Say) -> bool:
    from storyproof.solvers.neural.keeping import begin, fit
    from storyproof.solvers.neural.runs import PLAN
    from storyproof.solvers.neural.training import DivergedError

    try:
        # Without a plan nothing is begun there: at most the metrics of a training whose runs are gone.
        begin(folder, course, force=not (folder / PLAN).is_file())
        if course.trainer.epoch:
            say(f"{job.title}: going on after epoch {course.trainer.epoch} of {course.plan.settings.epochs}")
        return fit(folder, course, until=until)
    except DivergedError as error:
        raise ConfigError(f"{_found(error)}; it would again, so lower the rate in the experiment's file.") from error
    except (ConfigError, DataError) as error:
        raise _unusable(job, error) from error


def _unusable(job: Job, error: StoryproofError) -> DataError:
    """Say what to do about a job's folder, instead of what those who train without an experiment should do."""
    return DataError(f"{_found(error)}. Delete {job.folder}, and run the experiment again.")


def _found(error: StoryproofError) -> str:
    """Leave the advice out of what an error says."""
    return str(error).rpartition("; ")[0] or str(error).rstrip(".")


def _let_go() -> None:
    """Give the GPU's memory back, which others want."""
    import torch

    if torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()


def _test(job: Job, results: Sequence[Result], sets: Sets, device: str) -> None:
    from storyproof.solvers.neural.solver import Trained

    _let_go()
    for lesson in job.lessons:
        try:
            solver = Trained(job.place(lesson), device=device, encoder=job.encoder)
        except (ConfigError, DataError) as error:  # damaged, or of a version that knew other models
            raise _unusable(job, error) from error
        for result in results:
            if result.lesson is lesson and result.read() is None:
                examples = sets.tests(result.test)
                result.write(job, [count(examples, answers) for answers in solver.predict_all(examples)])
