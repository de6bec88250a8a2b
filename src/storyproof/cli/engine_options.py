"""Options that say where a command's work is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli import completion
from storyproof.errors import ConfigError
from storyproof.io.storage import is_url

if TYPE_CHECKING:
    from storyproof.engines import Engine

PROCESSES = "processes"
Name = Annotated[
    str,
    typer.Option(
        help="Where to work: processes (here) or ray (a cluster).",
        autocompletion=completion.engines,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(help="ray: a running cluster, HOST:PORT or auto."),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Files to work on at a time.", show_default="1; ray: all cores"),
]


def check(name: str, address: str | None, workers: int | None) -> Engine:
    """Return an engine that is not started.

    Raises:
        ConfigError: If there is no such engine, or an option does not fit it.
    """
    from storyproof.engines import make_engine

    return make_engine(name, workers=workers, address=address)


@contextmanager
def started(name: str, address: str | None, workers: int | None) -> Iterator[Engine]:
    """Start an engine and end it.

    Raises:
        ConfigError: If there is no such engine, an option does not fit it, or it cannot be started.
    """
    engine = check(name, address, workers)
    with redirect_stdout(sys.stderr), engine:  # Ray prints that workers died; standard output is for results
        yield engine


@contextmanager
def needed(name: str, address: str | None, workers: int | None, *places: str | Path) -> Iterator[Engine | None]:
    """Start an engine and end it; yield None if one process on this machine does all, as without these options.

    Args:
        name: Its name.
        address: Where a running cluster is.
        workers: How many files are worked on at a time.
        *places: The data; those at URLs need an engine, which fetches them.
    """
    check(name, address, workers)
    if name == PROCESSES and (workers or 1) == 1 and not any(map(is_url, places)):
        yield None
        return
    with started(name, address, workers) as engine:
        yield engine


def refuse_urls(places: Sequence[str | Path], option: str) -> None:
    """Raise ConfigError if an option needs data on this machine and they are elsewhere."""
    for place in places:
        if is_url(place):
            raise ConfigError(f"{option} needs data on this machine, and they are at {place}; copy them here first.")
