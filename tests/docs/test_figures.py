"""Figures that the pages quote are those that are stored, and (slowly) those that their commands give."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from docs import figures
from docs.figures import PUBLISHED, ROOT, Figure, FigureError, Quote, compare, pick, read_list, read_stored, show
from tests.docs.test_commands import ELSEWHERE, PAGES, commands, plain

FIGURES = read_list()
STORED = [each for each in FIGURES.values() if figures.is_stored(each)]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize("figure", FIGURES.values(), ids=lambda figure: figure.name)
def test_pages_quote_what_is_stored(figure: Figure) -> None:
    if not figures.is_stored(figure):
        pytest.skip(f"{figure.name} is not stored; run make {'bench' if figure.speed else 'figures'}")
    for quote in figure.quotes:
        shown = quote.shown((ROOT / quote.page).read_text(encoding="utf-8"))
        assert shown == quote.formatted(figures.quotable_values(figure, quote)), f"{quote.page}: {quote.text}"


@pytest.mark.parametrize("figure", STORED, ids=lambda figure: figure.name)
def test_what_is_stored_comes_from_the_commands_of_the_list(figure: Figure) -> None:
    stored = read_stored(figure)
    if not figure.stored:
        assert stored["commands"] == list(figure.commands)
        assert set(stored["machine"]) >= {"processor", "cores", "python"}
        assert not figure.values or set(stored["values"]) == set(figure.values)
    if figure.stored or figure.json:
        assert all(isinstance(each, int | float) for each in figures.stored_values(figure).values())


def test_the_figures_that_did_not_reproduce_are_stored() -> None:
    for name in ("audit-clutrr-7c5b0e70", "audit-clutrr-089907f8", "train-gat", "held-out"):
        assert figures.is_stored(FIGURES[name]), name


def test_nothing_else_is_stored() -> None:
    assert {path.stem for path in figures.STORED.iterdir()} <= set(FIGURES)


# Another tool prints it, it depends on the installation, it needs a model from the network or an hour of training, or a
# cluster: what commands print there is compared with what they print here in tests/cluster.
UNSTORED = re.compile(
    r"^inspect |^lm_eval |^storyproof (where|doctor|pull)|local/smollm2|majority,\./memnn,\./entnet"
    r"|--engine ray|^storyproof verify again |--generator public_generators"
)


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.name)
def test_what_commands_print_in_pages_is_run_or_stored(page: Path) -> None:
    name = str(page.relative_to(ROOT))
    listed = {line for figure in FIGURES.values() for line in figure.commands}
    printed = {
        line: lines
        for figure in STORED
        if figure.commands and not figure.json
        for line, lines in read_stored(figure)["printed"].items()
    }
    for command in commands(name):
        line = command.line.partition("  #")[0].strip()
        if not command.printed or UNSTORED.search(line) or (name in PAGES and not ELSEWHERE.search(line)):
            continue
        assert line in listed, f"{name}: no figure has the command: {line}"
        if line not in printed:
            continue  # not stored yet; the page of figures says so
        found, place = " ".join(map(plain, printed[line])), 0  # pages break long lines
        for each in command.printed:
            wanted = each.rstrip(" …")
            place = found.find(wanted, place)
            assert place >= 0, f"{line}\ndoes not print, or not there: {each}"
            place += len(wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "figure", [each for each in STORED if each.commands and not each.speed], ids=lambda figure: figure.name
)
def test_commands_give_what_is_stored(figure: Figure) -> None:
    published = Path(os.environ[PUBLISHED]).resolve() if os.environ.get(PUBLISHED) else None
    if obstacle := figure.obstacle(published):
        pytest.skip(f"{obstacle}; for tests set {PUBLISHED}")
    assert compare(figure, figures.run(figure, published)) == []


def test_values_are_picked_by_name_and_summed_over_matches() -> None:
    content: dict[str, Any] = {"files": [{"file": "a_test.csv", "n": {"x": 2}}, {"file": "b_test.csv", "n": {"x": 3}}]}
    assert pick(content, "files/file=a_test.csv/n/x") == 2
    assert pick(content, "files/file=*_test.csv/n/x") == 5
    assert pick(content, "files/file=*/n/y?") == 0
    with pytest.raises(FigureError, match="nothing at files/file=c/n"):
        pick(content, "files/file=c/n")


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [(0.2953, ".1p", "29.5"), (347894, "~2", "350,000"), (0.0123, "~2", "0.012"), (2118, ",", "2,118"), (7, "", "7")],
)
def test_figures_are_formatted(value: float, form: str, shown: str) -> None:
    assert show(value, form) == shown


def test_a_quote_is_found_over_broken_lines_and_updated_in_place() -> None:
    quote = Quote("page.md", "half are at {median:.0p}% or below, of {count:,} draws")
    page = "Of these, half are\nat 50% or below, of 1,000 draws (2 of them)."
    assert quote.shown(page) == ["50", "1,000"]
    updated = quote.update(page, {"median": 0.55, "count": 200})
    assert updated == "Of these, half are\nat 55% or below, of 200 draws (2 of them)."
    with pytest.raises(FigureError, match="found 2 times instead of once"):
        quote.shown(page * 2)


def test_a_repetition_may_differ_by_the_tolerance_and_no_more() -> None:
    def printed(number: str) -> dict[str, Any]:
        return {"printed": {"run": [f" gat  {number} percent"]}}

    near = Figure("f", "", ("run",), tolerance=2.0)
    assert figures._compare_printed(near, printed("70.8")["printed"], printed("72.8")["printed"]) == []
    assert figures._compare_printed(near, printed("70.8")["printed"], printed("73.0")["printed"])
    assert figures._compare_printed(near, {"run": [" gnn 70.8 percent"]}, printed("70.8")["printed"])


def test_without_published_data_a_figure_is_skipped_with_a_sentence(tmp_path: Path) -> None:
    figure = Figure("f", "", ("run",), published="tomi")
    assert figure.obstacle(None) == "needs the published data 'tomi': make figures PUBLISHED=DIR"
    assert figure.obstacle(tmp_path)
    (tmp_path / "tomi").mkdir()
    assert figure.obstacle(tmp_path) == ""
