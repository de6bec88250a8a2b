from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import storyproof
from docs.generate import PAGES as GENERATED
from storyproof import catalog
from storyproof.families.belief.readings import READINGS
from storyproof.families.family import Family
from storyproof.families.kinship import rules
from storyproof.families.kinship.tasks import TASKS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path](), "run make docs"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_every_benchmark_solver_and_reading_is_in_the_docs() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    presets = [preset for name in catalog.BENCHMARKS for preset in catalog.load("benchmark", name).presets]
    for name in [*catalog.BENCHMARKS, *catalog.SOLVERS, *READINGS, *rules.READINGS, *TASKS, *presets]:
        assert f"`{name}`" in text, name


def test_the_contributors_guide_has_the_whole_protocol() -> None:
    text = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    members = {*vars(Family), *Family.__annotations__}
    for name in sorted(name for name in members if not name.startswith("_")):
        assert f"`{name}`" in text, name
    for kind, group in catalog.GROUPS.items():
        assert f"`{group}`" in text, kind


def test_the_example_of_the_reader_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, code, printed, *_ = re.split(
        r"```(?:python)?\n(?=from|Freya)", (ROOT / "docs/reader.md").read_text(encoding="utf-8")
    )
    exec(code.partition("```")[0], {})
    assert capsys.readouterr().out == printed.partition("```")[0]


def test_the_page_of_the_api_shows_what_the_code_returns() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {"storyproof": storyproof}, "api.md", "api.md", 0)
    assert len(test.examples) >= 2
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append).failed == 0, "".join(printed)
    page = text + (ROOT / "README.md").read_text(encoding="utf-8")
    stream = storyproof.stream("tomi", seed=7)
    for row, reply in ((stream[2].rows[4], "In the crate, of course."), (stream[0].rows[2], "In the bin.")):
        assert storyproof.judge(reply, row).reason in page
    for name in storyproof.__all__:
        assert f"`{name}`" in text or f"storyproof.{name}" in text, name
