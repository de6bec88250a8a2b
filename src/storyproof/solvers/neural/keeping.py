"""Training that can be stopped at any epoch and gone on with: a folder keeps the plan, a checkpoint and the metrics."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from storyproof.errors import ConfigError, DataError
from storyproof.files import write_whole
from storyproof.locks import Claim
from storyproof.solvers.neural.fitting import Course
from storyproof.solvers.neural.runs import (
    CHECKPOINT,
    LOCK,
    METRICS,
    PLAN,
    RUN,
    WEIGHTS,
    is_draft,
    load_tensors,
    read_json,
    save_tensors,
    write_json,
)
from storyproof.solvers.neural.training import DivergedError, Epoch

_KEYS = {
    RUN: frozenset({"model", "options", "shape", "vocabulary", "seeds", "held", "about"}),
    PLAN: frozenset({"model", "runs", "seed", "settings", "version", "options", "data"}),
    METRICS: frozenset({"epoch", "loss", "held", "best"}),
}
_TIMES_THE_WRITING = 20  # between two checkpoints: so they take a twentieth of the time at most

Progress = Callable[[Epoch], None]


def begin(out: Path, course: Course, *, force: bool = False) -> None:
    """Make a claimed folder this training's, and go on from its checkpoint if there is one.

    Raises:
        ConfigError: If the folder holds another training.
        DataError: If what it holds is damaged.
    """
    identity = json.loads(json.dumps(course.identity))
    if not force and is_begun(out, identity):
        _clear_drafts(out)
        if (out / CHECKPOINT).is_file():
            _go_on(course, out / CHECKPOINT)
        return
    _clear_drafts(out)
    if force:
        (out / CHECKPOINT).unlink(missing_ok=True)  # before there is a plan that it does not belong to
    write_json(out / PLAN, identity)
    if force:  # after there is something that says whose folder it is
        for name in (RUN, METRICS):
            (out / name).unlink(missing_ok=True)


def is_begun(out: Path, identity: dict[str, Any]) -> bool:
    """Say whether a folder holds this training, unfinished; drafts and a lock that were left behind are nothing.

    Raises:
        ConfigError: If it holds something else.
        DataError: If what it holds is damaged.
    """
    kept = read_json(out / PLAN) if (out / PLAN).is_file() else {}
    if kept == identity:
        return True
    if (out / RUN).is_file():
        kept = {**read_json(out / RUN).get("about", {}), **kept}
    if out.exists() and (not out.is_dir() or any(path.name != LOCK and not is_draft(path) for path in out.iterdir())):
        differs = _contrast(kept, identity)
        what = f"another training ({differs})" if kept and differs else "something else already"
        anew = ", or --force to train anew" if _is_ours(out) else ""
        raise ConfigError(f"{out} holds {what}; choose another --out{anew}.")
    return False


_OTHERS = {"data": "other data", "encoder_identity": "another encoder"}  # what is a hash, and says nothing to a reader


def _contrast(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in what the training that a folder holds differs from the one that is asked for."""
    said = []
    for name, value in wanted.items():
        before = kept.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            said += [
                f"{each} {before.get(each)}, not {value[each]}" for each in value if before.get(each) != value[each]
            ]
        elif before != value:
            said.append(_OTHERS.get(name, f"{name} {before}, not {value}"))
    return "; ".join(said)


def check_replaceable(out: Path) -> None:
    """Check that a folder may be trained in again: what would be overwritten is a training's.

    Raises:
        ConfigError: If it holds something else, such as data, or another program's `run.json`.
    """
    if not out.exists():
        return
    if not _is_ours(out):
        foreign = _foreign_files(out)
        named = f" ({', '.join(foreign)})" if foreign else ""
        raise ConfigError(
            f"{out} holds something else than a training{named}, and --force will not overwrite it; choose another "
            "--out."
        )


def _is_ours(out: Path) -> bool:
    """Return whether a folder is a training's, or holds nothing but what may be left of one."""
    left = (WEIGHTS, CHECKPOINT, METRICS, LOCK)
    return (
        out.is_dir()
        and not _foreign_files(out)
        and (
            any((out / name).is_file() for name in (RUN, PLAN))
            or all(path.name in left or is_draft(path) for path in out.iterdir())
        )
    )


def _foreign_files(out: Path) -> list[str]:
    """List files called as a training's are that another program wrote; damaged ones may be a training's."""
    here = {name: out / name for name in (*_KEYS, WEIGHTS, CHECKPOINT) if (out / name).is_file()}
    texts = {name: path.read_bytes() for name, path in here.items() if name in _KEYS}
    found = [
        name
        for name, text in texts.items()
        if any(_is_foreign(part, _KEYS[name]) for part in (text.splitlines() if name == METRICS else [text]))
    ]
    return found or ([] if texts else list(here))  # nothing says whose the weights are


def _is_foreign(text: bytes, keys: frozenset[str]) -> bool:
    """Return whether a text is JSON, but has less than half of the names that ours has."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not isinstance(plain, dict) or 2 * len(keys & plain.keys()) < len(keys)


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
        DivergedError: If a run came to no number.
        KeyboardInterrupt: When interrupted, after keeping what there is.
    """
    trainer = course.trainer
    before = trainer.epoch  # at least one more is trained, or slices shorter than the preparations would never get on
    clerk = _Clerk(out, course)
    try:
        while not trainer.finished:
            if until() and trainer.epoch > before:
                clerk.keep()
                return False
            done = trainer.train_epoch()
            clerk.note(done)
            progress(done)
    except KeyboardInterrupt:
        if trainer.epoch and trainer.between_epochs:
            clerk.keep()
        raise
    except DivergedError as error:
        clerk.write(error.epoch)
        raise
    return True


def _go_on(course: Course, checkpoint: Path) -> None:
    tensors, plain = load_tensors(checkpoint)
    try:
        course.trainer.load(tensors, plain)
    except (KeyError, ValueError, IndexError, RuntimeError) as error:
        raise DataError(f"{checkpoint} does not fit this training: {error}; use --force to train anew.") from error


def _clear_drafts(out: Path) -> None:
    for path in out.iterdir():
        if is_draft(path):
            path.unlink(missing_ok=True)


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Keep other processes away from a folder; a claim ends however a process does.

    Raises:
        ConfigError: If another process is there first.
        DataError: If nothing can be written there.
    """
    out.mkdir(parents=True, exist_ok=True)
    with Claim(out / LOCK) as ours:
        if not ours:
            raise ConfigError(f"another process is training in {out}; wait until it ends, or choose another --out.")
        yield


class _Clerk:
    """Writes down how training goes: a line an epoch, and every now and then all that is needed to go on."""

    def __init__(self, out: Path, course: Course) -> None:
        self.out, self.course = out, course
        self.kept, self.took = time.monotonic(), 0.0
        lines = (out / METRICS).read_bytes().splitlines() if (out / METRICS).is_file() else []
        known = {number: line for line in lines if 0 < (number := _epoch_of(line)) <= course.trainer.epoch}
        write_whole(out / METRICS, b"".join(known[number] + b"\n" for number in sorted(known)))

    def note(self, epoch: Epoch) -> None:
        """Write down an epoch."""
        self.write(epoch)
        if time.monotonic() - self.kept >= _TIMES_THE_WRITING * self.took:
            self.keep()

    def write(self, epoch: Epoch) -> None:
        """Write an epoch's line."""
        line = {"loss": epoch.loss, "held": epoch.held, "best": epoch.best}
        with (self.out / METRICS).open("a") as file:
            told = {"epoch": epoch.number, **{name: _plain(values) for name, values in line.items()}}
            file.write(json.dumps(told, allow_nan=False) + "\n")

    def keep(self) -> None:
        """Write a checkpoint."""
        started = time.monotonic()
        save_tensors(self.out / CHECKPOINT, *self.course.trainer.state())
        self.kept = time.monotonic()
        self.took = self.kept - started


def _epoch_of(line: bytes) -> int:
    """Read which epoch a line is about; 0 if it is damaged."""
    try:
        return int(json.loads(line)["epoch"])
    except (ValueError, TypeError, KeyError, OverflowError):
        return 0


def _plain(values: Sequence[float]) -> list[float | None]:
    """Give numbers that JSON knows; null for what is none, and for a best that there is not yet."""
    return [value if math.isfinite(value) and value >= 0 else None for value in values]
