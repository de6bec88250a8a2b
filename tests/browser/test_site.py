"""The documentation site: it builds without warnings, its links lead somewhere, and it needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open

pytest.importorskip("mkdocs", reason="make test-site installs what builds the site")
pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
THEME = ("aria-dialog-name", "landmark-unique")  # of the theme's search field and navigation, which we do not write
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}


class Links(HTMLParser):
    """What a page links to, what it loads, and where it can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {"", "__top"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag in LOADED and found.get(LOADED[tag]):
            self.loaded.append(found[LOADED[tag]])
        if tag == "link" and found.get("rel") not in ("prev", "next", "canonical"):
            self.loaded.append(found["href"])
        if tag == "a" and "href" in found:
            self.targets.append(found["href"])


@cache
def links(page: Path) -> Links:
    parser = Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def pages(site: Path) -> list[Path]:
    """Return the pages that can be opened from disk: all but the one that a server shows for addresses without page."""
    return [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]


_ANSWER = re.compile(r"\d+:.+")  # the number of a run, and a question


def test_all_links_lead_somewhere(site: Path) -> None:
    broken, followed = [], 0
    for page in pages(site):
        for target in [*links(page).targets, *links(page).loaded]:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            followed += 1
            fragment = unquote(parts.fragment)
            if place.name == "report.html" and _ANSWER.fullmatch(fragment):
                continue  # the answers are in the page's data; its script shows the one that is named
            if not place.is_file() or (place.suffix == ".html" and fragment not in links(place).anchors):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []
    assert followed > 1000


def test_links_to_answers_of_the_sample_report_show_them(site: Path, visit: Open) -> None:
    report = site / "samples" / "report.html"
    targets = sorted(
        {target for target in links(report).targets if _ANSWER.fullmatch(unquote(urlsplit(target).fragment))}
    )
    assert len(targets) > 3
    opened = visit(report)
    opened.page.wait_for_selector("html[data-ready]", state="attached")
    for target in targets:
        opened.page.evaluate("hash => { location.hash = hash; }", target)
        question = unquote(target).partition(":")[2]
        expect(opened.page.locator(".target")).to_contain_text(question)
    assert opened.trouble == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in pages(site):
        assert [each for each in links(page).loaded if urlsplit(each).scheme not in ("", "data")] == [], page


def test_pages_open_from_disk_without_a_request(site: Path, visit: Open) -> None:
    """Every page, in a browser: no request to a server, no error, nothing wider than a phone."""
    for page in pages(site):
        opened = visit(page, width=390, height=800)
        opened.page.locator("main" if page.parent.name == "samples" else "article").first.wait_for()
        trouble = [each for each in opened.trouble if not each.startswith(f"request: {site.as_uri()}")]
        assert trouble == [], page
        assert opened.overflow() <= 0, page
        opened.page.context.close()


@pytest.mark.parametrize("name", ["report", "audit", "stories"])
def test_samples_are_inside_the_site(site: Path, visit: Open, name: str) -> None:
    assert f"samples/{name}.html" in links(site / "index.html").targets
    opened = visit(site / "samples" / f"{name}.html")
    opened.page.wait_for_selector("html[data-ready]" if name != "audit" else "#list > li", state="attached")
    assert opened.findings() == []
    if name == "stories":
        assert opened.page.locator("option").count() == 20
        opened.page.select_option("select", "12")
        opened.page.fill("#step", "0")
        assert (opened.page.locator("#answer").text_content() or "") == ""
        opened.page.click("#play")
        expect(opened.page.locator("#step")).to_have_value("2")  # it plays
        opened.page.locator("#step").press("End")
        assert "proved by sentences" in (opened.page.locator("#answer").text_content() or "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "gallery", "faq", "roles", "notebooks/first-steps", "cli"])
def test_pages_are_accessible(site: Path, visit: Open, name: str, scheme: str) -> None:
    opened = visit(site / f"{name}.html", scheme=scheme)
    opened.page.locator("article").first.wait_for()
    assert [each for each in opened.findings() if not each.startswith(THEME)] == []


def test_search_works_from_disk(site: Path, visit: Open) -> None:
    opened = visit(site / "index.html")
    opened.page.locator("input.md-search__input").fill("joint accuracy")
    found = opened.page.locator(".md-search-result__link").first
    found.wait_for()
    assert found.get_attribute("href", timeout=1000)


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    import storyproof

    anchors = links(site / "reference.html").anchors
    assert [name for name in storyproof.__all__ if name[0] != "_" and f"storyproof.{name}" not in anchors] == []
    text = (site / "reference.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt;" in text or ">>>" in text


def test_every_benchmark_has_a_card(site: Path) -> None:
    from storyproof.catalog import BENCHMARKS

    anchors = links(site / "gallery.html").anchors
    assert [name for name in BENCHMARKS if "@" not in name and name not in anchors] == []
