"""Files that are divided into parts, which several workers judge: the same as one worker that reads all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.audits import row_pass
from storyproof.audits.row_pass import RowSource, choose_format
from storyproof.engines import make_engine
from storyproof.example import plain_schema
from storyproof.families import file_judge
from storyproof.families.belief import babi_format
from storyproof.families.family import recognise
from storyproof.families.file_judge import Subject
from storyproof.findings import CONFLICT, NOT_IN_STORY, ORDER, PROOF_SAMPLE, UNREAD, AuditReport
from storyproof.formats import arrow_file, delimited, jsonl, parquet
from storyproof.formats.format import WHOLE, Part
from storyproof.formats.records import RecordFile
from tests.groups import only_first

SMALL = 2_000  # bytes in a part: some twenty parts of most files below
PARTS = 20  # of larger ones


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (jsonl, delimited, babi_format):
        monkeypatch.setattr(module, "PART_BYTES", SMALL)
    for module in (parquet, arrow_file):
        monkeypatch.setattr(module, "PART_ROWS", 10)
    monkeypatch.setattr(parquet, "CHUNK_ROWS", 30)
    monkeypatch.setattr(file_judge, "PROOF_SAMPLE", 1)  # that of a file is in its first part


def rows_of(name: str) -> list[dict[str, Any]]:
    made = storyproof.generate(name, train={"clutrr": 180, "tom-k": 36}.get(name, 30), seed=5)
    rows: list[dict[str, Any]] = made.to_pylist()
    return rows


def foreign(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as somebody else's, with wrong, repeated, conflicting and unread ones in several parts."""
    found = [
        {"name": f"q{n}", "passage": r["story"], "query": r["question"], "label": r["answer"]}
        for n, r in enumerate(rows)
    ]
    for number in (7, 55, 110):
        found[number]["label"] = "moon"
    found[90] = {**found[4], "name": "q90", "label": "attic"}  # a conflict with a row of an earlier part
    found[120] = {**found[10], "name": "q10"}  # an earlier row and its id again
    found[66]["passage"] = "Colourless green ideas sleep furiously.\nTwice."
    found[67]["query"] = ""
    found[131]["query"] = "Who knows?"
    return found


def as_csv(rows: list[dict[str, Any]], end: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = as_csv(rows, "\n")
    lines = lines.replace("q40,", "q40,one more,", 1).replace("\nq45,", "\n\nq45,", 1)
    path.write_text(lines + "\n\nq999,too few", newline="")


def write_crlf(path: Path, rows: list[dict[str, Any]]) -> None:
    text = as_csv(rows, "\r\n").replace("\r\nq50,", '\r\n\r\nq50,"open" cell,', 1)
    path.write_text(text.removesuffix("\r\n"), newline="")


def write_tsv(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = ["\t".join(rows[0]), *("\t".join(each.values()).replace("\n", " ") for each in rows)]
    path.write_text("\n".join(lines).replace("Who knows?", 'Who "knows?'))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps(each) for each in rows]
    lines[20], lines[21] = lines[20][:-5], " "
    lines[50] = lines[50] + "\r"
    path.write_bytes("\n".join(lines).encode() + b'\n\n{"name": \xff}')


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=25)


def write_arrow(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=17)


def write_ours(path: Path, rows: list[dict[str, Any]], size: int = 31) -> None:
    """Write row groups that divide stories."""
    table = pa.Table.from_pylist(rows, schema=plain_schema(recognise(rows[0]).schema))
    pq.write_table(table, path, row_group_size=size)


def damaged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [dict(each) for each in rows]
    found[100]["answer"] = "moon"
    found[70]["benchmark"] = "other"
    found[33]["id"] = found[3]["id"]
    found[140]["id"] = "mine"
    found[141]["id"] = "mine"
    found[12]["proof"] = [1]
    return found


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "train.csv": write_csv,
    "crlf.csv": write_crlf,
    "train.tsv": write_tsv,
    "train.jsonl": write_lines,
    "foreign.parquet": write_parquet,
    "train.arrow": write_arrow,
}


class Dividing:
    """An engine in this process that says that it has many workers, so that every part is an item."""

    workers = 1_000

    def __enter__(self) -> Dividing:
        return self

    def __exit__(self, *about: object) -> None:
        pass

    def run(self, work: Any, items: Any) -> Any:
        return ((place, work(items[place])) for place in reversed(range(len(items))))


def parts_of(path: Path) -> int:
    form, _ = choose_format(path)
    return len(RowSource(Subject(path, form, path.name)).parts())


def undivided(path: Path) -> AuditReport:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowSource, "parts", lambda self: [WHOLE])
        return storyproof.audit(path)


def as_json(report: AuditReport) -> str:
    return json.dumps(report.as_dict())


@pytest.mark.parametrize("name", WRITERS)
def test_findings_in_files_of_others_do_not_depend_on_their_division(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, foreign(rows_of("tomi")))
    assert parts_of(path) > 5
    divided, whole = storyproof.audit(path), undivided(path)
    assert {each.kind for each in whole.findings} >= {UNREAD, CONFLICT, "structural", NOT_IN_STORY}
    assert divided.as_dict() == whole.as_dict()
    assert as_json(storyproof.audit(path, engine=Dividing())) == as_json(divided)


@pytest.mark.parametrize("benchmark", ["tomi", "tom-k", "clutrr"])
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_findings_in_our_files_do_not_depend_on_their_division(
    tmp_path: Path, benchmark: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"train.{form}"
    rows = damaged(rows_of(benchmark))
    if form == "parquet":
        write_ours(path, rows)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
        monkeypatch.setattr(jsonl, "PART_BYTES", path.stat().st_size // PARTS)
    assert parts_of(path) > 3
    whole = undivided(path)
    divided = storyproof.audit(path)
    assert divided.as_dict() == whole.as_dict()
    assert as_json(storyproof.audit(path, engine=Dividing())) == as_json(divided)
    found = [(each.row, each.field) for each in whole.findings if each.kind == ORDER]
    assert {(70, "benchmark"), (141, "id"), (33, "story_id")} <= {*found}


@pytest.mark.parametrize(
    ("name", "workers"),
    only_first(2, [("train.csv", 3), ("train.parquet", 2), ("train.csv", 2), ("train.parquet", 3)]),
)
def test_reports_of_processes_are_those_of_one(
    tmp_path: Path, name: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_judge, "PROOF_SAMPLE", PROOF_SAMPLE)  # as in the other processes
    path = tmp_path / name
    if name == "train.parquet":
        write_ours(path, damaged(rows_of("clutrr")), 101)
    else:
        WRITERS[name](path, foreign(rows_of("tomi")))
    whole = as_json(storyproof.audit(path))
    with make_engine(workers=workers) as engine:
        assert as_json(storyproof.audit(path, engine=engine)) == whole


def published(benchmark: str, folder: Path) -> Path:
    """Write a file in a benchmark's published form, with wrong, repeated, damaged and unread rows in several parts."""
    storyproof.generate(
        benchmark, train=180 if benchmark == "clutrr" else 30, seed=5, out=folder, format=FORMS[benchmark]
    )
    [path] = [each for each in folder.iterdir() if each.suffix in (".csv", ".txt")]
    text = path.read_text(encoding="utf-8")
    if benchmark == "clutrr":
        records = list(csv.reader(io.StringIO(text)))
        for row, column, value in (
            (20, "target", "moon"),
            (41, "genders", "nobody"),
            (42, "genders", "nobody"),
            (77, "", "500"),
            (90, "query", "('A', 'B')"),
            (120, "story_edges", "[(0, 77)]"),
            (150, "target", "uncle"),
        ):
            records[row][records[0].index(column)] = value
        for name in ("story", "query"):
            records[160][records[0].index(name)] = records[12][records[0].index(name)]
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([*records[:100], [], *records[100:]])
        path.write_text(written.getvalue(), encoding="utf-8")
        return path
    lines = text.split("\n")
    stories = [number for number, line in enumerate(lines) if line.startswith("1 ")]
    for number in (30, 70, 111):
        question = stories[number] - 1
        lines[question] = "\t".join([lines[question].split("\t")[0], "moon", "1"])
    lines[stories[50]] = "1 Colourless green ideas sleep furiously."
    lines[stories[60] + 1] = "7 Out of order."
    lines[stories[90] + 2] += "\r"
    lines.insert(stories[100], "")
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    return path


FORMS = {"tomi": "babi", "tom-babi": "babi", "clutrr": "csv"}


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_findings_in_published_files_do_not_depend_on_their_division(
    tmp_path: Path, benchmark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = published(benchmark, tmp_path / "data")
    monkeypatch.setattr(delimited, "PART_BYTES", path.stat().st_size // PARTS)
    assert parts_of(path) > 8
    whole = undivided(path)
    divided = storyproof.audit(path)
    assert len(whole.findings) > 5
    assert divided.as_dict() == whole.as_dict()
    assert as_json(storyproof.audit(path, engine=Dividing())) == as_json(divided)


@pytest.mark.parametrize(
    ("benchmark", "workers"), only_first(2, [("tomi", 3), ("clutrr", 2), ("tomi", 2), ("clutrr", 3)])
)
def test_reports_on_published_files_are_the_same_for_any_number_of_workers(
    tmp_path: Path, benchmark: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_judge, "PROOF_SAMPLE", PROOF_SAMPLE)  # as in the other processes
    path = published(benchmark, tmp_path / "data")
    whole = as_json(storyproof.audit(path))
    with make_engine(workers=workers) as engine:
        assert as_json(storyproof.audit(path, engine=engine)) == whole


def test_a_story_that_ends_without_a_question_is_part_of_the_division(tmp_path: Path) -> None:
    """Without a trace, since lines of a trace are told apart by the questions."""
    path = published("tomi", tmp_path / "data")
    path.with_suffix(".trace").unlink()
    lines = path.read_text(encoding="utf-8").split("\n")
    questions = [number for number, line in enumerate(lines) if "\t" in line]
    path.write_text("\n".join(line for number, line in enumerate(lines) if number not in questions[9::10]))
    assert parts_of(path) > 8
    assert storyproof.audit(path).as_dict() == undivided(path).as_dict()


def test_text_files_of_other_forms_are_not_divided(tmp_path: Path) -> None:
    """Stories with several questions each, a trace with other rows, and lines that end in other ways."""
    path = published("tomi", tmp_path / "data")
    content, trace = path.read_bytes(), path.with_suffix(".trace")
    rows = trace.read_bytes()
    for other in (rows + b"x,memory,true_belief\n", rows.replace(b"\n", b"\n\n", 1), rows.replace(b"\n", b"\r", 1)):
        trace.write_bytes(other)
        assert parts_of(path) == 1
    trace.write_bytes(rows)
    for other in (content.replace(b"\n", b"\r", 1), content.replace(b"\n1 ", b"\n01 ")):
        path.write_bytes(other)
        assert parts_of(path) == 1
    storyproof.generate("tom-babi", train=60, seed=5, out=tmp_path / "several", format="babi")
    assert parts_of(tmp_path / "several" / babi_format.MIXED_NAME) == 1


def test_rows_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Besides the few that tell whether a column under a name of ours has the same meaning."""
    path = tmp_path / "train.csv"
    rows = foreign(rows_of("tomi")) * 4
    path.write_text(as_csv(rows, "\n"))
    made = []
    row = RecordFile._row
    monkeypatch.setattr(RecordFile, "_row", lambda self, *values: made.append(0) or row(self, *values))  # type: ignore[func-returns-value]
    monkeypatch.setattr(RowSource, "parts", lambda self: [WHOLE])
    storyproof.audit(path)
    assert len(rows) <= len(made) <= len(rows) + 256


def test_the_footer_is_read_once_for_all_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of millions of rows has hundreds of parts, and a footer that takes a second to read."""
    path = tmp_path / "train.parquet"
    write_ours(path, rows_of("tomi"))
    reads = []
    read_footer = parquet.read_footer
    monkeypatch.setattr(parquet, "read_footer", lambda file: reads.append(0) or read_footer(file))  # type: ignore[func-returns-value]
    assert parts_of(path) > 3
    assert storyproof.audit(path).ok
    assert len(reads) == 1
    write_ours(path, rows_of("tomi")[:90])
    assert storyproof.audit(path).questions == 90


def test_large_row_groups_have_few_parts() -> None:
    """Each part of a row group decodes what is before it."""
    sizes = [1_000_000, 0, 5, 1_000]
    parts = parquet._parts(sizes, 8_192, is_divided=True)
    assert len(parts) == 9
    assert [each.end for each in parts[:-1]] == [each.first for each in parts[1:]]
    assert (parts[0].first, parts[-1].end) == (0, None)
    assert parquet._parts(sizes, 8_192, is_divided=False) == [Part(0, 1_000_000, 0, 1), Part(1_000_000, None, 0, 1)]


def test_rows_of_several_splits_in_one_file_have_ids_of_their_own(tmp_path: Path) -> None:
    made = storyproof.generate("tomi", train=30, test=30, seed=5)
    path = tmp_path / "all.parquet"
    pq.write_table(made, path, row_group_size=90)
    assert storyproof.audit(path).clean
    rows = made.to_pylist()
    rows[200]["id"], rows[5]["id"] = rows[190]["id"], "test-000000004-2"
    write_ours(path, rows)
    found = [
        (each.row, each.id) for each in storyproof.audit(path).findings if each.kind == ORDER and each.field == "id"
    ]
    assert found == [(-1, "test-000000001-4"), (-1, "test-000000004-2")]


@pytest.mark.parametrize("name", ["train.csv", "train.txt", "clutrr.csv"])
def test_parts_are_not_read_far_beyond_their_end(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "train.csv":
        path = tmp_path / name
        write_csv(path, foreign(rows_of("tomi")))
    else:
        path = published("tomi" if name == "train.txt" else "clutrr", tmp_path / "data")
    form, _ = choose_format(path)
    source = RowSource(Subject(path, form, path.name))
    read: list[int] = []
    monkeypatch.setattr(row_pass, "stories_of", lambda tables, first, end: read.append(next(tables).num_rows) or ())
    for part in source.parts()[:-1]:
        list(source.tables(part))
        assert part.end is not None
        assert read[-1] <= part.end - part.first + 1
