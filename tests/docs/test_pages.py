from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import PAGES as GENERATED
from storyproof import catalog
from storyproof.families.belief.readings import READINGS
from storyproof.families.kinship import rules
from storyproof.families.kinship.config import PRESETS
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
    for name in [*catalog.BENCHMARKS, *catalog.SOLVERS, *READINGS, *rules.READINGS, *TASKS, *PRESETS]:
        assert f"`{name}`" in text, name
