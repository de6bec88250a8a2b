"""Folders and files that are written whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storyproof.datasets.manifest import MANIFEST
from storyproof.errors import DataError

_drafts: set[Path] = set()


@contextmanager
def whole_folder(out: Path, force: bool, option: str = "--out") -> Iterator[Path]:
    """Give a hidden folder that becomes `out` if all goes well and vanishes if not; `option` is what users call it."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file; choose a folder for {option}.")
    out = out.resolve()
    if out.is_dir() and any(out.iterdir()):
        if not force:
            advice = " or replace it with --force" if option == "--out" else ""
            raise DataError(f"{out} is not empty; choose another folder{advice}.")
        if not (out / MANIFEST).exists():
            raise DataError(
                f"{out} is no dataset (it has no {MANIFEST}), so --force does not replace it; choose another."
            )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.unfinished-", dir=out.parent))
    except OSError as error:
        reason = f"{error.strerror}; choose another folder for {option}."
        raise DataError(f"cannot write to {out.parent}: {reason}") from error
    _drafts.add(draft)
    try:
        yield draft
        draft.chmod(0o755)  # a temporary folder is private by birth
        _replace(draft, out)
    except OSError as error:
        raise DataError(f"cannot write {out}: {error.strerror or error}; nothing was kept.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        _drafts.discard(draft)


def clear_drafts() -> None:
    """Remove whatever is being written; for when the process must go at once."""
    for draft in _drafts:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def writing_to(out: Path) -> Iterator[None]:
    """Say where it was that something could not be written, for want of space or leave.

    Raises:
        DataError: If something could not be.
    """
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}; choose another --out.") from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file; a process that is killed meanwhile leaves `.NAME.NUMBER` beside it, and the old one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)


def _replace(draft: Path, out: Path) -> None:
    if not out.exists():
        draft.rename(out)
        return
    if not any(out.iterdir()):  # somebody may stand in it, so it stays the same folder; the manifest comes last
        for path in sorted(draft.iterdir(), key=lambda path: path.name == MANIFEST):
            path.rename(out / path.name)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old-", dir=out.parent))
    try:
        out.rename(old / out.name)
        draft.rename(out)
    finally:
        if not out.exists():
            (old / out.name).rename(out)  # the new one did not make it, so the old one stays
        shutil.rmtree(old, ignore_errors=True)
