"""What every benchmark and every solver in the catalog must keep to; see `storyproof.families.conformance`."""

from collections import Counter
from statistics import mean
from typing import Any

import pytest

import storyproof
from storyproof.catalog import BENCHMARKS as OWN
from storyproof.catalog import load, names, versions
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ConfigError, DataError
from storyproof.example import SPLITS, Example
from storyproof.families.conformance import BenchmarkLaws, Case
from storyproof.solvers.solver import load_solver
from tests.samples import examples, table

BENCHMARKS = sorted(names("benchmark"))
THEORY_OF_MIND = [name for name in BENCHMARKS if load("benchmark", name).family == "belief"]
SOLVERS = sorted(names("solver"))
TRAINED = {"entnet": "tomi", "gat": "clutrr", "tracker": "tomi", "composer": "clutrr"}
each_benchmark = pytest.mark.parametrize("name", BENCHMARKS)


class TestBenchmarks(BenchmarkLaws):
    benchmarks = BENCHMARKS


@pytest.mark.parametrize("name", THEORY_OF_MIND)
def test_events_alone_differ(name: str) -> None:
    """Also under other words for what does not happen."""
    shorn = {
        (row["story_id"], tuple(line for line in row["story"].split("\n") if " is in " in line or " moved " in line))
        for split in SPLITS
        for row in table(name, split).to_pylist()
    }
    assert len({lines for _, lines in shorn}) == len(shorn)


def minds(row: dict[str, Any]) -> int:
    """How many minds a question has: those of its chain or group, and who believes something is a mind too."""
    return len(row["chain"]) + (row["question_type"] == "believers")


@each_benchmark
def test_minds_are_counted_and_false_beliefs_named(name: str) -> None:
    for split in SPLITS:
        for row in table(name, split).to_pylist():
            assert row["order"] == minds(row)
            assert row["false_belief"] == ("_tom" in row["question_type"].replace("_no_tom", ""))


@pytest.mark.parametrize("name", [name for name in THEORY_OF_MIND if name != "tom-k"])  # whose types are what happens
def test_story_types_are_balanced(name: str) -> None:
    for split in SPLITS:
        types = Counter(table(name, split).column("story_type").to_pylist())
        assert len(types) == 3
        assert len(set(types.values())) == 1


@pytest.mark.parametrize("name", [name for name in OWN if "@" not in name])
def test_there_are_stories_enough(name: str) -> None:
    assert all(make_benchmark(name).capacity(split) > 3_000_000 for split in SPLITS)


@each_benchmark
def test_every_version_generates_under_its_own_number(name: str) -> None:
    assert versions(name)[-1] == load("benchmark", name).version
    for version in versions(name):
        made = load("benchmark", f"{name}@{version}")
        assert (made.name, made.version) == (name, version)
        assert make_benchmark(name, version=version).identity == make_benchmark(f"{name}@{version}").identity


@each_benchmark
def test_docstring_says_what_it_is(name: str) -> None:
    about = load("benchmark", name).__doc__ or ""
    for word in ("World:", "Questions:", "Splits:", "Known artefacts", "Source"):
        assert word in about, word


@each_benchmark
@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_answer_every_example(name: str, solver: str) -> None:
    asked = examples(name, "test", 24)
    family = Case(name).family
    if solver == "rules" and not family.provides("rules_answer"):
        with pytest.raises(DataError, match="knows no rules"):
            load_solver(solver).predict(asked)
        return
    if solver in TRAINED and family is not Case(TRAINED[solver]).family:
        with pytest.raises(ConfigError, match="was trained on"):
            load_solver(solver).predict(asked)
        return
    problem = ""
    try:
        answers = load_solver(solver).predict(asked)
    except DataError as error:
        problem = str(error)
    if problem:  # longer questions than those of its training data
        assert solver in TRAINED
        assert name != TRAINED[solver]
        assert "the model reads at most" in problem
        return
    assert len(answers) == len(asked)
    if TRAINED.get(solver, name) == name:  # on other words than it has learnt, a model may say anything
        assert all(answer in each.candidates for answer, each in zip(answers, asked, strict=True))
    assert load_solver(solver).predict(asked) == answers
    assert load_solver(solver).predict([]) == []


@pytest.mark.parametrize(
    ("solver", "settings"),
    [("entnet", {"test": 150}), ("gat", {"test": 60, "test_k": (2, 3, 4)})],
    ids=["entnet", "gat"],
)
def test_trained_solvers_score_on_fresh_data(solver: str, settings: dict[str, Any]) -> None:
    """About as their README says; whatever changes a model's equations spoils them."""
    rows = storyproof.generate(TRAINED[solver], seed=21, **settings).to_pylist()
    asked = [Example.from_row(row) for row in rows]
    answers = load_solver(solver).predict(asked)
    assert mean(answer == each.answer for answer, each in zip(answers, asked, strict=True)) > 0.98
