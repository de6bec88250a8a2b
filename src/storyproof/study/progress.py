"""How far a study is, read from its folder without a server and without changing anything in it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

FILE, DESIGN, ITEMS = "study.sqlite", "design.json", "items.jsonl"
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
    """

    title: str
    kind: str
    wanted: int | None
    done: int | None
    participants: int | None


def is_study(folder: Path) -> bool:
    """Return whether a folder holds a study."""
    return (folder / DESIGN).is_file() and (folder / ITEMS).is_file()


def read_progress(folder: Path) -> StudyProgress | None:
    """Return how far the study in a folder is; None if its files cannot be read."""
    try:
        design = json.loads((folder / DESIGN).read_text("utf-8"))
        title, kind = str(design.get("title") or design.get("name") or folder.name), str(design.get("kind", ""))
    except (OSError, ValueError, AttributeError):
        return None
    if not (folder / FILE).is_file():
        return StudyProgress(title, kind, None, None, None)
    try:
        address = f"{(folder / FILE).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT_S)) as base:
            wanted, done = base.execute("SELECT count(*), coalesce(sum(is_done), 0) FROM slot").fetchone()
            [participants] = base.execute("SELECT count(*) FROM participant").fetchone()
    except sqlite3.Error:
        return StudyProgress(title, kind, None, None, None)
    return StudyProgress(title, kind, wanted, done, participants)
