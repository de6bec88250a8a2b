"""Backups of a study while it runs, and restoring them, into SQLite or PostgreSQL.

A backup is a ZIP file with the design, the items and all rows as JSON lines, read in one transaction: it is the state
at one moment, whatever participants send meanwhile. Because it does not depend on the database, it also moves a study
from one kind of database to the other. It holds the secret that signs links and forms; keep it as safe as the study.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, Table, func, insert, select, text

from storyproof import __version__
from storyproof.errors import ConfigError, DataError
from storyproof.files import json_bytes, whole_file, write_json, writing_to
from storyproof.inputs import DocumentError, kind_of, parse_json
from storyproof.study import schema
from storyproof.study.database import POSTGRESQL, SQLITE, StudyDatabase, parse_url, sqlite_url
from storyproof.study.folder import DESIGN, ITEMS, Study, open_study

_MANIFEST = "backup.json"
_AT_ONCE = 1_000


def back_up(study: Study, out: Path) -> dict[str, int]:
    """Write a backup; return how many rows of each table it holds.

    Raises:
        DataError: If it cannot be written.
    """
    counts: dict[str, int] = {}
    hashes: dict[str, str] = {}
    with (
        writing_to(out),
        whole_file(out) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        study.database.reading() as connection,
    ):
        revision = MigrationContext.configure(connection).get_current_revision() or ""
        for table in schema.KEPT:
            lines = [json.dumps(dict(row._mapping)) for row in connection.execute(select(table))]
            content = "".join(f"{line}\n" for line in lines).encode()
            archive.writestr(f"{table.name}.jsonl", content)
            counts[table.name], hashes[table.name] = len(lines), sha256(content).hexdigest()
        kind = SQLITE if study.database.is_sqlite else POSTGRESQL
        archive.writestr(DESIGN, json_bytes({"database": kind, **study.design.as_dict()}))
        archive.writestr(ITEMS, study.items.as_bytes())
        about = {"storyproof": __version__, "revision": revision, "at": study.now(), "rows": counts, "sha256": hashes}
        archive.writestr(_MANIFEST, json_bytes(about))
    return counts


def restore(
    backup: Path, folder: Path, *, database: str = "", now: Callable[[], float] = time.time
) -> tuple[Study, dict[str, int]]:
    """Create a study from a backup; return it, and how many rows of each table it has.

    Args:
        backup: The file.
        folder: A folder that does not exist yet.
        database: The address of an empty PostgreSQL database; by default SQLite in the folder.
        now: The clock.

    Raises:
        ConfigError: If the folder exists, or the database is not empty.
        DataError: If the backup is damaged.
    """
    if kind_of(folder):
        raise ConfigError(f"{folder} exists; choose another name, or remove it.")
    try:
        with zipfile.ZipFile(backup) as archive:
            about = parse_json(archive.read(_MANIFEST))
            parts = {name: archive.read(f"{name}.jsonl") for name in about["rows"]}
            design, items = archive.read(DESIGN), archive.read(ITEMS)
    except (OSError, KeyError, TypeError, zipfile.BadZipFile, DocumentError, UnicodeError) as error:
        raise DataError(f"{backup} is not a backup of a study, or damaged: {error}; choose another.") from error
    for name, content in parts.items():
        if sha256(content).hexdigest() != about["sha256"].get(name):
            raise DataError(f"{backup} is damaged: {name} has changed since it was written; choose another backup.")
    url = parse_url(database) if database else sqlite_url(folder)
    with writing_to(folder, "name"):
        folder.mkdir(parents=True)
    base = StudyDatabase(url)
    try:
        _refuse_used(base)
        base.migrate(about["revision"])  # rows are those of the version that wrote them
        with base.writing() as connection:
            counts = _insert_all(connection, parts)
        base.migrate()
        plain = {**json.loads(design), "database": POSTGRESQL if database else SQLITE}
        with writing_to(folder, "name"):
            (folder / ITEMS).write_bytes(items)
            write_json(folder / DESIGN, plain)
        return open_study(folder, database=database, now=now), counts
    except BaseException:
        rmtree(folder, ignore_errors=True)  # it did not exist before
        raise
    finally:
        base.close()


def _refuse_used(base: StudyDatabase) -> None:
    if not base.revision():
        return
    with base.reading() as connection:
        if connection.execute(select(schema.study.c.id)).first() is not None:
            raise ConfigError("the database holds a study already; give each study a database of its own.")


def _insert_all(connection: Connection, parts: dict[str, bytes]) -> dict[str, int]:
    """Insert all rows, in the order of references, into the tables as they are in this revision."""
    known = MetaData()
    known.reflect(connection, only=list(parts))
    counts = {}
    for table in known.sorted_tables:
        count = 0
        for rows in _batches(parts[table.name]):
            connection.execute(insert(table), rows)
            count += len(rows)
        counts[table.name] = count
        if connection.dialect.name == POSTGRESQL and "id" in table.c:
            _advance(connection, table)
    return counts


def _batches(content: bytes) -> Iterator[list[dict[str, Any]]]:
    lines = content.decode().splitlines()
    for start in range(0, len(lines), _AT_ONCE):
        yield [json.loads(line) for line in lines[start : start + _AT_ONCE]]


def _advance(connection: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those that were inserted with their numbers."""
    most = connection.execute(select(func.max(table.c.id))).scalar_one()
    if most is not None:
        where = {"name": table.name, "most": most}
        connection.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :most)"), where)
