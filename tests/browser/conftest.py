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


# Rectangles of all texts that are visible, each with its text; those of one line of one text are one.
BOXES = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.textContent.trim() || node.parentElement.closest("option, script, style, #tip, .toc")) continue;
    if (!node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    // Bars that stick stand above what scrolls; some captions are for screen readers only.
    if (node.parentElement.closest(".unseen, .bar, .player, .stage figcaption, .backdrop")) continue;
    const everywhere = { left: -Infinity, right: Infinity };
    const holder = node.parentElement.closest(".scroll")?.getBoundingClientRect() ?? everywhere;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const [left, right] = [Math.max(box.left, holder.left), Math.min(box.right, holder.right)];
      if (right - left < 1 || box.height < 1) continue;
      found.push([left, box.top, right, box.bottom, node.textContent.trim().slice(0, 40)]);
    }
  }
  return found;
}"""


def overprinted(boxes: list[list[Any]]) -> list[tuple[str, str]]:
    """Return pairs of texts that cover each other by more than the space between lines."""
    found = []
    boxes.sort(key=lambda box: box[1])
    for place, (left, _, right, bottom, text) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom, other in boxes[place + 1 :]:
            if other_top >= bottom - 4:
                break
            if min(right, other_right) - max(left, other_left) > 1 and min(bottom, other_bottom) - other_top > 4:
                found.append((text, other))
    return found


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

    def overprints(self) -> list[tuple[str, str]]:
        """Return pairs of texts of which one covers the other."""
        return overprinted(self.page.evaluate(BOXES))

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
