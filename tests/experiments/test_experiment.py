"""Every declared experiment, tiny, from our data and from a folder that looks like the published one."""

import csv
import importlib.util
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.experiments import experiment as experiment_module
from storyproof.experiments import worker
from storyproof.experiments.declaration import names, read
from storyproof.experiments.experiment import Outcome
from storyproof.experiments.jobs import Job
from storyproof.io.locks import Claim
from storyproof.solvers.neural.data.encoder_identity import encoder_identity
from tests.solvers.neural.fixtures import FakeEncoder

# This one is run whenever anything is tested; the others take the same ways, and are slow.
BRIEF = ("tomi-growth",)
ROBUST = {"7c5b0e70": "clean", "06b8f2a1": "supporting", "523348e6": "irrelevant", "d83ecc3e": "disconnected"}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a tiny folder in the published forms."""
    folder = tmp_path_factory.mktemp("published")
    storyproof.generate("tomi", out=folder / "tomi", train=12, val=6, format="babi", seed=5)
    (folder / "clutrr").mkdir()
    for name, task in ROBUST.items():
        tasks = ("clean", "supporting", "irrelevant", "disconnected")
        settings = {"task": task, "test_k": (2, 3), "test_tasks": tasks}
        storyproof.generate("clutrr", out=folder / f"clutrr/data_{name}", train=24, test=3, format="csv", **settings)
    for name, lengths in (("089907f8", (2, 3)), ("db9b8f04", (2, 3, 4))):
        settings = {"train_k": lengths, "test_k": (2, 3)}
        storyproof.generate("clutrr", out=folder / f"clutrr/data_{name}", train=24, test=3, format="csv", **settings)
    return folder


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in BRIEF)) for name in names()]
)
def test_every_experiment_runs(name: str, tmp_path: Path, published: Path) -> None:
    lines: list[str] = []
    found = storyproof.experiment(
        name, quick=True, out=tmp_path, published=published, device="cpu", progress=lines.append
    )
    assert found.finished
    assert found.remarks == ()
    declared = read(name, quick=True)
    encoded = [model for model in declared.models.values() if model.model.startswith("bert")]
    assert all("pretrained encoder" in note for note in found.table.notes)
    assert len(found.table.notes) == len(encoded)
    entries = [entry for line in found.table.entries for entry in line]
    assert len(entries) == len([cell for cell in declared.cells() if not cell.model.startswith("bert")])
    for entry in entries:
        assert entry is not None
        assert len(entry.values) == (1 if declared.models[entry.cell.model].solver else 2)
    written = {path.name for path in found.folder.iterdir()}
    assert written == {
        *("results.json", "about.json", "table.csv", "table.md", "table.tex"),
        *("figure.png", "figure.svg"),
    }
    title, _, *rest = (found.folder / "table.tex").read_text().splitlines()
    assert "(quick: the figures mean nothing)" in title
    assert not any(", -" in line for line in rest)  # a minus, not a hyphen
    cells = json.loads((found.folder / "results.json").read_text())["cells"]
    with (found.folder / "table.csv").open() as file:
        rows = {(row["group"], row["row"], row["column"]) for row in csv.DictReader(file)}
    assert len(rows) == len(cells) == len(entries)
    before = {path.name: path.read_bytes() for path in found.folder.iterdir() if path.name != "about.json"}
    lines.clear()
    again = storyproof.experiment(
        name, quick=True, out=tmp_path, published=published, device="cpu", progress=lines.append
    )
    assert lines == []  # nothing was trained
    assert again.finished
    assert before == {path.name: path.read_bytes() for path in found.folder.iterdir() if path.name != "about.json"}


def quick(out: Path, **more: object) -> Outcome:
    return storyproof.experiment("tomi-table3", quick=True, out=out, device="cpu", **more)


def test_rows_without_published_data_are_left_out_and_said_so(tmp_path: Path) -> None:
    found = quick(tmp_path, models=["memnn"])
    assert {row.group for row in found.table.rows} == {"ToMi, proved", "ToMi, proved, 30,000 stories"}
    (note,) = found.table.notes
    assert note.startswith("left out: ToMi, published; ToMi, published stories, proved labels (")
    assert note.endswith("('tomi' is published data; give its parent folder with --published)")
    assert note in (found.folder / "table.md").read_text()
    assert (found.done, found.jobs) == (2, 9)
    about = json.loads((found.folder / "about.json").read_text())
    assert about["commands"] == [
        f"storyproof experiment tomi-table3 --quick --out {tmp_path} --device cpu --models memnn"
    ]
    assert about["training_seconds"] > 0


def test_published_sets_that_are_missing_are_named_and_the_rest_runs(tmp_path: Path, published: Path) -> None:
    """All six sets of the CLUTRR paper's Table 4 are known; whoever has only some gets the rows of these."""
    declared = {data.published for name in names() for data in read(name).data.values()} - {"", "tomi"}
    assert declared == {f"clutrr/data_{name}" for name in (*ROBUST, "089907f8", "db9b8f04")}
    (tmp_path / "published").mkdir()
    shutil.copytree(published / "clutrr", tmp_path / "published/clutrr")
    shutil.rmtree(tmp_path / "published/clutrr/data_523348e6")
    given = {"quick": True, "out": tmp_path / "out", "device": "cpu", "models": ["gat"], "minutes": 1e-9}
    found = storyproof.experiment("clutrr-robust", published=tmp_path / "published", **given)
    said = (
        "left out: irrelevant, published; irrelevant, published, corrected (--published has no 'clutrr/data_523348e6')"
    )
    assert said in found.table.notes
    groups = {row.group for row in found.table.rows}
    assert {"clean, published", "irrelevant", "supporting, published, corrected"} < groups
    given["out"] = tmp_path / "all"
    whole = storyproof.experiment("clutrr-robust", published=published, **given)
    assert {row.group for row in whole.table.rows} == {
        *groups,
        "irrelevant, published",
        "irrelevant, published, corrected",
    }
    assert {"irrelevant, published": 5}.items() <= Counter(row.group for row in whole.table.rows).items()
    sources = [
        {entry.source for line in table.entries for entry in line if entry and entry.cell.data == "published-clean"}
        for table in (found.table, whole.table)
    ]
    assert sources[0] == sources[1]  # one set more trains no other again


@pytest.mark.slow
def test_a_table_has_what_another_process_finished_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process did a job that this one left to it, and writes its table first."""
    whole = quick(tmp_path / "whole", models=["memnn"])
    work, left = experiment_module.work, []

    def leave(job: Job, *given: Any) -> str:
        left.append(job)
        return worker.ELSEWHERE if len(left) == 1 else work(job, *given)

    @contextmanager
    def after_the_other(claim: Claim) -> Iterator[None]:
        monkeypatch.undo()
        quick(tmp_path / "out", models=["memnn"])
        yield

    monkeypatch.setattr(experiment_module, "work", leave)
    monkeypatch.setattr(Claim, "when_free", after_the_other)
    quick(tmp_path / "out", models=["memnn"])
    assert len(left) == 2
    tables = [folder / "tomi-table3-quick" / "table.csv" for folder in (tmp_path / "out", tmp_path / "whole")]
    assert tables[0].read_text() == tables[1].read_text()
    assert whole.done == 2


@pytest.mark.slow
def test_models_on_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.solvers.neural.data.pretrained.FrozenEncoder", lambda name, device: FakeEncoder())
    found = storyproof.experiment(
        "clutrr-generalization",
        quick=True,
        out=tmp_path,
        device="cpu",
        models=["bert", "bert-lstm"],
        encoder="some/one",
    )
    assert found.done == 2
    shown = {row.label: line for row, line in zip(found.table.rows, found.table.entries, strict=True)}
    assert all(entry and len(entry.values) == 2 for entry in (*shown["BERT"], *shown["BERT-LSTM"]))
    said = " BERT and BERT-LSTM stand on the encoder 'some/one'; the paper's is bert-base-uncased.\n"
    assert said in (found.folder / "table.md").read_text()


@pytest.mark.slow
def test_tables_say_which_encoder_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.solvers.neural.data.pretrained.FrozenEncoder", lambda name, device: FakeEncoder())
    (tmp_path / "some_one").mkdir()
    (tmp_path / "some_one/config.json").write_text("{}")
    identity = encoder_identity(tmp_path / "some_one")
    said = f"BERT stands on the encoder 'some_one' (digest of its files {identity[:12]}…); the paper's is bert-base-unc"

    def texts(*models: str, encoder: str | None = f"{tmp_path}/some_one/") -> list[str]:
        more: Any = {"quick": True, "out": tmp_path / "out", "device": "cpu", "models": list(models)}
        found = storyproof.experiment("clutrr-generalization", encoder=encoder, **more)
        return [(found.folder / name).read_text() for name in ("table.md", "table.tex", "about.json")]

    for encoder in (None, f"{tmp_path}/some_one/"):  # nothing of BERT's is shown yet
        assert "encoder '" not in "".join(texts("gat", encoder=encoder)[:2])
    markdown, latex, about = texts("bert")
    assert said in markdown
    assert said in latex.splitlines()[0]
    assert json.loads(about)["encoder"] == {"name": "some_one", "digest": identity, "models": ["BERT"]}


@pytest.mark.slow
def test_slices_come_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping before every epoch but the first of a slice, and going on, changes nothing."""
    small = {"models": ["memnn"], "runs": 2}
    declared = read("tomi-table3", quick=True)
    monkeypatch.setitem(declared.models["memnn"].training, "epochs", 3)  # type: ignore[arg-type]
    monkeypatch.setattr("storyproof.experiments.experiment.read", lambda name, quick: declared)
    whole = quick(tmp_path / "whole", **small)
    lines: list[str] = []
    for _ in range(9):
        calls = iter([False, False, *[True] * 99])
        monkeypatch.setattr("storyproof.experiments.experiment._alarm", lambda *_, each=calls: lambda: next(each))
        part = quick(tmp_path / "parts", progress=lines.append, **small)
        if part.done == whole.done:
            break
        assert any("rerun the same command to resume" in remark for remark in part.remarks)
    assert part.done == whole.done == 2
    assert sum("resuming after epoch" in line for line in lines) >= 4
    assert [[entry and entry.values for entry in line] for line in part.table.entries] == [
        [entry and entry.values for entry in line] for line in whole.table.entries
    ]


def test_minutes_stop_it_and_the_same_call_goes_on(tmp_path: Path) -> None:
    found = quick(tmp_path, models=["memnn"], minutes=1e-9)
    assert found.done == 0
    assert len(found.remarks) == 2
    assert "time limit reached; rerun the same command to resume" in found.remarks[0]
    assert quick(tmp_path, models=["memnn"]).done == 2


@pytest.mark.slow
def test_what_the_gpu_cannot_hold_keeps_nobody_else_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch import OutOfMemoryError

    trained = worker._train

    def train(job: Job, *rest: Any) -> bool:
        if job.model.name == "memnn":
            raise OutOfMemoryError("CUDA out of memory")
        return trained(job, *rest)

    monkeypatch.setattr(worker, "_train", train)
    found = quick(tmp_path, models=["memnn", "memnn-plain"])
    assert found.done == 1
    assert set(found.remarks) == {
        f"memnn on {data}: out of GPU memory; run fewer processes at once, or use fewer --runs and another --out"
        for data in ("tomi-proved", "tomi-30k")
    }
    monkeypatch.undo()
    assert quick(tmp_path, models=["memnn"]).done == 3


@pytest.mark.slow
def test_what_another_process_does_is_left_to_it(tmp_path: Path) -> None:
    quick(tmp_path, models=["memnn"], minutes=1e-9)
    done = quick(tmp_path, models=["memnn-plain"])
    assert done.done == 1
    (folder,) = (tmp_path / "runs").glob("memnn-plain.tomi-proved.*")
    for path in folder.glob("*.json"):
        path.unlink()
    with Claim(folder.with_name(f"{folder.name}.lock")):
        found = quick(tmp_path, models=["memnn-plain"])
    assert found.done == 0
    assert found.remarks[0] == "memnn-plain on tomi-proved: another process is doing it"
    assert not found.written  # the table has its figures
    lines: list[str] = []
    assert quick(tmp_path, models=["memnn-plain"], progress=lines.append).done == 1
    assert lines == []  # tested anew, not trained


@pytest.mark.slow
def test_experiments_share_their_runs(tmp_path: Path) -> None:
    quick(tmp_path, models=["memnn"])
    lines: list[str] = []
    found = storyproof.experiment(
        "tomi-growth", quick=True, out=tmp_path, device="cpu", models=["memnn"], progress=lines.append
    )
    assert found.done == 4
    assert [line.partition(":")[0] for line in lines] == [f"memnn on tomi-{size}" for size in ("3k", "10k")]


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_its_packages_there_is_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr("storyproof.experiments.table.installed", lambda name: name != package)
    found = quick(tmp_path, models=["memnn"])
    assert found.remarks == (
        f"no figure: it needs the package '{package}'; install it with: pip install 'storyproof[pages]'",
    )
    assert (found.folder / "table.tex").is_file()
    assert not (found.folder / "figure.png").exists()


def test_without_torch_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else there(name))
    for name in [name for name in sys.modules if name.startswith("storyproof.solvers.neural")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        ConfigError,
        match=r"need the package 'torch', which is not installed; install it with: pip",
    ):
        storyproof.experiment("tomi-table1", quick=True, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_mistakes_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown experiment 'tomi-table'"):
        storyproof.experiment("tomi-table", out=tmp_path)
    with pytest.raises(
        UnknownNameError, match=r"unknown model of tomi-table3 'gat'.*Known: entnet, entnet-plain, entnet-source, memnn"
    ):
        quick(tmp_path, models=["gat"])
    with pytest.raises(ConfigError, match="--published is /nowhere, which is not a folder"):
        quick(tmp_path, published="/nowhere")
    with pytest.raises(ConfigError, match="--runs is 0; use a number above 0"):
        quick(tmp_path, runs=0)
    with pytest.raises(ConfigError, match="--minutes is -1; use a number above 0"):
        quick(tmp_path, minutes=-1)
    with pytest.raises(ConfigError, match="--minutes is nan; use a number above 0"):
        quick(tmp_path, minutes=float("nan"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_published_folder_that_lacks_something(tmp_path: Path) -> None:
    wanted = {"train": 24, "test": 3, "format": "csv", "test_k": (2, 3)}
    storyproof.generate("clutrr", out=tmp_path / "clutrr/data_7c5b0e70", **wanted)
    given: dict[str, Any] = {"quick": True, "published": tmp_path, "out": tmp_path / "out", "device": "cpu"}
    found = storyproof.experiment("clutrr-robust", models=["gat"], **given)
    (note,) = [note for note in found.table.notes if "data_06b8f2a1" in note]
    assert note.endswith("(--published has no 'clutrr/data_06b8f2a1')")


def test_a_published_folder_that_has_nothing(tmp_path: Path) -> None:
    said = r"which contains no readable tomi for tomi-table3 .*; give the folder that contains them"
    with pytest.raises(ConfigError, match=said):
        quick(tmp_path / "out", models=["memnn"], published=tmp_path)
    assert not (tmp_path / "out").exists()
