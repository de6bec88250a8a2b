"""The verb `train` and what it keeps: stopped anywhere, the same call goes on to the same result."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import storyproof
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.solvers.neural import checkpoint
from storyproof.solvers.neural import train as train_module
from storyproof.solvers.neural.checkpoint import CHECKPOINT, METRICS, PLAN
from storyproof.solvers.neural.saved_runs import RUN, WEIGHTS, TrainedRuns, load_runs, load_tensors
from storyproof.solvers.neural.train import make_settings
from storyproof.solvers.neural.training_loop import Epoch, TrainingStep
from tests.solvers.neural.fixtures import SMALL

EPOCHS = 5


def train(out: Path, model: str = "memnn", **changes: Any) -> TrainedRuns:
    family = {"benchmark": "tomi", "stories": 12} if "data" not in changes else {}
    usual = {"runs": 2, "epochs": EPOCHS, "batch": 16, "rate": 0.01, "device": "cpu", "options": SMALL[model]}
    return storyproof.train(model, out, **{**usual, **family, **changes})


def stopping(when: Callable[[int], bool]) -> Callable[[Epoch], None]:
    def progress(epoch: Epoch) -> None:
        if when(epoch.number):
            raise KeyboardInterrupt

    return progress


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("train") / "whole"
    train(out)
    return out


def assert_same(out: Path, whole: Path) -> None:
    run, other = load_runs(out), load_runs(whole)
    assert (out / METRICS).read_text() == (whole / METRICS).read_text()
    assert run.held == other.held
    assert run.weights.keys() == other.weights.keys()
    for name, value in run.weights.items():
        assert torch.equal(value, other.weights[name]), name
    assert not run.about["interrupted"]
    assert sorted(path.name for path in out.iterdir()) == [METRICS, RUN, WEIGHTS]


def test_writes_runs_and_a_line_an_epoch(whole: Path) -> None:
    lines = [json.loads(line) for line in (whole / METRICS).read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(1, EPOCHS + 1))
    for line in lines:
        assert len(line["loss"]) == len(line["held"]) == len(line["best"]) == 2
    best = [max(line["held"][run] for line in lines) for run in range(2)]
    assert lines[-1]["best"] == best == load_runs(whole).held
    about = load_runs(whole).about
    assert about["family"] == "theory of mind"
    assert about["source"] == "tomi"
    assert about["epochs"] == EPOCHS
    assert about["settings"]["rate"] == 0.01


@pytest.mark.parametrize("after", [1, 3])
def test_interrupted_between_epochs(whole: Path, tmp_path: Path, after: int) -> None:
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(out, progress=stopping(lambda epoch: epoch == after))
    stopped = load_runs(out)  # the best so far can be used already
    assert stopped.about["interrupted"]
    assert stopped.about["epochs"] == after
    assert {PLAN, CHECKPOINT} <= {path.name for path in out.iterdir()}
    seen: list[int] = []
    train(out, progress=lambda epoch: seen.append(epoch.number))
    assert seen == list(range(after + 1, EPOCHS + 1))
    assert_same(out, whole)


@pytest.mark.parametrize("times", [0.0, 1e9])
def test_interrupted_in_the_midst_of_an_epoch(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: float
) -> None:
    """A half-done epoch is done again from its beginning, or from the last checkpoint before it."""
    out, steps, call = tmp_path / "run", 0, TrainingStep.__call__

    def step(self: TrainingStep, *given: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == 11:
            raise KeyboardInterrupt
        return call(self, *given)

    monkeypatch.setattr(checkpoint, "_WRITING_SHARE", times)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "__call__", step)
        with pytest.raises(KeyboardInterrupt):
            train(out)
    assert load_runs(out).about["epochs"] == 2
    assert load_tensors(out / CHECKPOINT)[1]["epoch"] == (1 if times else 2)
    train(out)
    assert_same(out, whole)


def test_interrupted_again_and_again(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    for _ in range(EPOCHS):
        with pytest.raises(KeyboardInterrupt):
            train(out, progress=stopping(lambda epoch: True))
    train(out)
    assert_same(out, whole)


def test_interrupted_before_the_first_epoch_is_over(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(self: TrainingStep, *given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "__call__", step)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "run")
    assert not (tmp_path / "run" / RUN).exists()
    train(tmp_path / "run")
    assert_same(tmp_path / "run", whole)


def test_killed_in_the_midst_of_a_line(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(out, progress=stopping(lambda epoch: epoch == 2))
    with (out / METRICS).open("a") as file:
        file.write('{"epoch": 3, "lo')
    train(out)
    assert_same(out, whole)


def test_same_call_again_returns_at_once(whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
    seen: list[Epoch] = []
    assert train(whole, progress=seen.append).held == load_runs(whole).held
    assert not seen
    assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before


def no_course(*given: Any) -> None:
    raise AssertionError("nothing was to be prepared")


def test_folder_is_looked_at_before_any_work(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_module, "Training", no_course)
    assert train(whole).held == load_runs(whole).held
    with pytest.raises(
        ConfigError, match=r"contains another training \(rate .*, not 0\.02\); choose another --out, or use "
    ):
        train(whole, rate=0.02)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigError, match="file contains something else already; choose another --out"):
        train(tmp_path / "file")
    with pytest.raises(ConfigError, match="/dev/null contains something else already; choose another --out"):
        train(Path("/dev/null"))


def test_changed_graph_is_another_training(tmp_path: Path) -> None:
    storyproof.generate("clutrr", train=24, seed=7, out=tmp_path / "data")
    given = {"model": "gat", "data": tmp_path / "data", "epochs": 1}
    train(tmp_path / "run", **given)
    path = tmp_path / "data" / "train.parquet"
    table = pq.read_table(path)
    types = [["nephew"] * len(each) for each in table["edge_types"].to_pylist()]
    place = table.schema.get_field_index("edge_types")
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(types)), path)
    with pytest.raises(ConfigError, match=r"contains another training \(other data\); choose"):
        train(tmp_path / "run", **given)


def test_encoder_spelt_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training goes on, and a run is done, wherever its encoder is said to lie."""
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", "bert", encoder="encoder", progress=stopping(lambda epoch: epoch == 2))
    seen: list[int] = []
    for spelt in ("./encoder/", str(tmp_path / "encoder")):
        run = train(tmp_path / "run", "bert", encoder=spelt, progress=lambda epoch: seen.append(epoch.number))
        assert run.about["encoder"] == "./encoder/"
    assert seen == list(range(3, EPOCHS + 1))
    (tmp_path / "encoder" / "config.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"contains another training \(another encoder\); choose"):
        train(tmp_path / "run", "bert", encoder="encoder")


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"rate": 0.02}, r"rate [0-9.]+, not 0\.02"),
        ({"runs": 3}, "runs 2, not 3"),
        ({"seed": 1, "runs": 3}, "runs 2, not 3; seed 0, not 1; other data"),
        ({"stories": 15}, "other data"),
        ({"options": {"width": 8}}, r".*width [0-9]+, not 8.*"),
    ],
)
def test_folder_of_another_training_is_left_alone(whole: Path, change: dict[str, Any], differs: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
    with pytest.raises(
        ConfigError, match=rf"contains another training \({differs}\); choose another --out, or use --f"
    ):
        train(whole, **change)
    assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before


def test_interrupted_folder_of_another_training_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=stopping(lambda epoch: True))
    with pytest.raises(ConfigError, match=r"contains another training \(rate"):
        train(tmp_path, rate=0.02)


def test_force(whole: Path, tmp_path: Path) -> None:
    train(tmp_path, epochs=1)
    seen: list[Epoch] = []
    train(tmp_path, force=True, progress=seen.append)
    assert len(seen) == EPOCHS
    assert_same(tmp_path, whole)


def test_force_keeps_the_old_runs_until_there_are_new_ones(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path, epochs=1)
    old = load_runs(tmp_path).about

    def step(self: TrainingStep, *given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "__call__", step)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, force=True)
    assert load_runs(tmp_path).about == old
    train(tmp_path)  # goes on with the new one
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("spoil", ["cut", "other"])
def test_spoilt_checkpoint(tmp_path: Path, spoil: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, progress=stopping(lambda epoch: True))
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-40] if spoil == "cut" else (tmp_path / WEIGHTS).read_bytes())
    with pytest.raises(DataError, match=r"checkpoint\.safetensors (cannot be read|does not fit this training)"):
        train(tmp_path)
    train(tmp_path, force=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", train=15, val=6, test=6, seed=7, out=out)
    return out


def test_learns_from_files(data: Path, tmp_path: Path) -> None:
    drawn = train(tmp_path / "drawn", data=data, epochs=1)
    given = train(tmp_path / "given", data=data, epochs=1, held="given")
    proved = train(tmp_path / "proved", data=data, epochs=1, labels="proved")
    assert drawn.about["data"] != given.about["data"]
    assert proved.held == drawn.held  # our labels are proved
    single = train(tmp_path / "single", data=data / "train.parquet", epochs=1)
    assert single.held == drawn.held
    assert drawn.about["source"] == str(data)


def test_split_of_a_file(data: Path, tmp_path: Path) -> None:
    some, out = data / "train.parquet", tmp_path / "out"
    with pytest.raises(DataError, match=r"train\.parquet has no val split, only: train; choose one with --split"):
        train(out, data=some, split="val", epochs=1)
    with pytest.raises(UnknownNameError, match="unknown split 'trian'"):
        train(out, data=some, split="trian", epochs=1)
    assert not out.exists()
    named = train(out, data=some, split="train", epochs=1)
    other, unnamed = data / "val.parquet", tmp_path / "mine.parquet"
    with pytest.raises(DataError, match=r"val\.parquet has no train split, only: val; choose one with --split"):
        train(tmp_path / "val", data=other, split="train", epochs=1)
    assert train(tmp_path / "val", data=other, epochs=1).about["data"] != named.about["data"]  # what it holds
    unnamed.write_bytes(some.read_bytes())
    assert train(tmp_path / "mine", data=unnamed, epochs=1).held == named.held
    with pytest.raises(DataError, match=r"mine\.parquet has no val split, only: unnamed"):
        train(tmp_path / "mine", data=unnamed, split="val", epochs=1)


def test_no_val_split_to_hold_back(data: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"train\.parquet has no val split to hold back; add one, or use --held drawn\."
    ):
        train(tmp_path / "out", data=data / "train.parquet", held="given")


def test_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for module, name in ((checkpoint, "write_json"), (checkpoint, "save_tensors"), (train_module, "save_runs")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, full)
            with pytest.raises(
                DataError, match=rf"cannot write to {tmp_path}/out: No space left .*; choose another --ou"
            ):
                train(tmp_path / "out")
    train(tmp_path / "out")


def test_empty_val_split_is_nothing_to_choose_by(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.parquet").write_bytes((data / "train.parquet").read_bytes())
    pq.write_table(pq.read_table(data / "val.parquet").slice(0, 0), folder / "val.parquet")
    with pytest.raises(ConfigError, match=r"data has a val split without questions.*; add some, or use --held drawn"):
        train(tmp_path / "out", data=folder, held="given")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "entnut"}, "unknown model 'entnut'"),
        ({"benchmark": None}, "give either --data to train on files or --benchmark"),
        ({"stories": 0}, "--stories is 0; give the number of stories to generate"),
        ({"held": "back"}, "unknown kind of held-back stories 'back'"),
        ({"held": "given"}, "--held is 'given', but tomi has no val split here; use drawn"),
        ({"labels": "mine"}, "unknown kind of labels 'mine'"),
        ({"epoch": 3}, "unknown setting of training 'epoch'. Did you mean 'epochs'"),
        ({"benchmark": "tomy"}, "unknown benchmark 'tomy'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"model": "gat", "options": {}}, "reads graphs"),
        ({"encoder": "minilm"}, "model 'memnn' does not use an encoder"),
        ({"labels": "proved"}, "--labels is 'proved', but all labels of tomi are proved; leave it out"),
        ({"stories": 3 * 10**18}, "--stories is 3000000000000000000; this vocabulary allows at most"),
        (
            {"options": {"policy": "learned"}},
            "option policy is for people as entities, but in these data people are",
        ),
        ({"split": "val"}, "--split is 'val', but a generator is used for training stories only"),
        (
            {"benchmark": None, "stories": 0, "data": "some", "held": "given", "split": "val"},
            "cannot be both trained on and held back",
        ),
        (
            {"benchmark": None, "data": "some"},
            "--stories is 12, but it applies to --benchmark only, and --data is given; leave",
        ),
        (
            {"benchmark": None, "stories": 0, "data": "some", "benchmark_settings": {"noise": 0.5}},
            r"settings of a benchmark are given \(noise\), but they apply to --benchmark only; leave them out",
        ),
    ],
)
def test_refusals_write_nothing(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    model = changes.pop("model", "memnn")
    with pytest.raises(ConfigError, match=said):
        storyproof.train(model, tmp_path / "out", **{"benchmark": "tomi", "stories": 12, "device": "cpu", **changes})
    assert not (tmp_path / "out").exists()


def test_what_is_no_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the data are \{\} \(dict\); expected a path, a frame of pandas or polars"):
        storyproof.train("memnn", tmp_path / "out", data={}, device="cpu")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("benchmark", "stories", "questions"), [("tomi", 10, 60), ("tom-babi", 7, 35), ("clutrr", 7, 7)]
)
def test_as_many_stories_as_asked_for(benchmark: str, stories: int, questions: int) -> None:
    some, more = (
        train_module._training_set(None, None, "drawn", "given", benchmark, count, 3, {}).train
        for count in (stories, stories + 20)
    )
    assert len({each.story_id for each in some}) == stories
    assert len(some) == questions
    assert [*some] == [*more][:questions]  # no others than there would be anyway


def test_data_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        train(tmp_path / "out", data=tmp_path / "nothing")
    with pytest.raises(UnknownNameError):
        train(tmp_path / "out", nonsense=3)
    assert not (tmp_path / "out").exists()


def test_settings_have_the_names_of_the_command_line_too() -> None:
    plain = make_settings("memnn", {"batch": 7, "rate": 0.01, "epochs": None})
    assert make_settings("memnn", {"batch_size": 7, "learning_rate": 0.01}) == plain
    assert make_settings("memnn", {"batch_size": 7, "batch": None, "rate": 0.01}) == plain
    with pytest.raises(ConfigError, match="batch is given twice, as batch_size too"):
        make_settings("memnn", {"batch": 7, "batch_size": 7})
    with pytest.raises(ConfigError, match=r"unknown setting of training 'batchsize'\. Did you mean 'batch_size'"):
        make_settings("memnn", {"batchsize": 7})
