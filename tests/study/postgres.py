"""A PostgreSQL server of a test's own, on loopback, as a user who is not root."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ACCOUNT = "postgres"  # which Debian's package creates


def find_programs() -> Path | None:
    """Return the folder with initdb and postgres; None if PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if found:
        return found[-1]
    path = shutil.which("initdb")
    return Path(path).parent if path else None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as place:
        return int(place.getsockname()[1])


def _as_account(*command: str | Path) -> list[str]:
    """Return a command that runs as another user if this one is root, which PostgreSQL refuses."""
    prefix = ["runuser", "-u", ACCOUNT, "--"] if os.geteuid() == 0 else []
    return [*prefix, *map(str, command)]


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server; yield the beginning of the addresses of its databases, to which a name is added.

    Its folder is not in that of pytest, which other sessions of pytest close to other users while we run.
    """
    with tempfile.TemporaryDirectory(prefix="storyproof-postgres-") as folder:
        place = Path(folder)
        if os.geteuid() == 0:
            shutil.chown(place, ACCOUNT)
        yield from _running(place)


def _running(place: Path) -> Iterator[str]:
    programs, port = find_programs(), free_port()
    assert programs is not None
    data = place / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True, "cwd": "/"}
    subprocess.run(_as_account(programs / "initdb", "-D", data, "-A", "trust", "-U", "lab", "--no-sync"), **quiet)
    options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={place} -p {port} -c max_connections=100"
    options += " -c fsync=off"  # tests kill our server and not this one; only a power cut would lose what is committed
    control = (programs / "pg_ctl", "-D", data, "-w", "-t", "120")
    subprocess.run(_as_account(*control, "-o", options, "-l", place / "log", "start"), **quiet)
    try:
        yield f"postgresql://lab@127.0.0.1:{port}/"
    finally:
        subprocess.run(_as_account(*control, "-m", "immediate", "stop"), **quiet)


def create_database(address: str, name: str) -> str:
    """Create a database on a server; return its address."""
    import psycopg

    with psycopg.connect(f"{address}postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{address}{name}"
