"""Small files that are whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from storyproof.errors import DataError
from storyproof.files import write_whole, writing_to


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes.

    Raises:
        DataError: If they cannot be written.
    """
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    write_bytes(path, text.encode())


def write_json(path: Path, plain: dict[str, Any]) -> None:
    """Write plain values."""
    write_text(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote.

    Raises:
        DataError: If it is damaged.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}); delete it, and run the experiment again.") from error
    if not isinstance(plain, dict):
        raise DataError(f"{path} holds no table of values; delete it, and run the experiment again.")
    return plain
