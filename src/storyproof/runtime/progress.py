"""Progress reports from long work.

Work far below the command line, such as the steps of an epoch or the bytes of a download, calls `beat`. Listeners are
shared by all threads, because servers are asked and files are downloaded in threads of their own. Without a listener a
beat costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Listener = Callable[[str, int, int | None], None]
Item = TypeVar("Item")
RETRIES = "retries"  # what a client counts while it waits

_listeners: list[Listener] = []


def beat(part: str, done: int, total: int | None = None) -> None:
    """Report how far a part of the work is.

    Args:
        part: What is counted, such as `steps` or `bytes`.
        done: How many are done.
        total: How many there are, if that is known.
    """
    for listener in tuple(_listeners):
        listener(part, done, total)


def counting(items: Sequence[Item] | Iterable[Item], part: str, total: int | None = None) -> Iterator[Item]:
    """Yield items, and report how many have been done."""
    length = len(items) if total is None and isinstance(items, Sequence) else total
    for number, item in enumerate(items, start=1):
        yield item
        beat(part, number, length)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass every beat to a listener."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
