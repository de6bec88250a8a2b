"""What a dataset is and how it was made, in `manifest.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from storyproof.errors import DataError

MANIFEST = "manifest.json"


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a folder's manifest, with a hash of itself."""
    manifest["manifest_sha256"] = _own_hash(manifest)
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


def _own_hash(manifest: dict[str, Any]) -> str:
    rest = {name: value for name, value in manifest.items() if name != "manifest_sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def manifest_problems(folder: Path, manifest: dict[str, Any], data: Iterable[Path]) -> list[str]:
    """List what does not fit a manifest: itself, data files that are missing or differ, and some it does not know."""
    problems = []
    if manifest.get("manifest_sha256") != _own_hash(manifest):
        problems.append(f"{MANIFEST} itself was changed")
    problems += [problem for name in manifest["files"] if (problem := file_problem(folder / name, manifest))]
    problems += [f"{path.name} is not in the manifest" for path in data if path.name not in manifest["files"]]
    return problems


def file_problem(path: Path, manifest: dict[str, Any]) -> str | None:
    """Say what is wrong with one file of a manifest, if anything."""
    entry = manifest["files"].get(path.name)
    if not path.is_file():
        return f"{path.name} is missing"
    if file_sha256(path) != (entry.get("sha256") if isinstance(entry, dict) else None):
        return f"{path.name} differs from the manifest (sha256)"
    return None
