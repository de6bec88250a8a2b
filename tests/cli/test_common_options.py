"""What holds for all commands: names of options, help, --quiet, --json, completion, and options without effect."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import storyproof
from storyproof import cli
from storyproof.cli.command import OTHER_NAMES, with_usual_names
from storyproof.errors import ConfigError
from storyproof.reports import doctor
from storyproof.solvers.llm.options import ModelOptions
from tests.cli.invocation import Program, run

VERBS = [str(command.name) for command in cli.app.registered_commands]
WIDTH = 80


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", train=3, test=6, seed=7, out=out)
    return out


def parameters_of(verb: str) -> list[Any]:
    """The parameters of a command, with those that dataclasses declare."""
    command = get_command(cli.app).commands[verb]  # type: ignore[attr-defined]
    with command.make_context(verb, [], resilient_parsing=True) as context:
        return list(command.get_params(context))


def help_of(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH)}).invoke(cli.app, [*words, "-h"])
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_readable_at_80_columns(verb: str) -> None:
    text = help_of(verb)
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    assert [line for line in text.splitlines()[1:] if line.endswith("...")] == []
    assert "list[" not in text.partition("\nOptions:")[2], "give the parameter a metavar"
    for parameter in parameters_of(verb):
        assert getattr(parameter, "help", None), f"{verb}: {parameter.name} has no help"
    assert "-q, --quiet" in text
    assert "-h, --help" in text


def test_the_list_of_commands_is_readable_at_80_columns() -> None:
    text = help_of()
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    assert "..." not in text.replace("[ARGS]...", ""), "give the command a short_help"
    assert all(re.search(rf"^  {verb}  +\S", text, re.MULTILINE) for verb in VERBS if verb != "verify")  # another name


@pytest.mark.parametrize("verb", VERBS)
def test_other_names_are_hidden_and_lead_to_options_that_exist(verb: str) -> None:
    text = help_of(verb)
    known = {flag for each in parameters_of(verb) for flag in (*each.opts, *each.secondary_opts)}
    for other, usual in OTHER_NAMES.get(verb, {}).items():
        assert other not in known
        assert not re.search(rf"^ +{other}(?![\w-])", text, re.MULTILINE)
        assert usual in known or (
            usual == "" and any(each.param_type_name == "argument" for each in parameters_of(verb))
        )


def test_options_that_mean_the_same_have_the_same_name() -> None:
    flags = {verb: {flag for each in parameters_of(verb) for flag in each.opts} for verb in VERBS}
    assert not [verb for verb in VERBS if flags[verb] & {"--batch", "--rate", "--model-option", "--raw", "--json-out"}]
    for verb in ("train", "evaluate"):
        assert {"--data", "--batch-size", "--option", "--seed", "--encoder", "--json"} <= flags[verb]
    for verb in ("ask", "serve", "report"):
        assert "--data" in flags[verb]
    for verb in set(VERBS) - {"ask", "serve", "show", "report", "new-family"}:
        assert "--json" in flags[verb], verb


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--example-id", "3", "--json_file=x"], ["--index", "3", "--data=x"]),
        (["--data", "x", "--most", "2"], ["--data", "x", "--most", "2"]),
        (["--", "--example-id"], ["--", "--example-id"]),
        (["--example-id"], ["--index"]),
    ],
)
def test_names_are_replaced(given: list[str], expected: list[str]) -> None:
    assert list(with_usual_names(given, OTHER_NAMES["ask"])) == expected


def test_an_argument_can_be_given_as_an_option(data: Path, tmp_path: Path) -> None:
    for verb in ("verify", "show", "audit"):
        plain = run(verb, data)
        assert plain.exit_code == 0
        for words in (("--data", data), (f"--data={data}",)):
            assert run(verb, *words).stdout == plain.stdout
    assert run("process", "--data", data, "--out", tmp_path / "out").exit_code == 0
    assert run("show", "--data", data, "--out", tmp_path / "x.svg").exit_code == 0
    assert isinstance(run("verify", "--data").exception, ConfigError)


def test_quiet_prints_results_and_errors_only(data: Path, tmp_path: Path, program: Program) -> None:
    assert program(f"generate tomi --test 3 --train 0 --val 0 --out {tmp_path / 'a'} --quiet") == (0, "", "")
    assert program(f"process {data} --out {tmp_path / 'b'} -q") == (0, "", "")
    assert program(f"show {data} --out {tmp_path / 'c.svg'} -q") == (0, "", "")
    shown = program(f"evaluate --model oracle --data {data} --output-dir {tmp_path} --quiet")
    assert (shown.code, shown.err) == (0, "")
    assert "100.0" in shown.out
    assert "written" not in shown.out
    wrong = program("generate tomy --out x --quiet")
    assert wrong.code == 2
    assert "Did you mean 'tomi'" in wrong.err


@pytest.mark.parametrize(
    "command",
    [
        "generate tomi --test 3 --train 0 --val 0 --out {out}",
        "process {data} --out {out}",
        "verify {data}",
        "audit {data}",
        "evaluate --model oracle --data {data}",
        "ask --model oracle --data {data}",
        "train memnn --benchmark tomi --stories 9 --epochs 1 --device cpu --option width=8 --out {out}",
        "experiment tomi-table3 --quick --runs 1 --models memnn --minutes 0.001 --out {out}",
        "compare {run} {run}",
        "compare {run} --labels {data}",
        "doctor",
    ],
    ids=lambda command: command.split()[0],
)
def test_json_goes_to_standard_output_alone(
    command: str, data: Path, tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tmp_path / "run.json"
    monkeypatch.setattr(doctor, "_try_imports", lambda modules, progress: {})  # takes seconds
    if "{run}" in command:
        assert run("evaluate", "--model", "oracle", "--data", data, "--json", one).exit_code == 0
    line = command.format(data=data, out=tmp_path / "out", run=one)
    ended = program(f"{line} --json -")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)


@pytest.mark.parametrize("verb", ["evaluate", "compare", "compare --labels", "ask", "verify", "audit"])
def test_every_output_says_where_it_was_written(verb: str, data: Path, tmp_path: Path) -> None:
    one, out = tmp_path / "run.json", tmp_path / "out.json"
    assert run("evaluate", "--model", "oracle", "--data", data, "--json", one).exit_code == 0
    words = {
        "evaluate": ["--model", "oracle", "--data", data],
        "compare": [one, one],
        "compare --labels": [one, "--labels", data],
        "ask": ["--model", "oracle", "--data", data],
        "verify": [data],
        "audit": [data],
    }[verb]
    done = run(verb.split()[0], *words, "--json", out)
    assert done.exit_code == 0
    assert f"written to {out}" in done.stdout
    assert json.loads(out.read_text())


def test_a_run_in_a_folder_says_where(data: Path, tmp_path: Path) -> None:
    done = run("evaluate", "--model", "oracle", "--data", data, "--output-dir", tmp_path)
    assert f"written to {tmp_path / 'oracle_test.json'}" in done.stdout
    assert (tmp_path / "oracle_test.json").is_file()


@pytest.mark.parametrize(
    "command",
    [
        "evaluate --model oracle --data {data} --output-dir {file}",
        "audit {data} --fix {file}",
        "report {data} --figures {file}/x --out {fresh}",
        "generate tomi --out {fresh} --json {missing}/x.json",
        "train memnn --benchmark tomi --stories 9 --out {fresh} --json {missing}/x.json",
        "process {data} --out {fresh} --json {missing}/x.json",
    ],
    ids=lambda command: command.split()[0],
)
def test_paths_are_checked_before_the_work(
    command: str, data: Path, tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    for verb in ("evaluate", "audit", "report", "train", "process"):
        module = getattr(storyproof, verb).__module__
        monkeypatch.setattr(f"{module}.{verb}", lambda *words, **more: pytest.fail("it began to work"))
    line = command.format(data=data, file=tmp_path / "file", missing=tmp_path / "no", fresh=tmp_path / "fresh")
    ended = program(line)
    assert ended.code == 2, ended
    assert "cannot write" in ended.err
    assert "choose another" in ended.err
    assert not (tmp_path / "fresh").exists()
    assert (tmp_path / "file").read_text() == "mine"


OPTIONS_WITHOUT_EFFECT = [
    ("oracle", "--temperature 0.5", "openai, vllm, hf and local"),
    ("oracle", "--matching strict", "is not a language model"),
    ("oracle", "--strict-matching", "is not a language model"),
    ("random,majority", "--max-tokens 5", "random, majority is not a language model"),
    ("oracle", "--prompt few-shot", "is not asked by prompts"),
    ("oracle", "--batch-size 4", "models of vllm and hf only"),
    ("openai/m", "--batch-size 4", "models of vllm and hf only"),
    ("openai/m", "--option lora=x", "models of vllm only"),
    ("openai/m", "--option tensor-parallel-size=2", "models of vllm only"),
    ("hf/m", "--base-url http://localhost:1/v1", "models of openai only"),
    ("vllm/m", "--option retries=3", "models of openai only"),
    ("local/smollm2", "--concurrency 3", "models of openai only"),
    ("hf/m", "--option timeout=3", "models of openai only"),
    ("oracle", "--option x=1", "--option x is given"),
]


@pytest.mark.parametrize(("model", "option", "message"), OPTIONS_WITHOUT_EFFECT)
def test_an_option_without_effect_is_refused(
    model: str, option: str, message: str, data: Path, program: Program
) -> None:
    ended = program(f"evaluate --model {model} --data {data} {option}")
    assert ended.code == 2
    assert message in ended.err
    assert "leave it out" in ended.err
    assert ended.out == ""


def test_the_usual_folder_is_checked_before_a_model_is_asked(
    data: Path, tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evaluation_results").write_text("mine")
    ended = program(f"evaluate --model openai/m --base-url http://127.0.0.1:9/v1 --data {data}")
    assert ended.code == 2
    assert "cannot write to evaluation_results: evaluation_results is not a folder" in ended.err


def test_an_option_has_to_matter_to_one_of_the_models_only(data: Path, program: Program) -> None:
    ended = program(f"evaluate --model oracle,openai/m --data {data} --option lora=x")
    assert "models of vllm only" in ended.err
    ended = program(f"ask --model oracle --data {data} --temperature 0.3")
    assert "leave it out" in ended.err
    ended = program("serve --port 0 --temperature 0.3")
    assert "no language model" in ended.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("audit {data} --ambiguous drop", "add --fix FOLDER"),
        ("experiment tomi-table3 --quick --encoder x", "no model of tomi-table3 uses one; leave it out"),
        ("train memnn --data {data} --out {out} --encoder x", "does not use an encoder"),
        ("train memnn --data {data} --out {out} --stories 5", "applies to --benchmark only"),
    ],
)
def test_an_option_that_needs_another_is_refused(
    command: str, message: str, data: Path, tmp_path: Path, program: Program
) -> None:
    ended = program(command.format(data=data, out=tmp_path / "out"))
    assert ended.code == 2
    assert message in ended.err
    assert not (tmp_path / "out").exists()


def test_backends_list_options_that_exist() -> None:
    known = set(ModelOptions.__dataclass_fields__)
    assert set(ModelOptions.options()) <= known
    for name in storyproof.catalog.BACKENDS:  # type: ignore[attr-defined]
        assert storyproof.catalog.load("backend", name).options <= known  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("storyproof ev", {"evaluate"}),
        ("storyproof generate to", {"tomi", "tomi-matched", "tom-babi", "tom-babi-easy", "tom-k"}),
        ("storyproof generate tomi --dis", {"--disjoint"}),
        ("storyproof evaluate --model or", {"oracle"}),
        ("storyproof evaluate --model op", {"openai/"}),
        ("storyproof evaluate --prompt ze", {"zero-shot"}),
        ("storyproof train gat --batch", {"--batch-size"}),
        ("storyproof train --benchmark clu", {"clutrr"}),
        ("storyproof experiment tomi-g", {"tomi-growth"}),
        ("storyproof audit --format ins", {"inspect"}),
        ("storyproof show --quie", {"--quiet"}),
    ],
)
def test_shells_complete_commands_options_and_names(
    typed: str, offered: set[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_STORYPROOF_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    monkeypatch.setattr("sys.argv", ["storyproof"])
    with pytest.raises(SystemExit):
        cli.main()
    assert set(capfd.readouterr().out.split()) - {"orderings"} == offered
