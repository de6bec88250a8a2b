"""The Python of the pages runs, and prints what the pages show below it."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.docs.test_commands import ROLES, ROOT

NEEDS = re.compile(r"^# needs (\w+)$", re.MULTILINE)  # the first line of a snippet that needs a package of its own
_SNIPPET = re.compile(r"^```python\n(.*?)^```\n(?:```\n(?!\$)(.*?)^```)?", re.MULTILINE | re.DOTALL)
PAGES = ["docs/frames.md", *(page for page in ROLES if _SNIPPET.search((ROOT / page).read_text(encoding="utf-8")))]


@pytest.mark.parametrize("page", PAGES)
def test_snippets_print_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    compared = 0
    for code, shown in _SNIPPET.findall((ROOT / page).read_text(encoding="utf-8")):
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
        for code, shown in _SNIPPET.findall((ROOT / page).read_text(encoding="utf-8")):
            for package in NEEDS.findall(code):
                pytest.importorskip(package)
                with redirect_stdout(StringIO()) as printed:
                    exec(compile(code, page, "exec"), {})
                assert printed.getvalue() == shown
                tried += 1
    assert tried
