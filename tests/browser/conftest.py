"""Pages in a real browser: Debian's chromium, driven by Playwright.

Everything in this folder is marked `browser` and skipped where there is no chromium. A test opens a page with `visit`,
uses Playwright's `page`, and asks `visit.trouble` what the page did that it should not have done.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("playwright")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from docs.screenshots import FLAGS

CHROMIUM = shutil.which("chromium")
TIMEOUT_MS = 60_000  # machines that run tests are shared


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; make test-browser installs it")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(missing)


@dataclass
class Visit:
    """A page that was opened, and what it did that it should not: errors, forbidden things, requests, dialogs."""

    page: Page
    trouble: list[str] = field(default_factory=list)

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_text_contents()

    def findings(self) -> list[str]:
        """Return what axe-core finds, of all levels."""
        found = Axe().run(self.page).response["violations"]
        return [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the screen."""
        wide: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return wide


Open = Callable[..., Visit]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Open a file or an address in a window of its own.

    Requests to the address of the page itself are no trouble; any other request is.
    """
    contexts = []

    def open_page(
        target: Path | str,
        fragment: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        scheme: Literal["light", "dark"] = "light",
        script: bool = True,
    ) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        visit = Visit(page)
        url = target.as_uri() if isinstance(target, Path) else target
        base = url if isinstance(target, Path) else "/".join(url.split("/")[:3])
        page.on("console", lambda message: visit.trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: visit.trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (visit.trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: visit.trouble.append(f"popup: {popup.url}"))
        page.on("request", lambda request: _note_request(visit, base, request))
        page.goto(url + fragment)
        return visit

    yield open_page
    for context in contexts:
        context.close()


def _note_request(visit: Visit, base: str, request: Any) -> None:
    if not request.url.startswith((base, "data:")):
        visit.trouble.append(f"request: {request.url}")
