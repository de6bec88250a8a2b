"""Training that can be stopped at any epoch and gone on with: a folder keeps the plan, a checkpoint and the metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from storyproof.errors import ConfigError, DataError
from storyproof.solvers.neural.fitting import Course
from storyproof.solvers.neural.runs import (
    CHECKPOINT,
    METRICS,
    PLAN,
    RUN,
    load_tensors,
    read_json,
    save_tensors,
    write_json,
)
from storyproof.solvers.neural.training import Epoch

_BETWEEN_CHECKPOINTS = 60.0  # seconds: an epoch of a small model is shorter than the writing of its state

Progress = Callable[[Epoch], None]


def begin(out: Path, course: Course, *, force: bool = False) -> None:
    """Make the folder this training's, and go on from its checkpoint if there is one.

    Raises:
        ConfigError: If the folder holds another training.
        DataError: If the checkpoint is damaged.
    """
    identity = json.loads(json.dumps(course.identity))
    if force:
        for name in (RUN, PLAN, CHECKPOINT, METRICS):
            (out / name).unlink(missing_ok=True)
    elif (out / PLAN).is_file() and read_json(out / PLAN) == identity:
        if (out / CHECKPOINT).is_file():
            _go_on(course, out / CHECKPOINT)
        return
    elif out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} holds something else already; choose another --out, or --force to train anew.")
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / PLAN, identity)


def fit(
    out: Path,
    course: Course,
    progress: Progress = lambda epoch: None,
    until: Callable[[], bool] = lambda: False,
) -> bool:
    """Train to the end, or until told to stop between two epochs; what is needed to go on is kept.

    Returns:
        Whether the training is finished.

    Raises:
        KeyboardInterrupt: When interrupted, after keeping what there is.
    """
    clerk = _Clerk(out, course)
    try:
        while not course.trainer.finished:
            if until():
                clerk.keep()
                return False
            done = course.trainer.train_epoch()
            clerk.note(done)
            progress(done)
    except KeyboardInterrupt:
        if course.trainer.epoch and course.trainer.between_epochs:
            clerk.keep()
        raise
    return True


def _go_on(course: Course, checkpoint: Path) -> None:
    tensors, plain = load_tensors(checkpoint)
    try:
        course.trainer.load(tensors, plain)
    except (KeyError, ValueError, IndexError, RuntimeError) as error:
        raise DataError(f"{checkpoint} does not fit this training: {error}; use --force to train anew.") from error


class _Clerk:
    """Writes down how training goes: a line an epoch, and every now and then all that is needed to go on."""

    def __init__(self, out: Path, course: Course) -> None:
        self.out, self.course = out, course
        self.kept = time.monotonic()
        lines = (out / METRICS).read_text().splitlines() if (out / METRICS).is_file() else []
        known = lines[: course.trainer.epoch]  # a line an epoch; those after the checkpoint are written again
        (out / METRICS).write_text("".join(f"{line}\n" for line in known))

    def note(self, epoch: Epoch) -> None:
        """Write down an epoch."""
        with (self.out / METRICS).open("a") as file:
            line = {"epoch": epoch.number, "loss": epoch.loss, "held": epoch.held, "best": epoch.best}
            file.write(json.dumps(line) + "\n")
        if time.monotonic() - self.kept > _BETWEEN_CHECKPOINTS:
            self.keep()

    def keep(self) -> None:
        """Write a checkpoint."""
        save_tensors(self.out / CHECKPOINT, *self.course.trainer.state())
        self.kept = time.monotonic()
