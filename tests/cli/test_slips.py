"""What users typed in a trial and what did not help them then."""

import json
import os
import sys
from pathlib import Path

import pytest

from storyproof.errors import ConfigError, as_arguments
from storyproof.shortcuts.word_probes import load_learner
from tests.cli.invocation import Program, Refuse
from tests.samples import example


@pytest.fixture
def data(folder: Path) -> Path:
    (folder / "d").mkdir()
    (folder / "d" / "test.jsonl").write_text(json.dumps(example(answer="jar").as_row()) + "\n")
    return folder / "d"


@pytest.mark.parametrize("command", ["verify", "generate", "evaluate", "audit", "show", "train"])
def test_help_has_a_short_option(program: Program, command: str) -> None:
    ended = program(f"{command} -h")
    assert ended.code == 0
    assert ended.out == program(f"{command} --help").out
    assert "-h, --help" in ended.out


def test_a_misspelt_command_is_guessed(refuse: Refuse, folder: Path) -> None:
    assert refuse("evaluat").endswith("Did you mean 'evaluate'? See storyproof --help.\n")


def test_json_goes_to_standard_output(program: Program, data: Path) -> None:
    ended = program("verify d --json -")
    assert ended.code == 1
    assert ended.err == ""
    found = json.loads(ended.out)
    assert found["disagreements"] == 1
    assert found["files"][0]["errata"][0]["found"] == "jar"
    assert not (Path.cwd() / "-").exists()


def test_an_audit_goes_to_standard_output(program: Program, data: Path) -> None:
    (data / "test.jsonl").write_text(json.dumps(example(answer="jar\x85\u202e").as_row()) + "\n")
    ended = program("audit d --json -")
    assert ended.code == 1
    assert ended.err == ""
    assert json.loads(ended.out)["files"][0]["errata"][0]["found"] == "jar\x85\u202e"
    page = program("audit d --html -")
    assert page.out.lower().startswith("<!doctype html>")
    assert page.out.rstrip().endswith("</html>")
    assert [path.name for path in Path.cwd().iterdir()] == ["d"]


def test_files_that_are_written_are_named(program: Program, data: Path) -> None:
    ended = program("audit d --json a.json --html a.html")
    assert ended.out.endswith("all findings written to a.json\nthe page written to a.html\n")
    assert program("verify d --json v.json").out.endswith("written to v.json\n")


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("nowhere/a", "there is no such folder"),
        ("d", "it is a folder"),
        ("locked/a", "the folder is read-only"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_bad_output_fails_before_the_work(
    refuse: Refuse, data: Path, monkeypatch: pytest.MonkeyPatch, option: str, out: str, why: str
) -> None:
    (Path.cwd() / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")  # root may write anywhere
    monkeypatch.setattr("storyproof.audit", lambda *arguments, **settings: pytest.fail("it worked"), raising=False)
    assert f"cannot write {out}: {why}; choose another file for {option}." in refuse(f"audit d {option} {out}")


def test_two_results_need_two_files(refuse: Refuse, data: Path) -> None:
    assert "--json and --html are both a; choose two files" in refuse("audit d --json a --html a")


@pytest.mark.parametrize("models", ["rules", "rules,oracle"])
def test_a_prompt_for_no_language_model_is_refused(refuse: Refuse, data: Path, models: str) -> None:
    said = refuse(f"evaluate --model {models} --prompt foo --data d")
    assert f"--prompt is 'foo', but {models.replace(',', ', ')} is not asked by prompts" in said


def test_a_manifest_is_not_data(refuse: Refuse, data: Path) -> None:
    (data / "manifest.json").write_text("{}")
    assert "d/manifest.json describes a dataset; give its folder, d, or one of its files." in refuse(
        "verify d/manifest.json"
    )


def test_without_scikit_learn_the_hint_names_an_option_that_exists(
    monkeypatch: pytest.MonkeyPatch, program: Program
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(ConfigError, match=r"storyproof\[audit\]', or leave --shortcuts out") as found:
        load_learner("ensemble", "HistGradientBoostingClassifier")
    assert as_arguments(str(found.value)).endswith("or leave learned=True out.")
    assert "--shortcuts" in program("audit --help").out


def test_a_long_value_is_cut_in_lists_for_people(program: Program, data: Path) -> None:
    (data / "test.jsonl").write_text(json.dumps(example(answer="x" * 10**6).as_row()) + "\n")
    for command in ("verify d", "audit d"):
        assert len(program(command).out) < 10_000
    program("verify d --json v.json")
    assert len(json.loads(Path("v.json").read_text())["files"][0]["errata"][0]["found"]) == 10**6
