"""Claims on jobs, so that several processes can work on one folder: a lock file says who works on what.

A claim is stale, and taken over, when its process is gone from this machine, or when nobody has renewed it for a while.
"""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from storyproof.datasets.folders import writing_to

STALE_S = 120.0
_RENEWED_EVERY_S = 30.0


class Claim:
    """A lock file; use it as a context, which says whether the claim is ours.

    Args:
        path: The lock file.

    Raises:
        DataError: On entering, if nothing can be written there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = json.dumps({"pid": os.getpid(), "host": platform.node(), "mark": f"{id(self)}-{time.time_ns()}"})
        self._over = threading.Event()
        self._keeper: threading.Thread | None = None

    def __enter__(self) -> bool:
        with writing_to(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ours = self._take() or (self._clear_stale() and self._take())
        if not ours:
            return False
        self._keeper = threading.Thread(target=self._renew, daemon=True)
        self._keeper.start()
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._keeper is None:
            return
        self._over.set()
        self._keeper.join()
        if _text(self.path) == self._text:
            self.path.unlink(missing_ok=True)

    def _take(self) -> bool:
        """Make the file, whole at once, unless it is there."""
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.{id(self)}")
        draft.write_text(self._text, encoding="utf-8")
        try:
            os.link(draft, self.path)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def _clear_stale(self) -> bool:
        """Move a stale claim away; of several who try, one does it."""
        found = _text(self.path)
        if found is None:
            return True
        if not _is_stale(self.path, found):
            return False
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.{id(self)}.stale")
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return True
        fresh = _text(aside) != found  # another took it over in between, and this is theirs
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


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def _is_stale(path: Path, text: str) -> bool:
    try:
        if time.time() - path.stat().st_mtime > STALE_S:
            return True
        owner = json.loads(text)
        return owner["host"] == platform.node() and not _alive(int(owner["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False  # gone, or not ours to judge until it is old


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
