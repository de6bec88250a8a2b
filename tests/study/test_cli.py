"""The commands of `storyproof study`, from the first to the last."""

import json
import re
from pathlib import Path

import pytest

from storyproof.errors import StoryproofError
from storyproof.study.folder import open_study
from storyproof.study.messages import texts_of
from storyproof.study.results import read_rows
from tests.cli.invocation import run
from tests.study.samples import join, kinship_data
from tests.study.test_export import simulate


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kinship_data(tmp_path_factory.mktemp("data"))


@pytest.mark.study
def test_from_new_to_deletion(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    name = tmp_path / "kin"
    options = ("--condition", "short:30", "--condition", "long", "--items", 6, "--tasks-per-participant", 3)
    done = run("study", "new", name, "--kind", "solve", "--data", data, *options)
    assert done.exit_code == 0, done.output
    assert re.search(r"The password of the dashboard is \S{20}", done.stdout)
    assert "storyproof study serve" in done.stdout
    study = open_study(name)
    assert [each.name for each in study.design.conditions] == ["short", "long"]
    first = study.password_hash()
    for number in range(2):
        simulate(study, join(study, str(number)), random.Random(number))
    code = read_rows(study).participants[1].code

    assert run("study", "preregister", name, "--out", tmp_path / "plan.json").exit_code == 0
    assert json.loads((tmp_path / "plan.json").read_text("utf-8"))["design_sha256"] == study.design.sha256
    assert "answers.csv" in run("study", "export", name, "--out", tmp_path / "results").stdout
    assert "participant 2" in run("study", "backup", name, "--out", tmp_path / "kin.zip").stdout
    assert "participant 2" in run("study", "restore", tmp_path / "kin.zip", tmp_path / "again").stdout
    assert "The password of the dashboard is" in run("study", "password", name).stdout
    assert study.password_hash() != first
    monkeypatch.setenv("STORYPROOF_STUDY_PASSWORD", "my own password")
    assert run("study", "password", name).stdout == "The password is set.\n"
    assert f"deleted {code}" in run("study", "delete-participant", name, code).stdout
    assert len(read_rows(study).participants) == 1
    study.close()


@pytest.mark.study
def test_texts_are_written_and_taken(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "es.yaml"
    assert run("study", "messages", "--out", path).exit_code == 0
    texts = path.read_text("utf-8")
    assert "consent_title: Before you begin" in texts
    path.write_text(texts.replace("Before you begin", "Antes de empezar"), "utf-8")
    options = ("--kind", "solve", "--data", data, "--items", 6, "--language", "es", "--messages", path)
    done = run("study", "new", tmp_path / "creencias", *options)
    assert done.exit_code == 0, done.output
    study = open_study(tmp_path / "creencias")
    assert texts_of(study.design).plain("consent_title") == "Antes de empezar"
    study.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new", "x", "--kind", "solve", "--messages", "nowhere.yaml"), "cannot read nowhere.yaml"),
        (("new", "x", "--kind", "solve", "--language", "es"), "unknown language 'es'"),
        (("messages", "--out", "y", "--language", "es"), "unknown language 'es'"),
        (("new", "x", "--kind", "solve"), "--data"),
        (("new", "x", "--kind", "sing"), "unknown kind of study 'sing'"),
        (("new", "x", "--kind", "solve", "--condition", "a:b"), "NAME:SECONDS"),
        (("new", "x", "--kind", "solve", "--consent", "nowhere.txt"), "cannot read nowhere.txt"),
        (("export", "nowhere", "--out", "y"), "contains no study"),
        (("serve", "nowhere"), "contains no study"),
        (("backup", "nowhere", "--out", "y"), "contains no study"),
        (("restore", "nowhere.zip", "y"), "not a backup"),
        (("plan", "--accuracy", "2"), "--accuracy is 2"),
    ],
)
def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("study", *arguments)
    assert isinstance(done.exception, StoryproofError)
    assert done.exception.exit_code == 2
    assert message in str(done.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.study
def test_plan() -> None:
    lines = run("study", "plan", "--accuracy", "0.8", "--conditions", "2", "--excluded", "0.1").stdout.splitlines()
    assert lines[-1] == "participants to recruit: 106"
