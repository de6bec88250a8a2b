from __future__ import annotations

import ast
import csv
import io
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import storyproof
from storyproof.datasets.reading import find_source, find_sources, read_examples
from storyproof.errors import DataError
from storyproof.example import plain_schema
from storyproof.families.kinship.clutrr_csv import ClutrrSplit, read_csv
from storyproof.families.kinship.clutrr_records import COLUMNS
from storyproof.families.kinship.language.reading import Reading
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.stated_facts import Text, read_texts, split_sentences
from storyproof.families.kinship.templates import parse_line

pytestmark = pytest.mark.usefixtures("small_blocks")

Row = dict[str, Any]
HEADER = (
    ",id,story,query,text_query,target,text_target,clean_story,proof_state,f_comb,task_name,story_edges,edge_types,"
    "query_edge,genders,syn_story,node_mapping,task_split"
)
FREE = ("", "text_query", "text_target", "syn_story", "node_mapping")  # columns that a file need not have
KEPT = (
    "id",
    "story_id",
    "benchmark",
    "split",
    "question",
    "answer",
    "question_type",
    "order",
    "chain",
    "story_type",
    "false_belief",
    "k",
    "task",
    "query",
    "genders",
    "edges",
    "edge_types",
    "noise_types",
    "pattern",
    "proof_steps",
    "proof_relations",
)


@cache
def made(split: str, task: str = "clean", **settings: Any) -> pa.Table:
    k: dict[str, Any] = {"train_k": (2, 3) if task == "clean" else (2,), "test_k": (2, 3)}
    return storyproof.generate("clutrr", **{split: 20}, seed=9, task=task, **k, **settings)


def written(folder: Path, table: pa.Table, split: str) -> list[Path]:
    writer = ClutrrSplit(folder, split)
    writer.write(table)
    return writer.close()


def records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read(path: Path, rows: int = 1000) -> list[Row]:
    return [row for table in read_csv(path, rows) for row in table.select(KINSHIP_SCHEMA.names).to_pylist()]


# ------------------------------------------------------------------------------------------------ there and back again


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"text": "synthetic"},
        {"cloze": True},
        {"task": "all"},
        {"task": "memory"},
        {"task": "mixed"},
        {"reading": "published"},
    ],
    ids=str,
)
def test_what_was_written_is_read(tmp_path: Path, settings: dict[str, Any]) -> None:
    table = made("train", **settings)
    (path,) = written(tmp_path, table, "train")
    before, after = table.to_pylist(), read(path)
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert {name: one[name] for name in KEPT} == {name: other[name] for name in KEPT}
        assert other["story"] == one["story"].replace("\n", " ")
        assert read_row(one).facts == read_row(other).facts
        assert read_row(one).steps == read_row(other).steps
        # What the published form has no column for.
        assert {name for name, value in other.items() if value is None} == {
            "candidates",
            "readings",
            "proof",
            "placeholders",
            "status",
        }


def test_the_order_of_rows_is_kept(tmp_path: Path) -> None:
    (path,) = written(tmp_path, made("train"), "train")
    assert [row["id"] for row in read(path)] == made("train").column("id").to_pylist()


def test_tables_have_the_schema_and_at_most_so_many_rows(tmp_path: Path) -> None:
    (path,) = written(tmp_path, made("train"), "train")
    tables = list(read_csv(path, 8))
    assert [table.num_rows for table in tables] == [8, 8, 4]
    for table in tables:
        assert table.select(KINSHIP_SCHEMA.names).schema == plain_schema(KINSHIP_SCHEMA)


def test_several_tables_make_one_file(tmp_path: Path) -> None:
    writer = ClutrrSplit(tmp_path, "train")
    for start in (0, 7):
        writer.write(made("train").slice(start, 7))
    (path,) = writer.close()
    assert [record[""] for record in records(path)] == [str(number) for number in range(14)]
    assert path.read_text().count(HEADER) == 1


# ------------------------------------------------------------------------------------------------------------- files


def test_one_training_file_and_one_file_a_test_scenario(tmp_path: Path) -> None:
    options: dict[str, Any] = {"train_k": (3, 2), "test_k": (2, 3), "test_tasks": ("clean", "memory")}
    storyproof.generate("clutrr", train=9, val=5, test=3, out=tmp_path / "x", format="csv", **options)
    names = {path.name for path in (tmp_path / "x").iterdir()}
    assert names == {
        "1.2,1.3_train.csv",
        "1.2,1.3_val.csv",
        *(f"{task}.{k}_test.csv" for task in (1, 6) for k in (2, 3)),
        "manifest.json",
    }
    counts = {path.name: len(records(path)) for path in (tmp_path / "x").glob("*.csv")}
    assert counts == {name: 9 if "train" in name else 5 if "val" in name else 3 for name in names - {"manifest.json"}}


def test_lengths_are_named_in_order(tmp_path: Path) -> None:
    rows = made("train").to_pylist()
    for row, name in zip(rows, ["task_1.10", "task_1.2", "task_2.2", "task_1.9"] * 5, strict=True):
        row["question_type"] = name
    table = pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))
    assert [path.name for path in written(tmp_path, table, "train")] == ["1.2,1.9,1.10,2.2_train.csv"]
    assert sorted(path.name for path in written(tmp_path, table, "test")) == [
        "1.10_test.csv",
        "1.2_test.csv",
        "1.9_test.csv",
        "2.2_test.csv",
    ]


def test_a_folder_of_them_is_a_dataset(tmp_path: Path) -> None:
    storyproof.generate("clutrr", train=9, test=3, out=tmp_path / "x", format="csv", train_k=(2, 3), test_k=(2, 3))
    assert {source.split: len(source.files) for source in find_sources(tmp_path / "x")} == {"train": 1, "test": 2}
    test = find_source(tmp_path / "x")
    assert sum(table.num_rows for table in test.tables()) == 6
    found = storyproof.evaluate("oracle", tmp_path / "x")
    assert found.scores.accuracy == 1.0
    assert found.scores.questions == 6


# ------------------------------------------------------------------------------------------------- the published form


def test_the_header_is_the_published_one(tmp_path: Path) -> None:
    (path,) = written(tmp_path, made("train"), "train")
    assert path.read_text().split("\n", 1)[0] == HEADER
    assert ",".join(COLUMNS) == HEADER


@pytest.mark.parametrize("settings", [{}, {"task": "all"}, {"cloze": True}, {"text": "synthetic"}], ids=str)
def test_columns_are_in_the_published_form(tmp_path: Path, settings: dict[str, Any]) -> None:
    table = made("train", **settings)
    (path,) = written(tmp_path, table, "train")
    for number, (row, record) in enumerate(zip(table.to_pylist(), records(path), strict=True)):
        names = [person.split(":")[0] for person in row["genders"]]
        facts = {
            (names[first], told, names[second])
            for (first, second), told in zip(row["edges"], row["edge_types"], strict=True)
        }
        assert record[""] == str(number)
        assert record["id"] == row["id"]
        assert ast.literal_eval(record["query"]) == tuple(row["query"])
        assert record["text_query"] == ""
        assert record["target"] == row["answer"]
        assert record["f_comb"] == "-".join(row["edge_types"][: row["k"]])
        assert record["task_name"] == row["question_type"]
        assert ast.literal_eval(record["story_edges"]) == [tuple(edge) for edge in row["edges"]]
        assert ast.literal_eval(record["edge_types"]) == row["edge_types"]
        assert ast.literal_eval(record["query_edge"]) == tuple(names.index(name) for name in row["query"])
        assert record["genders"] == ",".join(row["genders"])
        assert ast.literal_eval(record["node_mapping"]) == {each: each for each in range(len(names))}
        assert record["task_split"] == "train"
        assert "\n" not in record["story"]
        assert set(re.findall(r"\[([^\]]+)\]", record["story"])) == set(names)
        assert _bare(record["story"]) == row["story"].replace("\n", " ")
        for name in names:  # nobody stands there without brackets
            assert not re.search(rf"(?<![\[\w@-]){re.escape(name)}(?![\]\w-])", record["story"])
        (target,) = ast.literal_eval(record["text_target"])
        assert all(f"[{name}]" in target for name in row["query"])
        told = re.findall(r"[^ ].*?\.(?= |$)", _bare(record["syn_story"]))
        assert {(fact.first, fact.word, fact.second) for line in told for fact in parse_line(line)} == facts


def _bare(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]", r"\1", text)


@pytest.mark.parametrize("task", ["clean", "supporting", "irrelevant", "disconnected", "all", "memory"])
def test_the_clean_story_of_natural_text_states_the_chain(tmp_path: Path, task: str) -> None:
    table = made("train", task=task)
    (path,) = written(tmp_path, table, "train")
    plain = 0
    for row, record in zip(table.to_pylist(), records(path), strict=True):
        clean = _bare(record["clean_story"])
        case = read_row(row)
        if len(case.facts) == case.k:
            assert record["clean_story"] == record["story"]
            continue
        chain = replace(case, facts=case.chain)
        if " is the " in clean:
            plain += 1
            told = [parse_line(line) for line in re.findall(r"[^ ].*?\.(?= |$)", clean)]
            assert [(fact.first, fact.word, fact.second) for line in told for fact in line] == [
                (case.names[fact.first], case.word(fact), case.names[fact.second]) for fact in case.chain
            ]
            continue
        (reading,) = read_texts([Text(clean, [], case.names)])
        assert isinstance(reading, Reading)
        assert split_sentences(chain, clean, reading) is not None
        assert all(sentence in _bare(record["story"]) for sentence in re.findall(r"[^ ].*?\.(?= |$)", clean))
    assert plain < table.num_rows


def test_the_clean_story_is_the_chain_in_order(tmp_path: Path) -> None:
    for settings in ({}, {"task": "all"}):
        table = made("train", text="synthetic", **settings)
        (path,) = written(tmp_path, table, "train")
        for row, record in zip(table.to_pylist(), records(path), strict=True):
            names = [person.split(":")[0] for person in row["genders"]]
            chain = [
                f"[{names[second]}] is the {told} of [{names[first]}]."
                for (first, second), told in zip(row["edges"], row["edge_types"], strict=True)
            ]
            assert record["clean_story"] == " ".join(chain[: row["k"]])


def test_the_clean_story_has_the_same_sentences(tmp_path: Path) -> None:
    table = made("train")
    (path,) = written(tmp_path, table, "train")
    for record in records(path):
        assert Counter(record["clean_story"].split(" ")) == Counter(record["story"].split(" "))


def test_the_proof_goes_from_the_top_down(tmp_path: Path) -> None:
    table = made("train")
    (path,) = written(tmp_path, table, "train")
    for row, record in zip(table.to_pylist(), records(path), strict=True):
        names = [person.split(":")[0] for person in row["genders"]]
        known = {
            (names[first], told, names[second])
            for (first, second), told in zip(row["edges"], row["edge_types"], strict=True)
        }
        steps = ast.literal_eval(record["proof_state"])
        assert len(steps) == row["k"] - 1
        assert next(iter(steps[0])) == (row["query"][0], row["answer"], row["query"][1])
        for step in reversed(steps):
            ((conclusion, (one, other)),) = step.items()
            assert (conclusion[0], conclusion[2], one[2]) == (one[0], other[2], other[0])
            assert {one, other} <= known
            known.add(conclusion)


# ---------------------------------------------------------------------------------------- hand-made published rows

ANN: dict[str, str] = {
    "": "0",
    "id": "b2b9752f-d7fa-46a9-83ae-d474184c35b6",
    "story": '[Ann] said, "my son, [Bob-Lee], is late". [Bob-Lee] has a daughter, [Cleo].',
    "query": "('Ann', 'Cleo')",
    "text_query": "",
    "target": "granddaughter",
    "text_target": "['[Ann] adores her granddaughter [Cleo]. ']",
    "clean_story": "",
    "proof_state": "[{('Ann', 'granddaughter', 'Cleo'): [('Ann', 'son', 'Bob-Lee'), ('Bob-Lee', 'daughter', 'Cleo')]}]",
    "f_comb": "son-daughter",
    "task_name": "task_1.2",
    "story_edges": "[(0, 1), (1, 2)]",
    "edge_types": "['son', 'daughter']",
    "query_edge": "(0, 2)",
    "genders": "Ann:female,Bob-Lee:male,Cleo:female",
    "syn_story": "",
    "node_mapping": "{15: 0, 16: 1, 18: 2}",
    "task_split": "train",
}


def published(folder: Path, *changes: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for change in changes or ({},):
        writer.writerow({**ANN, **change})
    path = folder / "mine_train.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def test_a_published_row_is_read(tmp_path: Path) -> None:
    (row,) = read(published(tmp_path))
    assert {name: value for name, value in row.items() if value is not None} == {
        "id": ANN["id"],
        "story_id": ANN["id"],
        "benchmark": "clutrr",
        "split": "train",
        "story": 'Ann said, "my son, Bob-Lee, is late". Bob-Lee has a daughter, Cleo.',
        "question": "What is Cleo to Ann?",
        "answer": "granddaughter",
        "question_type": "task_1.2",
        "order": 0,
        "chain": [],
        "story_type": "clean",
        "false_belief": False,
        "k": 2,
        "task": "clean",
        "query": ["Ann", "Cleo"],
        "genders": ["Ann:female", "Bob-Lee:male", "Cleo:female"],
        "edges": [[0, 1], [1, 2]],
        "edge_types": ["son", "daughter"],
        "noise_types": [],
        "pattern": "child child",
        "proof_steps": [[0, 1, 2]],
        "proof_relations": ["granddaughter"],
    }


def test_a_published_row_verifies_with_its_text_unchecked(tmp_path: Path) -> None:
    found = storyproof.verify(published(tmp_path))
    assert found.disagreements == []
    assert found.statuses == Counter({"entailed": 1})
    assert set(found.unchecked) == {"candidates", "readings", "proof", "status", "story"}


def test_a_proved_label_comes_with_its_own_status(tmp_path: Path) -> None:
    source = find_source(published(tmp_path, {"target": "daughter"}))
    (given,), (proved,) = read_examples(source), read_examples(source, proved=True)
    assert (given.answer, given.get("status"), given.readings) == ("daughter", "contradicted", [])
    assert (proved.answer, proved.get("status"), proved.readings) == (
        "granddaughter",
        "entailed",
        ["strict", "published"],
    )


@pytest.mark.parametrize(
    ("task", "edges", "genders", "types"),
    [
        ("task_2.2", "(0, 3), (3, 1)", ",Dan:male", ["supporting", "supporting"]),
        ("task_3.2", "(1, 3)", ",Dan:male", ["irrelevant"]),
        ("task_4.2", "(3, 4)", ",Dan:male,Eve:female", ["disconnected"]),
        ("task_5.2", "(0, 3), (3, 1), (2, 4), (5, 6)", ",D:male,E:male,F:male,G:male", None),
    ],
)
def test_untyped_noise_is_typed_by_its_shape(
    tmp_path: Path, task: str, edges: str, genders: str, types: list[str] | None
) -> None:
    changes = {
        "task_name": task,
        "story_edges": f"[(0, 1), (1, 2), {edges}]",
        "genders": ANN["genders"] + genders,
        "node_mapping": repr({10 * place: place for place in range(3 + genders.count(":"))}),
    }
    path = published(tmp_path, changes)
    (row,) = read(path)
    assert row["edge_types"] == ["son", "daughter"]
    assert row["noise_types"] == (types or ["supporting", "supporting", "irrelevant", "disconnected"])
    assert (
        row["story_type"]
        == row["task"]
        == {2: "supporting", 3: "irrelevant", 4: "disconnected", 5: "all"}[int(task[5])]
    )
    case = read_row(row)
    assert case.untyped == len(row["noise_types"])
    assert len(case.facts) == 2
    found = storyproof.verify(path)
    assert found.disagreements == []
    assert found.unchecked["edge_types"] == 1


def test_nothing_rests_on_some_columns(tmp_path: Path) -> None:
    path = published(tmp_path, columns=tuple(name for name in COLUMNS if name not in FREE))
    assert read(path)[0]["edges"] == [[0, 1], [1, 2]]


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    expected = read(published(tmp_path))
    assert read(published(tmp_path, columns=COLUMNS[::-1])) == expected
    assert read(published(tmp_path, columns=(*COLUMNS, "comment"))) == expected


def test_a_byte_order_mark_and_other_line_ends_are_no_matter(tmp_path: Path) -> None:
    expected = read(published(tmp_path))
    path = published(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read(path) == expected


def test_a_row_without_an_id_is_called_after_its_place(tmp_path: Path) -> None:
    path = published(tmp_path, {"id": ""}, {"id": ""})
    assert [row["id"] for row in read(path)] == ["mine_train-0", "mine_train-1"]


@given(st.text("ab,\"'\n;[]é ", min_size=1))
def test_quotes_commas_and_line_breaks_are_kept(tmp_path_factory: pytest.TempPathFactory, story: str) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerow({**ANN, "story": story})
    folder = tmp_path_factory.getbasetemp() / "quotes"  # not beside the folders of other tests, which would read it
    folder.mkdir(exist_ok=True)
    path = folder / "quotes_train.csv"
    path.write_bytes(text.getvalue().encode())
    assert read(path)[0]["story"] == re.sub(r"\[([^\[\]]+)\]", r"\1", story)


@pytest.mark.parametrize("name", ["Bob", "Bob-Lee", "@entity-1", "José", "O"])
def test_names_are_bracketed_whole(tmp_path: Path, name: str) -> None:
    """Also where another name begins like it."""
    other = f"{name}1" if name.startswith("@") else f"{name}by"
    row = {
        **made("train", text="synthetic").to_pylist()[0],
        "story": f"{name} is the son of {other}.",
        "query": [other, name],
        "question": f"What is {name} to {other}?",
        "answer": "son",
        "genders": [f"{other}:female", f"{name}:male"],
        "edges": [[0, 1]],
        "edge_types": ["son"],
        "noise_types": [],
        "k": 1,
        "proof_steps": [],
        "proof_relations": [],
        "placeholders": ["son/female,male/ENT_1_male is the son of ENT_0_female."],
    }
    (path,) = written(tmp_path, pa.Table.from_pylist([row], schema=plain_schema(KINSHIP_SCHEMA)), "train")
    assert records(path)[0]["story"] == f"[{name}] is the son of [{other}]."
    assert read(path)[0]["story"] == row["story"]


# ------------------------------------------------------------------------------------------------------- broken files

EDGES = "a list of at most 50 pairs of numbers"
STEP = "{(a, r, c): [(a, r1, b), (b, r2, c)]}"
STEPS = f"a list of {STEP}"


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("task_name", "task_8.2", "task_T.k with T from 1 to 7"),
        ("task_name", "task_0.2", "task_T.k with T from 1 to 7"),
        ("task_name", "task_1", "task_T.k with T from 1 to 7"),
        ("task_name", "", "task_T.k with T from 1 to 7"),
        ("task_name", "task_1.999", "task_T.k with T from 1 to 7"),
        ("story_edges", "[(0, 1), (1, 2)", EDGES),
        ("story_edges", "(0, 1)", EDGES),
        ("story_edges", "", EDGES),
        ("story_edges", "[0, 1]", EDGES),
        ("story_edges", "[(0,), (1, 2)]", EDGES),
        ("story_edges", "[(0, 1, 2), (1, 2)]", EDGES),
        ("story_edges", "[('a', 'b'), (1, 2)]", EDGES),
        ("story_edges", "[(0, 99999), (1, 2)]", "pairs of 3 people, counted from 0"),
        ("story_edges", "[(0, 1.5), (1, 2)]", EDGES),
        ("story_edges", "[(0, None), (1, 2)]", EDGES),
        ("edge_types", "son, daughter", "a list of at most 50 relations"),
        ("edge_types", "__import__('os').getcwd()", "a list of at most 50 relations"),
        ("edge_types", "[1, 2]", "a list of at most 50 relations"),
        ("edge_types", "[['son'], 'daughter']", "a list of at most 50 relations"),
        ("query", "Ann, Cleo", "a pair of names"),
        ("query", "['Ann', 'Cleo']", "a pair of names"),
        ("query", "('Ann',)", "a pair of names"),
        ("query", "('Ann', 'Bob', 'Cleo')", "a pair of names"),
        ("query", "(0, 2)", "a pair of names"),
        ("proof_state", "{", STEPS),
        ("proof_state", "(" * 200, STEPS),
        ("proof_state", "[{[1]: 2}]", STEPS),
        ("proof_state", "[1]", STEPS),
        ("proof_state", "[{}]", STEPS),
        ("proof_state", "[{('Ann', 'x'): [('Ann', 'x', 'Bob-Lee')]}]", STEPS),
        ("proof_state", "[{('Ann', 1, 'Cleo'): [('Ann', 'x', 'Bob-Lee'), ('Bob-Lee', 'y', 'Cleo')]}]", STEPS),
        (
            "proof_state",
            "[{('Ann', 'x', 'Zoe'): [('Ann', 'x', 'Bob-Lee'), ('Bob-Lee', 'y', 'Zoe')]}]",
            f"{STEP} with known names",
        ),
        ("query_edge", "(0, 3)", "pairs of 3 people, counted from 0"),
        ("query_edge", "x", "a pair of numbers"),
        ("genders", "Ann:female,Ann:male", "'Name:male' or 'Name:female' for everybody, each name once"),
        ("genders", "", "'Name:male' or 'Name:female' for everybody, each name once"),
        ("node_mapping", "{" * 300, None),
    ],
)
def test_a_broken_field_is_named(tmp_path: Path, column: str, value: str, expected: str | None) -> None:
    path = published(tmp_path, {}, {}, {column: value})
    if expected is None:
        assert len(read(path)) == 3
        return
    with pytest.raises(DataError) as error:
        read(path)
    said = str(error.value)
    assert said.startswith(f"{path}, row 2, line 4: {column}")
    assert f"expected {expected}" in said
    assert said.count("\n") == 0


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in FREE])
def test_a_column_that_is_lacking_or_twice_there_is_named(tmp_path: Path, name: str) -> None:
    path = published(tmp_path, columns=tuple(each for each in COLUMNS if each != name))
    with pytest.raises(
        DataError, match=rf"mine_train\.csv, line 1: it has no column '{name}', expected the columns of CLUTRR: id,"
    ):
        read(path)
    path = published(tmp_path, columns=(*COLUMNS, name))
    with pytest.raises(
        DataError, match=rf"mine_train\.csv, line 1: it has 2 columns '{name}', expected the columns of CLUTRR: id,"
    ):
        read(path)


@pytest.mark.parametrize("change", [lambda line: line + ",more", lambda line: line.rsplit(",", 1)[0]])
def test_a_row_of_another_width_is_named(tmp_path: Path, change: Any) -> None:
    path = published(tmp_path, {}, {})
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], change(lines[-1])]) + "\n")
    with pytest.raises(
        DataError, match=r"mine_train\.csv, row 1, line 3: it has (17|19) fields, expected 18 as in the header"
    ):
        read(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine_train.csv"
    path.write_text("")
    with pytest.raises(DataError, match=r"mine_train\.csv is empty, expected a header"):
        read(path)


def test_a_file_without_rows_has_nothing_to_verify(tmp_path: Path) -> None:
    path = published(tmp_path)
    path.write_text(path.read_text().split("\n", 1)[0] + "\n")
    assert read(path) == []
    with pytest.raises(DataError, match="contains no questions"):
        storyproof.verify(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("José".encode("latin-1"), r"mine_train\.csv, row 1, line 3: found bytes that are not valid UTF-8"),
        (b"\xff\xfe", r"mine_train\.csv, row 1, line 3: found bytes that are not valid UTF-8"),
        (b'"' + b"x" * 200_000 + b'"', r"mine_train\.csv, row 1, line 3: found field larger than field limit"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = published(tmp_path)
    path.write_bytes(path.read_bytes() + content)
    with pytest.raises(DataError, match=message):
        read(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*nowhere\.csv: .*No such file"):
        read(tmp_path / "nowhere.csv")
