"""The verb `serve`: start the explorer on this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.errors import ConfigError, DataError
from storyproof.io.bounded_input import FOLDER, kind_of
from storyproof.runtime.optional_packages import need

if TYPE_CHECKING:
    from storyproof.solvers.llm.options import ModelOptions

HOST, PORT = "127.0.0.1", 8642
DATA = Path("storyproof-data")
_MOST_REQUESTS = 200  # at the same time; more are refused at once


def serve(
    data: str | Path = DATA,
    *,
    host: str = HOST,
    port: int = PORT,
    models: Sequence[str] = (),
    options: ModelOptions | None = None,
    seed: int | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Start the explorer, and answer until it is interrupted.

    Args:
        data: Its data folder: downloads are written there, and runs and data there can be opened.
        host: The address that it listens at; by default it can be reached from this machine only.
        port: The port; 0 takes one that is free.
        models: Models that can be asked, besides the built-in solvers; names as for `evaluate`.
        options: How language models are run.
        seed: Of fresh stories; by default another one each time.
        ready: Called with the address of the page once it can be opened.

    Raises:
        ConfigError: If the extra `serve` is not installed, a model's name stands for nothing, or the port is taken.
        DataError: If the data folder is something else.

    Example:
        >>> import os, signal, threading, urllib.request
        >>> import storyproof
        >>> def visit(address):  # what a browser does, and then Ctrl+C
        ...     def open_page():
        ...         print(urllib.request.urlopen(address).status)
        ...         os.kill(os.getpid(), signal.SIGINT)
        ...     threading.Thread(target=open_page).start()
        >>> storyproof.serve(port=0, ready=visit)
        200
    """
    for package in ("starlette", "uvicorn", "altair", "vl_convert"):
        need(package, "serve", "The explorer")
    import uvicorn

    from storyproof.web.app import create_app

    if kind_of(Path(data)) not in ("", FOLDER):
        raise DataError(f"{data} is {kind_of(Path(data))}; choose a folder for --data.")
    app = create_app(data, models=models, options=options, seed=seed, hosts=[host], any_address=is_open(host))
    listening = listen(host, port)
    try:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}/"
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, limit_concurrency=_MOST_REQUESTS
        )
        server = uvicorn.Server(config)
        ready(address)
        with suppress(KeyboardInterrupt):  # the usual end
            server.run(sockets=[listening])
    finally:
        listening.close()


def is_open(host: str) -> bool:
    """Return whether an address stands for all addresses of this machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Open the socket, so that clients can connect as soon as they know the address.

    Raises:
        ConfigError: If that is not possible.
    """
    if not 0 <= port <= 65535:
        raise ConfigError(f"--port is {port}; use 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is in use; stop the other program, or choose another --port.") from error
        raise ConfigError(f"cannot listen at {host}, port {port}: {error.strerror}; choose another --host.") from error
