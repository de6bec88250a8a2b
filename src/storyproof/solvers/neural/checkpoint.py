"""A training that can be stopped after any epoch and resumed.

Its folder has the identity of the training (`training.json`), the last checkpoint (`checkpoint.safetensors`), and one
line of metrics per epoch (`metrics.jsonl`); trained runs take the place of the first two. Every file is written
completely or not at all.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storyproof.errors import ConfigError, DataError
from storyproof.io.atomic_files import read_json, write_json, write_whole
from storyproof.io.bounded_input import LARGEST_RUN, parse_json, read_bytes
from storyproof.io.locks import Claim
from storyproof.solvers.neural.saved_runs import (
    REMEDY,
    RUN,
    WEIGHTS,
    TrainedRuns,
    load_runs,
    load_tensors,
    save_tensors,
)
from storyproof.solvers.neural.training_job import Training
from storyproof.solvers.neural.training_loop import DivergedError, Epoch

_log = logging.getLogger(__name__)
PLAN, CHECKPOINT, METRICS, LOCK = "training.json", "checkpoint.safetensors", "metrics.jsonl", ".training.lock"
_KEYS = {
    RUN: frozenset({"model", "options", "shape", "vocabulary", "seeds", "held", "about"}),
    PLAN: frozenset({"model", "runs", "seed", "settings", "version", "options", "data"}),
    METRICS: frozenset({"epoch", "loss", "held", "best"}),
}
_WRITTEN = (RUN, WEIGHTS, PLAN, CHECKPOINT, METRICS, LOCK[1:])
_DRAFT = re.compile(rf"\.({'|'.join(map(re.escape, _WRITTEN))})\.(draft-)?[0-9]+")
_HASHES = {"data": "other data", "encoder_identity": "another encoder"}  # readers cannot compare hashes
_WRITING_SHARE = 20  # checkpoints take at most one part in this number of the time

Progress = Callable[[Epoch], None]


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Keep other processes out of a folder until the context or the process ends.

    Raises:
        ConfigError: If another process is training there.
        DataError: If nothing can be written there.
    """
    out.mkdir(parents=True, exist_ok=True)
    with Claim(out / LOCK) as ours:
        if not ours:
            raise ConfigError(f"another process is training in {out}; wait until it ends, or choose another --out.")
        yield


def start(out: Path, training: Training, *, force: bool = False) -> None:
    """Start a training in a claimed folder, or resume it from its checkpoint.

    Args:
        out: The folder.
        training: The training; its trainer is set to the state of the checkpoint.
        force: Start again, whatever the folder contains; trained runs in it stay until the new ones replace them.

    Raises:
        ConfigError: If the folder contains another training.
        DataError: If a file is damaged.
    """
    identity = json.loads(json.dumps(training.identity))
    if not force and is_started(out, identity):
        _clear_drafts(out)
        if (out / CHECKPOINT).is_file():
            _resume(training, out / CHECKPOINT)
        return
    _clear_drafts(out)
    if force:
        (out / CHECKPOINT).unlink(missing_ok=True)  # before there is a plan that it does not belong to
    write_json(out / PLAN, identity)
    if force:  # after the plan shows that the folder is a training's
        (out / METRICS).unlink(missing_ok=True)


def fit(
    out: Path,
    training: Training,
    progress: Progress = lambda epoch: None,
    until: Callable[[], bool] = lambda: False,
) -> bool:
    """Train to the end, or until `until` returns true between two epochs; the state is kept for resuming.

    Returns:
        Whether the training is finished.

    Raises:
        DivergedError: If the loss or weights of a run became non-finite.
        KeyboardInterrupt: When interrupted, after a checkpoint is written.
    """
    trainer = training.trainer
    before = trainer.epoch  # train at least one more, or slices shorter than the preparation would make no progress
    log = _TrainingLog(out, training)
    try:
        while not trainer.finished:
            if until() and trainer.epoch > before:
                log.keep()
                return False
            done = trainer.train_epoch()
            log.note(done)
            progress(done)
    except KeyboardInterrupt:
        if trainer.epoch and trainer.between_epochs:
            log.keep()
        raise
    except DivergedError as error:
        log.write(error.epoch)
        raise
    return True


def clear(out: Path) -> None:
    """Remove the files of a training that is finished; the plan last, so that nothing else is left without it."""
    for name in (CHECKPOINT, PLAN):
        (out / name).unlink(missing_ok=True)


def clear_leftovers(out: Path, identity: Mapping[str, Any]) -> None:
    """Remove what a killed process left in the folder of a training that is finished, if it may be changed."""
    with suppress(OSError, ConfigError, DataError):
        if any(path.name in (LOCK, PLAN) or _is_draft(path) for path in out.iterdir()):
            with claimed(out):
                _clear_drafts(out)
                if _plan(out) == json.loads(json.dumps(identity)):  # else another one is to take its place
                    clear(out)


def find_finished(out: Path, identity: Mapping[str, Any]) -> TrainedRuns | None:
    """Return the runs of a training if the folder has them; None if it is to be started or resumed.

    Raises:
        ConfigError: If the folder contains something else.
        DataError: If a file is damaged.
    """
    wanted = json.loads(json.dumps(identity))
    if (out / RUN).is_file():
        runs = load_runs(out)
        if not runs.about.get("interrupted") and all(runs.about.get(name) == wanted[name] for name in wanted):
            return runs
    is_started(out, wanted)
    return None


def is_started(out: Path, identity: Mapping[str, Any]) -> bool:
    """Return whether a folder contains this training, unfinished; drafts and a lock left behind do not count.

    Raises:
        ConfigError: If it contains something else.
        DataError: If a file is damaged.
    """
    kept = _plan(out)
    if kept == identity:
        return True
    if (out / RUN).is_file():
        about = read_json(out / RUN, REMEDY).get("about")
        kept = {**(about if isinstance(about, dict) else {}), **kept}
    if out.exists() and (not out.is_dir() or any(path.name != LOCK and not _is_draft(path) for path in out.iterdir())):
        differs = _differences(kept, identity)
        what = f"another training ({differs})" if kept and differs else "something else already"
        force = ", or use --force to train again" if _is_training(out) else ""
        raise ConfigError(f"{out} contains {what}; choose another --out{force}.")
    return False


def _plan(out: Path) -> dict[str, Any]:
    return read_json(out / PLAN, REMEDY) if (out / PLAN).is_file() else {}


def _differences(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Describe how the training in a folder differs from the wanted one."""
    differences = []
    for name, value in wanted.items():
        before = kept.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            differences += [
                f"{each} {before.get(each)}, not {value[each]}" for each in value if before.get(each) != value[each]
            ]
        elif before != value:
            differences.append(_HASHES.get(name, f"{name} {before}, not {value}"))
    return "; ".join(differences)


def check_replaceable(out: Path) -> None:
    """Check that a folder contains only what a training wrote, so that it may be overwritten.

    Raises:
        ConfigError: If it contains something else, such as data, or another program's `run.json`.
    """
    if not out.exists():
        return
    if not _is_training(out):
        foreign = _foreign_files(out)
        named = f" ({', '.join(foreign)})" if foreign else ""
        raise ConfigError(
            f"{out} contains something other than a training{named}, and --force will not overwrite it; choose another "
            "--out."
        )


def _is_training(out: Path) -> bool:
    """Return whether a folder is a training's, or has only files that may be left of one."""
    left = (WEIGHTS, CHECKPOINT, METRICS, LOCK)
    return (
        out.is_dir()
        and not _foreign_files(out)
        and (
            any((out / name).is_file() for name in (RUN, PLAN))
            or all(path.name in left or _is_draft(path) for path in out.iterdir())
        )
    )


def _foreign_files(out: Path) -> list[str]:
    """List files with the names of a training's that another program wrote; damaged ones may be a training's."""
    own_names = (*_KEYS, WEIGHTS, CHECKPOINT)
    if odd := [name for name in own_names if os.path.lexists(out / name) and not (out / name).is_file()]:
        return odd  # a training writes regular files only
    here = {name: out / name for name in own_names if (out / name).is_file()}
    texts = {name: read_bytes(path, LARGEST_RUN) for name, path in here.items() if name in _KEYS}
    files = [
        name
        for name, text in texts.items()
        if any(_is_foreign(part, _KEYS[name]) for part in (text.splitlines() if name == METRICS else [text]))
    ]
    return files or ([] if texts else list(here))  # nothing shows whose the weights are


def _is_foreign(text: bytes, keys: frozenset[str]) -> bool:
    """Return whether a text is JSON with less than half of the keys that a training writes."""
    try:
        plain = parse_json(text)
    except ValueError:
        return False
    return not isinstance(plain, dict) or 2 * len(keys & plain.keys()) < len(keys)


def _resume(training: Training, checkpoint: Path) -> None:
    tensors, plain = load_tensors(checkpoint)
    try:
        training.trainer.load(tensors, plain)
    except KeyError as error:
        raise DataError(f"{checkpoint} does not fit this training: no {error}; use --force to train again.") from error
    except (ValueError, IndexError, RuntimeError) as error:
        raise DataError(f"{checkpoint} does not fit this training: {error}; use --force to train again.") from error


def _is_draft(path: Path) -> bool:
    """Return whether a file was left behind by a process that was killed while writing."""
    return _DRAFT.fullmatch(path.name) is not None


def _clear_drafts(out: Path) -> None:
    for path in out.iterdir():
        if _is_draft(path):
            path.unlink(missing_ok=True)
            if ".draft-" in path.name:  # the others are of locks
                _log.warning("storyproof: removed %s, an unfinished file of a run that was killed.", path)


class _TrainingLog:
    """Writes one line of metrics per epoch, and a checkpoint every now and then."""

    def __init__(self, out: Path, training: Training) -> None:
        self.out, self.training = out, training
        self.kept, self.took = time.monotonic(), 0.0
        lines = read_bytes(out / METRICS, LARGEST_RUN).splitlines() if (out / METRICS).is_file() else []
        by_epoch = {number: line for line in lines if 0 < (number := _epoch_of(line)) <= training.trainer.epoch}
        write_whole(out / METRICS, b"".join(by_epoch[number] + b"\n" for number in sorted(by_epoch)))

    def note(self, epoch: Epoch) -> None:
        """Write the metrics of an epoch, and a checkpoint if it is time for one."""
        self.write(epoch)
        if time.monotonic() - self.kept >= _WRITING_SHARE * self.took:
            self.keep()

    def write(self, epoch: Epoch) -> None:
        """Write the metrics of an epoch."""
        figures = {"loss": epoch.loss, "held": epoch.held, "best": epoch.best}
        line = {"epoch": epoch.number, **{name: _finite(values) for name, values in figures.items()}}
        path = self.out / METRICS
        size = path.stat().st_size
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, allow_nan=False) + "\n")
        except OSError:
            os.truncate(path, size)  # half a line
            raise

    def keep(self) -> None:
        """Write a checkpoint."""
        started = time.monotonic()
        save_tensors(self.out / CHECKPOINT, *self.training.trainer.state())
        self.kept = time.monotonic()
        self.took = self.kept - started


def _epoch_of(line: bytes) -> int:
    """Read the epoch of a line of metrics; 0 if the line is damaged."""
    try:
        return int(parse_json(line)["epoch"])
    except (ValueError, TypeError, KeyError, OverflowError):
        return 0


def _finite(values: Sequence[float]) -> list[float | None]:
    """Replace by None, for JSON, what is not finite, and the best before there is one."""
    return [value if math.isfinite(value) and value >= 0 else None for value in values]
