"""How far a study is and where it is served, read from its folder without changing anything in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storyproof.io.bounded_input import open_text, parse_json, read_text
from storyproof.io.locks import try_lock

FILE, DESIGN, ITEMS = "study.sqlite", "design.json", "items.jsonl"
_ADDRESS = "served-at.txt"
_LONGEST_ADDRESS = 300
_WAIT_S = 0.2  # for a server that is writing


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """How far a study is.

    Attributes:
        title: Its title.
        kind: Whether people solve, or write.
        wanted: How many results are wanted.
        done: How many there are; None if its database is not in the folder.
        participants: How many people have taken part; None if its database is not in the folder.
        address: Where it is served now; empty if it is not.
    """

    title: str
    kind: str
    wanted: int | None
    done: int | None
    participants: int | None
    address: str = ""


def is_study(folder: Path) -> bool:
    """Return whether a folder holds a study."""
    return (folder / DESIGN).is_file() and (folder / ITEMS).is_file()


def read_progress(folder: Path) -> StudyProgress | None:
    """Return how far the study in a folder is; None if its files cannot be read."""
    try:
        design = parse_json(read_text(folder / DESIGN))
        title, kind = str(design.get("title") or design.get("name") or folder.name), str(design.get("kind", ""))
    except (OSError, ValueError, AttributeError):
        return None
    served = read_address(folder)
    if not (folder / FILE).is_file():
        return StudyProgress(title, kind, None, None, None, served)
    try:
        address = f"{(folder / FILE).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT_S)) as base:
            wanted, done = base.execute("SELECT count(*), coalesce(sum(is_done), 0) FROM slot").fetchone()
            [participants] = base.execute("SELECT count(*) FROM participant").fetchone()
    except (sqlite3.Error, UnicodeError):  # of a damaged file: what SQLite says of it may quote its bytes
        return StudyProgress(title, kind, None, None, None, served)
    return StudyProgress(title, kind, wanted, done, participants, served)


@contextmanager
def address_shown(folder: Path, address: str) -> Iterator[None]:
    """Write to the folder where its study is served, as long as it is.

    The file is locked: after a crash nobody holds the lock, and the address counts no more. A study is served also
    where nothing can be written or locked; then other pages have no link to it.
    """
    path = folder / _ADDRESS
    try:
        number = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    except OSError:
        yield
        return
    with os.fdopen(number, "w", encoding="utf-8") as file:
        is_ours = False
        with suppress(OSError):
            if try_lock(file):
                is_ours = True
                file.truncate(0)
                file.write(address)
                file.flush()
        try:
            yield
        finally:
            if is_ours:
                with suppress(OSError):
                    path.unlink()


def read_address(folder: Path) -> str:
    """Return where a study is served now; empty if it is not, or that cannot be known."""
    try:
        with open_text(folder / _ADDRESS) as file:
            if try_lock(file) is not False:  # nobody holds it: left by a server that was killed
                return ""
            address = file.read(_LONGEST_ADDRESS)
    except (OSError, ValueError):
        return ""
    return address if address.startswith(("http://", "https://")) else ""
