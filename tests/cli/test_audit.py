from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import storyproof
from tests.cli.invocation import run


@pytest.fixture
def tomi(tmp_path: Path) -> Path:
    """A file of ours in the published form, with one wrong answer."""
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "good", format="babi")
    path = tmp_path / "good" / "test.txt"
    lines = path.read_text().split("\n")
    place = next(number for number, line in enumerate(lines) if "look for" in line)
    head, answer, tail = lines[place].split("\t")
    moves = [line.rstrip(".").split()[-1] for line in lines[:place] if " moved the " in line or " The " in line]
    other = next(container for container in moves if container != answer)
    lines[place] = f"{head}\t{other}\t{tail}"
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "test.txt").write_text("\n".join(lines))
    (bad / "test.trace").write_bytes((tmp_path / "good" / "test.trace").read_bytes())
    return bad


def test_clean_data_are_clean(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=6, seed=7, out=tmp_path / "x", format="babi")
    done = run("audit", tmp_path / "x")
    assert done.exit_code == 0
    assert done.stdout.startswith(
        "36 rows of 6 stories: 36 judged, 0 wrong answers, 0 rule-dependent, 0 not understood\n"
    )
    assert done.stdout.endswith("\n0 disagreements\n")


def test_a_wrong_answer_is_found_and_mended(tomi: Path, tmp_path: Path) -> None:
    fixed, page, found = tmp_path / "fixed", tmp_path / "page.html", tmp_path / "found.json"
    done = run("audit", tomi, "--fix", fixed, "--html", page, "--json", found)
    assert done.exit_code == 1
    assert "36 judged, 1 wrong answer, 0 rule-dependent, 0 not understood\n" in done.stdout
    assert re.search(r"^test\.txt row \d+ \(test-\d+\): answer: found ", done.stdout, re.MULTILINE)
    report = json.loads(found.read_text())
    assert report["totals"]["wrong_answers"]["first_order"] == 1
    assert {file["file"] for file in report["files"]} == {"test.txt"}
    assert page.read_text().startswith("<!doctype html>")
    assert (fixed / "test.txt").read_bytes() == (tmp_path / "good" / "test.txt").read_bytes()
    (erratum,) = [
        row for row in csv.DictReader((fixed / "errata.csv").read_text().splitlines()) if row["field"] == "answer"
    ]
    assert erratum["kind"] == "structural"
    assert run("audit", fixed).exit_code == 0
    assert storyproof.verify(fixed).findings == []


def test_kinship_rows_can_be_dropped(tmp_path: Path) -> None:
    options = {"reading": "published", "test_k": (3,), "text": "synthetic"}
    storyproof.generate("clutrr", test=60, seed=7, out=tmp_path / "x", format="csv", **options)
    done = run("audit", tmp_path / "x", "--fix", tmp_path / "fixed", "--ambiguous", "drop")
    assert done.exit_code == 0  # all labels follow by the rules of the data
    assert re.search(r"0 wrong answers, [1-9]\d* rule-dependent", done.stdout)
    assert re.search(r"\n0 disagreements; [1-9]\d* of 60 labels do not follow under strict kinship\n", done.stdout)
    assert storyproof.verify(tmp_path / "fixed").statuses.keys() == {"entailed"}


def test_rescore(tomi: Path, tmp_path: Path) -> None:
    run("audit", tomi, "--fix", tmp_path / "fixed")
    run("evaluate", "--model", "oracle", "--data", tomi, "--json", tmp_path / "run.json")
    done = run("compare", tmp_path / "run.json", "--labels", tmp_path / "fixed")
    assert done.exit_code == 0
    assert "1 of 36" in done.stdout


def test_overlaps(tomi: Path) -> None:
    assert "structural" in run("audit", tomi, "--overlaps").stdout


@pytest.mark.parametrize("benchmark", ["tomi", "clutrr"])
def test_whatever_verify_reads(tmp_path: Path, benchmark: str) -> None:
    """Parquet and JSON lists go through everything that an audit does."""
    made, lists = tmp_path / "made", tmp_path / "lists"
    storyproof.generate(benchmark, train=60, test=12, seed=7, out=made)
    storyproof.process(made, lists)
    for data, other in ((made, lists), (lists, made)):
        found = tmp_path / f"{data.name}.json"
        options = ("--overlaps", "--against", other, "--shortcuts", "--fix", tmp_path / f"fixed-{data.name}")
        done = run("audit", data, *options, "--json", found, "--html", tmp_path / f"{data.name}.html")
        assert done.exit_code in (0, 1), done.exception
        report = json.loads(found.read_text())
        assert all(each["kind"] in ("duplicate", "small_test") for file in report["files"] for each in file["errata"])
        same = {each["kind"]: each for each in report["overlaps"]["overlaps"] if each["second"].startswith("against t")}
        assert same["story"]["pairs"] > 0
        assert same["conflict"]["pairs"] == 0
        assert report["shortcuts"]["rows"]
        for path in (*data.glob("*.parquet"), *data.glob("t*.json")):
            assert (tmp_path / f"fixed-{data.name}" / path.name).read_bytes() == path.read_bytes()


def test_samples_of_evaluation_frameworks_are_verified_too(tmp_path: Path) -> None:
    rows = storyproof.generate("tomi", test=6, seed=7).to_pylist()
    lines = [
        {
            "input": [{"role": "user", "content": f"{row['story']}\n{row['question']}".replace("\n", " ")}],
            "target": [f"The {row['answer'].replace('_', ' ')}.", "x"] if number % 2 else row["answer"],
        }
        for number, row in enumerate(rows)
    ]
    path = tmp_path / "bad" / "test.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in [{**lines[0], "target": "nowhere"}, *lines]))
    assert run("audit", path, "--fix", tmp_path / "fixed", "--html", tmp_path / "page.html").exit_code == 1
    assert "entered the" in (tmp_path / "page.html").read_text()
    assert run("audit", tmp_path / "fixed").exit_code == 0
    assert storyproof.verify(tmp_path / "fixed").ok
    report = storyproof.verify(path)
    assert report.by_field() == {"target": 1}
    assert {(each.kind, each.row, each.is_claim) for each in report.findings} == {
        ("conflict", 1, False),
        ("structural", 0, True),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "xml"], "unknown format 'xml'"),
        (["--ambiguous", "burn"], "unknown way with ambiguous rows 'burn'"),
        (["--reading", "strict"], "unknown reading 'strict'"),
    ],
)
def test_wrong_options(tomi: Path, options: list[str], message: str) -> None:
    done = run("audit", tomi, *options)
    assert done.exit_code != 0
    assert message in str(done.exception)


def test_nothing_to_audit(tmp_path: Path) -> None:
    assert "contains no data" in str(run("audit", tmp_path).exception)
    assert "does not exist" in str(run("audit", tmp_path / "x").exception)
    (tmp_path / "x.md").write_text("x")
    assert "has an unknown form" in str(run("audit", tmp_path / "x.md").exception)


def test_a_fixed_folder_is_not_overwritten(tomi: Path, tmp_path: Path) -> None:
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "mine").write_text("x")
    assert "is not empty; choose another folder." in str(run("audit", tomi, "--fix", tmp_path / "fixed").exception)
