"""What can be told at once is told before anything is trained or written, and no figure is lost unasked."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.experiments import experiment as experiment_module
from storyproof.experiments.experiment import Outcome
from tests.groups import only_first

pytestmark = pytest.mark.slow  # an experiment of one model runs by default (test_experiment)

MODELS = ["memnn-plain"]
RESULTS, ABOUT = "tomi-table3-quick/results.json", "tomi-table3-quick/about.json"


def quick(out: Path, name: str = "tomi-table3", **more: object) -> Outcome:
    return storyproof.experiment(name, quick=True, out=out, device="cpu", **{"models": MODELS, **more})


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a table of one training, to be copied."""
    out = tmp_path_factory.mktemp("finished")
    quick(out)
    return out


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Make a table of one training on our data and one on published data."""
    storyproof.generate("tomi", out=tmp_path / "published/tomi", train=12, val=6, format="babi", seed=5)
    out = tmp_path / "out"
    assert quick(out, published=tmp_path / "published").done == 2
    return out


def test_figures_are_not_lost_for_want_of_published_data(made: Path) -> None:
    path, before = made / "tomi-table3-quick/results.json", contents(made)
    count = sum(bool(cell["runs"]) for cell in json.loads(path.read_text())["cells"] if cell["data"] == "tomi")
    assert count > 1
    said = f"{path} has figures in {count} cells that would be left out now; give --published as before, or another"
    for models in (None, MODELS, ["memnn"]):
        with pytest.raises(ConfigError, match=re.escape(said)):
            quick(made, models=models)
    assert contents(made) == before


def test_figures_are_not_lost_to_another_number_of_runs(made: Path) -> None:
    path, before = made / "tomi-table3-quick/results.json", contents(made)
    count = sum(bool(cell["runs"]) for cell in json.loads(path.read_text())["cells"])
    said = (
        f"{path} has figures of 2 runs in {count} cells, which 3 runs would replace; give --runs 2, or another --out."
    )
    with pytest.raises(ConfigError, match=re.escape(said)):
        quick(made, runs=3, published=made.parent / "published")
    assert contents(made) == before
    assert quick(made, runs=2, published=made.parent / "published").done == 2


@pytest.mark.slow
def test_figures_are_not_lost_for_want_of_an_encoder(tmp_path: Path) -> None:
    """Cells of BERT in a table; none of them was trained, for the check goes by the table."""
    gat = quick(tmp_path, "clutrr-generalization", models=["gat"])
    path = gat.folder / "results.json"
    plain = json.loads(path.read_text())
    some = plain["cells"][0]
    plain["cells"].append({**some, "model": "bert", "runs": [0.5, 0.5]})
    path.write_text(json.dumps(plain))
    with pytest.raises(ConfigError, match=r"in 1 cell that would be left out now; give --encoder as before, or ano"):
        quick(tmp_path, "clutrr-generalization", models=["gat"])
    plain["cells"][-1]["data"] = "no longer declared"
    path.write_text(json.dumps(plain))
    assert quick(tmp_path, "clutrr-generalization", models=["gat"]).done == gat.done


@pytest.mark.slow
def test_some_models_or_other_settings_are_no_loss(made: Path) -> None:
    published = made.parent / "published"
    assert quick(made, models=["relnet-plain"], published=published).done == 4
    for folder in (made / "runs").glob("memnn-plain.*"):
        folder.rename(folder.with_name(f"{folder.name}-of-other-settings"))
    before = contents(made)
    found = quick(made, models=["relnet-plain"], published=published)
    assert found.done == 2
    shown = {entry.cell.model: bool(entry.values) for line in found.table.entries for entry in line if entry}
    assert (shown["relnet-plain"], shown["memnn-plain"]) == (True, False)
    assert not found.written
    assert contents(made) == before
    assert quick(made, published=published).written  # once all that it had is there again


@pytest.mark.parametrize("spoil", [shutil.rmtree, lambda runs: [each.unlink() for each in runs.glob("*/tomi*.json")]])
def test_figures_are_not_lost_for_want_of_runs(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    """As in a fresh copy, where there are tables but no runs; slices write the table when all its figures are there."""
    assert quick(tmp_path).written
    before, about = contents(tmp_path / "tomi-table3-quick"), json.loads((tmp_path / ABOUT).read_text())
    spoil(tmp_path / "runs")
    sliced = quick(tmp_path, minutes=1e-9)
    assert (sliced.done, sliced.written) == (0, False)
    count = sum(bool(cell["runs"]) for cell in json.loads((tmp_path / RESULTS).read_text())["cells"])
    assert sliced.remarks[-1] == (
        f"the table in {tmp_path / 'tomi-table3-quick'} was not changed, because it has figures in {count} cells "
        f"without results in {tmp_path / 'runs'}; finish or restore these, or use another --out"
    )
    assert not quick(tmp_path, models=["relnet-plain"]).written
    assert contents(tmp_path / "tomi-table3-quick") == before
    whole = quick(tmp_path)
    assert (whole.done, whole.written) == (2, True)
    assert json.loads((tmp_path / ABOUT).read_text())["done"] == about["done"] + 1


def test_results_of_fewer_runs_blank_nothing(tmp_path: Path) -> None:
    quick(tmp_path)
    (path,) = (tmp_path / "runs").glob("*/tomi*.json")
    plain = json.loads(path.read_text())
    path.write_text(json.dumps({**plain, "runs": plain["runs"][:1]}))
    before = contents(tmp_path)
    assert not quick(tmp_path).written
    assert contents(tmp_path) == before


@pytest.mark.slow
def test_rules_have_one_run_whatever_is_asked_for(tmp_path: Path) -> None:
    quick(tmp_path, "tomi-table1", models=["rules"])
    assert quick(tmp_path, "tomi-table1", models=["rules"], runs=3).done == 4


@pytest.mark.parametrize(
    ("name", "content"),
    only_first(
        4,
        [
            ("runs/*/spent.json", '{"seconds": "x", "hardware": "some", "torch": "2"}'),
            ("tomi-table3-quick/results.json", '{"cells": [{"runs": 3}]}'),
            ("tomi-table3-quick/about.json", '{"commands": 3}'),
            ("runs/*/spent.json", "{"),
            ("runs/*/spent.json", '{"seconds": NaN, "hardware": "some"}'),
            ("runs/*/spent.json", '{"seconds": true, "hardware": "some"}'),
            ("runs/*/spent.json", '{"seconds": 3, "hardware": []}'),
            ("runs/*/spent.json", "{}"),
            ("tomi-table3-quick/results.json", "{}"),
            ("tomi-table3-quick/results.json", '{"cells": [{"model": "memnn"}]}'),
            ("tomi-table3-quick/about.json", '{"commands": [[]]}'),
        ],
    ),
)
def test_damaged_files_are_named_before_anything_is_done(
    finished: Path, tmp_path: Path, name: str, content: str
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.glob(name)
    path.write_text(content)
    before = contents(tmp_path)
    with pytest.raises(DataError, match=rf"{re.escape(str(path))} .*; delete it, and run the experiment again\."):
        quick(tmp_path, models=["memnn"])
    assert contents(tmp_path) == before
    path.unlink()
    assert quick(tmp_path).done == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"runs": []}', '{"runs": [{"average": [3, 2]}]}', '{"runs": [3]}']
)
def test_damaged_results_are_said_to_be(finished: Path, tmp_path: Path, content: str) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    path = next((tmp_path / "runs").glob("memnn-plain.*/tomi-proved.*.json"))
    path.write_text(content)
    with pytest.raises(DataError, match=rf"{path.name} .*; delete it, and run the experiment again\."):
        quick(tmp_path)


@pytest.mark.parametrize("named", [str, lambda path: f"{path}/", lambda path: f"./{path.name}"])
def test_an_encoder_that_is_none_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Callable[[Path], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = named(tmp_path / "minilm")
    with pytest.raises(ConfigError, match=f"--encoder is {name}, which is not a folder; give a folder with a model in"):
        quick(tmp_path / "out", "clutrr-robust", models=["gat", "bert"], encoder=name)
    (tmp_path / "minilm").mkdir()
    for each in (name, "minilm"):
        with pytest.raises(ConfigError, match=f"--encoder is {each}, which has no config.json; give a folder with"):
            quick(tmp_path / "out", "clutrr-robust", models=["gat", "bert"], encoder=each)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("spoilt", ["out", "out/runs", "out/tomi-table3-quick"])
def test_a_place_that_cannot_be_written_to_is_named_at_once(tmp_path: Path, spoilt: str) -> None:
    (tmp_path / spoilt).parent.mkdir(exist_ok=True)
    (tmp_path / spoilt).write_text("a file")
    lines: list[str] = []
    with pytest.raises(DataError, match=rf"cannot write to {tmp_path}/out/.*: .*; choose another --out\."):
        quick(tmp_path / "out", progress=lines.append)
    assert lines == []


def test_a_place_without_leave_to_write_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have leave to write everywhere."""
    monkeypatch.setattr("storyproof.experiments.experiment.os.access", lambda *_: False)
    monkeypatch.setattr(experiment_module, "work", lambda *_: pytest.fail("it must not come to that"))
    with pytest.raises(DataError, match=rf"cannot write to {tmp_path}/runs: Permission denied; choose another --out\."):
        quick(tmp_path)


@pytest.mark.parametrize("name", ["about.json", "table.csv", "figure.png"])
def test_files_of_others_are_not_overwritten(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "tomi-table3-quick"
    folder.mkdir()
    (folder / name).write_text('{"mine": 1}')
    with pytest.raises(DataError, match=rf"has files that are not an experiment's \(.*\): {name}; move them away"):
        quick(tmp_path)
    assert (folder / name).read_text() == '{"mine": 1}'


def test_published_data_are_not_written_into(tmp_path: Path) -> None:
    storyproof.generate("tomi", out=tmp_path / "tomi", train=12, val=6, format="babi", seed=5)
    with pytest.raises(DataError, match=r"--out is .*, which lies inside the input .*tomi; choose another"):
        quick(tmp_path / "tomi", published=tmp_path)


def test_figures_of_the_same_training_and_test_are_kept_on_request(made: Path) -> None:
    before = contents(made / "tomi-table3-quick")
    shutil.rmtree(made / "runs")
    found = quick(made, published=made.parent / "published", keep=True, progress=refuse)
    assert (found.done, found.written) == (2, True)
    after = contents(made / "tomi-table3-quick")
    changed = {path.name for path in after if after[path] != before[path]}
    assert changed <= {"about.json"}
    described = json.loads((made / ABOUT).read_text())
    assert len(described["trainings"]) == 2
    assert described["commands"][-1].startswith("storyproof experiment tomi-table3 --quick --keep")


@pytest.mark.slow
def test_figures_of_another_training_are_not_kept(made: Path) -> None:
    path = made / RESULTS
    plain = json.loads(path.read_text())
    for cell in plain["cells"]:
        cell["source"] += "0"
    path.write_text(json.dumps(plain))
    shutil.rmtree(made / "runs")
    lines: list[str] = []
    found = quick(made, published=made.parent / "published", keep=True, progress=lines.append)
    assert found.done == 2
    assert lines  # both were trained again
    assert [cell["source"] for cell in json.loads(path.read_text())["cells"]] == [
        cell["source"].removesuffix("0") for cell in plain["cells"]
    ]


def test_one_row_is_repeated_and_all_others_stay_as_they_are(made: Path) -> None:
    """As in a fresh copy of an earlier version: its other figures stay, and the table says which are old."""
    path = made / RESULTS
    plain = json.loads(path.read_text())
    for cell in plain["cells"]:
        cell["source"] += "0"
        cell["runs"] = [0.25 for _ in cell["runs"]]
    path.write_text(json.dumps(plain))
    shutil.rmtree(made / "runs")
    row = "ToMi, proved: MemNN, stories as they are"
    lines: list[str] = []
    found = quick(made, only=[row], models=None, progress=lines.append)  # without the published data of the others
    assert [line.partition(":")[0] for line in lines] == ["memnn-plain on tomi-proved"]
    assert (found.done, found.written) == (1, True)
    after = {(cell["group"], cell["row"], cell["column"]): cell for cell in json.loads(path.read_text())["cells"]}
    for cell in plain["cells"]:
        if cell["runs"]:
            now = after[cell["group"], cell["row"], cell["column"]]
            if f"{cell['group']}: {cell['row']}" == row:
                assert now["source"] == cell["source"].removesuffix("0")
            else:
                assert (now["runs"], now["source"]) == (cell["runs"], cell["source"])
    repeated = [cell for cell in after.values() if f"{cell['group']}: {cell['row']}" == row]
    assert repeated
    assert any(run != 0.25 for cell in repeated for run in cell["runs"])
    lines.clear()
    again = quick(made, only=["ToMi, published"], published=made.parent / "published", progress=lines.append)
    assert [line.partition(":")[0] for line in lines] == ["memnn-plain on tomi"]
    assert not any("earlier version" in note for note in again.table.notes)


def test_rows_of_an_earlier_version_are_named(made: Path) -> None:
    path = made / RESULTS
    plain = json.loads(path.read_text())
    for cell in plain["cells"]:
        cell["source"] += "0" * (cell["data"] == "tomi")
    path.write_text(json.dumps(plain))
    shutil.rmtree(made / "runs")
    found = quick(made, only=["ToMi, proved"], published=made.parent / "published")
    said = "measured on stories or settings of an earlier version: ToMi, published"  # all its rows with figures
    assert found.table.notes[-1] == said
    assert said in (made / "tomi-table3-quick/table.md").read_text()


def test_unknown_rows_list_the_known(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown row of tomi-table3 'MemN'.*Known: .*ToMi, published: MemNN"):
        quick(tmp_path, only=["MemN"])


def refuse(line: str) -> None:
    raise AssertionError(f"something was trained: {line}")
