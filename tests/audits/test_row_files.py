"""Parquet, JSON lists and JSON lines of ours: what was made wrong is found and mended, and nothing else changes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.errors import DataError, UnknownNameError
from storyproof.findings import UNREAD
from storyproof.formats.json_edits import Changes
from storyproof.formats.json_list import JsonSplit
from storyproof.formats.jsonl import JsonlSplit
from storyproof.formats.parquet import ParquetSplit, rewrite_parquet
from tests.auditing import audit_file, fixed_files
from tests.groups import only_first
from tests.samples import SEARCH, STORY, table

WRITERS: dict[str, Callable[[Path, str], Any]] = {"parquet": ParquetSplit, "json": JsonSplit, "jsonl": JsonlSplit}
WRONG: dict[str, Callable[[Any], Any]] = {
    "answer": lambda value: "nowhere",
    "question_type": lambda value: "memory" if value != "memory" else "reality",
    "story_type": lambda value: "true_belief" if value != "true_belief" else "false_belief",
    "candidates": lambda value: value[:1],
    "order": lambda value: value + 1,
    "chain": lambda value: [*value, "Nobody"],
    "false_belief": lambda value: not value,
    "readings": lambda value: value[1:],
    "proof": lambda value: [*value, 99],
}
WRONG_KINSHIP: dict[str, Callable[[Any], Any]] = {
    "answer": lambda value: "uncle" if value != "uncle" else "nephew",
    "question_type": lambda value: "task_2.9",
    "candidates": lambda value: value[1:],
    "readings": lambda value: ["published"] if value != ["published"] else ["strict"],
    "proof": lambda value: [*value, 99],
    "pattern": lambda value: f"{value} child",
    "noise_types": lambda value: ["supporting"],
    "status": lambda value: "ambiguous" if value != "ambiguous" else "impossible",
    "proof_relations": lambda value: ["uncle"] * len(value),
    "proof_steps": lambda value: [[0, 2, 1]] * len(value),
    "edge_types": lambda value: ["father", *value[1:]] if value[0] != "father" else ["mother", *value[1:]],
}


def write(folder: Path, form: str, made: pa.Table, split: str = "test") -> Path:
    folder.mkdir(exist_ok=True)
    writer = WRITERS[form](folder, split)
    half = made.num_rows // 2 // 6 * 6
    for part in (made.slice(0, half), made.slice(half)):
        writer.write(part)
    (path,) = writer.close()
    return Path(path)


def spoil(made: pa.Table, wrong: dict[str, Callable[[Any], Any]], seed: int) -> tuple[pa.Table, set[tuple[int, str]]]:
    dice, rows, spoilt = random.Random(seed), made.to_pylist(), set()
    for number, row in enumerate(rows):
        for name, change in wrong.items():
            if row.get(name) is not None and dice.random() < 0.1:
                before = row[name]
                row[name] = change(before)
                if row[name] != before:
                    spoilt.add((number, name))
    return pa.Table.from_pylist(rows, schema=made.schema), spoilt


def content(path: Path) -> Any:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return path.read_bytes()


@pytest.mark.parametrize("seed", only_first(1, range(3)))
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("benchmark", ["tomi", "tom-babi", "tomi-matched"])
def test_theory_of_mind_is_mended(tmp_path: Path, form: str, benchmark: str, seed: int) -> None:
    made = table(benchmark, "test", 24)
    good = write(tmp_path / "good", form, made)
    spoilt, wrong = spoil(made, WRONG, seed)
    bad = write(tmp_path / "bad", form, spoilt)
    kept = {(row, name) for row, name in wrong if form != "json" or name in ("answer", "question_type", "story_type")}
    assert storyproof.audit(tmp_path / "good").clean
    report = storyproof.audit(tmp_path / "bad", fix=tmp_path / "fixed")
    assert report.files[0].format == form
    assert {(each.row, each.field) for each in report.files[0].findings} == kept
    assert report.totals.get("wrong_columns", 0) == sum(name in list(WRONG)[3:] for _, name in kept)
    assert all(each.reason for each in report.files[0].findings)
    lines = {"parquet": {0}, "json": {each.row + 2 for each in report.files[0].findings}}
    assert {each.line for each in report.files[0].findings} == lines.get(
        form, {each.row + 1 for each in report.files[0].findings}
    )
    fixed = tmp_path / "fixed" / bad.name
    assert content(fixed) == content(good)
    assert storyproof.audit(tmp_path / "fixed").clean
    assert storyproof.verify(tmp_path / "fixed").ok


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_kinship_is_mended(tmp_path: Path, form: str, seed: int) -> None:
    made = table("clutrr", "train", 96)
    good = write(tmp_path / "good", form, made, "train")
    spoilt, wrong = spoil(made, WRONG_KINSHIP, seed)
    bad = write(tmp_path / "bad", form, spoilt, "train")
    if form == "json":
        given = json.loads(good.read_text())[0]
        wrong = {(row, name) for row, name in wrong if name in given}
    report = storyproof.audit(tmp_path / "bad", fix=tmp_path / "fixed")
    found = {(each.row, each.field) for each in report.files[0].findings if each.kind != "duplicate"}
    assert wrong <= found | {(row, "proof_steps") for row, _ in found} | {(row, "proof_relations") for row, _ in found}
    assert {row for row, _ in found} == {row for row, _ in wrong}
    assert content(tmp_path / "fixed" / bad.name) == content(good)
    again = storyproof.audit(tmp_path / "fixed")
    assert {each.kind for each in again.files[0].findings} <= {"duplicate"}
    assert storyproof.verify(tmp_path / "fixed").ok


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("manner", ["mark", "drop"])
def test_kinship_without_an_answer_is_marked_or_dropped(tmp_path: Path, form: str, manner: str) -> None:
    made = storyproof.generate("clutrr", train=60, seed=3, reading="published")
    path = write(tmp_path / "x", form, made.drop_columns(["status", "readings"]), "train")
    report = audit_file(path)
    flawed = {each.row: each.kind for each in report.findings if each.kind in ("ambiguous", "contradicted")}
    ambiguous = {row for row, kind in flawed.items() if kind == "ambiguous"}
    assert len(ambiguous) > 10
    (tmp_path / "fixed").mkdir()
    fixed = tmp_path / "fixed" / path.name
    fixed.write_bytes(fixed_files(path, report, manner)[path.name])
    result = storyproof.verify(tmp_path / "fixed")
    assert result.ok
    assert storyproof.audit(fixed).clean
    assert result.questions == 60 - len(flawed) * (manner == "drop") or manner == "drop"
    if manner == "drop":
        assert set(result.statuses) == {"entailed"}
        assert ambiguous
        return
    rows = pq.read_table(fixed).to_pylist() if form == "parquet" else read_rows(fixed)
    assert {number for number, row in enumerate(rows) if row.get("status") == "ambiguous"} == ambiguous
    assert storyproof.audit(fixed, fix=tmp_path / "dropped", ambiguous="drop").clean  # what is marked can be dropped
    assert set(storyproof.verify(tmp_path / "dropped").statuses) == {"entailed"}
    with pytest.raises(UnknownNameError, match="burn"):
        fixed_files(path, report, "burn")


def read_rows(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    rows: list[dict[str, Any]] = (
        json.loads(text) if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
    )
    return rows


ROW = {"story": STORY, "question": SEARCH, "answer": "box", "story_type": "false_belief", "story_id": "a"}
LISTS = [
    lambda rows: json.dumps(rows),
    lambda rows: json.dumps(rows, indent=2).replace("\n", "\r\n") + "\r\n\r\n",
    lambda rows: "\ufeff" + json.dumps(rows, separators=(",", ":")),
    lambda rows: json.dumps([{**row, "née": "é"} for row in rows], ensure_ascii=False, indent="\t"),
]


@pytest.mark.parametrize("written", LISTS)
def test_lists_of_any_layout_keep_it(tmp_path: Path, written: Callable[[Any], str]) -> None:
    odd = {**ROW, "story": STORY.replace("\n", " "), "story_id": 7, "more": [1, {"answer": "jar"}]}
    rows = [ROW, odd, {**ROW, "story": STORY.split("\n"), "story_id": "c"}]
    path = tmp_path / "bad" / "val.json"
    path.parent.mkdir()
    bad = [{**row, "answer": "jar"} for row in rows]
    path.write_bytes(written(bad).encode())
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert [(each.row, each.field, each.expected) for each in report.disagreements] == [
        (row, "answer", "box") for row in range(3)
    ]
    assert (tmp_path / "fixed" / "val.json").read_bytes() == written(rows).encode()


@pytest.mark.parametrize("gone", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}])
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_what_cannot_happen_goes(tmp_path: Path, gone: set[int], form: str) -> None:
    bad = "Ada exited the attic.\n" + STORY
    rows = [
        {"id": f"x{number}", **ROW, "story_id": str(number), "story": bad if number in gone else STORY, "n": number}
        for number in range(3)
    ]
    path = tmp_path / f"val.{form}"
    if form == "json":
        path.write_text(json.dumps(rows, indent=1))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert report.totals["impossible_stories"] == len(gone)
    fixed = tmp_path / "fixed" / path.name
    found = json.loads(fixed.read_text()) if form == "json" else pq.read_table(fixed).to_pylist()
    assert found == [row for row in rows if row["n"] not in gone]
    if form == "json" and found:
        assert fixed.read_text() == json.dumps(found, indent=1)


def test_parquet_of_other_peoples_making(tmp_path: Path) -> None:
    """Columns of theirs, compression, types and groups stay."""
    rows = [
        {**ROW, "story_id": str(n), "answer": "jar" if n % 3 == 0 else "box", "n": n, "x": {"a": [n]}}
        for n in range(50)
    ]
    made = pa.Table.from_pylist(rows)
    made = made.set_column(2, "answer", made["answer"].dictionary_encode()).replace_schema_metadata({"by": "them"})
    for options in (
        {"compression": "zstd"},
        {"compression": "none", "use_dictionary": False, "write_statistics": False},
    ):
        path = tmp_path / "train.parquet"
        pq.write_table(made, path, row_group_size=20, **options)
        (tmp_path / "fixed" / "train.parquet").unlink(missing_ok=True)
        (tmp_path / "fixed" / "errata.csv").unlink(missing_ok=True)
        storyproof.audit(path, fix=tmp_path / "fixed")
        fixed = tmp_path / "fixed" / "train.parquet"
        assert pq.read_table(fixed).to_pylist() == [{**row, "answer": "box"} for row in rows]
        old, new = pq.read_metadata(path), pq.read_metadata(fixed)
        assert pq.read_schema(fixed).equals(pq.read_schema(path), check_metadata=True)
        assert [new.row_group(g).num_rows for g in range(3)] == [20, 20, 10]
        for column in range(old.num_columns):
            one, other = old.row_group(0).column(column), new.row_group(0).column(column)
            assert (one.compression, one.encodings, one.is_stats_set) == (
                other.compression,
                other.encodings,
                other.is_stats_set,
            )


def test_clean_parquet_stays_byte_by_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "parquet", table("tomi", "test", 24))
    assert storyproof.audit(path, fix=tmp_path / "fixed").clean
    assert (tmp_path / "fixed" / "test.parquet").read_bytes() == path.read_bytes()


def test_parquet_is_as_it_was_audited(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "parquet", table("tomi", "test", 24))
    with (tmp_path / "out").open("wb") as out, pytest.raises(DataError, match="other rows or columns"):
        rewrite_parquet(path, out, Changes({9999: {"answer": "box"}}))
    path.write_bytes(b"PAR1")
    with (tmp_path / "out").open("wb") as out, pytest.raises(DataError, match="cannot be rewritten"):
        rewrite_parquet(path, out, Changes({0: {"answer": "box"}}))


def test_formats_may_be_named(tmp_path: Path) -> None:
    kinship = write(tmp_path / "k", "jsonl", table("clutrr", "train", 24), "train")
    minds = write(tmp_path / "m", "jsonl", table("tomi", "test", 24))
    assert storyproof.audit(kinship, format="clutrr").totals["rows"] == 24
    assert storyproof.audit(kinship, format="jsonl").totals["rows"] == 24
    with pytest.raises(DataError, match=r"found no column 'edges'; expected rows of kinship, as --format clutrr says"):
        storyproof.audit(minds, format="clutrr")
    with pytest.raises(DataError, match="line 1: not a list of questions"):
        storyproof.audit(minds, format="json")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        storyproof.audit(minds, format="parquet")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("genders", ["Ann"], "'Name:male' or 'Name:female'"),
        ("genders", None, "a value, which every kinship row must have"),
        ("query", ["Ann"], "a pair of names"),
        ("edges", [[0]], "pairs of numbers"),
        ("k", 0, "the number of facts in the chain"),
        ("edge_types", ["son"] * 51, "at most 50 relations"),
    ],
)
@pytest.mark.parametrize("form", WRITERS)
def test_kinship_that_cannot_be_read(tmp_path: Path, form: str, name: str, value: Any, message: str) -> None:
    rows = table("clutrr", "train", 24).to_pylist()
    rows[5][name] = value
    made = pa.Table.from_pylist(rows, schema=table("clutrr", "train", 24).schema)
    path = write(tmp_path / "x", form, made, "train")
    where = 5, {"parquet": 0, "json": 7, "jsonl": 6}[form]
    report = storyproof.audit(path)
    (unread,) = (each for each in report.findings if each.kind == UNREAD)
    assert (unread.row, unread.line, unread.id, unread.field) == (*where, rows[5]["id"], "facts")
    assert re.search(f"^{name} is .*expected .*{message}", unread.found)
    assert (report.unread, report.ok, report.disagreements) == ({"facts": 1}, False, [])
    assert (report.totals["rows"], report.totals["judged"], report.totals["entailed"]) == (24, 23, 23)


def test_rows_with_the_text_alone_are_judged_by_it(tmp_path: Path) -> None:
    rows = table("clutrr", "train", 24).to_pylist()
    plain = [{name: row[name] for name in ("story", "question", "answer")} for row in rows]
    read = [number for number, row in enumerate(plain) if is_read(row["story"], row["question"])]
    assert len(read) > 5
    bad = read[3]
    plain[bad]["answer"] = "aunt" if plain[bad]["answer"] != "aunt" else "niece"
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in plain))
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert report.unread.total() == len(rows) - len(read)
    assert {(each.row, each.expected) for each in report.disagreements} == {(bad, rows[bad]["answer"])}
    fixed = [json.loads(line)["answer"] for line in (tmp_path / "fixed" / path.name).read_text().splitlines()]
    assert fixed == [row["answer"] for row in rows]
    assert storyproof.verify(tmp_path / "fixed").disagreements == []


def is_read(story: str, question: str) -> bool:
    try:
        return bool(storyproof.story(story).ask(question).answer)
    except DataError:
        return False


def test_kinship_and_theory_of_mind_in_one_file(tmp_path: Path) -> None:
    rows = [*table("clutrr", "train", 24).to_pylist()[:3], ROW]
    path = tmp_path / "train.json"
    path.write_text(json.dumps(rows))
    report = storyproof.audit(path)
    assert report.totals["judged"] == 4
    assert report.ok
    path.write_text(json.dumps([*rows, {**ROW, "answer": "jar"}]))
    assert [(each.row, each.kind, each.expected) for each in storyproof.audit(path).disagreements] == [
        (4, "structural", "box")
    ]


def test_facts_that_do_not_fit(tmp_path: Path) -> None:
    rows = table("clutrr", "train", 24).to_pylist()
    rows[2]["story"] = "Once upon a time."
    rows[4]["edges"] = [[9, 8], *rows[4]["edges"][1:]]
    made = pa.Table.from_pylist(rows, schema=table("clutrr", "train", 24).schema)
    report = audit_file(write(tmp_path / "x", "parquet", made, "train"))
    assert {each.row for each in report.findings if each.kind != "duplicate"} == {2, 4}
    assert report.totals["wrong_edges"] == 1
