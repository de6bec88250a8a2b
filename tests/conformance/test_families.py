"""What holds for every family of the catalog, storyproof's own and others'."""

import json
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from rich.console import Console

import storyproof
from storyproof.audits.examination import examine_table
from storyproof.audits.shortcuts import find_shortcuts
from storyproof.catalog import load, names
from storyproof.datasets.examples import complete
from storyproof.errors import DataError
from storyproof.evaluation.mistakes import MistakeFinder, describe
from storyproof.example import REQUIRED, SCHEMA, Example, plain_schema
from storyproof.families.family import Family, family_of, family_of_table, load_family, recognise
from storyproof.families.judge import AUDIT_ASKS
from storyproof.formats.format import format_of
from storyproof.solvers.llm.prompt import load_prompt, prompt_names
from storyproof.solvers.solver import load_solver
from tests.cli.invocation import run
from tests.groups import only_first
from tests.reports.test_audit_page import pictures_of

STORIES = 24
IDENTITY = ("id", "story_id", "benchmark", "split", "story", "question")


OTHERS = {"tom-k": "belief"}  # benchmarks whose rows a family treats in another way than those of its first one
_chosen: dict[str, str] = {}


def benchmark_of(family: str) -> str:
    """The benchmark that a test is about, else the first one in the catalog that makes rows of a family."""
    return _chosen.get(family) or next(
        name for name in names("benchmark") if family_of_table(made(name)).name == family
    )


@cache
def made(benchmark: str) -> pa.Table:
    count = load("benchmark", benchmark)(load("benchmark", benchmark).config_type(), 0).stories("test", 1)
    return storyproof.generate(benchmark, test=max(1, STORIES // count), seed=3)


@pytest.fixture(params=[*sorted(names("family")), *OTHERS])
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Family:
    if request.param in OTHERS:
        monkeypatch.setitem(_chosen, OTHERS[request.param], request.param)
    return load_family(OTHERS.get(request.param, request.param))


def rows_of(family: Family) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = made(benchmark_of(family.name)).to_pylist()
    return found


def examples_of(family: Family) -> list[Example]:
    return [Example.from_row(row, family.name) for row in rows_of(family)]


def stories_of(family: Family) -> Iterator[list[Example]]:
    stories: dict[str, list[Example]] = {}
    for each in examples_of(family):
        stories.setdefault(each.story_id, []).append(each)
    yield from stories.values()


def test_three_families_are_there() -> None:
    """The third comes from examples/orderings, which `make` installs."""
    assert {"belief", "kinship", "orderings"} <= set(names("family"))


def test_shared_columns_come_first(family: Family) -> None:
    assert family.schema.names[: len(SCHEMA)] == SCHEMA.names
    assert family.marks <= set(family.schema.names)
    assert set(family.facts) <= set(family.schema.names)


def test_rows_are_recognised(family: Family) -> None:
    for each in examples_of(family):
        assert recognise(family.schema.names, each.question) is family
        assert family.reads(each.question)
        assert family_of(Example.from_row(each.as_row())) is family
        assert sum(other.reads(each.question) for other in map(load_family, names("family"))) == 1


def test_labels_follow_from_the_rest(family: Family) -> None:
    """Text, and the facts that no text tells, are enough to work everything else out."""
    rows = rows_of(family)
    kept = (*IDENTITY, "answer", *family.facts)
    bare = pa.Table.from_pylist(
        [{name: row.get(name) if name in kept else None for name in family.schema.names} for row in rows],
        schema=plain_schema(family.schema),
    )
    labels = ("answer", "candidates", "order", "chain", "false_belief", "readings")
    assert complete(bare, family, proved=True).select(labels).to_pylist() == [
        {name: row[name] for name in labels} for row in rows
    ]


def test_generated_rows_verify(family: Family) -> None:
    report = examine_table(made(benchmark_of(family.name)))
    assert report.findings == []
    assert not report.unchecked


def test_a_wrong_answer_is_found(family: Family) -> None:
    rows = rows_of(family)
    for row in rows:
        row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
    table = pa.Table.from_pylist(rows, schema=plain_schema(family.schema))
    assert {finding.id for finding in examine_table(table).findings} == {row["id"] for row in rows}


def test_oracle_and_candidates(family: Family) -> None:
    for each in examples_of(family):
        assert family.oracle_answer(each) == each.answer
        assert each.answer in family.candidates(each)
        assert set(family.positions(each)) <= {*family.candidates(each)}
        assert each.answer in family.positions(each)
        assert set(family.answer_parts(each)) in (set(), {*family.candidates(each)})
        assert family.kind(each) in family.measures(each)
        assert family.is_settled(each)


def test_renamed_stories_have_one_fingerprint(family: Family) -> None:
    each = examples_of(family)[0]
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
def test_stories_can_be_shown(family: Family, width: int) -> None:
    for story in stories_of(family):
        out = StringIO()
        Console(width=width, file=out).print(family.lay_out(story))
        shown = out.getvalue()
        assert story[0].answer in shown
        assert max(map(len, shown.split("\n"))) <= width


def test_pictures_are_whole(family: Family) -> None:
    for story in stories_of(family):
        for picture in family.pictures(story, story[-1].proof):
            root = ElementTree.fromstring(picture.svg)
            assert root.tag.endswith("svg")
            assert picture.caption


def test_shortcuts_are_measured(family: Family) -> None:
    report = find_shortcuts(None, examples_of(family), learned=False)
    assert report.questions == len(rows_of(family))
    assert 0 < report.chance <= report.forced.accuracy <= 1
    assert report.rows
    assert report.verdict.startswith("A reader who")


@pytest.mark.parametrize("name", prompt_names())
def test_every_prompt_can_ask(family: Family, name: str) -> None:
    asked, *shots = stories_of(family)
    prompt = load_prompt(name, shots=[each for story in shots for each in story])
    request = prompt.request(asked[0], [])
    assert request is not None
    assert asked[0].question in request.messages[-1].content or "{question}" not in request.messages[-1].content
    assert "{" not in request.messages[-1].content


@pytest.mark.parametrize("solver", ["random", "majority", "rules", "oracle"])
def test_solvers_answer(family: Family, solver: str) -> None:
    rows = examples_of(family)
    said = load_solver(solver, 0).predict(rows)
    assert len(said) == len(rows)
    assert all(answer in family.candidates(each) for answer, each in zip(said, rows, strict=True) if answer)


@pytest.mark.parametrize("format_name", ["parquet", "jsonl"])
def test_files_round_trip(family: Family, format_name: str, tmp_path: Path) -> None:
    benchmark = benchmark_of(family.name)
    made = load("benchmark", benchmark)
    storyproof.generate(benchmark, test=made.round, seed=3, out=tmp_path / "x", format=format_name)
    assert storyproof.verify(tmp_path / "x").ok
    evaluated = storyproof.evaluate("oracle", tmp_path / "x")
    assert evaluated.scores.accuracy == 1


LABELS = ("answer", "candidates", "question_type", "story_type", "order", "false_belief", "readings", "proof")


def written(folder: Path, family: Family, format_name: str = "jsonl") -> tuple[Path, list[dict[str, Any]]]:
    """Write generated rows to a file, and return both."""
    benchmark = benchmark_of(family.name)
    storyproof.generate(
        benchmark, test=max(2, load("benchmark", benchmark).round), seed=3, out=folder, format=format_name
    )
    path = folder / f"test.{format_name}"
    return path, [row for table in format_of(path).read(path) for row in table.to_pylist()]


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


@pytest.mark.parametrize("format_name", ["parquet", "jsonl"])
def test_audits_of_generated_data_find_nothing(family: Family, format_name: str, tmp_path: Path) -> None:
    path, rows = written(tmp_path / "x", family, format_name)
    report = storyproof.audit(path)
    assert {each.kind for each in report.files[0].findings} <= {"small_test"}
    assert report.files[0].family == family.name
    assert report.files[0].questions == len(rows)


@pytest.mark.parametrize(
    ("label", "format_name"),
    only_first(len(LABELS) + 2, [(each, kind) for kind in ("jsonl", "parquet") for each in LABELS]),
)
def test_wrong_labels_are_found_explained_and_fixed(
    family: Family, label: str, format_name: str, tmp_path: Path
) -> None:
    path, rows = written(tmp_path / "x", family, format_name)
    wrong = [{**row, label: change(row[label], row)} for row in rows]
    writer = format_of(path).writer(tmp_path / "x", "test")
    writer.write(pa.Table.from_pylist(wrong, schema=plain_schema(family.schema)))
    writer.close()
    assert {each.id for each in storyproof.verify(path).findings if each.id} == {row["id"] for row in rows}
    (report,) = storyproof.audit(path, fix=tmp_path / "fixed").files
    found = [each for each in report.findings if each.field == label]
    assert sorted({each.row for each in found}) == list(range(len(rows)))
    assert all(each.reason and each.kind in family.kinds and each.fix and each.is_claim for each in found)
    if format_name == "jsonl":
        assert {each.line for each in found} == set(range(1, len(rows) + 1))
    assert storyproof.verify(tmp_path / "fixed").ok
    fixed = next(format_of(path).read(tmp_path / "fixed" / path.name)).to_pylist()
    assert [row[label] for row in fixed] == [row[label] for row in rows]


def test_audits_can_be_seen_whole(family: Family, tmp_path: Path) -> None:
    """Findings, shortcuts and overlaps are on the page and in the JSON, with a picture of the first story."""
    path, rows = written(tmp_path / "x", family)
    rows[0]["answer"] = change(rows[0]["answer"], rows[0])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs = {name: tmp_path / f"found.{name}" for name in ("html", "json")}
    options = [part for name, out in outputs.items() for part in (f"--{name}", out)]
    done = run("audit", path, "--fix", tmp_path / "fixed", "--shortcuts", "--overlaps", *options)
    assert done.exit_code == 1, done.stderr
    assert AUDIT_ASKS in done.stdout
    said = json.loads(outputs["json"].read_text())
    found = next(each for each in said["files"][0]["errata"] if each["field"] == "answer")
    assert said["shortcuts"]["rows"]
    assert said["overlaps"]["parts"]
    page = outputs["html"].read_text()
    assert json.dumps(found["id"]) in page
    assert family.kinds[found["kind"]] in page
    assert "Shortcuts" in page
    assert "Overlaps" in page
    assert pictures_of(page)[0]["svg"].startswith("<svg")


def test_rows_without_text_are_refused(family: Family) -> None:
    row = {**rows_of(family)[0], "story": "Once upon a time.", "candidates": None, "proof": None}
    if family.facts:
        return  # facts are given beside the text, so the text is not needed to complete a row
    table = pa.Table.from_pylist([row], schema=plain_schema(family.schema))
    with pytest.raises(DataError, match="row "):
        complete(table, family)


def test_what_every_row_must_have() -> None:
    assert REQUIRED == ("story", "question", "answer")


def test_mistakes_and_groups(family: Family) -> None:
    """Mistakes have descriptions, groups have names, and scales are numbers."""
    for each in examples_of(family):
        assert set(family.mistaken_answers(each)) <= set(family.mistakes)
        assert all(isinstance(answer, str) for found in family.mistaken_answers(each).values() for answer in found)
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


def test_texts_alone_give_the_same_answers(family: Family) -> None:
    """What the explorer shows of a text is what the row says, in every family."""
    for example in examples_of(family)[::3]:
        people = family.people(example)
        assert family.find_problems(example.story, example.question, people) == []
        found = family.prove_text(example.story, example.question, people)
        assert (found.answer, found.family) == (example.answer, family.name)
        steps = family.steps(found)
        assert [step.sentence for step in steps] == example.story.split("\n")
        assert any(step.entries or step.picture for step in steps)
        by_reading = family.answers_by_reading(found)
        assert set(by_reading) <= set(family.readings)
        assert not by_reading or example.answer in by_reading.values()
        assert {model.answer for model in family.models(found)} <= {example.answer}


def test_a_text_that_cannot_be_read_has_a_problem(family: Family) -> None:
    example = examples_of(family)[0]
    lines = example.story.split("\n")
    for place in range(len(lines)):
        broken = "\n".join([*lines[:place], f"{lines[place]} Xq zv stepson half-brother.", *lines[place + 1 :]])
        found = family.find_problems(broken, example.question, family.people(example))
        assert any(problem.is_fatal and problem.line in (0, place + 1) for problem in found)
    assert family.find_problems(example.story, "Why?")[0].part == "question"
