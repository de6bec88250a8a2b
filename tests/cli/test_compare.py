import json
from pathlib import Path

import pytest

import storyproof
from storyproof.errors import DataError
from tests.cli.invocation import Program, run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    storyproof.generate("tomi", test=12, seed=1, out=folder / "data")
    run("evaluate", "--model", "rules,oracle", "--data", folder / "data", "--json", folder / "runs.json")
    return folder / "runs.json"


def test_table(runs: Path) -> None:
    done = run("compare", f"{runs}:rules", f"{runs}:oracle")
    assert done.exit_code == 0, done.output
    for words in ("average", "joint", "memory", "rules", "oracle", "100.0", "72 questions of 12 stories"):
        assert words in done.stdout


def test_table_fits_a_narrow_screen_even_in_a_pipe(runs: Path, tmp_path: Path) -> None:
    named = [each | {"model": f"openai/a-model-of-{each['model']}-length"} for each in json.loads(runs.read_text())]
    (tmp_path / "runs.json").write_text(json.dumps(named))
    one, other = (f"{tmp_path / 'runs.json'}:{each['model']}" for each in named)
    done = run("compare", one, other)
    assert done.stdout.startswith("A  openai/a-model-of-rules-length\nB  openai/a-model-of-oracle-length\n")
    assert max(map(len, done.stdout.split("\n"))) <= 80
    assert "95% intervals of paired differences by bootstrap over stories" in done.stdout


def test_the_same_run_twice(runs: Path) -> None:
    done = run("compare", f"{runs}:rules", f"{runs}:rules")
    assert done.stdout.count("+0.0 (+0.0 to +0.0)") == 11  # average, joint and nine types


@pytest.mark.parametrize("stories", [3, 12, 24])
def test_one_interval_wherever_a_run_is_shown(stories: int, tmp_path: Path) -> None:
    data, path = tmp_path / "data", tmp_path / "run.json"
    storyproof.generate("tomi", test=stories, seed=1, out=data)
    run("evaluate", "--model", "random", "--data", data, "--json", path)
    evaluated = json.loads(path.read_text())["intervals"]
    compared = json.loads(run("compare", path, path, "--json", "-").stdout)
    rescored = json.loads(run("compare", path, "--labels", data, "--json", "-").stdout)

    def ends(gap: dict[str, dict[str, float]]) -> list[list[float]]:
        return [[gap[side]["low"], gap[side]["high"]] for side in ("first", "second")]

    for side in ("published", "corrected"):
        found = rescored[side]["intervals"]
        assert (found["accuracy"], found["joint"]) == (evaluated["accuracy"], evaluated["joint_accuracy"])
    assert ends(compared["accuracy"]) == [evaluated["accuracy"]] * 2
    assert ends(compared["joint"]) == [evaluated["joint_accuracy"]] * 2
    for name, interval in evaluated["by_question_type"].items():
        assert ends(compared["by_question_type"][name]) == [interval] * 2
    for kind in ("memory", "reality"):  # which are kinds and types alike
        assert rescored["by_kind"][kind]["published"]["intervals"]["accuracy"] == evaluated["by_question_type"][kind]


def test_runs_that_were_judged_otherwise(tmp_path: Path, program: Program) -> None:
    row = {"id": "q", "right": True}
    for matching in ("strict", "careful"):
        found = {"model": matching[0], "matching": matching, "predictions": [row]}
        (tmp_path / f"{matching}.json").write_text(json.dumps(found))
    ended = program(f"compare {tmp_path / 'strict.json'} {tmp_path / 'careful.json'}")
    assert (ended.code, ended.out) == (2, "")
    assert "s was judged by strict matching and c by careful matching" in ended.err
    assert "needs no new requests" in ended.err


def test_no_joint_where_no_story_is_whole(tmp_path: Path) -> None:
    rows = [{"id": str(number), "story_id": "s", "question_type": "memory", "right": True} for number in range(2)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"model": "m", "stories": 0, "joint_accuracy": None, "predictions": rows}))
    done = run("compare", path, path)
    assert "2 questions of 1 story: both right 2" in done.stdout
    assert ["joint", "–", "–", "–", "–", "–"] in [line.split() for line in done.stdout.split("\n")]
    assert json.loads(run("compare", path, path, "--json", "-").stdout)["joint"] is None


def test_json(runs: Path) -> None:
    found = json.loads(run("compare", f"{runs}:rules", f"{runs}:oracle", "--json", "-").stdout)
    assert found["questions"] == 72
    assert found["accuracy"]["second"]["value"] == 1.0
    assert set(found["joint"]) == {"of", "first", "second", "difference", "p"}


def test_several_runs_in_a_file(runs: Path) -> None:
    assert isinstance(run("compare", runs, runs).exception, DataError)


def test_process(runs: Path, tmp_path: Path) -> None:
    done = run("process", runs.parent / "data", "--out", tmp_path / "out")
    assert done.stdout == f"test: 12 stories, 72 questions\nwritten to {tmp_path / 'out'}\n"
    assert isinstance(run("process", runs.parent / "data", "--out", tmp_path / "out").exception, DataError)
    assert run("process", runs.parent / "data", "--out", tmp_path / "out", "--force").exit_code == 0
    assert run("evaluate", "--model", "oracle", "--data", tmp_path / "out").exit_code == 0
