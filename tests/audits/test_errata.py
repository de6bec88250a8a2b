"""Errata: corrections that name rows by hashes, and audits that look rows up in them."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

import storyproof
from storyproof.audits.errata import errata_of, known_errata, look_up, read_errata
from storyproof.errors import DataError
from storyproof.formats.columns import row_hash
from tests.audits.test_own_rules import ROWS
from tests.cli.invocation import run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Hi-ToM_data.json"
    path.write_text(json.dumps({"data": ROWS}, indent=1))
    return path


def write(file: Path, folder: Path) -> Path:
    assert run("audit", str(file), "--write-errata", str(folder)).exit_code == 1
    [path] = folder.iterdir()
    return path


def test_errata_have_hashes_and_corrections_and_no_texts(file: Path, tmp_path: Path) -> None:
    path = write(file, tmp_path / "errata")
    header, *entries = map(json.loads, path.read_text().splitlines())
    assert header["dataset"] == "Hi-ToM"
    assert (header["rows"], header["judged"], header["reading"]) == (6, 6, "open+hi-tom")
    assert len(header["version"]) == 64
    assert "oracle and checker of storyproof" in header["confirmed_by"]
    assert [(each["published"], each["correct"], each["reading"]) for each in entries] == [
        ("old_sack", "tin_can", "open+always"),
        ("old_sack", "blue_jar", "open+always"),
        ("red_box", "old_sack", "open+flat"),
        ("blue_jar", "old_sack", ""),
    ]
    text = path.read_text()
    for word in ("Ada", "Cleo", "hall", "plum", "thinks"):
        assert word not in text


def test_rows_are_known_in_other_orders_and_formats(file: Path, tmp_path: Path) -> None:
    errata = read_errata(write(file, tmp_path / "errata"))
    copy = tmp_path / "copy.jsonl"
    rows = [
        {"passage": row["story"].replace("\n", "  \n"), "query": row["question"], "label": row["answer"]}
        for row in ROWS
    ]
    copy.write_text("".join(json.dumps(row) + "\n" for row in rows[::-1]))
    found = look_up(copy, [errata])
    # Two rows ask the same with different labels: each correction goes to the label that it corrects.
    assert {each.row: (each.found, each.expected) for each in found.findings} == {
        0: ("blue_jar", "old_sack"),
        1: ("red_box", "old_sack"),
        2: ("old_sack", "blue_jar"),
        3: ("old_sack", "tin_can"),
    }
    assert found.totals["known_errata"] == 4
    assert found.totals["other_answers"] == 2  # right labels of rows that another row asks with a wrong one


def test_rows_are_looked_up_and_corrected(file: Path, tmp_path: Path) -> None:
    errata = write(file, tmp_path / "errata")
    found = run("errata", "apply", str(file), "--errata", str(errata), "--out", str(tmp_path / "fixed"))
    assert found.exit_code == 0
    assert "Hi-ToM_data.json: 6 rows, 4 known errata; 2 of its rows are among the errata" in found.stdout
    assert "\n4 labels corrected\n" in found.stdout
    fixed = json.loads((tmp_path / "fixed" / file.name).read_text())["data"]
    expected = ["old_sack", "tin_can", "tin_can", "blue_jar", "old_sack", "old_sack"]
    assert [row["answer"] for row in fixed] == expected
    assert [{**row, "answer": ""} for row in fixed] == [{**row, "answer": ""} for row in ROWS]
    assert storyproof.audit(tmp_path / "fixed" / file.name).ok
    again = run("errata", "lookup", str(tmp_path / "fixed" / file.name), "--errata", str(errata))
    assert again.exit_code == 0, again.stdout


def test_letters_are_corrected_as_letters(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    places = ["box", "jar"]
    story = "Ann entered the hall.\nThe key is in the box.\nAnn moved the key to the jar."
    row = {"story": story, "question": "Where is the key really?", "choices": places, "answer": "A"}
    path.write_text(json.dumps(row) + "\n")
    errata = errata_of(path, storyproof.audit(path).files[0])
    assert [(each.published, each.correct) for each in errata.entries] == [("box", "jar")]
    errata.write(tmp_path / "errata.jsonl")
    storyproof.apply_errata(path, tmp_path / "fixed", [tmp_path / "errata.jsonl"])
    assert json.loads((tmp_path / "fixed" / path.name).read_text())["answer"] == "B"


def test_line_breaks_and_case_do_not_change_a_hash() -> None:
    assert row_hash("Ann  left.\nBo came.", "Where?") == row_hash("ann left. bo came.\n", "where?")
    assert row_hash("Ann left.", "Where?") != row_hash("Bo left.", "Where?")
    assert row_hash("Ann left. Where?", "") != row_hash("Ann left.", "Where?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; expected errata"),
        ("{", "line 1: not valid JSON"),
        ("[]", "line 1: found .*expected an object with schema, dataset, version"),
        ('{"dataset": "x"}', "line 1: found .*expected an object with schema"),
    ],
)
def test_what_is_no_file_of_errata(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "errata.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_errata(path)


def test_values_of_errata_have_their_types(file: Path, tmp_path: Path) -> None:
    path = write(file, tmp_path / "errata")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for number, name, value, message in (
        (0, "rows", "many", "line 1: 'rows' is 'many'; expected int"),
        (0, "schema", 99, "errata of schema 99; expected 1. Update storyproof"),
        (1, "correct", 3, "line 2: 'correct' is 3; expected str"),
    ):
        changed = [{**line, name: value} if place == number else line for place, line in enumerate(lines)]
        path.write_text("".join(json.dumps(line) + "\n" for line in changed))
        with pytest.raises(DataError, match=message):
            read_errata(path)


def test_lookup_lists_errata_and_writes_them(file: Path, tmp_path: Path) -> None:
    errata = write(file, tmp_path / "errata")
    found = run(
        "errata", "lookup", str(file), "--errata", str(errata), "--most", "1", "--json", str(tmp_path / "all.json")
    )
    assert found.exit_code == 1
    assert "right only under another reading (Hi-ToM; oracle and checker" in found.stdout
    assert "… and 3 more; --most 0 lists all" in found.stdout
    assert len(json.loads((tmp_path / "all.json").read_text())["files"][0]["errata"]) == 4


def test_without_a_file_of_errata_those_of_storyproof_are_used(file: Path) -> None:
    found = run("errata", "lookup", str(file))
    assert found.exit_code == 0, found.output
    assert "6 rows, 0 known errata" in found.stdout
    assert sum(len(each.entries) for each in known_errata()) > 1000


def test_tomi_text_is_corrected(tmp_path: Path) -> None:
    folder = tmp_path / "tomi"
    storyproof.generate("tomi", test=10, train=0, val=0, seed=7, out=folder, format="babi")
    path = folder / "test.txt"
    right = path.read_bytes()
    [*_, line] = (line for line in right.decode().splitlines() if line.count("\t") == 2)
    question, answer, source = line.split("\t")
    others = {each.split("\t")[1] for each in right.decode().splitlines() if "\t" in each} - {answer}
    path.write_bytes(right.replace(line.encode(), f"{question}\t{min(others)}\t{source}".encode(), 1))
    assert run("audit", str(path), "--write-errata", str(tmp_path / "errata")).exit_code == 1
    [errata] = (tmp_path / "errata").iterdir()
    done = run("errata", "apply", str(path), "--errata", str(errata), "--out", str(tmp_path / "fixed"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "fixed" / path.name).read_bytes() == right


def test_errata_at_addresses_and_into_a_folder_that_is_there(file: Path, tmp_path: Path) -> None:
    errata = write(file, tmp_path / "errata")
    message = str(run("errata", "lookup", "s3://bucket/x.jsonl").exception)
    assert "errata are looked up for files on this machine" in message
    taken = run("errata", "apply", str(file), "--errata", str(errata), "--out", str(tmp_path / "errata"))
    assert str(taken.exception) == f"{tmp_path / 'errata'} is not empty; choose another folder."


def test_a_certificate_has_counts_and_hashes(file: Path, tmp_path: Path) -> None:
    assert run("audit", str(file), "--certificate", str(tmp_path / "card")).exit_code == 1
    found = json.loads((tmp_path / "card" / "certificate.json").read_text())
    assert (found["rows"], found["judged"], found["coverage"]) == (6, 6, 1.0)
    assert found["wrong_under_every_reading"] == 1
    assert found["right_under_another_reading"] == {"open+always": 2, "open+flat": 1}
    assert found["conflicts"] == 2
    assert found["files"][0]["set"] == "Hi-ToM"
    assert found["files"][0]["sha256"] == read_errata(write(file, tmp_path / "errata")).header.version
    assert 0 < found["shortcut_ceiling"]["value"] <= 1
    page = (tmp_path / "card" / "certificate.md").read_text()
    assert "6 labels of 6 (100.0%) were compared" in page
    assert "1 are wrong under every reading, 3 are right under another reading only" in page
    assert "2 of 6 labels are right under the set's own rules" in page
    assert found["files"][0]["sha256"] in page


def test_published_sets_of_clutrr_are_named_after_their_folders(tmp_path: Path) -> None:
    folder = tmp_path / "data_523348e6"
    storyproof.generate("clutrr", test=2, test_k=(2,), seed=7, out=folder, format="csv")
    assert run("audit", str(folder), "--certificate", str(tmp_path / "card")).exit_code == 0
    found = json.loads((tmp_path / "card" / "certificate.json").read_text())
    assert {each["set"] for each in found["files"]} == {
        "CLUTRR data_523348e6 (robustness, trained with irrelevant facts)"
    }
    assert found["statuses"]["entailed"] == found["rows"] == 2


def test_files_in_folders_and_archives_have_errata_and_certificates(file: Path, tmp_path: Path) -> None:
    deep = tmp_path / "sets" / "one" / "two"
    deep.mkdir(parents=True)
    deep.joinpath(file.name).write_bytes(file.read_bytes())
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.write(file, file.name)
    for place in (tmp_path / "sets", tmp_path / "set.zip"):
        out = tmp_path / f"card-{place.stem}"
        found = run("audit", str(place), "--certificate", str(out), "--write-errata", str(out / "errata"))
        assert found.exit_code == 1, found.output
        assert json.loads((out / "certificate.json").read_text())["files"][0]["name"] == file.name
        assert len(read_errata(out / "errata" / "Hi-ToM_data.jsonl").entries) == 4
    written = tmp_path / "card-sets" / "errata" / "Hi-ToM_data.jsonl"
    for place in (tmp_path / "sets", tmp_path / "set.zip"):
        assert "4 known errata" in run("errata", "lookup", str(place), "--errata", str(written)).stdout


def test_what_depends_on_the_reading_is_no_error_where_no_reading_is_stated(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    story = (
        "Ann entered the hall.\nBo entered the hall.\nThe key is in the box.\nBo exited the hall.\n"
        "Ann moved the key to the jar.\nAnn exited the hall.\nBo entered the hall."
    )
    row = {"story": story, "question": "Where will Bo look for the key?", "answer": "box"}
    path.write_text(json.dumps(row) + "\n")
    errata = errata_of(path, storyproof.audit(path).files[0])
    assert [(each.published, each.correct, each.reading) for each in errata.entries] == [("box", "", "closed")]
    found = look_up(path, [errata])
    assert [(each.expected, each.fix, each.reading) for each in found.findings] == [("", "", "closed")]
    errata.write(tmp_path / "errata.jsonl")
    done = run("errata", "apply", str(path), "--errata", str(tmp_path / "errata.jsonl"), "--out", str(tmp_path / "out"))
    assert "0 labels corrected; 1 left as they are, because the right one depends on the reading" in done.stdout


def test_the_errata_of_storyproof_are_read_and_listed() -> None:
    folder = Path(storyproof.__file__).parent / "audits" / "errata"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    files = sorted(folder.glob("*.jsonl"))
    assert len(files) >= 7
    for path in files:
        found = read_errata(path)
        assert f"`{path.name}`" in listed
        assert f"{len(found.entries)}" in next(line for line in listed.splitlines() if path.name in line)
        assert all(re.fullmatch("[0-9a-f]{32}", each.row) for each in found.entries)
        assert len({each.row for each in found.entries}) == len(found.entries) <= found.header.judged


def test_records_with_several_rows_are_corrected(tmp_path: Path) -> None:
    story = "Ada and Bo entered the den. The kite is in the chest. Bo left the den. Ada moved the kite to the sack."
    asked = [
        {"question": "Where is the kite really?", "answer": "sack"},
        {"question": "Where will Bo look for the kite?", "answer": "sack"},
    ]
    path = tmp_path / "stories.json"
    path.write_text(
        json.dumps([{"text": story, "questions": asked}, {"text": story.replace("kite", "hat"), "questions": []}])
    )
    assert run("audit", str(path), "--write-errata", str(tmp_path / "errata")).exit_code == 1
    run(
        "errata",
        "apply",
        str(path),
        "--errata",
        str(tmp_path / "errata" / "stories.jsonl"),
        "--out",
        str(tmp_path / "fixed"),
    )
    fixed = json.loads((tmp_path / "fixed" / "stories.json").read_text())
    assert [each["answer"] for each in fixed[0]["questions"]] == ["sack", "chest"]
