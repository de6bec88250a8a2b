"""Where results go: files and the console."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.errors import DataError

if TYPE_CHECKING:
    from rich.console import Console


def write_text(path: Path, text: str, option: str = "--json") -> None:
    """Write a result to a file.

    Raises:
        DataError: If it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}; choose another file for {option}.") from error


def console() -> Console:
    """Give a console; in a pipe there is nothing to fit into, so nothing is folded."""
    from rich.console import Console

    found = Console()
    return found if found.is_terminal else Console(width=200)
