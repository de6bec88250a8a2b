"""Locks between processes: a claim is a file that names its owner and disappears with it.

A live owner holds a lock of the operating system on the file, where there are such locks, so that a process that was
killed is told from one that is slow or suspended. Elsewhere a claim is stale, and taken over, when its process is gone
from this machine, or when nobody has renewed it for a while.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from storyproof.errors import DataError
from storyproof.io.bounded_input import open_text, parse_json, read_text

STALE_S = 120.0
_RENEWED_EVERY_S = 30.0
_ASKED_EVERY_S = 0.05
_held: set[Claim] = set()


def try_lock(file: IO[Any]) -> bool | None:
    """Lock an open file until it is closed.

    Returns:
        Whether it is ours; None where the system or the file system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


class Claim:
    """A claim on something that one process at a time may write; as a context manager it yields whether it is ours.

    Args:
        path: The file that stands for it.
        option: What users call the place, for messages.

    Raises:
        DataError: On entering, if nothing can be written there.
    """

    def __init__(self, path: Path, option: str = "--out") -> None:
        self.path, self._option = path, option
        self._file: IO[str] | None = None
        self._text = ""
        self._over = threading.Event()
        self._keeper: threading.Thread | None = None

    def __enter__(self) -> bool:
        try:
            return self.take()
        except OSError as error:
            reason = error.strerror or error
            raise DataError(f"cannot write to {self.path}: {reason}; choose another {self._option}.") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @contextmanager
    def when_free(self) -> Iterator[None]:
        """Take the claim as soon as no other process has it; for what is written within seconds.

        Raises:
            DataError: If nothing can be written there.
        """
        while True:
            with self as ours:
                if ours:
                    yield
                    return
            time.sleep(_ASKED_EVERY_S)

    def take(self) -> bool:
        """Take the claim unless a live process has it; return whether it is ours.

        Raises:
            OSError: If nothing can be written there.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not (self._create() or (self._clear_stale() and self._create())):
            return False
        _held.add(self)
        self._clear_drafts()
        self._keeper = threading.Thread(target=self._renew, daemon=True)
        self._keeper.start()
        return True

    def release(self) -> None:
        """Release the claim, if it is ours."""
        if self._keeper is None:
            return
        self._over.set()
        self._keeper.join()
        self._keeper = None
        self.remove()
        _held.discard(self)

    def remove(self) -> None:
        """Remove the file, if it is still ours."""
        if _text(self.path) == self._text:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _draft(self) -> Path:
        return self.path.with_name(f".{self.path.name.lstrip('.')}.{os.getpid()}{id(self)}")

    def _clear_drafts(self) -> None:
        """Remove files of claims whose processes were killed while they took them."""
        draft = re.compile(rf"\.{re.escape(self.path.name.lstrip('.'))}\.[0-9]+")
        for path in self.path.parent.iterdir():
            if draft.fullmatch(path.name):
                with _probed(path) as free, suppress(OSError):
                    if free:
                        path.unlink()

    def _create(self) -> bool:
        """Create the file, locked and complete at once, unless it exists."""
        draft = self._draft()
        file = draft.open("w", encoding="utf-8")
        try:
            locked = bool(try_lock(file))
            self._text = self._owner(locked)
            file.write(self._text)
            file.flush()
            os.link(draft, self.path)
            if locked:
                self._file = file
        except (FileExistsError, FileNotFoundError):  # another process has the claim, and may have removed the draft
            return False
        except PermissionError:
            return self._create_alone()
        except OSError as error:
            if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS):
                return self._create_alone()
            raise
        finally:
            if self._file is not file:
                with suppress(OSError):  # which would hide why it could not be written
                    file.close()
            draft.unlink(missing_ok=True)
        return True

    def _create_alone(self) -> bool:
        """Create the file on a file system without hard links, unless it exists."""
        self._text = self._owner(locked=False)
        try:
            file = self.path.open("x", encoding="utf-8")
        except FileExistsError:
            return False
        try:
            with file:
                file.write(self._text)
        except OSError:
            self.path.unlink()
            raise
        return True

    def _owner(self, locked: bool) -> str:
        mark = f"{id(self)}-{time.time_ns()}"
        return json.dumps({"pid": os.getpid(), "host": platform.node(), "mark": mark, "locked": locked})

    def _clear_stale(self) -> bool:
        """Move a stale claim away; of several processes that try, one succeeds."""
        text = _text(self.path)
        if text is None:
            return True
        with _probed(self.path) as free:
            if free is False or not _is_stale(self.path, text, free):
                return False
            aside = self._draft()
            try:
                self.path.rename(aside)
            except FileNotFoundError:
                return True
            fresh = _text(aside) != text  # another took it over in between, and this is theirs
            if fresh:
                with suppress(FileExistsError):
                    os.link(aside, self.path)
            aside.unlink(missing_ok=True)
            return not fresh

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED_EVERY_S):
            if _text(self.path) == self._text:  # else somebody took us for dead, and it is theirs
                with suppress(OSError):
                    os.utime(self.path)


def remove_claims() -> None:
    """Remove the files of all claims that this process holds, before it exits at once."""
    for claim in tuple(_held):
        claim.remove()


def _text(path: Path) -> str | None:
    try:
        return read_text(path)
    except (OSError, ValueError):
        return None


@contextmanager
def _probed(path: Path) -> Iterator[bool | None]:
    """Lock an existing claim while it is inspected; yield False if its owner lives, None if that is unknown."""
    try:
        file = open_text(path)
    except OSError:
        yield None
        return
    with file:
        yield try_lock(file)


def _is_stale(path: Path, text: str, free: bool | None) -> bool:
    if free and not text:  # its process ended before it wrote who it is
        return True
    with suppress(ValueError, KeyError, TypeError):
        owner = parse_json(text)
        if owner["host"] == platform.node():
            if free and owner.get("locked"):
                return True
            if not _alive(int(owner["pid"])):
                return True
    try:
        return time.time() - path.stat().st_mtime > STALE_S
    except OSError:
        return False


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would interrupt the process there; claims go stale by age instead
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError, OSError):
        return True
    return True
