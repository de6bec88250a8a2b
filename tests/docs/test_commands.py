"""The commands of the pages print what the pages show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/tutorial.md",
    "docs/kinship.md",
    "docs/models.md",
    "docs/families.md",
    "docs/study.md",
    "docs/roles.md",
    "docs/tom-k.md",
    "docs/report.md",
]
# What a test cannot have: an installation, published data, a model from the network, minutes of training, and what that
# makes. `make` installs examples/orderings.
ELSEWHERE = re.compile(r"^make |^pip |fb_all_|data_7c5b0e70|smollm2|^storyproof train|runs/gat")
EXIT_CODE = "echo $?"  # shows that of the command before it


class Command(NamedTuple):
    """A command of a page, and the lines that it prints there; a line `…` stands for lines that are left out."""

    line: str
    printed: list[str]


def blocks(page: str) -> list[tuple[str, str]]:
    """Read the blocks of code of a page, each with what stands behind its first fence."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows, as blocks with a title."""
    for head, block in blocks(page):
        for name in re.findall(r'title="([\w.]+)"', head):
            (folder / name).write_text(block, encoding="utf-8")


def commands(page: str) -> Iterator[Command]:
    """Read the commands of a page."""
    for head, block in blocks(page):
        if head:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *printed = part.splitlines()
            yield Command(line, [plain(each) for each in printed if each.strip() not in ("", "…")])


def plain(line: str) -> str:
    """Return a line without the spaces between columns."""
    return " ".join(line.split())


def run(line: str, folder: Path) -> tuple[list[str], int]:
    """Run a command in a folder and return the lines that it prints, and its exit code."""
    program, *words = shlex.split(line, comments=True)
    assert program == "storyproof", line
    done = subprocess.run(
        [sys.executable, "-m", "storyproof", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "120", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return [plain(each) for each in (done.stdout + done.stderr).splitlines()], done.returncode


def like(line: str) -> Callable[[str], bool]:
    """Return what tests a printed line: equality, or the beginning if the page ends the line with `…`."""
    return line.__eq__ if not line.endswith("…") else lambda found: found.startswith(line.rstrip(" …"))


# The README's commands run by default; the other pages repeat what tests of the verbs check, and take ten seconds each.
@pytest.mark.parametrize("page", [PAGES[0], *(pytest.param(page, marks=pytest.mark.slow) for page in PAGES[1:])])
def test_commands_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    tried = 0
    write_files(page, tmp_path)
    shown = [command for command in commands(page) if not ELSEWHERE.search(command.line)]
    for command, after in zip(shown, [*shown[1:], Command("", [])], strict=True):
        if command.line == EXIT_CODE:
            continue
        lines, code = run(command.line, tmp_path)
        assert [str(code)] == (after.printed if after.line == EXIT_CODE else ["0"]), "\n".join([command.line, *lines])
        found = iter(lines)
        for line in command.printed:  # in this order, with others between them where the page leaves some out
            assert any(map(like(line), found)), f"{command.line}\ndoes not print, or not there: {line}"
        tried += 1
    assert tried >= 2
