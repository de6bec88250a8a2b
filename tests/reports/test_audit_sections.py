"""What an audit shows beside errata, made from files: tables, and the page with the rows that it lists."""

from __future__ import annotations

import csv
import io
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

import storyproof
from storyproof.audits.audit import ERRATA
from storyproof.errors import DataError
from storyproof.findings import AuditReport
from storyproof.reports.audit_sections import language_of, overlaps_of, page_of, shortcuts_of
from tests.reports.test_audit_page import Elements, data_of

TALE = """1 Ada entered the attic.
2 Ben entered the attic.
3 The key is in the box.
4 The box is in the attic.
5 Ben exited the attic.
6 Ada moved the key to the jar.
7 The jar is in the attic.
8 Where will Ben look for the key?\t{answer}\t1
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tale(thing: str = "key", answer: str = "box") -> str:
    return TALE.format(answer=answer).replace("key", thing)


def shown(view: RenderableType) -> str:
    text = io.StringIO()
    Console(file=text, width=200).print(view)
    return text.getvalue()


def sections_of(page: str) -> list[str | None]:
    return [attrs.get("aria-labelledby") for tag, attrs in Elements(page).found if tag == "section"]


# --- shortcuts


@cache
def shortcuts_of_one(path: Path) -> dict[str, Any]:
    return shortcuts_of([path])[0]


@pytest.fixture(scope="module")
def tomi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tomi") / "x"
    storyproof.generate("tomi", train=21, test=12, seed=3, out=folder, format="babi")
    return folder


def test_shortcuts_are_learned_from_training_data(tomi: Path) -> None:
    found, view = shortcuts_of([tomi])
    assert (found["trained_on"], found["training_questions"], found["questions"]) == ("train", 126, 72)
    text = shown(view)
    for name in ("chance", "the structural baseline", *(row["name"] for row in found["rows"])):
        assert name in text
    assert found["verdict"] in " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "questions"), [pytest.param("train.txt", 126, marks=pytest.mark.slow), ("test.txt", 72)]
)
def test_data_alone_are_answered_from_one_another(tomi: Path, name: str, questions: int) -> None:
    found = shortcuts_of_one(tomi / name)
    assert found["questions"] == questions
    assert found["trained_on"] != "train"


def test_whole_stories_are_counted_where_they_have_several_questions(tomi: Path) -> None:
    found = shortcuts_of_one(tomi / "test.txt")
    page = page_of(AuditReport([]), [tomi / "test.txt"], {"shortcuts": found})
    assert ">joint</th>" in page
    single = found | {"questions": found["stories"]}
    assert ">joint</th>" not in page_of(AuditReport([]), [tomi / "test.txt"], {"shortcuts": single})


# --- overlaps


@pytest.fixture
def conflicting(tmp_path: Path) -> Path:
    put(tmp_path / "train.txt", tale() + tale("map") + tale(answer="jar"))
    put(tmp_path / "test.txt", tale("map", answer="jar") + tale("hat"))
    return tmp_path


def test_overlaps_and_conflicts_are_shown(conflicting: Path) -> None:
    found, view = overlaps_of([conflicting], None)
    counts = {(each["kind"], each["first"], each["second"]): each["pairs"] for each in found["overlaps"]}
    assert counts["story", "train", "train"] == 1
    assert counts["story", "train", "test"] == 1
    assert counts["conflict", "train", "train"] == 1
    assert counts["conflict", "train", "test"] == 1
    assert counts["conflict", "test", "test"] == 0
    text = shown(view)
    assert " ".join(text.split()).count("conflict train test 1 1 of 2 (50.0%)") == 1
    assert "conflict: train-8 of train says box, train-24 of train says jar" in text
    assert text.count("conflict: ") == 2


def test_overlaps_with_another_dataset(conflicting: Path, tmp_path: Path) -> None:
    other = put(tmp_path / "other" / "test.txt", tale("hat", answer="jar"))
    found, view = overlaps_of([conflicting / "test.txt"], other)
    assert list(found["parts"]) == ["test", "against test"]
    assert "of against test says jar" in shown(view)


def test_without_conflicts_none_is_shown(conflicting: Path) -> None:
    found, view = overlaps_of([conflicting / "test.txt"], None)
    assert "conflict: " not in shown(view)
    page = page_of(AuditReport([]), [conflicting / "test.txt"], {"overlaps": found})
    assert "Conflicting labels" not in page


# --- language


def test_files_are_named_without_the_folders_of_this_machine(conflicting: Path) -> None:
    found, view = language_of([conflicting])
    assert sorted(found) == ["test.txt", "train.txt"]
    assert str(conflicting) not in shown(view)
    put(conflicting / "more" / "test.txt", tale("cap"))
    found, _ = language_of([conflicting / "test.txt", conflicting / "more" / "test.txt"])
    assert set(found) == {f"{conflicting.name}/test.txt", "more/test.txt"}


# --- the page


def page(*paths: Path, **more: Any) -> str:
    return page_of(storyproof.audit(list(paths)), list(paths), more)


def test_a_finding_comes_with_its_story(tmp_path: Path) -> None:
    path = put(tmp_path / "val.txt", tale("map") + tale(answer="jar"))
    data = data_of(page(path))
    (finding,) = data["findings"]
    assert (finding["file"], finding["row"], finding["question"]) == ("val.txt", 1, "Where will Ben look for the key?")
    assert "The key is in the box." in data["stories"][finding["story"]]
    assert finding["pictures"]
    assert "<title>Audit of val.txt</title>" in page(path)


def test_a_finding_of_a_trace_comes_with_its_story(tomi: Path, tmp_path: Path) -> None:
    for name in ("test.txt", "test.trace"):
        shutil.copy(tomi / name, tmp_path / name)
    trace = (tmp_path / "test.trace").read_text().split("\n")
    trace[0] = trace[0].replace("memory", "reality")
    (tmp_path / "test.trace").write_text("\n".join(trace))
    data = data_of(page(tmp_path))
    (finding,) = data["findings"]
    assert finding["file"] == "test.trace"
    assert data["stories"][finding["story"]]


def test_files_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "deep" / "one", tmp_path / "two"]
    for folder, thing in zip(folders, ("key", "map", "hat"), strict=True):
        put(folder / "val.txt", tale(thing, answer="jar"))
    put(folders[2] / "other.txt", tale())
    text = page(*folders)
    data = data_of(text)
    assert [(each["file"], each["row"]) for each in data["findings"]] == [
        (f"{tmp_path.name}/one/val.txt", 0),
        ("deep/one/val.txt", 0),
        ("two/val.txt", 0),
    ]
    for finding, thing in zip(data["findings"], ("key", "map", "hat"), strict=True):
        assert f"The {thing} is in the box." in data["stories"][finding["story"]]
        assert finding["question"] == f"Where will Ben look for the {thing}?"
    names = Elements(text).text.split("\n")
    assert "deep/one/val.txt" in names
    assert "other.txt" in names  # which nothing else is called


def test_all_that_an_audit_says_keeps_files_of_one_name_apart(tmp_path: Path) -> None:
    for folder, thing in (("one", "key"), ("two", "map")):
        put(tmp_path / folder / "val.txt", tale(thing, answer="jar"))
    report = storyproof.audit([tmp_path / "one", tmp_path / "two"], fix=tmp_path / "fixed")
    names = ["one/val.txt", "two/val.txt"]
    assert [each.file for each in report.files] == names
    assert [each.file for file in report.files for each in file.findings] == names
    with (tmp_path / "fixed" / ERRATA).open(newline="") as file:
        assert [row["file"] for row in csv.DictReader(file)] == names
    for name, thing in zip(names, ("key", "map"), strict=True):
        assert (tmp_path / "fixed" / name).read_text() == tale(thing)


def test_a_file_given_twice_in_two_ways_is_called_by_its_name(tmp_path: Path) -> None:
    path = put(tmp_path / "val.txt", tale(answer="jar"))
    twice = storyproof.audit([path, tmp_path])
    assert [each.file for each in twice.files] == ["val.txt"]


def test_sections(conflicting: Path) -> None:
    overlaps, _ = overlaps_of([conflicting], None)
    shortcuts, _ = shortcuts_of([conflicting])
    text = page(conflicting, overlaps=overlaps, shortcuts=shortcuts)
    words = Elements(text).text
    assert words.index("Overlaps") < words.index("Conflicting labels") < words.index("Shortcuts")
    assert "says otherwise" in words
    assert "The structural baseline" in words
    assert words.count(shortcuts["verdict"]) == 1
    assert words.index(shortcuts["verdict"]) < words.index("Overlaps")
    first = shortcuts["rows"][0]
    assert f"A reader who {first['reader']}" in words
    low, high = (100 * first["accuracy"][end] for end in ("low", "high"))
    assert f"({low:.1f}–{high:.1f})" in words
    assert "the same story and question with another answer" in words
    assert "50.0%" in words
    others = words[words.index("Overlaps") : words.index("By file")].replace("The structural baseline", "")
    assert "structural" not in others
    assert sections_of(text).count("section-2") == 1


def test_there_is_no_other_section(conflicting: Path) -> None:
    with pytest.raises(DataError, match="no section 'costs'"):
        page(conflicting, costs={})


def test_rows_that_cannot_be_read_as_examples_are_listed_with_their_text(tmp_path: Path) -> None:
    storyproof.generate("clutrr", test=60, test_k=(3,), seed=7, reading="published", out=tmp_path / "x", format="csv")
    path = tmp_path / "x" / "1.3_test.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    rows[5]["story_edges"] = "[(0, 1), (1, 2), (2, 9)]"  # to be told by the audit, but no example
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    data = data_of(page(path))
    assert {each["row"] for each in data["findings"] if each["story"] is None} == {-1}  # the manifest
    assert any((each["row"], each["field"]) == (5, "story_edges") for each in data["findings"])
    for each in data["findings"]:
        if each["row"] >= 0:
            told = rows[each["row"]]["story"].replace("[", "").replace("]", "")
            assert data["stories"][each["story"]] == [told]
            assert each["question"] == rows[each["row"]]["query"]


def test_rows_that_cannot_be_read_at_all_are_listed_without_a_story(tmp_path: Path) -> None:
    path = put(
        tmp_path / "val.jsonl", json.dumps({"story": "Ada sang.", "question": "Why?", "answer": "jar"}) + "\n{\n"
    )
    data = data_of(page(path))
    assert [(each["row"], each["story"]) for each in data["findings"]] == [(0, 0), (1, None)]
    assert data["stories"] == [["Ada sang."]]
