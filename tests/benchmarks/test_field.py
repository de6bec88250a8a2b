"""The table of the field, on files written here in the forms of published sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import field
from storyproof.audits.errata import read_errata
from tests.audits.test_own_rules import ROWS


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hitom.json").write_text(json.dumps({"data": ROWS}))
    monkeypatch.setattr(field, "SETS", (field.Set("Hi-ToM", "half", "a place", ["hitom.json"]),))
    return tmp_path / "data"


def test_the_table_is_written_into_the_page(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, found = tmp_path / "field.md", tmp_path / "field.json"
    page.write_text(f"# Field\n\n{field.BEGIN}\nold\n{field.END}\n\nMore.\n")
    monkeypatch.setattr(sys, "argv", ["field", str(published), "--json", str(found), "--page", str(page)])
    field.main()
    heading, _, row = page.read_text().split(f"{field.BEGIN}\n")[1].split(f"\n{field.END}")[0].split("\n")
    assert heading.count("|") == row.count("|")
    assert row.startswith("| Hi-ToM | half | 6 | 100.0% | 1 | 3 | 2 | 2 |")
    assert row.endswith("| `storyproof audit hitom.json` | a place |")
    assert page.read_text().endswith(f"{field.END}\n\nMore.\n")
    assert list(json.loads(found.read_text())) == ["Hi-ToM"]


def test_errata_say_which_part_they_are_of(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "errata").mkdir()
    arguments = ["field", str(published), "--json", str(tmp_path / "none.json"), "--errata", str(tmp_path / "errata")]
    monkeypatch.setattr(sys, "argv", arguments)
    field.main()
    found = read_errata(tmp_path / "errata" / "hitom.jsonl")
    assert (found.header.dataset, found.header.part, len(found.entries)) == ("Hi-ToM", "half", 4)


def test_the_table_on_the_page_is_what_is_stored() -> None:
    root = Path(__file__).parents[2]
    stored = root / "docs" / "field.json"
    text = (root / "docs" / "field.md").read_text(encoding="utf-8")
    table = text.split(f"{field.BEGIN}\n")[1].split(f"\n{field.END}")[0]
    assert table == field.table(json.loads(stored.read_text(encoding="utf-8")))


def test_errata_in_the_repository_are_read() -> None:
    root = Path(__file__).parents[2] / "src/storyproof/audits/errata"
    files = sorted(root.glob("*.jsonl"))
    assert files
    for path in files:
        found = read_errata(path)
        assert found.entries
        assert found.header.judged <= found.header.rows
        for each in found.entries:
            assert len(each.row) == 32
            assert each.published != each.correct
            assert len(f"{each.published} {each.correct}".split()) <= 8, "answers only, no texts"
