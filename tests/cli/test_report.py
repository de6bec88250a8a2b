import sys
from pathlib import Path

import pytest

import storyproof
from tests.cli.invocation import Refuse, run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    storyproof.generate("tomi", test=12, seed=1, out=folder / "data")
    run("evaluate", "--model", "rules,oracle", "--data", folder / "data", "--output-dir", folder / "runs")
    return folder / "runs"


def test_page(runs: Path, tmp_path: Path) -> None:
    done = run("report", runs, "-o", tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("rules answers ")
    assert f"written to {tmp_path / 'report.html'}" in done.stdout
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_tables_go_to_standard_output(runs: Path) -> None:
    done = run("report", runs, "--format", "csv")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("dataset,labels,section,")


@pytest.mark.slow
def test_figures(runs: Path, tmp_path: Path) -> None:
    done = run("report", runs, "-o", tmp_path / "r.html", "--figures", tmp_path / "figures")
    assert f"figures written to {tmp_path / 'figures'}" in done.stdout
    assert len(list((tmp_path / "figures").glob("*.png"))) > 2


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("report nothing.json -o r.html", "cannot read nothing.json"),
        ("report empty -o r.html", "contains no runs"),
        ("report run.json --format docx", "csv, html, latex, markdown"),
        ("report run.json -o gone/r.html", "there is no such folder"),
        ("report run.json -o run.json", "run.json"),
    ],
)
def test_mistakes_of_users(folder: Path, refuse: Refuse, command: str, expected: str) -> None:
    (folder / "run.json").write_text('{"id": "1", "answer": "a", "right": true}')
    (folder / "empty").mkdir()
    assert expected in refuse(command)


def test_a_damaged_run_is_named(folder: Path, refuse: Refuse) -> None:
    (folder / "run.json").write_text('{"model": "m", "predictions": [{"id": 3}]}')
    assert "run.json, prediction 0" in refuse("report run.json")


def test_what_is_missing_is_named(runs: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages for pictures, pages and tables can still be written, and figures not."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr("storyproof.runtime.optional_packages.installed", lambda name: False)
    monkeypatch.chdir(runs.parent)
    assert "pip install 'storyproof[pages]'" in refuse("report runs -o r.html --figures figures")
    assert run("report", runs, "-o", "r.html").exit_code == 0
    assert run("report", runs, "--format", "markdown").exit_code == 0
