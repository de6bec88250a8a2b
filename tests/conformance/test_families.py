"""What holds for every family of the catalog, storyproof's own and others'; see `storyproof.families.conformance`."""

import json
from pathlib import Path

import pytest

from storyproof.catalog import load, names
from storyproof.example import REQUIRED
from storyproof.families.conformance import LABELS, Case, FamilyLaws, change, check_wrong_label, need
from tests.cli.invocation import run
from tests.groups import only_first
from tests.reports.test_audit_page import pictures_of


def representatives() -> list[str]:
    """One benchmark of each family, and one for each set of formats in which its rows are also written.

    A family treats rows that were published in a format of their own in another way than others.
    """
    kinds = {}
    for name in names("benchmark"):
        made = load("benchmark", name)
        kinds.setdefault((made.family, made.formats), name)
    return list(kinds.values())


BENCHMARKS = representatives()
each_case = pytest.mark.parametrize("case", [Case(name) for name in BENCHMARKS], ids=BENCHMARKS)


class TestFamilies(FamilyLaws):
    benchmarks = BENCHMARKS


def test_three_families_are_there() -> None:
    """The third comes from examples/orderings, which `make` installs."""
    assert {"belief", "kinship", "orderings"} <= set(names("family"))
    assert {load("benchmark", name).family for name in BENCHMARKS} == set(names("family"))


@each_case
@pytest.mark.parametrize("label", only_first(2, LABELS))
def test_wrong_labels_are_fixed_in_parquet_too(case: Case, label: str, tmp_path: Path) -> None:
    check_wrong_label(case, label, "parquet", tmp_path)


@each_case
def test_audits_can_be_seen_whole(case: Case, tmp_path: Path) -> None:
    """Findings, shortcuts and overlaps are on the page and in the JSON, with a picture of the first story."""
    path, rows = case.write(tmp_path / "x")
    rows[0]["answer"] = change(rows[0]["answer"], rows[0])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs = {name: tmp_path / f"found.{name}" for name in ("html", "json")}
    options = [part for name, out in outputs.items() for part in (f"--{name}", out)]
    done = run("audit", path, "--fix", tmp_path / "fixed", "--shortcuts", "--overlaps", *options)
    assert done.exit_code == 1, done.stderr
    said = json.loads(outputs["json"].read_text())
    assert f"\n{said['disagreements']} disagreements\n" in done.stdout
    found = next(each for each in said["files"][0]["errata"] if each["field"] == "answer")
    assert said["shortcuts"]["rows"]
    assert said["overlaps"]["parts"]
    page = outputs["html"].read_text()
    assert json.dumps(found["id"]) in page
    assert case.family.kinds[found["kind"]] in page
    assert "Shortcuts" in page
    assert "Overlaps" in page
    need(case.family, "pictures")
    assert pictures_of(page)[0]["svg"].startswith("<svg")


def test_what_every_row_must_have() -> None:
    assert REQUIRED == ("story", "question", "answer")
