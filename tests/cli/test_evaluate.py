"""The command `evaluate` with language models, and `ask` and `pull`."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.cli.progress import RunProgress
from storyproof.errors import ConfigError, DataError, StoppedError
from tests.cli.invocation import run
from tests.solvers.llm.serving import FakeServer


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", train=6, val=3, test=6, seed=7, out=out)
    return out


@pytest.fixture(scope="module")
def shared() -> Iterator[FakeServer]:
    with FakeServer() as found:
        yield found


@pytest.fixture
def server(shared: FakeServer) -> tuple[str, ...]:
    shared.behave()
    return ("--model", "openai/fake", "--base-url", shared.url)


def test_shows_and_writes(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    done = run("evaluate", *server, "--data", data, "--split", "val", "--output-dir", tmp_path, "--price", "1,2")
    assert done.exit_code == 0, done.output
    for word in ("strict", "careful *", "lenient", "memory", "false belief", "matches: ", "18 questions of 3 stories"):
        assert word in done.stdout
    assert f"written to {tmp_path / 'openai-fake_val.json'}" in done.stdout
    read = json.loads((tmp_path / "openai-fake_val.json").read_text())
    title, right = "storyproof: openai/fake zero-shot", re.escape(f"{100 * read['accuracy']:.1f}% right")
    # Where there is no terminal, there is a line at the start and one at the end.
    assert re.fullmatch(rf"{title}: 18 questions\n{title}: 18 of 18 done in \d+ s; {right}\n", done.stderr)
    assert read["questions"] == len(read["predictions"]) == 18
    assert read["cost"] > 0
    assert read["tokens"]["output"] == 36


def test_flags_of_the_usual_evaluation(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    flags = ("--max-samples", 10, "--strict-matching", "--exclude-memory-reality")
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, *flags, "--json", "-")
    read = json.loads(done.stdout)
    assert (read["questions"], read["matching"], read["accuracy"]) == (10, "strict", 0.0)
    assert not {"memory", "reality"} & set(read["by_question_type"])
    assert "written to" in done.stderr


def test_compares_prompts_and_seeds(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    common = ("evaluate", *server, "--data", data, "--output-dir", tmp_path, "--max-stories", 2)
    done = run(*common, "--prompt", "all", "--seeds", 2)
    assert done.exit_code == 0, done.output
    assert "over 10 runs; prompts alone move it by" in done.stdout
    assert "seeds alone move it by" in done.stdout
    assert len(list(tmp_path.glob("*.json"))) == 10
    both = sorted(tmp_path.glob("openai-fake_test.json")) + sorted(tmp_path.glob("*_few-shot.json"))
    assert run("compare", *both).exit_code == 0


def test_all_prompts_without_a_train_split(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    (tmp_path / "test.parquet").write_bytes((data / "test.parquet").read_bytes())
    common = ("evaluate", *server, "--data", tmp_path, "--output-dir", tmp_path / "out", "--max-stories", 1)
    done = run(*common, "--prompt", "all")
    assert done.exit_code == 0, done.output
    assert "left out few-shot: there is no train split" in done.stderr


def test_solvers_and_models_side_by_side(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    done = run("evaluate", "--model", "rules,openai/fake", *server[2:], "--data", data, "--output-dir", tmp_path)
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.glob("*.json")} == {"rules_test.json", "openai-fake_test.json"}


def test_what_came_before_a_failure_is_shown(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_text("no weights")
    done = run("evaluate", "--model", f"rules,{broken}", "--data", data, "--output-dir", tmp_path)
    assert done.exit_code == 2
    assert f"storyproof: {broken}, zero-shot: " in done.stderr
    assert "rules" in done.stdout


def test_a_model_that_does_not_fit_the_data_keeps_no_other_up(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = storyproof.evaluate

    def evaluate(model: Any, *arguments: Any, **settings: Any) -> Any:
        if model.name == "random":
            raise DataError("random was trained on other data.")
        return evaluated(model, *arguments, **settings)

    monkeypatch.setattr(storyproof, "evaluate", evaluate)
    done = run("evaluate", "--model", "rules,random,oracle", "--data", data, "--seeds", "2")
    assert done.exit_code == 2
    assert "rules" in done.stdout
    assert "oracle" in done.stdout
    assert done.stderr.splitlines()[-1] == "storyproof: random, zero-shot, seed 0: random was trained on other data."
    alone = run("evaluate", "--model", "random", "--data", data)
    assert isinstance(alone.exception, DataError)


def test_a_prompt_that_cannot_be_served_keeps_no_other_up(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    shared.behave(context=600)  # not enough for few-shot
    server = ("--model", "openai/fake", "--base-url", shared.url)
    prompts = ("--prompt", "zero-shot,few-shot,chain-of-thought")
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, *prompts)
    assert done.exit_code == 3
    assert "storyproof: openai/fake, few-shot: " in done.stderr
    assert "context too long" in done.stderr
    assert {path.name for path in tmp_path.glob("*.json")} == {
        "openai-fake_test.json",
        "openai-fake_test_chain-of-thought.json",
    }


def test_a_thought_that_is_cut_off_is_no_answer(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    """Who only retells the beginning of the story would be right about false beliefs."""
    first = storyproof.evaluate("oracle", data).predictions[0]["target"]
    shared.behave(reply=f"Let me think. First, it is in the {first}. Then", finish_reason="length")
    server = ("--model", "openai/fake", "--base-url", shared.url)
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, "--prompt", "chain-of-thought")
    assert done.exit_code == 0, done.output
    assert "36 replies cut off before an answer; raise --max-tokens" in done.stdout
    assert json.loads((tmp_path / "openai-fake_test_chain-of-thought.json").read_text())["accuracy"] == 0.0


def test_replies_that_used_all_tokens_are_counted(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    shared.behave(reply="box", finish_reason="length")
    done = run("evaluate", "--model", "openai/fake", "--base-url", shared.url, "--data", data, "--output-dir", tmp_path)
    assert done.exit_code == 0, done.output
    assert "36 replies with an answer used all tokens allowed; raise --max-tokens to see the rest" in done.stdout
    assert json.loads((tmp_path / "openai-fake_test.json").read_text())["at_limit"] == 36


def test_nothing_is_answered_before_an_interruption(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: FakeServer
) -> None:
    shared.behave(context=1)
    monkeypatch.setattr(RunProgress, "stopping", lambda self: True)
    server = ("--model", "openai/fake", "--base-url", shared.url)
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path)
    assert isinstance(done.exception, KeyboardInterrupt) or done.exit_code == 130


def test_options_with_underscores(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    flags = ("--max_tokens", 16, "--max_samples", 4, "--strict_matching", "--exclude_memory_reality")
    done = run("evaluate", *server, "--data", data, "--output_dir", tmp_path, *flags)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "openai-fake_test.json").read_text())["questions"] == 4


def test_a_broken_matcher_is_said_to_be(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    (tmp_path / "mine.py").write_text("def judge(reply, answer, candidates):\n    return 1 / 0\n")
    error = run(
        "evaluate", *server, "--data", data, "--output-dir", tmp_path, "--matching", f"{tmp_path / 'mine.py'}:judge"
    ).exception
    assert isinstance(error, ConfigError)
    assert "the matcher 'judge' failed on the reply to " in str(error)
    assert "ZeroDivisionError: division by zero" in str(error)


def test_results_that_cannot_be_written_are_refused_at_once(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    before = shared.counts()
    server = ("--model", "openai/fake", "--base-url", shared.url)
    for place, why in ((tmp_path / "none" / "x.json", "there is no such folder"), (tmp_path, "it is a folder")):
        error = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, "--json", place).exception
        assert isinstance(error, DataError)
        assert why in str(error)
    assert shared.counts() == before


def test_nothing_is_begun_after_an_interruption(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: tuple[str, ...]
) -> None:
    monkeypatch.setattr(RunProgress, "stopping", lambda self: True)
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, "--prompt", "zero-shot,chain-of-thought")
    assert isinstance(done.exception, StoppedError)
    assert not (tmp_path / "openai-fake_test_chain-of-thought.json").exists()


def test_contamination(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, "--contamination")
    assert done.exit_code == 0, done.output
    assert "published" in done.stdout
    assert "twin" in done.stdout
    assert json.loads((tmp_path / "openai-fake_test.json").read_text())["data"] == str(data)
    assert len(list(tmp_path.glob("twin-*/openai-fake_test.json"))) == 1


def test_too_many_failures_have_an_exit_code(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    shared.behave(context=700)
    common = ("evaluate", "--model", "openai/fake", "--base-url", shared.url, "--data", data, "--output-dir", tmp_path)
    done = run(*common)
    assert done.exit_code == 3
    assert "too many answers are missing for this result to count" in done.stdout
    assert "context too long" in done.stdout
    assert run(*common, "--max-failed", 1.0).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--price", "1"), "--price is '1'; expected two or three numbers"),
        (("--option", "x"), "--option is 'x'; expected NAME=VALUE"),
        (("--prompt", "zero-shoot"), "zero-shot"),
        (("--api", "chta"), "unknown kind of API 'chta'"),
        (("--concurrency", "0"), "--concurrency is 0"),
        (("--seeds", "0"), "--seeds is 0; use 1 or more"),
        (("--price", "nan,1"), "--price is 'nan,1'; expected two or three numbers"),
    ],
)
def test_wrong_settings(data: Path, server: tuple[str, ...], arguments: tuple[str, ...], message: str) -> None:
    error = run("evaluate", *server, "--data", data, *arguments).exception
    assert isinstance(error, ConfigError)
    assert message in str(error)


def test_exit_codes_of_the_program(data: Path, tmp_path: Path, shared: FakeServer) -> None:
    command = [sys.executable, "-m", "storyproof", "evaluate", "--model", "openai/fake", "--data", str(data)]
    command += ["--output-dir", str(tmp_path), "--option", "retries=0", "--base-url"]
    done = subprocess.run([*command, "http://127.0.0.1:9/v1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    begin, error = done.stderr.splitlines()
    assert begin == "storyproof: openai/fake zero-shot: 36 questions"
    assert error.startswith("storyproof: no server at http://127.0.0.1:9/v1 (Connection refused); start one")
    shared.behave(context=1)
    done = subprocess.run([*command, shared.url], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "gave no answer at all, so there is nothing to score: context too long" in done.stderr


def test_ask_of_a_dataset(data: Path, server: tuple[str, ...]) -> None:
    done = run("ask", *server, "--data", data, "--index", 5, "--exclude-memory-reality")
    assert done.exit_code == 0, done.output
    assert "openai/fake: The " in done.stdout
    assert "expected: " in done.stdout
    assert isinstance(run("ask", *server, "--data", data, "--index", 99).exception, DataError)


def test_ask_of_ones_own(server: tuple[str, ...]) -> None:
    story = "Oliver entered the room. The apple is in the basket."
    asked = ("ask", *server, "--story", story, "--question", "Where is the apple?")
    assert run(*asked).stdout == "openai/fake: The basket.\n"
    done = run(*asked, "--answer", "basket", "--show-prompt")
    assert "Oliver entered the room.\nThe apple is in the basket.\n" in done.stdout
    assert (
        "expected: basket (right: strict no_match, careful normalized_match, lenient normalized_match)" in done.stdout
    )
    read = json.loads(run(*asked, "--json", "-").stdout)
    assert (read["answer"], read["matches"], len(read["steps"])) == ("The basket.", {}, 1)


def test_conventions(data: Path, tmp_path: Path, server: tuple[str, ...]) -> None:
    asked = ("ask", *server, "--data", data, "--index", 1, "--show-prompt")
    said = "\n- Everyone who is in a room"
    assert said in run(*asked).stdout
    assert said not in run(*asked, "--no-conventions").stdout
    for option, is_stated in (("--conventions", True), ("--no-conventions", False)):
        done = run("evaluate", *server, "--data", data, "--output-dir", tmp_path, option, "--max-stories", 2)
        assert done.exit_code == 0, done.output
        [path] = [each for each in tmp_path.glob("*.json") if ("no-conventions" in each.name) != is_stated]
        prompt = json.loads(path.read_text())["prompt"]
        assert (prompt["name"], prompt["conventions"]) == ("zero-shot", is_stated)


def test_conventions_are_for_those_who_are_asked_by_prompts(data: Path) -> None:
    for verb in ("evaluate", "ask"):
        error = run(verb, "--model", "rules", "--data", data, "--no-conventions").exception
        assert isinstance(error, ConfigError)
        assert "not a language model" in str(error)


def test_ask_a_solver(data: Path) -> None:
    assert "rules: " in run("ask", "--model", "rules", "--data", data).stdout


def test_ask_as_one_types(server: tuple[str, ...]) -> None:
    typed = "The apple is in the basket.\n\nWhere is the apple?\nbasket\nAnd now?\n\n\n\n"
    done = run("ask", *server, typed=typed)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("openai/fake: The basket.") == 2
    assert done.stdout.count("expected: basket") == 1


def test_ask_needs_to_know_what(data: Path) -> None:
    for arguments in (("--story", "x"), ("--question", "x"), ("--data", data, "--story", "x", "--question", "y")):
        assert isinstance(run("ask", "--model", "rules", *arguments).exception, ConfigError)


def test_pull(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storyproof.solvers.llm.pull.pull", lambda name: Path(f"/cache/{name}"))
    assert run("doctor", "--pull", "smollm2").stdout == "smollm2 is at /cache/smollm2; ask it as local/smollm2\n"


def test_several_models_stand_in_one_table(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=1, out=tmp_path / "data")
    models = "rules,oracle,tests.reports.run_samples:chat"
    done = run("evaluate", "--model", models, "--data", tmp_path / "data", "--output-dir", tmp_path / "runs")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("average") == 1
    solvers = [line.split()[0] for line in done.stdout.split("\n") if line.startswith((" rules", " oracle", " tests"))]
    assert solvers == ["rules", "oracle", "tests.reports.run_samples:chat"]
