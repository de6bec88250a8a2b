"""Files that are written whole, or not at all."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from storyproof.errors import DataError
from storyproof.io.bounded_input import parse_json, read_bytes, resolved
from storyproof.io.locks import try_lock

_log = logging.getLogger(__name__)
_EXCHANGE, _HERE = 2, -100  # of renameat2 in Linux
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a draft beside a file that replaces it if all goes well; if not, the old file stays as it was.

    A private file can be read by nobody but its owner, whatever the umask; another one keeps the mode of the old file.

    What is not a regular file, such as a terminal, a pipe or /dev/null, is written to directly. A process that is
    killed leaves its draft behind, `.NAME.draft-NUMBER`; the next process that writes the same file removes it.

    Raises:
        OSError: If it cannot be written.
    """
    if _is_stream(path):
        with path.open("wb") as stream:
            yield stream
        return
    path = resolved(path)
    _clear_drafts(path)
    draft, file, locked = _open_draft(path, 0o600 if private else 0o666)
    try:
        yield file
        file.flush()
        if path.exists() and not private:
            draft.chmod(stat.S_IMODE(path.stat().st_mode))
        if not locked:
            file.close()
        draft.replace(path)  # while it is locked, so that nobody takes it for a dead process's
    except BaseException:
        with suppress(OSError):
            file.close()
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    file.close()


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file, whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    with whole_file(path) as file:
        file.write(content)


def write_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Write plain values as JSON, whole or not at all; the folder is created if needed.

    Raises:
        OSError: If it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json_bytes(plain))


def json_bytes(plain: Mapping[str, Any]) -> bytes:
    """Return plain values as `write_json` writes them."""
    return (json.dumps(plain, indent=1, ensure_ascii=False) + "\n").encode()


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Read what `write_json` wrote.

    Args:
        path: The file.
        remedy: What users should do if it is damaged.

    Raises:
        DataError: If it is missing or damaged.
    """
    try:
        plain = parse_json(read_bytes(path))
        if not isinstance(plain, dict):
            raise ValueError("expected a JSON object")
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; {remedy}.") from error
    return plain


def make_private(folder: Path) -> None:
    """Let nobody but the owner read a folder and what is in it; links are left alone.

    Raises:
        OSError: If the modes cannot be changed.
    """
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


@contextmanager
def writing_to(out: Path, option: str = "--out") -> Iterator[None]:
    """Name the place if something cannot be written because the disk is full or permission is denied.

    Raises:
        DataError: If something cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}; choose another {option}.") from error


def exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step; return False where the system or the file system cannot.

    Raises:
        OSError: If it fails for another reason.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first))


def _is_stream(path: Path) -> bool:
    """Return whether a path is no regular file, or stands for an open file of a process, such as /dev/stdout."""
    for _ in range(40):  # links that lead to links
        if os.path.realpath(path.parent).startswith(("/proc/", "/dev/fd")):
            return True
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return path.exists() and not path.is_file()


def _open_draft(path: Path, mode: int) -> tuple[Path, BinaryIO, bool]:
    """Create a draft of a file that nobody else has, and return whether it is locked.

    The number of a process alone does not tell drafts apart: processes in two containers may have the same one. A
    process that clears drafts away may take ours for a dead one's, before it is locked.
    """
    while True:
        draft = path.with_name(f".{path.name}.draft-{os.getpid()}{secrets.randbelow(10**9):09}")
        file = open(draft, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        locked = try_lock(file)
        if locked is None or (locked and draft.exists()):
            return draft, file, locked is not None
        file.close()
        draft.unlink(missing_ok=True)


def _clear_drafts(path: Path) -> None:
    """Remove drafts of a file that processes left which were killed, and name them."""
    draft = re.compile(rf"\.{re.escape(path.name)}\.draft-[0-9]+")
    with suppress(OSError):
        for other in path.parent.iterdir():
            if draft.fullmatch(other.name) and _is_dead(other):
                other.unlink(missing_ok=True)
                _log.warning("storyproof: removed %s, an unfinished file of a run that was killed.", other)


def _is_dead(draft: Path) -> bool:
    """Return whether the process that wrote a draft is gone; False where that cannot be told."""
    if draft.is_symlink() or not draft.is_file():
        return False
    with draft.open("rb") as file:
        return bool(try_lock(file))
