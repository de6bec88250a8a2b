"""What every benchmark and every solver in the catalog must keep to, found through the catalog."""

from collections import Counter
from statistics import mean
from typing import Any

import pyarrow as pa
import pytest

import storyproof
from storyproof.catalog import BENCHMARKS as CATALOG
from storyproof.catalog import load, names, versions
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ConfigError, DataError
from storyproof.example import SCHEMA, SPLITS, Example
from storyproof.families.family import family_of_table
from storyproof.solvers.solver import load_solver
from tests.samples import examples, table

BENCHMARKS = sorted(names("benchmark"))
THEORY_OF_MIND = [name for name in BENCHMARKS if load("benchmark", name).family == "belief"]
SOLVERS = sorted(names("solver"))
TRAINED = {"entnet": "tomi", "gat": "clutrr"}
RESTS_ON_NOTHING = {"orderings": {"not known"}, "tom-k": {"no", "nobody"}}  # answers that no sentence proves
LONGER_QUESTIONS = {"tom-k": "entnet"}  # than the model that ships with storyproof can read
each_benchmark = pytest.mark.parametrize("name", BENCHMARKS)


def all_splits(name: str) -> pa.Table:
    return pa.concat_tables([table(name, split) for split in SPLITS])


@each_benchmark
def test_same_seed_same_table(name: str) -> None:
    # The test split is the cheapest; what differs between splits is no source of chance.
    benchmark = make_benchmark(name, seed=0)
    again = pa.concat_tables(benchmark.blocks("test", benchmark.stories("test", 96)))
    assert again.to_pylist() == table(name, "test").to_pylist()


@each_benchmark
def test_few_stories_are_the_first_of_a_block(name: str) -> None:
    benchmark = make_benchmark(name, seed=0).with_blocks_of(256)
    few = 2 * benchmark.round
    rows = few * benchmark.rows_per_story("val")
    whole = benchmark.block("val", 0).slice(0, rows)
    assert benchmark.beginning("val", 0, few).slice(0, rows).to_pylist() == whole.to_pylist()


@each_benchmark
def test_seeds_and_splits_differ(name: str) -> None:
    def stories(made: pa.Table) -> set[str]:
        return set(made.column("story").to_pylist())

    made = [stories(table(name, "test")), stories(table(name, "test", seed=1)), stories(table(name, "val"))]
    assert len(set.union(*made)) == sum(map(len, made))


@each_benchmark
def test_no_story_twice(name: str) -> None:
    told: dict[str, str] = {}
    for row in all_splits(name).select(["story", "story_id"]).to_pylist():
        assert told.setdefault(row["story"], row["story_id"]) == row["story_id"]
    if name not in THEORY_OF_MIND:
        return
    # Also under other words for what does not happen: the events alone must differ.
    shorn = {
        (row["story_id"], tuple(line for line in row["story"].split("\n") if " is in " in line or " moved " in line))
        for row in all_splits(name).to_pylist()
    }
    assert len({lines for _, lines in shorn}) == len(shorn)


@each_benchmark
def test_rows_are_whole(name: str) -> None:
    made = all_splits(name)
    benchmark = make_benchmark(name)
    assert made.schema == benchmark.schema
    assert benchmark.schema.names[: len(SCHEMA)] == SCHEMA.names
    nulls = {column: made.column(column).null_count for column in made.column_names}
    assert nulls == dict.fromkeys(benchmark.schema.names, 0)
    ids = made.column("id").to_pylist()
    assert len(set(ids)) == len(ids)
    assert set(made.column("benchmark").to_pylist()) == {name}
    for split in SPLITS:
        rows = table(name, split)
        assert set(rows.column("split").to_pylist()) == {split}
        per_story = Counter(rows.column("story_id").to_pylist())
        assert set(per_story.values()) == {benchmark.rows_per_story(split)}
        assert len(per_story) == benchmark.stories(split, 96)


def minds(row: dict[str, Any]) -> int:
    """How many minds a question has: those of its chain or group, and who believes something is a mind too."""
    return len(row["chain"]) + (row["question_type"] == "believers")


@each_benchmark
def test_rows_make_sense(name: str) -> None:
    known = set(make_benchmark(name).readings)
    for row in all_splits(name).to_pylist():
        assert row["answer"] in row["candidates"]
        assert row["candidates"] == sorted(set(row["candidates"]))
        assert len(row["candidates"]) > 1
        assert row["proof"] or row["answer"] in RESTS_ON_NOTHING.get(name, ())
        assert row["proof"] == sorted(set(row["proof"]))
        assert set(row["proof"]) <= set(range(1, row["story"].count("\n") + 2))
        assert row["order"] == minds(row)
        assert row["readings"]
        assert set(row["readings"]) <= known
        assert all(agent in row["story"] and agent in row["question"] for agent in row["chain"])
        assert row["false_belief"] == ("_tom" in row["question_type"].replace("_no_tom", ""))


@pytest.mark.parametrize("name", [name for name in THEORY_OF_MIND if name != "tom-k"])  # whose types are what happens
def test_story_types_are_balanced(name: str) -> None:
    for split in SPLITS:
        types = Counter(table(name, split).column("story_type").to_pylist())
        assert len(types) == 3
        assert len(set(types.values())) == 1


@each_benchmark
def test_counts_are_checked(name: str) -> None:
    benchmark = make_benchmark(name)
    assert list(benchmark.usual_counts) == list(SPLITS)
    for split, count in benchmark.usual_counts.items():
        assert count % benchmark.round == 0, split
    least = 3_000_000 if name in CATALOG else 100_000
    assert all(benchmark.capacity(split) > least for split in SPLITS)
    with pytest.raises(ConfigError, match="cannot be negative"):
        benchmark.check_count("test", -benchmark.round)


@each_benchmark
def test_its_family_is_that_of_its_rows(name: str) -> None:
    assert load("benchmark", name).family == family_of_table(table(name, "test")).name


@each_benchmark
def test_options_are_declared_once_and_presets_are_settings(name: str) -> None:
    made = load("benchmark", name)
    flags = [option.flag for option in made.config_type.options().values()]
    assert len(set(flags)) == len(flags)
    assert all(flag.startswith("--") and "_" not in flag for flag in flags)
    for preset in made.presets:
        settings, counts = made.preset(preset)
        assert make_benchmark(name, preset=preset).config == made.config_type(**settings)
        assert set(counts) <= set(SPLITS)


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
    asked = examples(name, "test")
    if solver in TRAINED and make_benchmark(name).family != make_benchmark(TRAINED[solver]).family:
        with pytest.raises(ConfigError, match="was trained on"):
            load_solver(solver).predict(asked)
        return
    if LONGER_QUESTIONS.get(name) == solver:
        with pytest.raises(DataError, match="the model reads at most"):
            load_solver(solver).predict(asked)
        return
    answers = load_solver(solver).predict(asked)
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
