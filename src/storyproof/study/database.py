"""The database of a study: SQLite in its folder, or PostgreSQL by URL.

Writing is one transaction at a time per study where it must be: SQLite has one writer anyway, and threads of this
process wait for it in a queue instead of polling; PostgreSQL locks the rows that a transaction is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.resources import as_file, files
from pathlib import Path
from threading import Lock
from typing import Any

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, InterfaceError, OperationalError, SQLAlchemyError, TimeoutError

from storyproof.errors import ConfigError, DataError, quoted, shorten
from storyproof.study.progress import FILE
from storyproof.study.schema import METADATA

SQLITE, POSTGRESQL = "sqlite", "postgresql"
_BUSY_S = 30.0  # how long to wait for another process that writes
_IDLE_S = 600.0  # how long a transaction may do nothing, such as while a backup is packed
_CONNECTIONS = 16
_TYPES = {
    "INTEGER": "'integer'",
    "FLOAT": "'real', 'integer'",
    "VARCHAR": "'text'",
    "TEXT": "'text'",
    "BOOLEAN": "'integer'",
}
_JSON = ("external_visit", "remarks", "reasons")  # columns with text that is JSON
SYNCHRONOUS = "FULL"  # SQLite: what was acknowledged survives a power cut, too


class StudyDatabase:
    """A connection pool with transactions for reading and for writing.

    Args:
        url: Where the database is.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == SQLITE
        self._writing: Any = Lock() if self.is_sqlite else nullcontext()
        self.engine = _engine(url)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that reads one state of the database, whatever others write meanwhile."""
        with _naming(self.url), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is committed as a whole, or not at all."""
        with _naming(self.url), self._writing, self.engine.connect() as connection:
            if self.is_sqlite:
                connection = connection.execution_options(storyproof_writes=True)
            with connection.begin():
                yield connection

    def migrate(self, revision: str = "head") -> None:
        """Bring the tables to a revision, by default the newest; those of older versions are kept and changed.

        Raises:
            DataError: If a newer version of storyproof made them.
        """
        with as_file(files("storyproof.study").joinpath("migrations")) as place:
            config = AlembicConfig()
            config.set_main_option("script_location", str(place))
            with self.writing() as connection:
                known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
                present = MigrationContext.configure(connection).get_current_revision()
                for each in (present, revision):
                    if each not in (None, "head", *known):
                        what = f"a newer version of storyproof made this study (revision {quoted(each)})"
                        raise DataError(f"{what}; update storyproof.")
                config.attributes["connection"] = connection
                command.upgrade(config, revision)

    def revision(self) -> str:
        """Return the revision of the tables; empty if there are none."""
        with self.reading() as connection:
            return MigrationContext.configure(connection).get_current_revision() or ""

    def drop(self) -> None:
        """Remove all tables of a study."""
        with suppress(SQLAlchemyError), self.writing() as connection:
            METADATA.drop_all(connection)
            connection.exec_driver_sql("DROP TABLE IF EXISTS alembic_version")

    def check(self) -> None:
        """Check the file of SQLite: its structure, its references, and that values have the types of their columns.

        Raises:
            DataError: If it is damaged.
        """
        if not self.is_sqlite:
            return
        with self.reading() as connection:
            problem = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if problem != "ok":
                raise _unusable(self.url, ValueError(str(problem)))
            if lost := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise _unusable(self.url, ValueError(f"a row of {lost[0]} belongs to one of {lost[2]} that is missing"))
            for table in METADATA.sorted_tables:
                wrong = [
                    f"typeof(\"{column.name}\") NOT IN ({_TYPES[str(column.type).split('(')[0]]}, 'null')"
                    + (f' OR NOT json_valid("{column.name}")' if column.name in _JSON else "")
                    for column in table.columns
                ]
                query = f'SELECT count(*) FROM "{table.name}" WHERE {" OR ".join(wrong)}'
                if count := connection.exec_driver_sql(query).scalar():
                    raise _unusable(self.url, ValueError(f"{count} rows of {table.name} have values of another type"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def sqlite_url(folder: Path) -> URL:
    """Return the address of the database in a study's folder."""
    return URL.create("sqlite", database=str(folder / FILE))


def parse_url(text: str) -> URL:
    """Read the address of a PostgreSQL database; passwords are not repeated in messages.

    Raises:
        ConfigError: If it is another one.
    """
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise ConfigError("--database is not an address; use postgresql://USER:PASSWORD@HOST/NAME.") from error
    if url.get_backend_name() != POSTGRESQL:
        raise ConfigError(
            f"--database is of {url.get_backend_name()}; use postgresql://USER:PASSWORD@HOST/NAME, or leave it out "
            "for SQLite in the study's folder."
        )
    return url.set(drivername="postgresql+psycopg")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != SQLITE:
        found = create_engine(
            url,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_timeout=_BUSY_S,
            pool_pre_ping=True,
            hide_parameters=True,  # messages and logs contain no data
        )

        @event.listens_for(found, "connect")
        def limit(raw: Any, record: object) -> None:
            # A process that hangs, here or elsewhere, must not keep everybody waiting.
            raw.autocommit = True
            raw.execute(f"SET lock_timeout = '{_BUSY_S:.0f}s'")
            raw.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_S:.0f}s'")
            raw.autocommit = False

        return found
    engine = create_engine(
        url,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=_BUSY_S,
        hide_parameters=True,
        connect_args={"timeout": _BUSY_S, "check_same_thread": False, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def prepare(raw: Any, record: object) -> None:
        cursor = raw.cursor()
        for setting in (
            "journal_mode=WAL",
            f"synchronous={SYNCHRONOUS}",
            "foreign_keys=ON",
            f"busy_timeout={_BUSY_S * 1000:.0f}",
        ):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that begins by reading and then writes could not wait for another writer.
        writes = connection.get_execution_options().get("storyproof_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def _naming(url: URL) -> Iterator[None]:
    """Name the database if it cannot be reached, or is damaged."""
    try:
        yield
    except CommandError as error:  # of Alembic, about the table with the revision
        raise _unusable(url, error) from error
    except UnicodeDecodeError as error:  # what SQLite says of a damaged file may quote its bytes
        raise _unusable(url, ValueError("it has text that is not UTF-8")) from error
    except (DatabaseError, InterfaceError, TimeoutError) as error:
        # Of its subclasses, those are left that say something about what the program does, such as IntegrityError.
        if not isinstance(error, OperationalError | InterfaceError | TimeoutError) and type(error) is not DatabaseError:
            raise
        raise _unusable(url, error) from error


def _unusable(url: URL, error: Exception) -> DataError:
    why = shorten(str(getattr(error, "orig", None) or error)).rstrip(".")
    shown = url.set(query={}).render_as_string(hide_password=True)  # a query may have a password, too
    return DataError(f"the database {shown} cannot be used: {why}; if it is damaged, restore the study from a backup.")
