"""Worker processes on this machine.

Each has a pipe of its own, which nobody else holds. So each side notices at once if the other was killed: workers end
with the process that started them, and that process does not wait for a result that never comes.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from storyproof.engines.engine import Item, Result, portable
from storyproof.errors import ConfigError, name_options, names_options

_AHEAD = 2  # items for each worker that are asked for before they are needed: workers must not run ahead of the disk


class Processes:
    """Works in this process, or in several worker processes; results come in the order of the items.

    Args:
        workers: How many processes; 1, the default, starts none.
        address: Must be None: there is no cluster.

    Raises:
        ConfigError: If there is an address.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        if address is not None:
            raise ConfigError(
                f"--address is '{address}', but processes are on this machine; add --engine ray, or leave it out."
            )
        self._workers = workers or 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End nothing: workers end with the run that they are for."""

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the place of each item and what `work` returns for it, in order.

        Raises:
            ConfigError: If a worker was killed.
        """
        if self._workers == 1 or len(items) <= 1:
            for place, item in enumerate(items):
                yield place, work(item)
            return
        started: list[_Worker] = []
        try:
            with _deaf_to_interrupts():
                for _ in range(min(self._workers, len(items))):
                    started.append(_Worker(work))
            waiting: deque[tuple[int, Future[Any]]] = deque()
            for place, item in enumerate(items):
                waiting.append((place, started[place % len(started)].ask(item)))
                if len(waiting) == _AHEAD * len(started):
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for worker in started:
                worker.stop()


class WorkerDiedError(ConfigError):
    """A worker process that ended without a result."""


def run_apart(work: Callable[[Item], Result], item: Item, limit_s: float) -> Result:
    """Return what some work returns in a process of its own, which is ended if it takes too long.

    For reading what others wrote: whatever a native library does to its process, this one goes on.

    Args:
        work: Called with the item, elsewhere; both are pickled.
        item: What to work on.
        limit_s: How long it may take.

    Raises:
        WorkerDiedError: If the process ended without a result.
        TimeoutError: If it took too long.
        Exception: Whatever `work` raises.
    """
    with _deaf_to_interrupts():
        worker = _Worker(work)
    try:
        return worker.ask(item).result(limit_s)  # type: ignore[no-any-return]
    finally:
        worker.stop()


class _Worker:
    """A process that works, and a thread that waits for it."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        spawn = get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, work, names_options()), daemon=True)
        self._process.start()
        theirs.close()
        self._thread = ThreadPoolExecutor(1)

    def ask(self, item: Any) -> Future[Any]:
        """Ask for the result of an item."""
        return self._thread.submit(self._ask, item)

    def stop(self) -> None:
        """End the process at once, whatever it does."""
        self._process.terminate()
        self._thread.shutdown(cancel_futures=True)
        self._process.join()
        self._pipe.close()

    def _ask(self, item: Any) -> Any:
        try:
            self._pipe.send(item)
            is_error, found = self._pipe.recv()
        except (EOFError, OSError) as error:  # OSError: it was killed while it sent a result
            raise WorkerDiedError(
                "a worker process was killed, perhaps because memory ran out; use fewer --workers."
            ) from error
        if is_error:
            raise found
        return found


def _serve(pipe: Connection, work: Callable[[Any], Any], is_command_line: bool) -> None:
    """Work on the items that come through a pipe, until the other side is gone."""
    name_options(is_command_line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also where the process was started by another thread
    with suppress(EOFError, OSError):  # OSError: the other side ended in the middle of a message
        while True:
            item = pipe.recv()
            try:
                found = False, work(item)
            except Exception as error:
                found = True, portable(error)
            pipe.send(found)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C while worker processes start: they inherit that, and leave it to this process."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signal handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
