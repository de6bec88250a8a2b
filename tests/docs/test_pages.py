from __future__ import annotations

import contextlib
import doctest
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml

import storyproof
from docs.gallery import measured
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


def _nav(entries: Iterable[object]) -> Iterator[str]:
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(value, list):
            yield from _nav(value)
        else:
            yield str(value)


def test_the_site_leads_to_every_page() -> None:
    """A page that is missing here would stop `make docs`."""
    listed = list(_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    docs = ROOT / "docs"
    written = {path.relative_to(docs) for path in docs.rglob("*.md") if path.parent.name != "decisions"}
    written |= {path.relative_to(docs).with_suffix(".md") for path in docs.glob("notebooks/*.ipynb")}
    assert sorted(path.as_posix() for path in written if path.as_posix() not in listed) == []
    assert len(listed) == len(set(listed))


def test_the_part_for_users_is_short() -> None:
    """Home page, notebooks, and what follows from the code do not count."""
    use, _ = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    written = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.is_relative_to(ROOT / "docs")}
    assert len([page for page in _nav(use["Use it"]) if page in written - {"index.md"}]) <= 18


def test_the_page_on_citing_names_this_version() -> None:
    text = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert f"version = {{{storyproof.__version__}}}" in text
    assert f"(storyproof {storyproof.__version__};" in text


def test_environments_of_docs_and_tests_have_the_same_versions() -> None:
    """Pages such as the command line depend on them."""
    tests, docs = (
        dict(re.findall(r"^(\S+)==(\S+)", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE))
        for name in ("requirements.lock", "requirements-docs.lock")
    )
    assert {name: (tests[name], docs[name]) for name in tests.keys() & docs.keys() if tests[name] != docs[name]} == {}


def test_the_gallery_shows_measured_speeds() -> None:
    for name in catalog.BENCHMARKS:
        if "@" not in name:
            assert len(measured(name)) >= 2, f"{name}: measure it, and say so in docs/speed.md or docs/api.md"
            assert all(
                re.search(r"\d", figure) for row in measured(name) for head, figure in row.figures if head != "split"
            )


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
    page = (ROOT / "docs/kinship.md").read_text(encoding="utf-8").partition("## Reading text")[2]
    _, code, printed, *_ = re.split(r"```(?:python)?\n(?=from|Freya)", page)
    exec(code.partition("```")[0], {})
    assert capsys.readouterr().out == printed.partition("```")[0]


@pytest.mark.parametrize("name", ["language-models.md", "tom-k.md"])
def test_sessions_in_pages_print_what_the_page_says(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert len(test.examples) >= 2
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append).failed == 0, "".join(printed)


def test_the_page_of_the_api_shows_what_the_code_returns() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {"storyproof": storyproof}, "api.md", "api.md", 0)
    assert len(test.examples) >= 2
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append).failed == 0, "".join(printed)
    page = text + (ROOT / "README.md").read_text(encoding="utf-8")
    stream = storyproof.stream("tomi", seed=7)
    for row, reply in ((stream[1].rows[2], "In the dustbin, of course."), (stream[0].rows[2], "In the hamper.")):
        assert storyproof.judge(reply, row).reason in page
    for name in storyproof.__all__:
        assert f"`{name}`" in text or f"storyproof.{name}" in text, name


_ELSEWHERE = {
    "process_data.py",
    "evaluate_llm.py",
    "test_example.py",
    "fr.yaml",
    "french.py",
}  # of others, or to be written


@pytest.mark.parametrize("path", [path for path in PAGES if path.name != "CHANGELOG.md"], ids=lambda path: path.name)
def test_files_and_modules_that_pages_name_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    own = [ROOT / "src", ROOT / "docs", ROOT / "tests", ROOT / "examples", ROOT / "benchmarks", ROOT / "deploy", ROOT]
    for name in set(re.findall(r"`((?:[\w.-]+/)*[a-z]\w*\.(?:py|yaml|toml))`", text)) - _ELSEWHERE:
        if f'title="{name}"' not in text and f"# {name}" not in text:
            assert any(next(folder.rglob(name), None) for folder in own[:-1]) or (ROOT / name).is_file(), name
    for name in set(re.findall(r"`(?:python -m )?(storyproof(?:\.[a-z_]+)+)`", text)) - set(catalog.GROUPS.values()):
        found: object = storyproof
        for place, part in enumerate(parts := name.split(".")):
            with contextlib.suppress(ImportError):
                found = importlib.import_module(".".join(parts[: place + 1]))
                continue
            found = getattr(found, part)
