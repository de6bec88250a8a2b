"""Source 001: the commands of its README as typed, with `storyproof` for the scripts, and its ways to match answers."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import storyproof
from storyproof import catalog
from storyproof.catalog import load
from storyproof.errors import ConfigError
from storyproof.evaluation.matching import MATCHERS, judge
from storyproof.language.display_names import display_name
from storyproof.solvers.llm.messages import Reply, Request
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.vllm import Vllm
from tests.cli.invocation import run
from tests.solvers.llm.serving import FakeServer


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FakeServer() as server:
        yield server.url


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with `.txt` and `.trace` files."""
    storyproof.generate("tomi", train=3, val=9, test=3, seed=7, format="babi", out=tmp_path / "made")
    for file in (tmp_path / "made").iterdir():
        if file.suffix in (".txt", ".trace"):
            file.rename(tmp_path / file.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command: str, url: str = "") -> str:
    """Run a command as it is typed, and return what it prints."""
    words = shlex.split(command)
    done = run(*words, *(("--base-url", url) if url else ()))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_process_evaluate_and_ask(here: Path, url: str) -> None:
    for again in ("", " --force"):
        assert "val: 9 stories, 54 questions" in shell(f"process{again}")
    rows = json.loads((here / "processed_data/val.json").read_text())
    assert len(rows) == 54

    flags = "--max_samples 10 --output_dir results --exclude_memory_reality"
    printed = shell(f"evaluate --model openai/fake --dataset val {flags}", url)
    assert "loaded 54 questions from processed_data, 36 without memory and reality questions, asked 10" in printed
    for matching in ("strict", "careful *", "lenient"):  # the overall accuracy, by each
        assert re.search(rf"^ {re.escape(matching)} +[\d.]+ \(", printed, re.MULTILINE)
    types = set(re.findall(r"^ ((?:first|second) order.*?)  +[\d.]+ \(", printed, re.MULTILINE))
    assert types <= {display_name(row["question_type"]) for row in rows}
    assert len(types) > 2
    assert f"written to {Path('results', 'openai-fake_val.json')}" in printed
    assert "loaded 54 questions from processed_data\n" in shell("evaluate --model openai/fake --dataset val", url)
    assert (here / "evaluation_results" / "openai-fake_val.json").is_file()  # where the scripts write it
    matches = next(line for line in printed.splitlines() if line.startswith("matches: "))
    for kind in ("exact_match", "normalized_match", "contained_match", "prefix_match", "suffix_match", "no_match"):
        assert kind in matches  # also those that do not occur
    assert "first order" in printed
    strict = shell(f"evaluate --model openai/fake --dataset val --strict_matching {flags}", url)
    assert "strict *" in strict
    assert "is kept as results" in strict.replace("\n", " ")  # the run with the usual matching
    assert {file.name for file in (here / "results").glob("*.json")} == {
        "openai-fake_val.json",
        "openai-fake_val_processed_data.json",
    }

    picked = "--json_file processed_data/val.json --example_id 5 --exclude_memory_reality"
    assert "expected: " in shell(f"ask --model openai/fake {picked}", url)
    story = "Oliver entered the room. The apple is in the basket. Oliver moved the apple to the drawer."
    own = f"--story '{story}' --question 'Where is the apple now?' --answer drawer"
    assert "expected: drawer" in shell(f"ask --model openai/fake {own}", url)


class Llama:
    """Stands in for a model that vLLM runs: it says where the apple or anything else is, and records its options."""

    options: ClassVar[frozenset[str]] = Vllm.options
    loaded: ClassVar[list[tuple[str, int | None]]] = []

    def __init__(self, model: str, options: ModelOptions) -> None:
        self.name = f"vllm/{model}"
        self.loaded.append((model, options.batch_size))

    def identity(self) -> dict[str, Any]:
        return {"model": self.name}

    def about(self) -> dict[str, Any]:
        return {}

    def complete(self, requests: Iterable[tuple[str, Request]]) -> Iterator[tuple[str, Reply]]:
        for name, _ in requests:
            yield name, Reply("in the drawer")

    def close(self) -> None:
        pass


def test_the_examples_of_the_scripts_run_as_they_are_written(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog.BACKENDS, "vllm", f"{__name__}:Llama")
    monkeypatch.setattr(Llama, "loaded", [])
    model = "--model meta-llama/Llama-2-7b-hf"
    shell("process")
    printed = shell(
        f"evaluate {model} --dataset val --batch_size 16 --max_samples 100 --exclude_memory_reality "
        "--output_dir D --strict_matching"
    )
    assert ("meta-llama/Llama-2-7b-hf", 16) in Llama.loaded
    assert Path("D", "meta-llama-Llama-2-7b-hf_val.json").is_file()
    assert "loaded 54 questions from processed_data, 36 without memory and reality questions" in printed
    assert "expected: " in shell(
        f"ask {model} --json_file processed_data/val.json --example_id 5 --exclude_memory_reality"
    )
    story = "Oliver entered the room. The apple is in the basket. Oliver moved the apple to the drawer."
    printed = shell(f'ask {model} --story "{story}" --question "Where is the apple now?" --answer "drawer"')
    assert "in the drawer" in printed
    assert "careful suffix_match" in printed


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("red_suitcase", "exact_match"),
        ("the red suitcase", "normalized_match"),
        ("A red suitcase.", "normalized_match"),
        ("Red-suitcase", "normalized_match"),
        ("It is in the red suitcase now", "contained_match"),
        ("suitcase", "no_match"),
    ],
)
def test_lenient_takes_the_words_of_a_name(reply: str, kind: str) -> None:
    row = next(each for each in storyproof.stream("tomi", seed=7)[0].rows if each.question_type == "reality")
    words = (row.story.replace(row.answer, "red_suitcase"), row.question)
    candidates = tuple("red_suitcase" if each == row.answer else each for each in row.candidates)
    asked = replace(row, story=words[0], answer="red_suitcase", candidates=candidates)
    assert judge(MATCHERS["lenient"], asked, reply).kind == kind


def test_batch_size_goes_to_models_in_this_process() -> None:
    for name in ("hf", "vllm"):
        assert "batch_size" in load("backend", name).options


def test_a_split_without_data_needs_processed_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("evaluate", "--model", "rules", "--dataset", "val")
    assert isinstance(done.exception, ConfigError)
    assert "--data is missing, and there is no folder processed_data here" in str(done.exception)
