"""The verb `study serve`: answer participants until it is interrupted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from storyproof.errors import ConfigError
from storyproof.runtime.listening import is_open, listen
from storyproof.runtime.optional_packages import need
from storyproof.study.progress import address_shown

HOST, PORT = "127.0.0.1", 8643
PACKAGES = ("starlette", "uvicorn", "sqlalchemy", "alembic", "argon2")
_MOST_REQUESTS = 1_000  # at the same time; more are refused at once
_KEPT_OPEN_S = 30  # a connection on which nothing is asked; people read


def need_packages() -> None:
    """Raise ConfigError unless all packages of the extra `study` are installed."""
    for package in PACKAGES:
        need(package, "study", "A study")


def check_public_url(url: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        ConfigError: If it is not one of the form http://HOST or https://HOST.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ConfigError(f"--public-url is '{url}'; expected an address such as https://study.example.org.")
    return url.rstrip("/")


def serve_study(
    folder: str | Path,
    *,
    host: str = HOST,
    port: int = PORT,
    public_url: str = "",
    database: str = "",
    proxies: str = "127.0.0.1",
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Start the study server, until it is interrupted.

    Args:
        folder: The study's folder.
        host: The address to listen at.
        port: The port; 0 takes one that is free.
        public_url: The address under which participants reach it, if that is another one: of the proxy with TLS.
        database: The address of its PostgreSQL database, if it has one.
        proxies: The addresses of proxies, whose word on a participant's address is taken; comma-separated.
        ready: Called with the address once it can be opened.

    Raises:
        ConfigError: If the extra `study` is not installed, or the port is taken.
        DataError: If the study cannot be opened.
    """
    need_packages()
    import uvicorn

    from storyproof.study.app import create_app
    from storyproof.study.folder import open_study

    logging.getLogger("alembic").setLevel(logging.WARNING)
    study = open_study(Path(folder), database=database)
    try:
        listening = listen(host, port)
        try:
            name = f"[{host}]" if ":" in host else host
            address = f"http://{name}:{listening.getsockname()[1]}"
            shown = check_public_url(public_url) if public_url else address
            config = uvicorn.Config(
                create_app(study, public_url=shown, any_address=is_open(host)),
                log_level="warning",
                access_log=False,
                server_header=False,
                limit_concurrency=_MOST_REQUESTS,
                timeout_keep_alive=_KEPT_OPEN_S,
                proxy_headers=True,
                forwarded_allow_ips=proxies,
            )
            server = uvicorn.Server(config)
            with address_shown(study.folder, shown):
                ready(shown)
                with suppress(KeyboardInterrupt):  # the usual end
                    server.run(sockets=[listening])
        finally:
            listening.close()
    finally:
        study.close()
