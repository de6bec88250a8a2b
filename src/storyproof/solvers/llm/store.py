"""Replies on disk, so that no request is sent twice.

A SQLite file with a write-ahead log. Every reply is a transaction of its own, which takes 40 µs and does not wait for
the disk. A killed process loses the requests in flight and no reply. A power failure may lose the replies of the last
seconds, but does not damage the file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storyproof.errors import DataError
from storyproof.io.bounded_input import parse_json
from storyproof.solvers.llm.messages import Reply

_VERSION = 3
_MAKE = """
CREATE TABLE IF NOT EXISTS replies (
    key BLOB PRIMARY KEY, text TEXT NOT NULL, prompt_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER,
    seconds REAL NOT NULL, choice_scores TEXT, cut_off INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (key BLOB PRIMARY KEY, error TEXT NOT NULL, times INTEGER NOT NULL) WITHOUT ROWID;
"""
# Version 1 did not say how a reply ended, version 2 not how often it was asked for.
_ADD_RETRIES = "ALTER TABLE replies ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;"
_UPDATES = {1: f"ALTER TABLE replies ADD COLUMN cut_off INTEGER NOT NULL DEFAULT 0; {_ADD_RETRIES}", 2: _ADD_RETRIES}
_PUT = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FAIL = "INSERT INTO failures VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET error = excluded.error, times = times + 1"
_GET = (
    "SELECT text, prompt_tokens, output_tokens, cached_tokens, seconds, choice_scores, cut_off, retries "
    "FROM replies WHERE key = ?"
)


class Store:
    """The replies of one or more models, by key; may be used by several processes at once.

    Args:
        path: The file; created if it is missing. None keeps replies in memory.

    Raises:
        DataError: If the file cannot be used.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self._where = str(path or ":memory:")
        with self._named():
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(
                self._where,
                timeout=60,
                isolation_level=None,
                check_same_thread=False,  # in a notebook another thread builds requests while this one waits
            )
            self._open()

    def _open(self) -> None:
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")  # only checkpoints wait for the disk, not commits
            if self._version() != _VERSION:
                self._base.execute("BEGIN IMMEDIATE")  # another process may be doing the same
                self._bring_up_to_date()
                self._base.execute("COMMIT")
        except BaseException:
            self._base.close()
            raise

    def _version(self) -> int:
        return int(self._base.execute("PRAGMA user_version").fetchone()[0])

    def _bring_up_to_date(self) -> None:
        version = self._version()
        if version not in (0, *_UPDATES, _VERSION):
            raise DataError(
                f"{self._where} was written by another version of storyproof (schema {version}, expected "
                f"{_VERSION}); choose another --output-dir."
            )
        for statement in _UPDATES.get(version, _MAKE).split(";"):
            self._base.execute(statement)
        self._base.execute(f"PRAGMA user_version = {_VERSION}")

    def get(self, key: bytes) -> Reply | None:
        """Return the reply that is kept under a key, if any."""
        with self._named():
            row = self._base.execute(_GET, (key,)).fetchone()
            return None if row is None else _read_row(row)

    def put(self, key: bytes, reply: Reply) -> None:
        """Store a reply; failures are stored apart, and their requests are sent again by the next run."""
        with self._named():
            if reply.error is not None:
                self._base.execute(_FAIL, (key, _encodable(reply.error)))
                return
            scores = None if reply.choice_scores is None else json.dumps(reply.choice_scores)
            counts = (reply.prompt_tokens, reply.output_tokens, reply.cached_tokens)
            text = _encodable(reply.text)
            self._base.execute(_PUT, (key, text, *counts, reply.seconds, scores, reply.cut_off, reply.retries))

    def error(self, key: bytes) -> str | None:
        """Return why the last request under a key failed, if it did."""
        with self._named():
            row = self._base.execute("SELECT error FROM failures WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def __len__(self) -> int:
        with self._named():
            return int(self._base.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors of SQLite and of the file system."""
        try:
            yield
        except (UnicodeDecodeError, _DamagedError) as error:  # what SQLite says of a damaged file may quote its bytes
            raise DataError(f"{self._where} is damaged; remove it, or choose another --output-dir.") from error
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"cannot store replies in {self._where}: {error}; free the disk, or choose another --output-dir."
            ) from error


class _DamagedError(ValueError):
    """A row that no program of ours wrote."""


def _read_row(row: tuple[Any, ...]) -> Reply:
    """Return the reply in a row; SQLite keeps values of any type in any column."""
    text, read, written, cached, seconds, scores, cut_off, retries = row
    try:
        listed = None if scores is None else tuple(map(float, parse_json(scores)))
    except (TypeError, ValueError, OverflowError) as error:
        raise _DamagedError from error
    are_counts = all(count is None or isinstance(count, int) for count in (read, written, cached))
    if not (isinstance(text, str) and are_counts and isinstance(seconds, float | int) and isinstance(retries, int)):
        raise _DamagedError
    return Reply(text, read, written, cached, seconds, listed, cut_off=bool(cut_off), retries=retries)


def _encodable(text: str) -> str:
    """Replace unpaired surrogates, which JSON may contain and SQLite cannot store."""
    return text.encode("utf-8", "replace").decode()
