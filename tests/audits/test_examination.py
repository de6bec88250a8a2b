"""One pass serves verify and audit: what is read, who judges it, and what either verb says about the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.audits import examine, examine_table, fixed_files
from storyproof.audits.audit import audit_file
from storyproof.audits.examination import choose_format, names_of
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.judge import AUDIT_ASKS, VERIFY_ASKS, Subject
from storyproof.formats.format import Format, load_format
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

    for form in (load_format("jsonl"), load_format("clutrr")):
        note(form, "read")
        note(form, "read_foreign")
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
    report = examine_table(made, "mine", is_audit=True)
    assert (report.file, report.family, report.questions, report.stories) == ("mine", "belief", 18, 3)
    assert report.totals["questions"] == 18


def test_findings_of_both_verbs_have_places(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "x", format="jsonl")
    path = tmp_path / "x" / "test.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[4]["answer"] = "nowhere"
    path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in rows))
    found = [each for each in storyproof.verify(path).findings if each.id]
    (listed,) = audit_file(path).findings
    assert [(each.row, each.line, each.kind) for each in (*found, listed)] == [(4, 6, "structural")] * 2
    assert found[0].expected == listed.expected
    assert listed.fix == "answer"


def test_verify_and_audit_say_what_they_ask(tmp_path: Path) -> None:
    """Data can hold what they claim, by the published rules, and yet have labels that do not follow."""
    storyproof.generate("clutrr", train=200, out=tmp_path / "x", reading="published", format="jsonl")
    marked = run("verify", tmp_path / "x")
    assert marked.exit_code == 0, marked.stdout
    assert "are not marked so" not in marked.stdout  # their status says it
    path = tmp_path / "train.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "x" / path.name).read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, "status": None}) + "\n" for row in rows))
    done = run("verify", path)
    assert done.exit_code == 0, done.stdout
    assert f"are not marked so; `storyproof audit {path}` lists them" in " ".join(done.stdout.split())
    (report,) = storyproof.audit(path).files
    listed = {each.row for each in report.findings if each.kind in ("ambiguous", "contradicted", "impossible")}
    found = storyproof.verify(path)
    assert found.unsettled.total() == len(listed) > 0
    assert found.unsettled == {name: count for name, count in found.statuses.items() if name != "entailed"}
    audited = run("audit", path)
    assert audited.exit_code == 1
    for text in (done.stdout, audited.stdout):
        assert VERIFY_ASKS in text
        assert AUDIT_ASKS in text


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
    subject = Subject(paths[0], load_format("tomi"), "one/val.txt", True)
    assert subject.called("val.trace") == "one/val.trace"
    assert Subject(paths[0], load_format("tomi"), "val", False).called("val.trace") == "val"


def test_only_known_ways_to_fix(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(table("tomi", "test", 3).to_pylist()[0]) + "\n")
    with pytest.raises(UnknownNameError, match="unknown way with ambiguous rows 'burn'"):
        fixed_files(path, audit_file(path), "burn")


def test_rows_of_another_family_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(table("tomi", "test", 3).to_pylist()[0]) + "\n")
    subject = Subject(path, load_format("jsonl"), "x", False)
    with pytest.raises(DataError, match="found no column 'edges'; expected rows of kinship, as the user says"):
        examine(subject, family="kinship", says="the user")
