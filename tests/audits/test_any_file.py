"""Files of others: any columns, any format, rows that cannot be read, and checks that need no understanding."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.findings import AuditReport
from tests.cli.invocation import run

STORY = (
    "Ada entered the attic.\nBen entered the attic.\nThe key is in the box.\nThe box is in the attic.\n"
    "Ben exited the attic.\nAda moved the key to the jar.\nThe jar is in the attic."
)
BELIEF, REALITY = "Where will Ben look for the key?", "Where is the key really?"
ROWS: list[dict[str, Any]] = [
    {"uid": "u1", "passage": STORY, "query": BELIEF, "label": "A", "options": ["box", "jar"]},
    {"uid": "u2", "passage": STORY, "query": REALITY, "label": "A", "options": ["box", "jar"]},  # wrong
    {"uid": "u3", "passage": "Something else happened.", "query": REALITY, "label": "B", "options": ["box", "jar"]},
]
GUESSED = {"story": "passage", "question": "query", "answer": "label", "choices": "options", "id": "uid"}


def as_text(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The rows as tables of text have them."""
    listed = ("A. " + ", B. ".join(row["options"]) for row in rows)
    return [{**row, "options": text} for row, text in zip(rows, listed, strict=True)]


def write_csv(path: Path, rows: list[dict[str, Any]], separator: str = ",", encoding: str = "utf-8") -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(as_text(rows))
    path.write_bytes(text.getvalue().encode(encoding))


def write_xlsx(path: Path, rows: list[dict[str, Any]]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in as_text(rows):
        book.active.append(list(row.values()))
    book.save(path)


def write_stream(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def write_file(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\r\n" for row in rows), newline="")


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], object]] = {
    "mine.jsonl": write_lines,
    "mine.json": lambda path, rows: path.write_text(json.dumps(rows, indent=1)),
    "wrapped.json": lambda path, rows: path.write_text(json.dumps({"version": [1], "data": rows, "more": {}})),
    "by_name.json": lambda path, rows: path.write_text(json.dumps({row["uid"]: row for row in rows})),
    "mine.csv": write_csv,
    "semicolons.csv": lambda path, rows: write_csv(path, rows, ";", "cp1252"),
    "mine.tsv": lambda path, rows: write_csv(path, rows, "\t", "utf-16"),
    "mine.parquet": lambda path, rows: pq.write_table(pa.Table.from_pylist(rows), path),
    "stream.arrow": write_stream,
    "mine.feather": write_file,
    "mine.xlsx": write_xlsx,
}


def counts(report: AuditReport) -> dict[str, Any]:
    wrong = {kind: count for kind, count in report.totals["wrong_answers"].items() if count}
    return {name: report.totals[name] for name in ("rows", "judged", "unread", "conflicts")} | {"wrong": wrong}


@pytest.mark.parametrize("name", WRITERS)
def test_columns_are_found_and_fixes_keep_everything_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, ROWS)
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    (file,) = report.files
    named = {**GUESSED, "id": "id"} if name == "by_name.json" else GUESSED
    assert file.columns == named
    assert counts(report) == {"rows": 3, "judged": 2, "unread": {"story": 1}, "conflicts": 0, "wrong": {"reality": 1}}
    (wrong,) = report.disagreements
    assert (wrong.row, wrong.id, wrong.field, wrong.found, wrong.expected) == (1, "u2", "label", "box", "jar")
    right = [ROWS[0], {**ROWS[1], "label": "B"}, ROWS[2]]
    WRITERS[name](tmp_path / f"right-{name}", right)
    fixed = tmp_path / "fixed" / name
    if name not in ("mine.xlsx", "mine.parquet", "stream.arrow", "mine.feather"):
        assert fixed.read_bytes() == (tmp_path / f"right-{name}").read_bytes()
    again = storyproof.audit(fixed)
    assert again.disagreements == []
    assert counts(again) == {"rows": 3, "judged": 2, "unread": {"story": 1}, "conflicts": 0, "wrong": {}}


def test_bytes_that_are_no_text_stay_in_fixes(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    lines = [f'"{STORY}",{REALITY},box,caf\xe9', f'"{STORY}",{BELIEF},box,na\xefve']
    content = ("passage,question,answer,note\r\n" + "\r\n".join(lines).replace("\n", " ")).encode("cp1252")
    path.write_bytes(content)
    storyproof.audit(path, fix=tmp_path / "fixed")
    assert (tmp_path / "fixed" / "mine.csv").read_bytes() == content.replace(b"box,caf", b"jar,caf")


def test_corrected_answers_are_written_as_the_story_writes_them(tmp_path: Path) -> None:
    """Names of several words are one word in our stories, but not in a corrected copy of somebody else's."""
    story = (
        "Ada and Bo entered the den. The kite is in the tin box. Bo left the den. Ada moved the kite to the oak chest."
    )
    for name, text, right in (("plain", story, "tin box"), ("joined", story.replace("tin box", "tin_box"), "tin_box")):
        row = {"story": text, "question": "Where will Bo look for the kite?", "answer": "oak chest"}
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(row) + "\n")
        (wrong,) = storyproof.audit(path, fix=tmp_path / f"fixed-{name}").disagreements
        assert wrong.expected == right
        assert json.loads((tmp_path / f"fixed-{name}" / path.name).read_text()) == {**row, "answer": right}


def test_users_say_which_columns(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    rows = [{"x": {"t": [STORY]}, "y": REALITY, "z, or not": answer, "answer": "other"} for answer in ("jar", "box")]
    write_lines(path, rows)
    report = storyproof.audit(path, columns="story=x.t.0,question=y,answer=z, or not,choices=,id=")
    assert counts(report)["wrong"] == {"reality": 1}
    assert counts(report)["conflicts"] == 1
    given = {"story": "x.t", "question": "y", "answer": "z, or not"}
    assert counts(storyproof.audit(path, columns=given)) == counts(report)
    done = run("audit", path, "--columns", "story=x.t,question=why")
    assert "unknown column 'why'. Known: answer, x.t, y, z, or not." in str(done.exception)
    with pytest.raises(UnknownNameError, match="unknown column of a row 'passage'"):
        storyproof.audit(path, columns="passage=x")
    with pytest.raises(ConfigError, match="expected story=NAME"):
        storyproof.audit(path, columns="x")


def test_a_record_may_have_many_questions(tmp_path: Path) -> None:
    """Such as FANToM: one conversation, and questions of several kinds in lists and objects."""
    path = tmp_path / "sets.json"
    asked = [{"question": BELIEF, "correct_answer": "jar"}, {"question": REALITY, "correct_answer": "jar"}]
    record = {"fullContext": STORY, "beliefQAs": asked, "factQA": {"question": REALITY, "answer": "box"}}
    path.write_text(json.dumps([record, record | {"beliefQAs": []}]))
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert counts(report)["wrong"] == {"first_order": 1, "reality": 2}
    assert {each.field for each in report.disagreements if each.fix} == {
        "beliefQAs.0.correct_answer",
        "factQA.answer",
    }
    fixed = json.loads((tmp_path / "fixed" / "sets.json").read_text())
    asked[0]["correct_answer"] = record["factQA"]["answer"] = "box"  # type: ignore[index]
    record["factQA"]["answer"] = "jar"  # type: ignore[index]
    assert fixed == [record, record | {"beliefQAs": []}]
    one = storyproof.audit(path, columns="story=fullContext,question=factQA.question,answer=factQA.answer")
    assert counts(one)["rows"] == 2


def test_rows_that_cannot_be_read_never_end_an_audit(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [{"story": STORY, "question": BELIEF, "answer": "box"}] * 3
    lines = [json.dumps(row) for row in rows]
    lines += ['{"story": ', "[1]", json.dumps({**rows[0], "answer": None}), json.dumps({**rows[0], "story": ""})]
    lines += [json.dumps({**rows[0], "story": STORY + "\nAda blorked."}), json.dumps({**rows[0], "question": "Why?"})]
    path.write_bytes("\n".join(lines).encode() + b'\n{"story": "\xff"}\n' + lines[0].encode())
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert report.totals["rows"] == 11
    assert report.totals["judged"] == 4
    assert report.totals["unread"] == {"record": 3, "answer": 1, "story": 2, "question": 1}
    places = {(each.line, each.field) for each in report.findings if each.kind == "unread"}
    assert {(4, "record"), (5, "record"), (6, "answer"), (7, "story"), (9, "question"), (10, "record")} <= places
    assert (tmp_path / "fixed" / "mine.jsonl").read_bytes() == path.read_bytes()
    done = run("audit", path)
    assert done.exit_code == 1
    assert "11 rows of " in done.stdout
    assert "4 judged (36.4%)" in done.stdout


def test_what_is_not_read_is_never_clean(tmp_path: Path) -> None:
    """Of rows without any other column every wrong one is found, or is counted as not understood."""
    made = storyproof.generate("tomi", test=99, seed=3).to_pylist()[:300]
    kin = storyproof.generate("clutrr", train=300, seed=3).to_pylist()
    for number, row in enumerate(made):
        made[number] = {name: row[name] for name in ("story", "question", "answer")} | {"answer": "nowhere"}
    for number, row in enumerate(kin):
        other = "niece" if row["answer"] != "niece" else "uncle"
        kin[number] = {name: row[name] for name in ("story", "question", "answer")} | {"answer": other}
    path = tmp_path / "mine.jsonl"
    mixed = [row for pair in zip(made, kin, strict=True) for row in pair]
    path.write_text("".join(json.dumps(row) + "\n" for row in mixed))
    report = storyproof.audit(path)
    found = {each.row for each in report.disagreements} | set()
    unread = {each.row for each in report.findings if each.kind == "unread"}
    assert found | unread == set(range(600))
    assert len(unread) == report.unread.total()
    assert set(range(0, 600, 2)) <= found


def test_checks_that_need_no_understanding(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    rows = [
        {"context": "It rained in Lima.", "question": "Where did it rain?", "answer": "Lima", "gold": "lima."},
        {"context": "It rained  in Lima.", "question": "where did it rain?", "answer": "Oslo", "gold": "Rome"},
        *({"context": f"{name} won.", "question": "Who won?", "answer": name, "gold": name} for name in "ABCDEFGH"),
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())
    report = storyproof.audit(path, consistent="answer,gold")
    assert counts(report) == {"rows": 10, "judged": 0, "unread": report.unread, "conflicts": 1, "wrong": {}}
    assert report.totals["repeated_questions"] == 1
    kinds = {each.kind: each for each in report.findings if each.kind != "unread"}
    assert set(kinds) == {"conflict", "inconsistent", "not_in_story"}
    assert (kinds["conflict"].row, kinds["conflict"].line) == (1, 3)
    assert "row 0" in kinds["conflict"].reason
    assert (kinds["inconsistent"].found, kinds["inconsistent"].expected) == ("Rome", "Oslo")
    assert kinds["not_in_story"].found == "Oslo"
    with pytest.raises(DataError, match="unknown column 'goal'"):
        storyproof.audit(path, consistent=("answer", "goal"))
    with pytest.raises(ConfigError, match="two or more columns"):
        storyproof.audit(path, consistent="answer")


def test_answers_are_compared_with_choices(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    base = {"context": "x", "question": "Which?"}
    rows = [
        {**base, "choices": ["red", "blue"], "answer": 1},
        {**base, "choices": {"text": ["red", "green"], "label": ["1", "2"]}, "answer": "2"},
        {**base, "choices": "(A) red (B) blue", "answer": "(B)"},
        {**base, "choices": [{"label": "A", "text": "red"}, {"label": "B", "text": "Red."}], "answer": "A"},
        {**base, "choices": ["red", "blue"], "answer": "yellow"},
    ]
    write_lines(path, rows)
    report = storyproof.audit(path, columns={"choices": "choices"})
    listed = {(each.kind, each.row) for each in report.findings if each.kind in ("not_a_choice", "choice_twice")}
    assert listed == {("not_a_choice", 4), ("choice_twice", 3)}


def test_splits_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split, answer in (("train", "box"), ("validation", "jar")):
        (tmp_path / split).mkdir()
        write_stream(tmp_path / split / "data-00000-of-00001.arrow", [{**ROWS[0], "label": answer}])
        (tmp_path / split / "dataset_info.json").write_text('{"features": {}}')
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "validation"]}')
    report = storyproof.audit(tmp_path)
    assert report.shared == [{"first": "train", "second": "val", "stories": 1, "questions": 1, "conflicts": 1}]
    assert [Path(each).name for each in report.left_out] == ["dataset_dict.json", *["dataset_info.json"] * 2]
    done = run("audit", tmp_path)
    assert "shared by train and val: 1 story, 1 question, 1 conflict" in done.stdout
    assert "left out, because no question is found in it: " in done.stdout
    monkeypatch.setattr("storyproof.audits.audit.MOST_COMPARED", 1)  # rows, so that memory is bounded
    assert storyproof.audit(tmp_path).shared == []


def test_a_member_of_an_archive_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mine.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
        archive.writestr("~", "lost")
    path.write_bytes(path.read_bytes().replace(b"~", b"\0"))
    assert counts(storyproof.audit(path))["rows"] == 3


def test_folders_and_archives_are_searched(tmp_path: Path) -> None:
    inner = tmp_path / "data" / "deep" / "deeper"
    inner.mkdir(parents=True)
    write_lines(inner / "mine.jsonl", ROWS)
    write_csv(tmp_path / "data" / "deep" / "mine.csv", ROWS)
    (tmp_path / "data" / ".hidden").mkdir()
    write_csv(tmp_path / "data" / ".hidden" / "no.csv", ROWS)
    report = storyproof.audit(tmp_path / "data", fix=tmp_path / "fixed")
    assert counts(report)["rows"] == 6
    assert (tmp_path / "fixed" / "deeper" / "mine.jsonl").exists()
    assert (tmp_path / "fixed" / "mine.csv").exists()
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.write(inner / "mine.jsonl", "one/mine.jsonl")
        archive.write(tmp_path / "data" / "deep" / "mine.csv", "mine.csv")
        archive.writestr("../outside.csv", "story\nx\n")
    zipped = storyproof.audit(tmp_path / "both.zip")
    assert counts(zipped) == counts(report)
    assert not (tmp_path / "outside.csv").exists()
    (tmp_path / "mine.jsonl.gz").write_bytes(gzip.compress((inner / "mine.jsonl").read_bytes()))
    assert counts(storyproof.audit(tmp_path / "mine.jsonl.gz"))["rows"] == 3
    (tmp_path / "bad.zip").write_bytes((tmp_path / "both.zip").read_bytes()[:100])
    with pytest.raises(DataError, match=r"bad\.zip cannot be unpacked"):
        storyproof.audit(tmp_path / "bad.zip")


def test_files_of_a_folder_that_hold_no_questions_are_left_out(tmp_path: Path) -> None:
    write_lines(tmp_path / "mine.jsonl", ROWS)
    (tmp_path / "readme.txt").write_text("How these data were made.\n")
    report = storyproof.audit(tmp_path)
    assert [each.file for each in report.files] == ["mine.jsonl"]
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.write(tmp_path / "mine.jsonl", "one/mine.jsonl")
        archive.write(tmp_path / "readme.txt", "licence.txt")
    assert counts(storyproof.audit(tmp_path / "both.zip")) == counts(report)
    (tmp_path / "readme.txt").write_text("1 Ann sang.\n")
    with pytest.raises(DataError, match=r"readme\.txt, line 1"):
        storyproof.audit(tmp_path)


@pytest.mark.parametrize("answers", [[{"text": "jar", "answer_start": 3}], {"text": ["jar"], "answer_start": [3]}])
def test_answers_may_be_objects_with_their_place_in_the_text(tmp_path: Path, answers: object) -> None:
    """As in SQuAD, published and on the Hugging Face Hub."""
    asked = [{"question": BELIEF, "answers": answers}, {"question": REALITY, "answers": answers}]
    path = tmp_path / "sets.json"
    path.write_text(json.dumps({"version": "1", "data": [{"paragraphs": [{"context": STORY, "qas": asked}]}]}))
    found = counts(storyproof.audit(path))
    assert (found["judged"], found["wrong"]) == (2, {"first_order": 1})


def test_rows_in_memory_may_have_any_columns() -> None:
    report = storyproof.audit(pa.Table.from_pylist(ROWS))
    assert report.files[0].columns == GUESSED
    assert counts(report)["wrong"] == {"reality": 1}
    assert counts(storyproof.audit(ROWS)) == counts(report)


def test_a_question_about_a_family_may_be_called_query(tmp_path: Path) -> None:
    """A column that was taken for the question is not also the column `query` of kinship."""
    path = tmp_path / "mine.csv"
    text = "Ada is the mother of Ben. Ben's sister is Cleo."
    path.write_text(f"passage,query,label\n{text},What is Cleo to Ada?,daughter\n{text},What is Ada to Cleo?,aunt\n")
    totals = storyproof.audit(path).totals
    assert (totals["judged"], totals["unread"], sum(totals["wrong_answers"].values())) == (2, {}, 1)


def test_an_answer_that_follows_for_one_gender_only_is_not_right(tmp_path: Path) -> None:
    """If Jay is a woman, Lake may be her husband; the text does not say."""
    path = tmp_path / "mine.jsonl"
    story = "Jay's mother is Sky. Sky's son-in-law is Lake. Jay's grandmother is Kit."
    write_lines(path, [{"story": story, "question": "What is Lake to Jay?", "answer": "brother-in-law"}])
    totals = storyproof.audit(path).totals
    assert (totals["judged"], totals["entailed"], totals["ambiguous"]) == (1, 0, 1)


def test_a_repeated_row_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    row = {"story": "Anna is Ben's mother. Ben is Sarah's father.", "question": "What is Sarah to Anna?"}
    write_lines(path, [{**row, "answer": "granddaughter"}, {**row, "answer": "grandson"}])
    report = storyproof.audit(path)
    assert [each.row for each in report.files[0].findings if each.kind == "duplicate"] == [1]
    assert report.totals["duplicates"] == 1


def test_columns_under_our_names_may_hold_other_things(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    kept = {"story": STORY, "question": BELIEF, "answer": "box"}
    rows = [{**kept, "question_type": "hard", "story_type": "false_belief", "order": 7} for _ in range(8)]
    rows[3]["story_type"] = "true_belief"
    write_lines(path, rows)
    report = storyproof.audit(path)
    assert {(each.row, each.field) for each in report.disagreements} == {(3, "story_type")}
    assert report.files[0].notes == [
        "'question_type' and 'order' hold other values than the columns of ours, and are not compared"
    ]


def test_instructions_around_stories_are_no_part_of_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    told = "Read the following story and answer the question."
    rows = [
        {"story": f"{told}\n{STORY.replace('key', name)}", "question": REALITY.replace("key", name), "answer": "jar"}
        for name in ("key", "ring", "coin", "pen")
    ]
    rows.append({"story": STORY, "question": REALITY, "answer": "box"})
    write_lines(path, rows)
    report = storyproof.audit(path)
    assert counts(report) == {"rows": 5, "judged": 5, "unread": {}, "conflicts": 1, "wrong": {"reality": 1}}
    assert report.files[0].notes == [f"not part of the stories: {told!r}"]


def test_a_file_without_questions_is_said_to_have_none(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column for a story or a question is found; it has: a, b") as raised:
        storyproof.audit(path)
    assert "columns story=NAME" in str(raised.value)


def test_what_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.Table.from_pylist(ROWS * 100)
    with pa.ipc.new_file(
        str(tmp_path / "x.arrow"), table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table)
    write_xlsx(tmp_path / "x.xlsx", ROWS)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b" " * 10_000))
    monkeypatch.setattr("storyproof.formats.arrow_file.LARGEST_ROW_GROUP", 1_000)
    monkeypatch.setattr("storyproof.formats.xlsx.LARGEST_SHEET", 1_000)
    monkeypatch.setattr("storyproof.io.archives.LARGEST_ARCHIVE", 1_000)
    for name, said in (
        ("x.arrow", "large once it is uncompressed"),
        ("x.xlsx", "write it as CSV"),
        ("x.jsonl.gz", "larger"),
    ):
        with pytest.raises(DataError, match=said):
            storyproof.audit(tmp_path / name)


def test_a_sheet_needs_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_xlsx(tmp_path / "x.xlsx", ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ConfigError, match=r"reading \.xlsx files needs .* pip install 'storyproof\[xlsx\]'"):
        storyproof.audit(tmp_path / "x.xlsx")


def test_cells_with_half_a_character_are_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('story,question,answer,choices\nA.,Who?,a,"[""\\ud800"", ""a""]"\n')
    assert counts(storyproof.audit(path))["rows"] == 1


def test_a_sample_without_a_question_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    write_lines(path, [{"input": "", "target": "x"}, {"input": f"{STORY}\n{REALITY}", "target": "jar"}])
    report = storyproof.audit(path)
    assert counts(report) == {"rows": 2, "judged": 1, "unread": {"question": 1}, "conflicts": 0, "wrong": {}}
    (unread,) = report.findings
    assert unread.line == 1
    assert unread.found.startswith("not a question about a story: no question mark")


def test_a_first_line_longer_than_any_field_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text('"' + "x" * 200_000 + '",story,target\n')
    with pytest.raises(DataError):
        storyproof.audit(path)


def test_kinship_rows_without_a_split_are_judged(tmp_path: Path) -> None:
    rows = storyproof.generate("clutrr", test=6, seed=7).drop_columns(["split"])
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path)
    assert storyproof.audit(path).totals["judged"] == rows.num_rows


def test_totals_always_have_rows(tmp_path: Path) -> None:
    path = tmp_path / "templates.json"
    path.write_text(json.dumps({"father": {"male-male": ["ENT_1_male is the father of ENT_0_male."]}}))
    totals = storyproof.audit(path).totals
    assert (totals["rows"], totals["judged"], totals["unread"]) == (0, 0, {})


def test_a_fact_may_be_stated_twice_and_asked_for_in_other_words(tmp_path: Path) -> None:
    rows = [
        ("Ann is Bob's mother. Bob is Ann's son.", "What is Ann to Bob?", "mother"),
        ("Ann is Bob's mother. Bob has a mother called Ann.", "What is Ann to Bob?", "mother"),
        ("Dan is Ada's father. Ada is Kim's mother.", "How is Dan related to Ada?", "father"),
        ("Dan is Ada's father. Ada is Kim's mother. Kim is Ada's daughter.", "Kim is the ___ of Dan.", "granddaughter"),
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(json.dumps(dict(zip(("story", "question", "answer"), row, strict=True))) + "\n" for row in rows)
    )
    report = storyproof.audit(path)
    assert report.findings == []
    assert report.totals["judged"] == 4


def test_it_is_said_whose_proofs_were_checked(tmp_path: Path) -> None:
    row = {
        "story": "Ada entered the attic.\nThe key is in the box.",
        "question": "Where is the key really?",
        "answer": "box",
    }
    for proofs, said in (
        ((None, None), "2 proofs (derived here: the rows have none)"),
        (([2], None), "2 proofs (1 of them derived here: those rows have none)"),
        (([2], [2]), "2 proofs"),
    ):
        rows = [
            {**row, **({"proof": proof} if proof else {}), "id": f"r{number}"} for number, proof in enumerate(proofs)
        ]
        (tmp_path / "t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
        done = run("audit", str(tmp_path / "t.jsonl"))
        assert f"  checked by leaving out sentences: {said}\n" in done.stdout


def test_answers_about_places_may_say_in(tmp_path: Path) -> None:
    english = ("Lena and Paul are in the garden. The ball is in the basket.", "Where is the ball?")
    german = ("Lena und Paul sind im Garten. Der Ball ist im Korb. Lena geht hinaus.", "Wo sucht Lena den Ball?")
    spanish = ("Lucía y Pablo están en el jardín. La pelota está en la cesta.", "¿Dónde está la pelota?")
    chinese = ("小红和小明在花园里。球在篮子里。小红离开了花园。小明把球放进了盒子里。", "小红会去哪里找球？")
    texts = {"in the basket": english, "im Korb": german, "En la cesta.": spanish, "在篮子里": chinese}
    wrong = {"in the garden": english, "in der Kiste": german, "en la caja": spanish, "盒子里": chinese}
    for number, answers in enumerate((texts, wrong)):
        path = tmp_path / f"{number}.jsonl"
        rows = [{"story": text, "question": asked, "answer": answer} for answer, (text, asked) in answers.items()]
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        report = storyproof.audit(path)
        assert report.totals["judged"] == 4
        assert [each.row for each in report.findings if each.field == "answer"] == [[], [0, 1, 2, 3]][number]
