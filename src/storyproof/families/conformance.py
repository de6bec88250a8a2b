"""The conformance suite: what must hold for every benchmark and its family, also those of other packages.

It needs pytest. A package with a family has a test module of a few lines:

    import pytest

    pytest.register_assert_rewrite("storyproof.families.conformance")

    from storyproof.families.conformance import BenchmarkLaws, FamilyLaws


    class TestFamily(FamilyLaws):
        benchmarks = ("seating",)


    class TestBenchmark(BenchmarkLaws):
        benchmarks = ("seating",)

What a family leaves out (`Family.provides`) is skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from rich.console import Console

import storyproof
from storyproof.audits.row_pass import examine_table
from storyproof.audits.shortcuts import find_shortcuts
from storyproof.benchmark import Benchmark
from storyproof.catalog import load, names
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.reading import complete
from storyproof.errors import ConfigError, DataError
from storyproof.evaluation.answer_judge import MistakeFinder, describe
from storyproof.example import SCHEMA, SPLITS, Example, plain_schema
from storyproof.families.family import Family, family_of, family_of_table, load_family, recognise
from storyproof.formats.format import format_of
from storyproof.solvers.llm.prompt import load_prompt, prompt_names
from storyproof.solvers.solver import load_solver

LABELS = ("answer", "candidates", "question_type", "story_type", "order", "false_belief", "readings", "proof")
_IDENTITY = ("id", "story_id", "benchmark", "split", "story", "question")
_STORIES = 24
_STORIES_OF_SPLIT = 96


@dataclass(frozen=True, slots=True)
class Case:
    """A benchmark under test.

    Attributes:
        name: Its name.
    """

    name: str

    @property
    def benchmark(self) -> Benchmark:
        """The recipe with its default settings."""
        return make_benchmark(self.name)

    @property
    def family(self) -> Family:
        """The family of its rows."""
        return load_family(self.benchmark.family)

    @property
    def table(self) -> pa.Table:
        """Some generated rows."""
        return _table(self.name, "test", _rounded(self.benchmark, _STORIES), 3)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same rows as dictionaries."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    @property
    def examples(self) -> list[Example]:
        """The same rows as examples."""
        return [Example.from_row(row, self.family.name) for row in self.rows]

    @property
    def stories(self) -> list[list[Example]]:
        """The same rows, by story."""
        stories: dict[str, list[Example]] = {}
        for each in self.examples:
            stories.setdefault(each.story_id, []).append(each)
        return list(stories.values())

    def split(self, split: str, seed: int = 0) -> pa.Table:
        """Return the rows of a split."""
        return _table(self.name, split, _rounded(self.benchmark, _STORIES_OF_SPLIT), seed)

    def write(self, folder: Path, format_name: str = "jsonl") -> tuple[Path, list[dict[str, Any]]]:
        """Write a few generated rows to a file; return both."""
        count = max(2, self.benchmark.round)
        storyproof.generate(self.name, test=count, seed=3, out=folder, format=format_name)
        path = folder / f"test.{format_name}"
        return path, [row for table in format_of(path).read(path) for row in table.to_pylist()]


def _rounded(benchmark: Benchmark, stories: int) -> int:
    """Return a number to ask for, such that there are about as many stories."""
    wanted = max(1, stories // benchmark.stories("test", 1))
    return -(-wanted // benchmark.round) * benchmark.round


@cache
def _table(name: str, split: str, stories: int, seed: int) -> pa.Table:
    counts: dict[str, Any] = {split: stories}
    return storyproof.generate(name, seed=seed, **counts)


class Laws:
    """Tests that run over some benchmarks.

    Attributes:
        benchmarks: Their names.
    """

    benchmarks: ClassVar[Sequence[str]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test over each benchmark."""
        if "case" in metafunc.fixturenames:
            benchmarks = type(self).benchmarks
            metafunc.parametrize("case", [Case(name) for name in benchmarks], ids=list(benchmarks))


def need(family: Family, *members: str) -> None:
    """Skip a test if a family leaves out all of some members."""
    if not any(map(family.provides, members)):
        pytest.skip(f"{family.name} has no {' or '.join(members)} of its own")


class FamilyLaws(Laws):
    """What holds for every family, tested on rows of benchmarks."""

    def test_shared_columns_come_first(self, case: Case) -> None:
        """A family adds its columns to those of all families."""
        family = case.family
        assert family.schema.names[: len(SCHEMA)] == SCHEMA.names
        assert family.marks <= set(family.schema.names)
        assert set(family.facts) <= set(family.schema.names)

    def test_rows_are_recognised(self, case: Case) -> None:
        """Each row is recognised as one of its family, and no other family reads its question."""
        family = case.family
        for each in case.examples:
            assert recognise(family.schema.names if family.marks else (), each.question) is family
            assert family.reads(each.question)
            assert family_of(Example.from_row(each.as_row())) is family
            assert sum(other.reads(each.question) for other in map(load_family, names("family"))) == 1

    def test_labels_follow_from_the_rest(self, case: Case) -> None:
        """Text, and the facts that no text tells, are enough to derive everything else."""
        family, rows = case.family, case.rows
        kept = (*_IDENTITY, "answer", *family.facts)
        bare = pa.Table.from_pylist(
            [{name: row.get(name) if name in kept else None for name in family.schema.names} for row in rows],
            schema=plain_schema(family.schema),
        )
        labels = ("answer", "candidates", "order", "chain", "false_belief", "readings")
        assert complete(bare, family, proved=True).select(labels).to_pylist() == [
            {name: row[name] for name in labels} for row in rows
        ]

    def test_generated_rows_verify(self, case: Case) -> None:
        """Oracle and checker confirm every label."""
        report = examine_table(case.table)
        assert report.disagreements == []
        assert not report.unchecked

    def test_a_wrong_answer_is_found(self, case: Case) -> None:
        """Another candidate in place of the answer is found in every row."""
        rows = case.rows
        for row in rows:
            row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
        table = pa.Table.from_pylist(rows, schema=plain_schema(case.family.schema))
        assert {finding.id for finding in examine_table(table).disagreements} == {row["id"] for row in rows}

    def test_checker_and_candidates(self, case: Case) -> None:
        """The checker's answer is the label, and one of the candidates."""
        family = case.family
        for each in case.examples:
            assert family.checked_answer(each) == each.answer
            assert each.answer in family.candidates(each)
            assert set(family.positions(each)) <= {*family.candidates(each)}
            assert each.answer in family.positions(each)
            assert set(family.answer_parts(each)) in (set(), {*family.candidates(each)})
            assert family.kind(each) in family.measures(each)
            assert family.is_settled(each)

    def test_proofs_are_sentences(self, case: Case) -> None:
        """Every answer has a proof, but for those that the family says no sentence proves."""
        for row in case.rows:
            assert row["proof"] or row["answer"] in case.family.unproved
            assert row["proof"] == sorted(set(row["proof"]))
            assert set(row["proof"]) <= set(range(1, row["story"].count("\n") + 2))

    def test_renamed_stories_have_one_fingerprint(self, case: Case) -> None:
        """Other names give the same fingerprint, and other words another one."""
        need(case.family, "people")
        each, family = case.examples[0], case.family
        people = list(family.people(each))
        assert people
        facts = {name: each.get(name) for name in family.facts}
        text, known = each.story, json.dumps(facts)
        for number, name in enumerate(people):
            text, known = (part.replace(name, f"Zq{number}x") for part in (text, known))
        assert text != each.story
        assert family.fingerprint(text, json.loads(known)) == family.fingerprint(each.story, facts)
        assert family.fingerprint(each.story + " And more.", facts) != family.fingerprint(each.story, facts)

    @pytest.mark.parametrize("width", [60, 200])
    def test_stories_can_be_shown(self, case: Case, width: int) -> None:
        """The terminal shows every story at any width."""
        for story in case.stories:
            out = StringIO()
            Console(width=width, file=out).print(case.family.lay_out(story))
            shown = out.getvalue()
            assert story[0].answer in shown
            assert max(map(len, shown.split("\n"))) <= width

    def test_pictures_are_whole(self, case: Case) -> None:
        """Pictures are SVG with a caption."""
        need(case.family, "pictures")
        for story in case.stories:
            for picture in case.family.pictures(story, story[-1].proof):
                root = ElementTree.fromstring(picture.svg)
                assert root.tag.endswith("svg")
                assert picture.caption

    def test_shortcuts_are_measured(self, case: Case) -> None:
        """Guessing is measured."""
        need(case.family, "shortcuts")
        report = find_shortcuts(None, case.examples, learned=False)
        assert report.questions == len(case.rows)
        assert 0 < report.chance <= report.forced.accuracy <= 1
        assert report.rows
        assert report.verdict.startswith("A reader who")

    @pytest.mark.parametrize("name", prompt_names())
    def test_every_prompt_can_ask(self, case: Case, name: str) -> None:
        """Every prompt of storyproof has a wording for the family."""
        asked, *shots = case.stories
        prompt = load_prompt(name, shots=[each for story in shots for each in story])
        request = prompt.request(asked[0], [])
        assert request is not None
        assert asked[0].question in request.messages[-1].content or "{question}" not in request.messages[-1].content
        assert "{" not in request.messages[-1].content

    @pytest.mark.parametrize("solver", ["random", "majority", "rules", "oracle"])
    def test_baselines_answer(self, case: Case, solver: str) -> None:
        """Baselines name candidates."""
        if solver == "rules":
            need(case.family, "rules_answer")
        answers = load_solver(solver, 0).predict(case.examples)
        assert len(answers) == len(case.examples)
        for answer, each in zip(answers, case.examples, strict=True):
            assert not answer or answer in case.family.candidates(each)

    @pytest.mark.parametrize("format_name", ["parquet", "jsonl"])
    def test_files_round_trip(self, case: Case, format_name: str, tmp_path: Path) -> None:
        """What is written is read, verified and evaluated."""
        storyproof.generate(case.name, test=case.benchmark.round, seed=3, out=tmp_path / "x", format=format_name)
        assert storyproof.verify(tmp_path / "x").ok
        assert storyproof.evaluate("oracle", tmp_path / "x").scores.accuracy == 1

    @pytest.mark.parametrize("format_name", ["parquet", "jsonl"])
    def test_audits_of_generated_data_find_nothing(self, case: Case, format_name: str, tmp_path: Path) -> None:
        """An audit of generated data reports nothing but a small test."""
        path, rows = case.write(tmp_path / "x", format_name)
        report = storyproof.audit(path)
        assert {each.kind for each in report.files[0].findings} <= {"small_test"}
        assert report.files[0].family == case.family.name
        assert report.files[0].questions == len(rows)

    @pytest.mark.parametrize("label", LABELS)
    def test_wrong_labels_are_found_explained_and_fixed(self, case: Case, label: str, tmp_path: Path) -> None:
        """A wrong value in a column is found in every row, and an audit writes the right one."""
        check_wrong_label(case, label, "jsonl", tmp_path)

    def test_rows_without_text_are_refused(self, case: Case) -> None:
        """A text that cannot be read is an error that names the row."""
        row = {**case.rows[0], "story": "Once upon a time.", "candidates": None, "proof": None}
        if case.family.facts:
            pytest.skip("facts are given beside the text, so the text is not needed to complete a row")
        table = pa.Table.from_pylist([row], schema=plain_schema(case.family.schema))
        with pytest.raises(DataError, match="row "):
            complete(table, case.family)

    def test_mistakes_and_groups(self, case: Case) -> None:
        """Mistakes have descriptions, groups have names, and scales are numbers."""
        family = case.family
        for each in case.examples:
            assert set(family.mistaken_answers(each)) <= set(family.mistakes)
            assert all(
                isinstance(answer, str) for answers in family.mistaken_answers(each).values() for answer in answers
            )
            assert all(isinstance(text, str) for pair in family.facets(each).items() for text in pair)
            scale = family.scale(each)
            assert scale is None or (isinstance(scale[0], str) and isinstance(scale[1], int))
            finder = MistakeFinder(each)
            for answer in (*family.candidates(each), "nonsense"):
                if answer != each.answer:
                    assert set(finder.explain(answer)) <= set(describe(family))
        for reference in family.references:
            assert reference.benchmark in names("benchmark")
            assert all(0 <= value <= 1 for value in reference.values.values())

    def test_texts_alone_give_the_same_answers(self, case: Case) -> None:
        """What the explorer shows of a text is what the row says."""
        family = case.family
        for example in case.examples[::3]:
            people = family.people(example)
            assert family.find_problems(example.story, example.question, people) == []
            proof = family.prove_text(example.story, example.question, people)
            assert (proof.answer, proof.family) == (example.answer, family.name)
            steps = family.steps(proof)
            assert [step.sentence for step in steps] == example.story.split("\n")
            if family.provides("pictures") or family.provides("steps"):
                assert any(step.entries or step.picture for step in steps)
            by_reading = family.answers_by_reading(proof)
            assert set(by_reading) <= set(family.readings)
            assert not by_reading or example.answer in by_reading.values()
            assert {model.answer for model in family.models(proof)} <= {example.answer}

    def test_running_text_can_be_asked(self, case: Case) -> None:
        """`storyproof.story` reads sentences one after the other as well as one per line."""
        for example in case.examples[::5]:
            people = tuple(case.family.people(example))
            running = storyproof.story(example.story.replace("\n", " "), people, family=case.family.name)
            assert running.ask(example.question).answer == example.answer

    def test_a_text_that_cannot_be_read_has_a_problem(self, case: Case) -> None:
        """A sentence in no known form is reported at its line."""
        family, example = case.family, case.examples[0]
        lines = example.story.split("\n")
        for place in range(len(lines)):
            broken = "\n".join([*lines[:place], f"{lines[place]} Xq zv stepson half-brother.", *lines[place + 1 :]])
            problems = family.find_problems(broken, example.question, family.people(example))
            assert any(problem.is_fatal and problem.line in (0, place + 1) for problem in problems)
        assert family.find_problems(example.story, "Why?")[0].part == "question"


def check_wrong_label(case: Case, label: str, format_name: str, folder: Path) -> None:
    """Write rows with a wrong value in one column; verify and audit must find each, and the fix must be right."""
    path, rows = case.write(folder / "x", format_name)
    wrong = [{**row, label: change(row[label], row)} for row in rows]
    writer = format_of(path).writer(folder / "x", "test")
    writer.write(pa.Table.from_pylist(wrong, schema=plain_schema(case.family.schema)))
    writer.close()
    assert {each.id for each in storyproof.verify(path).disagreements if each.id} == {row["id"] for row in rows}
    (report,) = storyproof.audit(path, fix=folder / "fixed").files
    findings = [each for each in report.findings if each.field == label]
    assert sorted({each.row for each in findings}) == list(range(len(rows)))
    assert all(each.reason and each.kind in case.family.kinds and each.fix and each.is_claim for each in findings)
    if format_name == "jsonl":
        assert {each.line for each in findings} == set(range(1, len(rows) + 1))
    assert storyproof.verify(folder / "fixed").ok
    fixed = next(format_of(path).read(folder / "fixed" / path.name)).to_pylist()
    assert [row[label] for row in fixed] == [row[label] for row in rows]


def change(value: Any, row: dict[str, Any]) -> Any:
    """Return another value of the same type; another candidate in place of an answer."""
    if value == row["answer"]:
        return next(each for each in row["candidates"] if each != value)
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case _:
            return value[:-1] if any(isinstance(each, str) for each in value) else [*value, 99]


class BenchmarkLaws(Laws):
    """What holds for every benchmark."""

    def test_same_seed_same_table(self, case: Case) -> None:
        """The same seed gives the same rows."""
        count = _rounded(case.benchmark, _STORIES_OF_SPLIT)
        again = pa.concat_tables(case.benchmark.blocks("test", case.benchmark.stories("test", count)))
        assert again.to_pylist() == case.split("test").to_pylist()

    def test_few_stories_are_the_first_of_a_block(self, case: Case) -> None:
        """A short dataset is the beginning of a longer one."""
        benchmark = case.benchmark.with_blocks_of(256)
        few = 2 * benchmark.round
        rows = few * benchmark.rows_per_story("val")
        whole = benchmark.block("val", 0).slice(0, rows)
        assert benchmark.beginning("val", 0, few).slice(0, rows).to_pylist() == whole.to_pylist()

    def test_seeds_and_splits_differ(self, case: Case) -> None:
        """No story of a split or seed is in another."""
        tables = [case.split("test"), case.split("test", seed=1), case.split("val")]
        stories = [set(table.column("story").to_pylist()) for table in tables]
        assert len(set.union(*stories)) == sum(map(len, stories))

    def test_no_story_twice(self, case: Case) -> None:
        """Two stories of a dataset differ in their text."""
        identities: dict[str, str] = {}
        for split in SPLITS:
            for row in case.split(split).select(["story", "story_id"]).to_pylist():
                assert identities.setdefault(row["story"], row["story_id"]) == row["story_id"]

    def test_rows_are_whole(self, case: Case) -> None:
        """Every row has every column, an id of its own, and as many neighbours as declared."""
        benchmark = case.benchmark
        rows = pa.concat_tables([case.split(split) for split in SPLITS])
        assert rows.schema == benchmark.schema
        assert benchmark.schema.names[: len(SCHEMA)] == SCHEMA.names
        nulls = {column: rows.column(column).null_count for column in rows.column_names}
        assert nulls == dict.fromkeys(benchmark.schema.names, 0)
        ids = rows.column("id").to_pylist()
        assert len(set(ids)) == len(ids)
        assert set(rows.column("benchmark").to_pylist()) == {case.name}
        for split in SPLITS:
            made = case.split(split)
            assert set(made.column("split").to_pylist()) == {split}
            per_story = Counter(made.column("story_id").to_pylist())
            assert set(per_story.values()) == {benchmark.rows_per_story(split)}
            assert len(per_story) == benchmark.stories(split, _rounded(benchmark, _STORIES_OF_SPLIT))

    def test_rows_make_sense(self, case: Case) -> None:
        """Candidates, readings and minds fit the question."""
        readings = set(case.benchmark.readings)
        for row in self._all_rows(case):
            assert row["answer"] in row["candidates"]
            assert row["candidates"] == sorted(set(row["candidates"]))
            assert len(row["candidates"]) > 1
            assert row["proof"] or row["answer"] in case.family.unproved
            assert row["readings"]
            assert set(row["readings"]) <= readings
            assert all(agent in row["story"] and agent in row["question"] for agent in row["chain"])

    def test_counts_are_checked(self, case: Case) -> None:
        """Counts that are too large or negative are refused."""
        benchmark = case.benchmark
        assert list(benchmark.usual_counts) == list(SPLITS)
        for split, count in benchmark.usual_counts.items():
            assert count % benchmark.round == 0, split
            assert benchmark.capacity(split) >= count
            with pytest.raises(ConfigError, match="different stories"):
                benchmark.check_count(split, (benchmark.capacity(split) // benchmark.round + 1) * benchmark.round)
        with pytest.raises(ConfigError, match="cannot be negative"):
            benchmark.check_count("test", -benchmark.round)

    def test_its_family_is_that_of_its_rows(self, case: Case) -> None:
        """The declared family is the recognised one."""
        assert case.benchmark.family == family_of_table(case.split("test")).name

    def test_options_are_declared_once_and_presets_are_settings(self, case: Case) -> None:
        """Options have flags of their own, and presets can be generated."""
        made = load("benchmark", case.name)
        flags = [option.flag for option in made.config_type.options().values()]
        assert len(set(flags)) == len(flags)
        assert all(flag.startswith("--") and "_" not in flag for flag in flags)
        for preset in made.presets:
            settings, counts = made.preset(preset)
            assert make_benchmark(case.name, preset=preset).config == made.config_type(**settings)
            assert set(counts) <= set(SPLITS)

    def test_options_keep_to_their_range(self, case: Case) -> None:
        """A number outside the declared range, and an undeclared choice, are refused."""
        config_type = load("benchmark", case.name).config_type
        for name, option in config_type.options().items():
            for value in _refused_values(option, getattr(config_type(), name)):
                with pytest.raises(ConfigError, match=option.flag):
                    config_type(**{name: value})

    def _all_rows(self, case: Case) -> Iterator[dict[str, Any]]:
        for split in SPLITS:
            yield from case.split(split).to_pylist()


def _refused_values(option: Any, usual: Any) -> Iterator[Any]:
    several = isinstance(usual, tuple)
    if option.choices:
        yield ("no such choice",) if several else "no such choice"
    if option.least is not None and option.most is not None:
        for number in (option.least - (0 if option.is_above else 1), option.most + 1):
            yield (number,) if several else number
