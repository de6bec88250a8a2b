"""The commands `train` and `evaluate` with trained runs."""

import json
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof import cli
from storyproof.catalog import SOLVERS
from storyproof.cli import progress
from storyproof.solvers.neural.data import pretrained
from tests.cli.invocation import Program, Refuse, run, run_line
from tests.solvers.neural.damage import SPOILT, make_run
from tests.solvers.neural.fixtures import FakeEncoder

SMALL = ("--option", "width=12", "--device", "cpu")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data of both families and a run of each."""
    out = tmp_path_factory.mktemp("train")
    storyproof.generate("tomi", train=30, val=6, test=6, seed=7, out=out / "tomi")
    storyproof.generate("clutrr", train=24, test=2, seed=7, out=out / "clutrr", test_k=(2, 3))
    make_run(out / "gat")
    make_run(out / "memnn", "memnn", "tomi", 24)
    return out


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return place


def test_trains_from_the_generator(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ("train", "entnet", "--benchmark", "tomi", "--stories", 60, "--epochs", 1, "--out", out, *SMALL)
    done = run(*command)
    assert done.exit_code == 0, done.output
    assert "entnet: 1 run, 1 epoch; accuracy on held-back stories" in done.stdout
    assert "storyproof evaluate --model" in done.stdout
    assert done.stderr == ""  # quiet in a pipe
    assert len((out / "metrics.jsonl").read_text().splitlines()) == 1
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = run(*command)
    assert again.stdout == done.stdout
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    assert run(*command, "--force").exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} != before


def test_trains_from_files_and_evaluates(here: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    flags = (
        "--runs",
        2,
        "--epochs",
        2,
        "--batch-size",
        16,
        "--learning-rate",
        0.01,
        "--patience",
        0,
        "--no-recast",
        "--held",
        "given",
    )
    done = run("train", "entnet", "--data", "tomi", "--out", out, *flags, *SMALL, "--option", "slots=4")
    assert done.exit_code == 0, done.output
    assert "2 runs, 2 epochs" in done.stdout
    about = json.loads((out / "run.json").read_text())
    assert about["options"] == {"width": 12, "slots": 4}
    assert about["about"]["settings"]["recast"] is False
    shown = run("evaluate", "--model", out, "--data", "tomi")
    assert shown.exit_code == 0, shown.output
    assert "36 questions" in shown.stdout
    told = run("evaluate", "--model", out, "--data", "tomi", "--json", "-")
    read = json.loads(told.stdout)
    assert read["questions"] == 36
    assert 0 <= read["accuracy"] <= 1
    both = run("evaluate", "--model", f"{out},rules", "--data", "tomi", "--json", "-")
    assert [each["model"] for each in json.loads(both.stdout)] == [str(out), "rules"]


def test_trains_on_kinship(tmp_path: Path, here: Path) -> None:
    out, preset = tmp_path / "run", ("--preset", "robust-clean")
    done = run("train", "gat", "--benchmark", "clutrr", "--stories", 30, *preset, "--epochs", 1, "--out", out, *SMALL)
    assert done.exit_code == 0, done.output
    assert run("evaluate", "--model", out, "--data", "clutrr").exit_code == 0


TRAIN = "train entnet --benchmark tomi --stories 12 --epochs 1 --device cpu"


@pytest.mark.parametrize(
    ("command", "place_of_it", "remedy"),
    [
        (TRAIN.replace("entnet", "entnut") + " --out new", "unknown model 'entnut'", "Did you mean 'entnet'?"),
        (TRAIN.replace("tomi", "tomy") + " --out new", "unknown benchmark 'tomy'", "Did you mean 'tomi'?"),
        (TRAIN + " --data tomi --out new", "give either --data", "or --benchmark"),
        ("train entnet --out new", "give either --data", "or --benchmark"),
        ("train entnet --data nowhere --out new", "nowhere does not exist", "give a dataset folder or a file"),
        ("train gat --data tomi --out new", "'gat' reads graphs", "choose another"),
        ("train bert --data clutrr --out new", "'bert' needs a pretrained encoder", "give --encoder"),
        (TRAIN + " --out new --option slot=3", "has no option 'slot'", "it has policy, slots, width"),
        (TRAIN + " --out new --option slots", "--option is 'slots'", "NAME=VALUE"),
        (TRAIN + " --out new --option slots=many", "option slots is 'many'", "whole number above 0"),
        (TRAIN + " --out new --option slots=3,4", "option slots is [3, 4]", "whole number above 0"),
        (TRAIN + " --out new --option width=1000000000000", "option width is 1000000000000", "use at most 10,000"),
        (TRAIN.replace("entnet", "rn") + " --out new --option relation=x,", "relation is ['x', '']", "use a list of"),
        (TRAIN + " --out new --option policy=odd", "unknown policy 'odd'", "Known: fixed, learned, randomised"),
        (TRAIN + " --out new --epochs 0", "epochs is 0", "use 1 or more"),
        (
            TRAIN + " --out new --epochs few",
            "--epochs is 'few'; expected a whole number",
            "",
        ),
        (TRAIN + " --out new --learning-rate -1", "rate is -1.0", "use a number above 0"),
        (TRAIN + " --out new --runs 0", "runs is 0", "use 1 or more"),
        (TRAIN + " --out new --device gpu", "unknown device 'gpu'", "use cpu, cuda or auto"),
        (TRAIN + " --out new --held odd", "unknown kind of held-back stories 'odd'", "Known: drawn, given"),
        (TRAIN + " --out new --labels odd", "unknown kind of labels 'odd'", "Known: given, proved"),
        (TRAIN + " --out new --preset robust-clean", "--preset is not an option of tomi", "but of tom-k and clutrr"),
        (TRAIN.replace("12", "0") + " --out new", "--stories is 0", "1 or more"),
        (TRAIN + " --out tomi", "tomi contains something else already", "choose another --out."),
        (TRAIN + " --out tomi --force", "tomi contains something other than a training", "choose another --out."),
        (TRAIN + " --out tomi/train.parquet/run", "cannot write to tomi/train.parquet/run: Not a d", "another --out."),
        ("train gat --data clutrr --task clean --out new", "--task is given without --benchmark", "--benchmark clutrr"),
        (
            "train gat --data clutrr --preset a --out new",
            "--preset is given without",
            "add --benchmark tom-k or clutrr",
        ),
        (
            "train gat --data clutrr --stories 9 --out new",
            "--stories is 9, but it applies to --benchmark only",
            "leave it out",
        ),
        ("train memnn --data tomi/train.parquet --held given --out new", "has no val split to hold", "--held drawn"),
        ("evaluate --model memnn,gat --data clutrr", "'gat' is a solver, and here also a folder", "write ./gat for"),
        (
            TRAIN + " --out memnn",
            "memnn contains another training (model memnn, not entnet",
            "choose another --out, or use --force",
        ),
        (TRAIN + " --out new --device mps", "unknown device 'mps'", "use cpu, cuda or auto"),
        (TRAIN + " --out new --device cpu:3", "unknown device 'cpu:3'", "use cpu, cuda or auto"),
        ("train entnet --data tomi/train.parquet --split val --out new", "has no val split, only: train", "--split"),
        ("evaluate --model rules --data tomi --encoder x", "none of rules has one", "leave it out"),
        ("evaluate --model rules,./memnn --data tomi --encoder x", "none of rules, ./memnn has one", "leave it out"),
        ("evaluate --model ./gat --data tomi", "gat was trained on kinship", "choose data or a run that fit"),
        ("evaluate --model ./memnn --data clutrr", "memnn was trained on theory of mind", "choose data or a run"),
        ("evaluate --model ./tomi --data tomi", "tomi is not a model", "expected a folder with run.json"),
        ("evaluate --model tomi/nowhere --data tomi", "there is no model at tomi/nowhere", "expected a trained run"),
        ("evaluate --model ./nowhere --data tomi", "there is no model at ./nowhere", "expected a trained run"),
    ],
)
def test_bad_commands(here: Path, refuse: Refuse, command: str, place_of_it: str, remedy: str) -> None:
    said = refuse(command)
    assert place_of_it in said
    assert remedy in said


@pytest.mark.parametrize("name", ["no weights", "weights cut", "description cut", "no vocabulary", "other width"])
def test_spoilt_runs(here: Path, tmp_path: Path, refuse: Refuse, name: str) -> None:
    for path in (here / "gat").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    SPOILT[name][0](tmp_path)
    assert str(tmp_path) in refuse(f"evaluate --model {tmp_path} --data clutrr")


def test_encoder_that_has_moved(here: Path, tmp_path: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "FrozenEncoder", FakeEncoder)
    folder, out = tmp_path / "encoder", tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    common = ("--data", "tomi", "--device", "cpu", "--epochs", 1, "--option", "decoder=8")
    done = run("train", "bert", "--encoder", folder, "--out", out, *common)
    assert done.exit_code == 0, done.output
    before = run("evaluate", "--model", out, "--data", "tomi", "--json", "-")
    folder.rename(tmp_path / "moved")
    assert "which is gone; give --encoder its folder" in refuse(f"evaluate --model {out} --data tomi")
    after = run("evaluate", "--model", f"rules,{out}", "--data", "tomi", "--encoder", tmp_path / "moved", "--json", "-")
    assert after.exit_code == 0, after.output
    assert json.loads(after.stdout)[1]["accuracy"] == json.loads(before.stdout)["accuracy"]
    (tmp_path / "moved" / "config.json").write_text("[]")
    said = refuse(f"evaluate --model {out} --data tomi --encoder {tmp_path / 'moved'}")
    assert "is not the one" in said


def test_question_that_is_too_long(here: Path, tmp_path: Path, refuse: Refuse) -> None:
    table = pq.read_table(here / "tomi" / "train.parquet")
    (tmp_path / "easy").mkdir()
    pq.write_table(table.filter(pc.less(table["order"], 2)), tmp_path / "easy" / "train.parquet")
    out = tmp_path / "run"
    done = run("train", "memnn", "--data", tmp_path / "easy", "--epochs", 1, "--out", out, *SMALL)
    assert done.exit_code == 0, done.output
    said = refuse(f"evaluate --model {out} --data tomi")
    assert "has 10 words, but the model reads at most 7; leave it out, or train on data that has such questions" in said


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    from storyproof.solvers.neural.training_loop import TrainingStep

    def stop(self: TrainingStep, *given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "__call__", stop)
        ended = program(f"{TRAIN} --out {tmp_path / 'run'}")
    assert ended.code == 130
    assert f"stopped before the end of the first epoch, so there is no run in {tmp_path / 'run'}" in ended.err
    assert ended.err.endswith("storyproof: interrupted; nothing is half-written.\n")
    assert run(*TRAIN.split(), "--out", tmp_path / "run").exit_code == 0


def test_terminated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    """SIGTERM keeps the best so far, as Ctrl-C does, and the same command goes on."""
    from storyproof.solvers.neural.training_loop import Trainer

    out, train_epoch = tmp_path / "run", Trainer.train_epoch

    def epoch(self: Trainer) -> Any:
        if self.epoch == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return train_epoch(self)

    command = f"{TRAIN.replace('--epochs 1', '--epochs 4')} --out {out}"
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_epoch", epoch)
        ended = program(command)
    assert ended.code == 130
    assert "so there is no run" not in ended.err
    assert ended.err.endswith("interrupted; what was finished is kept, and nothing is half-written.\n")
    assert json.loads((out / "run.json").read_text())["about"]["epochs"] == 2
    assert signal.getsignal(signal.SIGTERM) is cli._terminate
    assert "4 epochs" in program(command).out
    assert signal.getsignal(signal.SIGTERM) is cli._terminate


def test_run_that_is_called_like_a_solver(
    here: Path, tmp_path: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*TRAIN.split(), "--out", "entnet", *SMALL)
    assert "written to entnet; try: storyproof evaluate --model ./entnet --data …\n" in done.stdout
    refuse(f"evaluate --model entnet --data {here / 'tomi'}")
    assert run("evaluate", "--model", "./entnet", "--data", here / "tomi").exit_code == 0


@pytest.mark.parametrize("name", ["[/b]", "[gat] :smile:", "a,b", "runs/" + "long" * 60])
def test_folders_with_odd_names(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*TRAIN.split(), "--out", name, *SMALL)
    assert done.exit_code == 0, done.output
    last = done.stdout.splitlines()[-1]
    assert last == f"written to {name}; try: storyproof evaluate --model {shlex.quote(name)} --data …"
    shown = run("evaluate", "--model", name, "--data", here / "tomi")
    assert shown.exit_code == 0, shown.output
    assert name[:8] in shown.stdout


def test_help_names_all_that_ship() -> None:
    told = run("evaluate", "--help").stdout
    assert all(name in told for name in SOLVERS)


def test_many_models_are_no_path(here: Path) -> None:
    assert run("evaluate", "--model", ",".join(["majority"] * 40), "--data", "tomi").exit_code == 0


def test_lists_of_numbers(tmp_path: Path) -> None:
    lists = ("--option", "relation=8,6", "--option", "decoder=8", "--option", "hidden=4")
    done = run(*TRAIN.replace("entnet", "rn").split(), *lists, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    told = json.loads((tmp_path / "run" / "run.json").read_text())["options"]
    assert told == {"relation": [8, 6], "decoder": [8], "hidden": 4}


def test_loss_that_is_no_number(tmp_path: Path, program: Program) -> None:
    ended = program(f"{TRAIN} --learning-rate 1e30 --batch-size 8 --out {tmp_path / 'run'}")
    begin, error = ended.err.splitlines()
    assert (ended.code, ended.out) == (2, "")
    assert begin == "storyproof: training entnet: runs 1, epochs at most 1."
    assert "run 1 of 1 failed in epoch 1" in error
    assert "a lower --learning-rate than 1e+30" in error
    assert not (tmp_path / "run" / "run.json").exists()


def test_what_a_killed_process_left_is_no_training(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / ".training.json.4711").write_text("{")
    done = run(*TRAIN.split(), "--out", out)
    assert done.exit_code == 0, done.output
    assert not (out / ".training.json.4711").exists()


def test_learns_from_a_file_without_a_split(here: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_bytes((here / "tomi" / "train.parquet").read_bytes())
    done = run("train", "entnet", "--data", tmp_path / "mine.parquet", "--epochs", 1, "--out", tmp_path / "run", *SMALL)
    assert done.exit_code == 0, done.output


def test_progress_counts_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --epochs, too; a training that goes on does so where it was."""
    totals, told = [], []

    @contextmanager
    def bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
        def tell(done: int) -> None:
            told.append(done)
            if len(told) == 1:
                raise KeyboardInterrupt

        totals.append(total)
        yield tell

    monkeypatch.setattr(progress, "progress_bar", bar)
    command = [
        *TRAIN.replace(" --epochs 1", "").split(),
        "--patience",
        "1",
        "--learning-rate",
        "1e-9",
        "--out",
        tmp_path / "run",
    ]
    for _ in range(2):
        run(*command)
    assert totals == [200, 200]
    assert told == [1, 2]


@pytest.mark.parametrize("model", ["tracker", "composer"])
def test_small_models_draw_their_own_stories(
    model: str, tmp_path: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "run"
    assert "so --benchmark has no effect" in refuse(f"train {model} --out {out} --benchmark tomi")
    assert f"{model} has no option 'stepss'" in refuse(f"train {model} --out {out} --option stepss=3")
    assert "so the setting epochs has no effect" in refuse(f"train {model} --out {out} --epochs 3")
    assert not out.exists()
    tiny = "--stories 60 --batch-size 8 --option steps=2 --option width=16 --option layers=1 --option workers=1"
    result = run_line(f"train {model} --out {out} {tiny} --device cpu")
    assert result.exit_code == 0, result.output
    assert json.loads((out / "run.json").read_text())["plan"]["batch"] == 8
    assert "percent right about held-back stories" in result.output
