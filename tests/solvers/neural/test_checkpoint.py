"""What a training keeps: claims, checkpoints, metrics, and what is left when it ends otherwise than it should."""

import json
import math
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save
from torch import Tensor

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.solvers.neural import checkpoint
from storyproof.solvers.neural import train as train_module
from storyproof.solvers.neural.checkpoint import (
    CHECKPOINT,
    LOCK,
    METRICS,
    PLAN,
    _TrainingLog,
    claimed,
    fit,
    is_started,
    start,
)
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS, TrainedRuns, load_runs, load_tensors, save_tensors
from storyproof.solvers.neural.training_loop import DivergedError, Epoch, Trainer, TrainingStep
from tests.solvers.neural.fixtures import CLUTRR, SMALL, course, some


def train(out: Path, **changes: Any) -> TrainedRuns:
    usual = {"benchmark": "clutrr", "stories": 20, "runs": 2, "epochs": 5, "batch": 8, "device": "cpu"}
    return storyproof.train("gat", out, **{**usual, "options": SMALL["gat"], **changes})


def prepared(**changes: Any) -> Any:
    return course("gat", some(CLUTRR, 20), **{"epochs": 5, "batch": 8, **changes})


def stop(epoch: Epoch) -> None:
    raise KeyboardInterrupt


def epochs_in(out: Path) -> list[int]:
    return [json.loads(line)["epoch"] for line in (out / METRICS).read_text().splitlines()]


class Killed(BaseException):
    """Stands for kill -9: nobody handles it."""


def test_killed_after_an_epoch_goes_on_from_there(tmp_path: Path) -> None:
    def kill(epoch: Epoch) -> None:
        raise Killed

    with pytest.raises(Killed):
        train(tmp_path, progress=kill)
    seen: list[int] = []
    train(tmp_path, progress=lambda epoch: seen.append(epoch.number))
    assert seen == [2, 3, 4, 5]
    assert epochs_in(tmp_path) == [1, 2, 3, 4, 5]


def test_checkpoints_take_a_twentieth_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing takes 3 seconds, an epoch 25: after 60 seconds without, one is due."""
    clock, written = 0.0, []

    def write(path: Path, *state: Any) -> None:
        nonlocal clock
        clock += 3
        written.append(state[1]["epoch"])

    def progress(epoch: Epoch) -> None:
        nonlocal clock
        clock += 25

    monkeypatch.setattr("storyproof.solvers.neural.checkpoint.time.monotonic", lambda: clock)
    monkeypatch.setattr(checkpoint, "save_tensors", write)
    made = prepared(epochs=9, patience=0)
    start(tmp_path, made)
    assert fit(tmp_path, made, progress)
    assert written == [1, 4, 7]


def test_every_slice_gets_on(tmp_path: Path) -> None:
    for number in range(1, 6):
        made = prepared(patience=0)
        start(tmp_path, made)
        assert made.trainer.epoch == number - 1
        assert fit(tmp_path, made, until=lambda: True) == (number == 5)
    assert epochs_in(tmp_path) == [1, 2, 3, 4, 5]


def test_interrupted_while_the_first_epoch_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(self: Trainer) -> list[float]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "held_accuracy", held)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path)
    assert not (tmp_path / RUN).exists()
    assert not (tmp_path / CHECKPOINT).exists()
    train(tmp_path)
    assert epochs_in(tmp_path) == [1, 2, 3, 4, 5]


def breaking(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let the second run's loss be no number after so many steps."""
    call, steps = TrainingStep.__call__, 0

    def step(self: TrainingStep, *given: Any) -> Tensor:
        nonlocal steps
        steps += 1
        loss = call(self, *given).clone()
        loss[1] = loss[1] if steps <= after else math.nan
        return loss

    monkeypatch.setattr(TrainingStep, "__call__", step)


def test_run_that_breaks_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "whole", progress=lambda epoch: stop(epoch) if epoch.number == 2 else None)
    wanted = load_runs(tmp_path / "whole")
    out = tmp_path / "out"
    monkeypatch.setattr(checkpoint, "_WRITING_SHARE", 0)  # after every epoch, however long it takes
    breaking(monkeypatch, after=4)
    with pytest.raises(DivergedError, match="run 2 of 2 failed in epoch 3"):
        train(out)
    found = load_runs(out)
    assert found.held == wanted.held
    assert all(torch.equal(value, wanted.weights[name]) for name, value in found.weights.items())
    assert {**found.about, "finished": ""} == {**wanted.about, "finished": ""}
    lines = (out / METRICS).read_text().splitlines()
    assert "NaN" not in lines[2]
    last = json.loads(lines[2])
    assert last["epoch"] == 3
    assert last["loss"][0] > 0
    assert last["loss"][1] is None
    with pytest.raises(DivergedError, match="run 2 of 2 failed in epoch 3"):
        train(out)
    assert epochs_in(out) == [1, 2, 3]


def test_run_that_breaks_down_at_once(tmp_path: Path) -> None:
    with pytest.raises(
        DivergedError, match=r"failed in epoch 1: .*; train again with --force and a lower --learning-rate"
    ):
        train(tmp_path, rate=1e30)
    assert not (tmp_path / RUN).exists()
    (line,) = (tmp_path / METRICS).read_text().splitlines()
    assert json.loads(line)["best"] == [None, None]
    assert "NaN" not in line
    train(tmp_path, force=True)


def test_metrics_are_cut_by_epoch(tmp_path: Path) -> None:
    def after(last: int) -> Any:
        return lambda epoch: stop(epoch) if epoch.number == last else None

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=after(2))
    (tmp_path / METRICS).unlink()
    checkpoint = (tmp_path / CHECKPOINT).read_bytes()
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=after(4))
    assert epochs_in(tmp_path) == [3, 4]
    (tmp_path / CHECKPOINT).write_bytes(checkpoint)
    with (tmp_path / METRICS).open("ab") as file:
        file.write(b'[]\n{"epoch": "x"}\n\xff\n{"epoch": Infinity}\n{"epoch": 2, "loss": [1, 1]}\n{"epo')
    train(tmp_path)
    assert epochs_in(tmp_path) == [2, 3, 4, 5]


def test_metrics_are_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=lambda epoch: stop(epoch) if epoch.number == 2 else None)
    before = (tmp_path / METRICS).read_bytes()

    def kill(self: Path, target: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", kill)
        with pytest.raises(Killed):
            train(tmp_path)
    assert (tmp_path / METRICS).read_bytes() == before
    train(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [METRICS, RUN, WEIGHTS]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    made = prepared()
    start(tmp_path, made)
    log = _TrainingLog(tmp_path, made)
    log.write(Epoch(1, [0.5], [0.5], [0.5]))
    before = (tmp_path / METRICS).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            log.write(Epoch(2, [0.5], [0.5], [0.5]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / METRICS).read_bytes() == before


def test_what_was_trained_meanwhile_by_another_process_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = train_module.Training

    def slowly(*given: Any) -> Any:
        monkeypatch.undo()
        train(tmp_path)
        return prepare(*given)

    monkeypatch.setattr(train_module, "Training", slowly)
    found = train(tmp_path, progress=lambda epoch: pytest.fail("it is trained already"))
    assert found.about == load_runs(tmp_path).about


@pytest.mark.parametrize("force", [False, True])
def test_one_training_at_a_time(tmp_path: Path, force: bool) -> None:
    said = []

    def second(epoch: Epoch) -> None:
        with pytest.raises(
            ConfigError, match=r"another process is training in .*; wait until it ends, or choose"
        ) as no:
            train(tmp_path, force=force)
        said.append(no.value)

    train(tmp_path, progress=second)
    assert len(said) == 5
    assert epochs_in(tmp_path) == [1, 2, 3, 4, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == [METRICS, RUN, WEIGHTS]


def test_nobody_comes_in_before_the_runs_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = train_module.save_runs

    def save(out: Path, run: TrainedRuns) -> None:
        with pytest.raises(ConfigError, match="another process is training"), claimed(out):
            pass
        written(out, run)

    monkeypatch.setattr(train_module, "save_runs", save)
    train(tmp_path)
    with claimed(tmp_path):
        pass


def leave_behind(out: Path) -> None:
    out.mkdir(exist_ok=True)
    for name in (PLAN, METRICS, CHECKPOINT, WEIGHTS, RUN):
        (out / f".{name}.{os.getpid()}").write_text("{")
    (out / LOCK).touch()


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    leave_behind(tmp_path)
    made = prepared()
    assert not is_started(tmp_path, made.identity)
    with claimed(tmp_path):
        start(tmp_path, made)
    assert [path.name for path in tmp_path.iterdir()] == [PLAN]
    leave_behind(tmp_path)
    with claimed(tmp_path):
        start(tmp_path, prepared())
    assert [path.name for path in tmp_path.iterdir()] == [PLAN]
    (tmp_path / ".training.json.bak").touch()  # whoever made that
    with pytest.raises(
        ConfigError, match=r"contains another training \(rate .*, not 0\.5\); choose another --out, or use --force"
    ):
        start(tmp_path, prepared(rate=0.5))
    assert (tmp_path / ".training.json.bak").exists()


def test_what_is_left_of_a_finished_training_is_named_and_cleared_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(out: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(train_module, "clear", kill)
        with pytest.raises(Killed):
            train(tmp_path)
    (tmp_path / LOCK).touch()
    (tmp_path / f".{METRICS}.draft-4711").touch()
    train(tmp_path, progress=lambda epoch: pytest.fail("it is trained already"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [METRICS, RUN, WEIGHTS]
    assert f".{METRICS}.draft-4711" in caplog.text


@pytest.mark.parametrize("name", [RUN, WEIGHTS, PLAN, CHECKPOINT])
def test_damaged_files_can_be_trained_over(tmp_path: Path, name: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=stop)
    (tmp_path / name).write_bytes(b"{")
    with pytest.raises(DataError, match=rf"{name} cannot be read: .* with --force, or to another --out\.$"):
        train(tmp_path)
    train(tmp_path, force=True)


def test_force_spoils_nothing_but_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    storyproof.generate("clutrr", train=20, seed=7, out=data)
    before = {path: path.read_bytes() for path in data.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "Training", lambda *_: pytest.fail("it must not come to that"))
        with pytest.raises(ConfigError, match=r"data contains something else already; choose another --out\.$"):
            train(data)
        for out in (data, data / "train.parquet"):
            with pytest.raises(
                ConfigError, match=r"contains something other than a training, and --force will not overwrite it;"
            ):
                train(out, force=True)
    assert {path: path.read_bytes() for path in data.iterdir()} == before
    leave_behind(tmp_path / "left")
    (tmp_path / "left" / METRICS).touch()  # as if killed while what was there was cleared away
    train(tmp_path / "left", force=True)


def test_checkpoint_knows_what_has_stopped(tmp_path: Path) -> None:
    made = prepared(patience=1, runs=2)
    start(tmp_path, made)
    assert not fit(tmp_path, made, until=lambda: True)
    assert load_tensors(tmp_path / CHECKPOINT)[1]["stale"] == made.trainer.stale


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RUN, '{"run": 1, "note": "mine"}'),
        (PLAN, '{"epochs": 3}'),
        (PLAN, "[]"),
        (METRICS, '{"epoch": 1, "f1": 0.5}\n'),
        (WEIGHTS, "mine"),
        (CHECKPOINT, "mine"),
    ],
)
def test_force_overwrites_no_files_of_others(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=rf"something other than a training \({name}\), and --force will not"):
        train(tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == content


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


DAMAGED: dict[str, tuple[str, str]] = {
    "not JSON": ("{", "cannot be read: Expecting property name"),
    "not an object": ("[1]", r"cannot be read: its metadata are \[1\], expected an object"),
    "nested": (nested(3000), "cannot be read: it is nested more than 100 levels deep"),
    "a long number": ('{"epoch": ' + "9" * 5000 + "}", "cannot be read: it has a number of more than 4,300 digits"),
    "no epoch": ('{"best_held": [0.5], "stale": [0]}', "does not fit this training: no 'epoch'; use --force"),
    "epoch a text": (
        '{"epoch": "1", "best_held": [0.5], "stale": [0]}',
        "does not fit this training: the epoch is '1'",
    ),
    "epoch true": ('{"epoch": true, "best_held": [0.5], "stale": [0]}', "the epoch is True"),
    "epoch too high": ('{"epoch": 99, "best_held": [0.5], "stale": [0]}', "the epoch is 99"),
    "epoch below 0": ('{"epoch": -1, "best_held": [0.5], "stale": [0]}', "the epoch is -1"),
    "epoch nan": ('{"epoch": NaN, "best_held": [0.5], "stale": [0]}', "the epoch is nan"),
    "scores a text": ('{"epoch": 1, "best_held": "high", "stale": [0]}', "best_held is 'high'"),
    "scores of others": ('{"epoch": 1, "best_held": [0.5, 0.5, 0.5], "stale": [0]}', r"best_held is \[0.5, 0.5, 0.5\]"),
    "scores beyond all": ('{"epoch": 1, "best_held": [1e300], "stale": [0]}', "best_held is"),
    "patience null": ('{"epoch": 1, "best_held": [0.5], "stale": null}', "stale is None"),
    "patience a fraction": ('{"epoch": 1, "best_held": [0.5], "stale": [0.5]}', r"stale is \[0.5\]"),
    "nothing": ("{}", "does not fit this training: no 'epoch'"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_metadata_of_a_checkpoint(tmp_path: Path, case: str) -> None:
    made = prepared()
    start(tmp_path, made)
    made.trainer.train_epoch()
    tensors, _ = made.trainer.state()
    text, message = DAMAGED[case]
    (tmp_path / CHECKPOINT).write_bytes(save(tensors, metadata={"plain": text}))
    fresh = prepared()
    with pytest.raises(DataError, match=message):
        start(tmp_path, fresh)
    assert fresh.trainer.epoch == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda name, value: None, "no '"),
        (lambda name, value: value.flatten()[:1], "of .*, expected numbers of"),  # would be repeated to fit
        (lambda name, value: value.long(), "torch.int64 of .*, expected numbers of"),
    ],
)
@pytest.mark.parametrize("part", ["now.", "best.", "adam."])
def test_damaged_tensors_of_a_checkpoint(
    tmp_path: Path, part: str, change: Callable[[str, Tensor], Tensor | None], message: str
) -> None:
    made = prepared()
    start(tmp_path, made)
    made.trainer.train_epoch()
    tensors, plain = made.trainer.state()
    name = next(name for name, value in tensors.items() if name.startswith(part) and value.numel() > 1)
    changed = change(name, tensors.pop(name))
    if changed is not None:
        tensors[name] = changed.clone()
    save_tensors(tmp_path / CHECKPOINT, tensors, plain)
    missing_moment = part == "adam." and changed is None
    expected = "the optimiser's state has" if missing_moment else message
    with pytest.raises(DataError, match=f"does not fit this training: .*{expected}"):
        start(tmp_path, prepared())
