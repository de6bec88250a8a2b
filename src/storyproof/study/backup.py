"""Backups of a study while it runs, and restoring them, into SQLite or PostgreSQL.

A backup is a ZIP file with the design, the items and all rows as JSON lines, read in one transaction: it is the state
at one moment, whatever participants send meanwhile. Because it does not depend on the database, it also moves a study
from one kind of database to the other. It holds the secret that signs links and forms; keep it as safe as the study.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from shutil import rmtree
from struct import error as StructError  # noqa: N812
from typing import IO, Any, NamedTuple
from zlib import error as ZlibError  # noqa: N812

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, Table, func, insert, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from storyproof import __version__
from storyproof.errors import ConfigError, DataError, StoryproofError, quoted, shorten
from storyproof.io.atomic_files import json_bytes, make_private, whole_file, write_json, writing_to
from storyproof.io.bounded_input import LARGEST_DOCUMENT, LARGEST_RUN, kind_of, lines_of, open_file, parse_json, size
from storyproof.study import schema
from storyproof.study.database import POSTGRESQL, SQLITE, StudyDatabase, parse_url, sqlite_url
from storyproof.study.folder import Study, make_folder, open_study
from storyproof.study.progress import DESIGN, ITEMS

_MANIFEST = "backup.json"
_AT_ONCE, _LONGEST_BATCH = 1_000, 4 << 20  # rows, and their characters, that are inserted at a time
# What zipfile raises for encrypted and unknown members, and Python for values that are not those of a backup.
_MALFORMED = (RuntimeError, EOFError, ValueError, TypeError, LookupError, AttributeError, OverflowError, StructError)


def back_up(study: Study, out: Path) -> dict[str, int]:
    """Write a backup; return how many rows of each table it holds.

    Raises:
        DataError: If it cannot be written.
    """
    counts: dict[str, int] = {}
    hashes: dict[str, str] = {}
    with (
        writing_to(out),
        whole_file(out, private=True) as file,
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
    url = parse_url(database) if database else sqlite_url(folder)
    try:
        with open_file(backup) as file, zipfile.ZipFile(file) as archive:
            about = _read_manifest(archive)
            _check_hashes(archive, about)
            make_folder(folder)
            return _restore(archive, about, folder, url, database, now)
    except StoryproofError:
        raise
    except (SQLAlchemyError, ZlibError, zipfile.BadZipFile, OSError, *_MALFORMED) as error:
        lines = str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__]
        why = shorten(lines[0]).rstrip(".")  # further lines may quote data
        raise DataError(f"{backup} is not a backup of a study, or damaged: {why}; choose another.") from error


def _restore(
    archive: zipfile.ZipFile,
    about: BackupManifest,
    folder: Path,
    url: URL,
    database: str,
    now: Callable[[], float],
) -> tuple[Study, dict[str, int]]:
    base = StudyDatabase(url)
    is_new = False
    try:
        is_new = not base.revision()
        _refuse_used(base)
        base.migrate(about.revision)  # rows are those of the version that wrote them
        with base.writing() as connection:
            counts = _insert_all(connection, archive, about)
        base.migrate()
        design = parse_json(_read_member(archive, DESIGN))
        with writing_to(folder, "name"):
            (folder / ITEMS).write_bytes(_read_member(archive, ITEMS))
            write_json(folder / DESIGN, {**design, "database": POSTGRESQL if database else SQLITE})
            make_private(folder)
        return open_study(folder, database=database, now=now), counts
    except BaseException:
        rmtree(folder, ignore_errors=True)  # it did not exist before
        if is_new and not base.is_sqlite:
            base.drop()
        raise
    finally:
        base.close()


class BackupManifest(NamedTuple):
    """What a backup says about itself: the revision of its tables, their rows, and the hashes of their files."""

    revision: str
    rows: dict[str, int]
    hashes: dict[str, str]


def _read_manifest(archive: zipfile.ZipFile) -> BackupManifest:
    """Read what a backup says about itself, and check the sizes of what is in it.

    Raises:
        DataError: If it has tables that this version does not know.
        ValueError, KeyError, TypeError: If it is not that of a backup, or is larger than any.
    """
    total = sum(each.file_size for each in archive.infolist())
    if total > LARGEST_RUN:
        raise ValueError(f"it is {size(total)} large once it is unpacked; at most {size(LARGEST_RUN)} are read")
    plain = parse_json(_read_member(archive, _MANIFEST))
    manifest = BackupManifest(plain["revision"], dict(plain["rows"]), dict(plain["sha256"]))
    if not isinstance(manifest.revision, str) or set(manifest.hashes) != set(manifest.rows):
        raise ValueError(f"{_MANIFEST} does not say what the backup holds")
    if unknown := sorted(set(manifest.rows) - {table.name for table in schema.KEPT}):
        raise DataError(
            f"the backup has the table {quoted(unknown[0])}, which this version does not know; update storyproof."
        )
    return manifest


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a small file of a backup as a whole."""
    claimed = archive.getinfo(name).file_size
    if claimed > LARGEST_DOCUMENT:
        raise ValueError(f"{name} is {size(claimed)} large; at most {size(LARGEST_DOCUMENT)} are read")
    return archive.read(name)


def _check_hashes(archive: zipfile.ZipFile, about: BackupManifest) -> None:
    """Raise ValueError if a table has changed since the backup was written."""
    for name, expected in about.hashes.items():
        content: Any = archive.open(f"{name}.jsonl")
        with content:
            if file_digest(content, "sha256").hexdigest() != expected:
                raise ValueError(f"{name} has changed since the backup was written")


def _refuse_used(base: StudyDatabase) -> None:
    if not base.revision():
        return
    with base.reading() as connection:
        if connection.execute(select(schema.study.c.id)).first() is not None:
            raise ConfigError("the database contains a study already; give each study a database of its own.")


def _insert_all(connection: Connection, archive: zipfile.ZipFile, about: BackupManifest) -> dict[str, int]:
    """Insert all rows, in the order of references, into the tables as they are in this revision."""
    known = MetaData()
    known.reflect(connection, only=list(about.rows))
    counts = {}
    for table in known.sorted_tables:
        count = 0
        with archive.open(f"{table.name}.jsonl") as file:
            for rows in _batches(file):
                connection.execute(insert(table), rows)
                count += len(rows)
        counts[table.name] = count
        if connection.dialect.name == POSTGRESQL and "id" in table.c:
            _advance(connection, table)
    return counts


def _batches(file: IO[bytes]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows, not too many and not too long ones at a time."""
    rows, length = list[dict[str, Any]](), 0
    for line in lines_of(io.TextIOWrapper(file, encoding="utf-8", newline="\n")):
        rows.append(parse_json(line))
        length += len(line)
        if len(rows) == _AT_ONCE or length >= _LONGEST_BATCH:
            yield rows
            rows, length = [], 0
    if rows:
        yield rows


def _advance(connection: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those that were inserted with their numbers."""
    most = connection.execute(select(func.max(table.c.id))).scalar_one()
    if most is not None:
        where = {"name": table.name, "most": most}
        connection.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :most)"), where)
