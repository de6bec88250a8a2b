"""What a dataset is and how it was made, in `manifest.json`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from storyproof.errors import DataError

MANIFEST = "manifest.json"


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a folder's manifest."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Read a folder's manifest, if it has one.

    Raises:
        DataError: If there is one that is no JSON object with the files' hashes.
    """
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no readable JSON: {error}; remove it or make the dataset again.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise DataError(f"{path} is no manifest: expected an object with 'files'; remove it or make the dataset again.")
    return manifest


def changed_files(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """List the files that are missing or differ from what the manifest says."""
    problems = []
    for name, entry in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif file_sha256(path) != (entry.get("sha256") if isinstance(entry, dict) else None):
            problems.append(f"{name} differs from the manifest (sha256)")
    return problems
