"""The verb `serve`: start the home page on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from storyproof.errors import DataError
from storyproof.io.bounded_input import FOLDER, kind_of
from storyproof.runtime.listening import is_open, listen
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
    """Start the home page with explorer, runs, data and studies, and answer until it is interrupted.

    Args:
        data: Its data folder: downloads and dropped files are written there; its runs, data and studies are shown.
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
    for package in ("starlette", "uvicorn"):
        need(package, "serve", "The home page")
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
