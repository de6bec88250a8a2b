"""Screenshots of pages for README and docs, in Debian's chromium: `python -m docs.screenshots [NAME …]`.

Every page is built from data that a seed determines. A test takes the pictures again and fails when they differ.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

import storyproof
from storyproof.reports.run_report import report

IMAGES = Path(__file__).parent / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
READY = "html[data-ready]"
_SOLVERS = {"tomi": ("random", "majority", "rules", "entnet", "oracle"), "clutrr": ("random", "rules", "gat", "oracle")}


class Shot(NamedTuple):
    """A picture of a page.

    Attributes:
        build: Writes the page into a folder, and returns its file.
        prepare: What is done in the page before the picture is taken.
        height: Of the window, which is 1,280 pixels wide.
    """

    build: Callable[[Path], Path]
    prepare: Callable[[Page], None]
    height: int


def report_page(folder: Path) -> Path:
    """Write the report on built-in solvers and shipped nets, on a belief and a kinship set."""
    path = folder / "report.html"
    if path.exists():
        return path
    storyproof.generate("tomi", out=folder / "tomi", train=0, val=0, test=300, seed=7)
    storyproof.generate("clutrr", out=folder / "clutrr", train=0, val=0, test=20, seed=7, test_k=tuple(range(2, 11)))
    runs = [storyproof.evaluate(name, folder / data) for data, names in _SOLVERS.items() for name in names]
    path.write_text(report(runs).render(), encoding="utf-8")
    return path


def _show_top(page: Page) -> None:
    page.wait_for_selector(READY, state="attached")


def _show_answer(page: Page) -> None:
    """Open a wrong answer of the net."""
    _show_top(page)
    page.select_option("select[name=solver]", "entnet")
    page.locator("#list summary").first.click()
    page.wait_for_selector("#list figure svg", state="attached")
    page.locator("#filters").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('filters').scrollIntoView()")


SHOTS = {
    "report": Shot(report_page, _show_top, 1020),
    "report-answer": Shot(report_page, _show_answer, 1020),
}


def take(browser: Browser, shot: Shot, folder: Path) -> bytes:
    """Build a page and take its picture, as PNG."""
    page = browser.new_page(viewport={"width": 1280, "height": shot.height}, color_scheme="light")
    try:
        page.goto(shot.build(folder).as_uri())
        shot.prepare(page)
        return page.screenshot()
    finally:
        page.close()


def main(names: list[str]) -> None:
    """Take the pictures with these names, or all of them."""
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names or SHOTS:
            (IMAGES / f"{name}.png").write_bytes(take(browser, SHOTS[name], Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
