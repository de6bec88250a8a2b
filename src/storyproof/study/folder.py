"""A study's folder: its design, its items and, unless it is elsewhere, its database."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex, token_urlsafe
from shutil import rmtree

from sqlalchemy import insert, select, update

from storyproof.errors import ConfigError, DataError
from storyproof.generation.seeds import Draws
from storyproof.io.atomic_files import make_private, read_json, write_json, writing_to
from storyproof.io.bounded_input import kind_of
from storyproof.study import schema
from storyproof.study.database import POSTGRESQL, SQLITE, StudyDatabase, parse_url, sqlite_url
from storyproof.study.design import PARAPHRASE, StudyDesign
from storyproof.study.items import MAIN, StudyItems, check_kind
from storyproof.study.progress import DESIGN, ITEMS

DATABASE_VARIABLE = "STORYPROOF_STUDY_DATABASE"
SOLVING, WRITING, REVIEWING = "solve", "write", "review"  # kinds of slots that are given out
REPLACEMENT = 1_000_000  # added to the number of a slot whose holder was excluded, for the slot that replaces it
_RANKS = 2**31 - 1
_SLOTS_AT_ONCE = 5_000


class Study:
    """A study that is open.

    Attributes:
        folder: Its folder.
        design: Its design.
        items: Its items.
        database: Its database.
        secret: What signs its forms.
        now: The clock.
        drawn: Pictures of items that were drawn, by number: everybody gets the same practice items.
    """

    def __init__(
        self,
        folder: Path,
        design: StudyDesign,
        items: StudyItems,
        database: StudyDatabase,
        secret: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.folder, self.design, self.items = folder, design, items
        self.database, self.secret, self.now = database, secret, now
        self.drawn: dict[int, str] = {}

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def set_password(self, password_hash: str) -> None:
        """Store the hash of the dashboard's password, end all sessions, and forget wrong passwords."""
        with self.database.writing() as connection:
            connection.execute(schema.login_attempt.delete())
            connection.execute(update(schema.study).values(password_hash=password_hash))
            connection.execute(schema.admin_session.delete())

    def password_hash(self) -> str | None:
        """Return the hash of the dashboard's password; None if there is none."""
        with self.database.reading() as connection:
            stored: str | None = connection.execute(select(schema.study.c.password_hash)).scalar_one()
            return stored


def new_password() -> str:
    """Return a password that nobody guesses."""
    return token_urlsafe(15)


def create_study(
    folder: Path,
    design: StudyDesign,
    items: StudyItems,
    *,
    database: str = "",
    now: Callable[[], float] = time.time,
) -> Study:
    """Create a study: its folder, its tables, and a slot for each result that is wanted.

    Args:
        folder: A folder that does not exist yet.
        design: The design.
        items: The items.
        database: The address of a PostgreSQL database; by default SQLite in the folder.
        now: The clock.

    Raises:
        ConfigError: If the folder exists, the address is not one, or the database holds another study.
        DataError: If nothing can be written.
    """
    check_kind(design, items)
    url = parse_url(database) if database else sqlite_url(folder)
    if kind_of(folder):
        raise ConfigError(f"{folder} exists; choose another name, or remove it.")
    make_folder(folder)
    base = StudyDatabase(url)
    try:
        base.migrate()
        with base.writing() as connection:
            if connection.execute(select(schema.study.c.id)).first() is not None:
                raise ConfigError("the database contains a study already; give each study a database of its own.")
            secret = token_hex(32)
            about = {"id": 1, "design_sha256": design.sha256, "items_sha256": items.sha256}
            connection.execute(insert(schema.study).values(**about, secret=secret, created_at=now()))
            slots = _slots(design, items)
            for start in range(0, len(slots), _SLOTS_AT_ONCE):
                connection.execute(insert(schema.slot), slots[start : start + _SLOTS_AT_ONCE])
        with writing_to(folder, "name"):
            items.write(folder / ITEMS)
            # Last, so that the folder of a process that was killed is known to be half made.
            write_json(folder / DESIGN, {"database": POSTGRESQL if database else SQLITE, **design.as_dict()})
            make_private(folder)
    except BaseException:
        base.close()
        rmtree(folder, ignore_errors=True)  # it did not exist before
        raise
    return Study(folder, design, items, base, secret, now)


def make_folder(folder: Path) -> None:
    """Create the folder of a study, which nobody but its owner may read.

    Raises:
        DataError: If it cannot be created.
    """
    with writing_to(folder, "name"):
        folder.mkdir(parents=True)
        make_private(folder)


def _slots(design: StudyDesign, items: StudyItems) -> list[dict[str, object]]:
    """Return the slots of all items, in random ranks."""
    kind = WRITING if design.kind == PARAPHRASE else SOLVING
    main = items.of(MAIN)
    count = len(main) * len(design.conditions) * design.answers_per_item
    ranks = iter(Draws("study-ranks", design.seed).below(_RANKS, count).tolist())
    return [
        {
            "kind": kind,
            "target": item.number,
            "condition": condition.name,
            "number": number,
            "stratum": item.stratum,
            "rank": next(ranks),
            "is_done": False,
        }
        for condition in design.conditions
        for item in main
        for number in range(design.answers_per_item)
    ]


def read_folder(folder: Path) -> tuple[StudyDesign, StudyItems, str]:
    """Read design and items, and which kind of database there is.

    Raises:
        DataError: If the folder holds no study, or a damaged one.
    """
    if not (folder / DESIGN).is_file():
        raise DataError(f"{folder} contains no study; create one with storyproof study new.")
    plain = read_json(folder / DESIGN, "restore the study from a backup")
    kind = str(plain.pop("database", SQLITE))
    design = StudyDesign.from_dict(plain)
    return design, StudyItems.read(folder / ITEMS), kind


def open_study(folder: Path, *, database: str = "", now: Callable[[], float] = time.time) -> Study:
    """Open a study; tables of older versions are migrated.

    Args:
        folder: Its folder.
        database: The address of its PostgreSQL database, if it has one.
        now: The clock.

    Raises:
        ConfigError: If the address is missing, or given for a study that has none.
        DataError: If the folder or the database is damaged, or they do not belong together.
    """
    design, items, kind = read_folder(folder)
    if (kind == POSTGRESQL) != bool(database):
        what = "is in PostgreSQL; give its address" if kind == POSTGRESQL else "is in its folder; leave out the address"
        raise ConfigError(f"the database of {folder} {what} (--database, or {DATABASE_VARIABLE}).")
    url = parse_url(database) if database else sqlite_url(folder)
    if kind == SQLITE and not Path(url.database or "").is_file():
        raise DataError(f"{url.database} is missing; restore the study from a backup.")
    base = StudyDatabase(url)
    try:
        base.migrate()
        base.check()
        with base.reading() as connection:
            row = connection.execute(select(schema.study)).first()
        if row is None or (row.design_sha256, row.items_sha256) != (design.sha256, items.sha256):
            raise DataError(
                f"the database does not belong to the design and the items in {folder}: a design is frozen when the "
                "study is created; restore the study from a backup, or create another."
            )
    except BaseException:
        base.close()
        raise
    return Study(folder, design, items, base, row.secret, now)
