"""The Python of the pages runs, and prints what the pages show below it."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.docs.test_commands import ROOT

NEEDS = re.compile(r"^# needs (\w+)$", re.MULTILINE)  # the first line of a snippet that needs a package of its own
_SNIPPET = re.compile(r"^```python\n(.*?)^```\n(?:```\n(?!\$)(.*?)^```)?", re.MULTILINE | re.DOTALL)
PAGES = {"docs/api.md": "## pandas", "docs/roles.md": ""}  # each with where its snippets begin to print what they show


def snippets(page: str) -> list[tuple[str, str]]:
    """Return the code of a page, each with what it shows below."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return _SNIPPET.findall(text[text.index(PAGES[page]) :])


@pytest.mark.parametrize("page", PAGES)
def test_snippets_print_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    compared = 0
    for code, shown in snippets(page):
        if NEEDS.search(code):
            continue
        with redirect_stdout(StringIO()) as printed:
            exec(compile(code, page, "exec"), names)
        assert printed.getvalue() == shown
        compared += bool(shown)
    assert compared


@pytest.mark.integrations
def test_snippets_that_need_a_package_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = 0
    for page in PAGES:
        for code, shown in snippets(page):
            for package in NEEDS.findall(code):
                pytest.importorskip(package)
                with redirect_stdout(StringIO()) as printed:
                    exec(compile(code, page, "exec"), {})
                assert printed.getvalue() == shown
                tried += 1
    assert tried
