"""The pass over rows: what is read, who judges it, and how rows are understood in other words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits.row_pass import choose_format, examine, examine_table, names_of
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.file_judge import Subject
from storyproof.findings import UNREAD
from storyproof.formats.format import Format, load_format
from tests.auditing import audit_file, fixed_files
from tests.cli.invocation import run
from tests.samples import table


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files each time that one is read."""
    seen: list[str] = []

    def note(form: Format, name: str) -> None:
        real = getattr(type(form), name)

        def noted(self: Format, path: Path, *args: Any, **how: Any) -> Any:
            seen.append(path.name)
            return real(self, path, *args, **how)

        monkeypatch.setattr(type(form), name, noted)

    for name, verbs in (("jsonl", ("read", "records")), ("clutrr", ("read", "read_foreign"))):
        for verb in verbs:
            note(load_format(name), verb)
    return seen


@pytest.mark.parametrize(("benchmark", "format_name"), [("tomi", "jsonl"), ("clutrr", "jsonl"), ("clutrr", "csv")])
def test_files_are_read_once(benchmark: str, format_name: str, reads: list[str], tmp_path: Path) -> None:
    storyproof.generate(benchmark, train=12, out=tmp_path / "x", format=format_name)
    (path,) = [file for file in (tmp_path / "x").iterdir() if file.name != "manifest.json"]
    reads.clear()
    assert storyproof.verify(path).ok
    assert reads == [path.name]
    reads.clear()
    assert storyproof.audit(path, fix=tmp_path / "fixed").clean
    assert reads == [path.name]


def test_tables_can_be_judged_too() -> None:
    made = table("tomi", "test", 3)
    assert examine_table(made).findings == []
    report = examine_table(made, "mine")
    assert (report.file, report.family, report.questions, report.stories) == ("mine", "belief", 18, 3)
    assert report.totals["rows"] == 18


def test_findings_have_places(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "x", format="jsonl")
    path = tmp_path / "x" / "test.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[4]["answer"] = "nowhere"
    path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in rows))
    (found,) = (each for each in storyproof.audit(path).findings if each.id)
    (listed,) = audit_file(path).findings
    assert found == listed
    assert (found.row, found.line, found.id, found.kind) == (4, 6, rows[4]["id"], "structural")
    assert str(found).startswith(
        f"test.jsonl row 4 ({rows[4]['id']}): answer: found nowhere, expected {found.expected}; "
    )
    assert listed.fix == "answer"


def test_both_names_are_one_verb() -> None:
    assert storyproof.verify is storyproof.audit


def test_labels_are_judged_by_the_reading_that_the_data_claim(tmp_path: Path) -> None:
    """Data can hold what they claim, by the published rules, and yet have labels that do not follow strictly."""
    storyproof.generate("clutrr", train=200, out=tmp_path / "x", reading="published", format="jsonl")
    marked = run("audit", tmp_path / "x")
    assert marked.exit_code == 0, marked.stdout
    assert marked.stdout.endswith("\n0 disagreements\n")  # their status says it
    path = tmp_path / "train.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "x" / path.name).read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, "status": None}) + "\n" for row in rows))
    report = storyproof.audit(path)
    listed = {each.row for each in report.findings if each.kind in ("ambiguous", "contradicted", "impossible")}
    assert (report.ok, report.clean, report.disagreements) == (True, False, [])
    assert report.unsettled.total() == report.totals["rule_dependent"]["published"] == len(listed) > 0
    assert report.unsettled == {name: count for name, count in report.statuses.items() if name != "entailed"}
    assert report.totals["wrong_answers"] == {}
    done = run("verify", path)
    assert done.exit_code == 0, done.stdout
    assert done.stdout == run("audit", path).stdout
    assert f"0 wrong answers, {len(listed)} rule-dependent, 0 not understood" in done.stdout
    assert done.stdout.endswith(f"\n0 disagreements; {len(listed)} of 200 labels do not follow under strict kinship\n")


STORY = "Ada entered the attic. Ben entered the attic. The key is in the box. Ben left. Ada moved the key to the jar."


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_that_are_not_understood_are_neither_clean_nor_wrong(tmp_path: Path) -> None:
    row = {"id": "one", "story": "Something else happened.", "question": "Where is the key really?", "answer": "jar"}
    other = {"id": "two", "story": STORY.replace("left", "exited the attic"), "question": row["question"]}
    path = write(tmp_path / "mine.jsonl", row, {**other, "answer": "jar"}, {**other, "id": "three", "answer": "box"})
    report = storyproof.audit(path)
    assert report.unread == {"story": 1}
    assert (report.totals["rows"], report.totals["judged"]) == (3, 2)
    assert [(each.id, each.row) for each in report.disagreements] == [("three", 2)]
    (unread,) = (each for each in report.findings if each.kind == UNREAD)
    assert (report.totals["conflicts"], report.totals["repeated_questions"]) == (1, 1)
    assert (unread.id, unread.row, unread.line, unread.is_disagreement) == ("one", 0, 1, False)
    write(path, row, {**other, "answer": "jar"})
    report = storyproof.audit(path)
    assert (report.ok, report.clean, report.disagreements) == (False, False, [])
    done = run("audit", path)
    assert done.exit_code == 1
    assert done.stdout.endswith("\n0 disagreements; 1 of 2 rows not understood\n")
    assert "  not understood: story 1\n" in done.stdout


def test_rows_are_read_as_a_users_own_text_is(tmp_path: Path) -> None:
    """What `storyproof.story` understands, an audit understands: running text, numbers, other words, any family."""
    question = "Where will Ben look for the key?"
    asked = storyproof.story(STORY).ask(question)
    assert asked.answer == "box"
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(STORY.split(". "), start=1))
    kin = "Ann is the mother of Bob. Cleo is Bob's sister."
    rows = [
        {"story": STORY, "question": question, "answer": "box"},
        {"story": numbered, "question": question, "answer": "jar"},
        {"story": kin, "question": "What is Cleo to Ann?", "answer": "daughter"},
        {"story": kin, "question": "What is Cleo to Ann?", "answer": "niece"},
    ]
    report = storyproof.audit(write(tmp_path / "mine.jsonl", *rows), fix=tmp_path / "fixed")
    assert report.unread == {}
    wrong = {(each.row, each.found, each.expected) for each in report.disagreements}
    assert wrong == {(1, "jar", "box"), (3, "niece", "daughter")}
    again = storyproof.audit(tmp_path / "fixed")
    assert (again.ok, again.unread) == (True, {})


def test_one_format_names_its_family(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{}")
    assert choose_format(path, "clutrr") == (load_format("jsonl"), "kinship")
    assert choose_format(path, "jsonl") == (load_format("jsonl"), "")
    with pytest.raises(UnknownNameError, match="unknown format 'csv'"):
        choose_format(path, "csv")


def test_files_beside_are_named_alike() -> None:
    paths = [Path("one/val.txt"), Path("two/val.txt"), Path("two/test.txt")]
    assert names_of(paths) == ["one/val.txt", "two/val.txt", "test.txt"]
    subject = Subject(paths[0], load_format("tomi"), "one/val.txt")
    assert subject.called("val.trace") == "one/val.trace"
    assert Subject(paths[0], load_format("tomi"), "val").called("val.trace") == "val"


def test_only_known_ways_to_fix(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(table("tomi", "test", 3).to_pylist()[0]) + "\n")
    with pytest.raises(UnknownNameError, match="unknown way with ambiguous rows 'burn'"):
        fixed_files(path, audit_file(path), "burn")


def test_rows_of_another_family_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(table("tomi", "test", 3).to_pylist()[0]) + "\n")
    subject = Subject(path, load_format("jsonl"), "x")
    with pytest.raises(DataError, match="found no column 'edges'; expected rows of kinship, as the user says"):
        examine(subject, family="kinship", says="the user")
