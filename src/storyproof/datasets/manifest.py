"""What a dataset is and how it was made, in `manifest.json`."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from storyproof.errors import DataError, quoted
from storyproof.io.bounded_input import open_file, parse_json, read_bytes

MANIFEST = "manifest.json"
_REMEDY = "remove it or generate the dataset again"
_SHA256 = re.compile("[0-9a-f]{64}")


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a folder's manifest, with a hash of itself."""
    (folder / MANIFEST).write_text(manifest_text(manifest), encoding="utf-8")


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return the text of a manifest, to which a hash of itself is added."""
    manifest["manifest_sha256"] = _own_hash(manifest)
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Read a folder's manifest, if it has one.

    Raises:
        DataError: If there is one that is not a JSON object with the files' hashes.
    """
    path = folder / MANIFEST
    if not os.path.lexists(path):
        return None
    try:
        content = read_bytes(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}; {_REMEDY}.") from error
    return parse_manifest(content, str(path))


def parse_manifest(content: bytes, path: str) -> dict[str, Any]:
    """Parse a manifest.

    Args:
        content: The file.
        path: Where it is, for messages.

    Raises:
        DataError: If it is not a JSON object with the files' hashes.
    """
    try:
        manifest = parse_json(content)
    except ValueError as error:
        raise DataError(f"{path} is not valid JSON: {error}; {_REMEDY}.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise DataError(f"{path} is not a manifest: expected an object with 'files'; {_REMEDY}.")
    return manifest


def _own_hash(manifest: dict[str, Any]) -> str:
    rest = {name: value for name, value in manifest.items() if name != "manifest_sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def manifest_problems(
    manifest: dict[str, Any], data: Iterable[str], sha256_of: Callable[[str], str | None]
) -> list[str]:
    """List what does not fit a manifest: itself, data files that are missing or differ, and some it does not know.

    Args:
        manifest: The manifest.
        data: The names of the data files in the folder.
        sha256_of: Returns the hash of a file of the folder; None if there is no such file.
    """
    problems = []
    if manifest.get("manifest_sha256") != _own_hash(manifest):
        problems.append(f"{MANIFEST} itself was changed")
    for name in manifest["files"]:
        if not _is_plain(name):
            problems.append(f"{MANIFEST} lists {quoted(name)}, which is not the name of a file in the folder")
        elif problem := file_problem(name, manifest, sha256_of):
            problems.append(problem)
    problems += [f"{name} is not in the manifest" for name in data if name not in manifest["files"]]
    return problems


def file_problem(name: str, manifest: dict[str, Any], sha256_of: Callable[[str], str | None]) -> str | None:
    """Return what is wrong with one file of a manifest; None if nothing is."""
    entry = manifest["files"].get(name)
    digest = sha256_of(name)
    if digest is None:
        return f"{name} is missing"
    if digest != (entry.get("sha256") if isinstance(entry, dict) else None):
        return f"{name} differs from the manifest (sha256)"
    return None


def hash_in(folder: Path) -> Callable[[str], str | None]:
    """Return a function that hashes a file of a folder; it returns None if there is no such file."""
    return lambda name: file_sha256(folder / name) if (folder / name).is_file() else None


def is_dataset(folder: Path) -> bool:
    """Return whether a folder has a manifest that storyproof wrote and nobody has changed since."""
    path = folder / MANIFEST
    try:
        manifest = read_manifest(folder) if path.is_file() and not path.is_symlink() else None
        return manifest is not None and is_own_manifest(manifest)
    except (DataError, RecursionError):
        return False


def is_own_manifest(manifest: dict[str, Any]) -> bool:
    """Return whether storyproof wrote a manifest, and nobody has changed it since."""
    files = manifest.get("files")
    if not isinstance(files, dict):
        return False
    listed = all(map(_is_plain, files)) and all(
        isinstance(entry, dict) and _SHA256.fullmatch(str(entry.get("sha256"))) for entry in files.values()
    )
    named = isinstance(manifest.get("storyproof"), str) and isinstance(manifest.get("splits"), dict)
    return listed and named and manifest.get("manifest_sha256") == _own_hash(manifest)


def _is_plain(name: str) -> bool:
    """Return whether a name is that of a file, without folders, and can be one: at most 255 bytes and no NUL."""
    return is_inside(name) and PurePath(name).name == name and "\0" not in name and len(name.encode()) <= 255


def is_inside(name: str) -> bool:
    """Return whether a relative path stays in the folder that it is relative to."""
    parts = PurePath(name).parts
    return bool(parts) and not PurePath(name).is_absolute() and ".." not in parts


def foreign_files(folder: Path) -> list[str]:
    """List what a dataset's folder holds that its manifest does not list, or that was changed since."""
    manifest = read_manifest(folder) or {"files": {}}
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.name != MANIFEST and not _is_listed(path, manifest["files"].get(path.name))
    ]


def _is_listed(path: Path, entry: dict[str, Any] | None) -> bool:
    return entry is not None and path.is_file() and not path.is_symlink() and file_sha256(path) == entry["sha256"]


def remove_dataset(folder: Path) -> list[str]:
    """Remove the files that a dataset's manifest lists, the manifest and the folder.

    Returns:
        What is not removed, nor the folder then: files that the manifest does not list, or that were changed since.
    """
    manifest = read_manifest(folder) or {"files": {}}
    left = foreign_files(folder)
    if left:
        return left
    for name in manifest["files"]:
        (folder / name).unlink(missing_ok=True)
    (folder / MANIFEST).unlink()
    with suppress(OSError):  # something has just been added
        folder.rmdir()
    return []
