"""Worker processes on this machine.

Each has a pipe of its own, which nobody else holds. So each side notices at once if the other was killed: workers end
with the process that started them, and that process does not wait for a result that never comes.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storyproof.engines.engine import Item, Result, portable
from storyproof.errors import ConfigError, name_options, names_options
from storyproof.runtime.lean_imports import import_arrow_alone, one_blas_thread

_CGROUPS = Path("/sys/fs/cgroup")
_GONE_S = 1.0  # within which a process is gone that was killed


def available_cores() -> int:
    """Return how many cores this process may use: its CPU affinity, and the limits of its control groups (Linux)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *(int(limit) for limit in _cgroup_limits())]))


def _cgroup_limits() -> Iterator[float]:
    """Yield the limits that a container or a batch system sets, in cores; version 1 and version 2."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = _CGROUPS if not controllers else _CGROUPS / controllers
        if controllers and "cpu" not in controllers.split(","):
            continue
        own = root / path.lstrip("/")
        for folder in (own, *own.parents):  # limits of outer groups hold, too
            yield from _limit_of(folder)
            if folder == root:
                break


def _limit_of(folder: Path) -> Iterator[float]:
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        yield int(quota) / int(period)  # "max" is no number
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = ((folder / f"cpu.cfs_{name}_us").read_text(encoding="utf-8") for name in ("quota", "period"))
        if int(quota) > 0:
            yield int(quota) / int(period)


class Processes:
    """Works in this process, or in several worker processes, each of which gets the next item when it is free.

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

    @property
    def workers(self) -> int:
        """How many processes work."""
        return self._workers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End nothing: workers end with the run that they are for."""

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Yield the place of each item and what `work` returns for it, as they finish.

        Raises:
            ConfigError: If a worker was killed.
        """
        if self._workers == 1 or len(items) <= 1:
            for place, item in enumerate(items):
                yield place, work(item)
            return
        todo = iter(enumerate(items))
        started: list[_Worker] = []
        busy: dict[object, tuple[_Worker, int]] = {}  # by their pipes
        try:
            with _deaf_to_interrupts():
                for place, item in zip(range(self._workers), items, strict=False):
                    worker = _Worker(work)
                    started.append(worker)
                    worker.send(item)
                    busy[worker.pipe] = worker, place
                    next(todo)
            while busy:
                for pipe in wait([worker.pipe for worker, _ in busy.values()]):
                    worker, place = busy.pop(pipe)
                    result = worker.receive()
                    following = next(todo, None)
                    if following is not None:
                        worker.send(following[1])
                        busy[worker.pipe] = worker, following[0]
                    yield place, result
        finally:
            for worker in started:
                worker.stop()


def end_workers() -> None:
    """End all worker processes of this process; for when it must go at once."""
    workers = active_children()
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join(_GONE_S)


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
        worker.send(item)
        if not worker.pipe.poll(limit_s):
            raise TimeoutError
        return worker.receive()  # type: ignore[no-any-return]
    finally:
        worker.stop()


class _Worker:
    """A process that works on one item at a time."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        context = get_context("fork" if _has_one_thread() else "spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, pickle.dumps(work), names_options())
        self._process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
        with one_blas_thread():
            self._process.start()
        theirs.close()

    def send(self, item: Any) -> None:
        """Give it the next item."""
        with _noticing_death():
            self.pipe.send(item)

    def receive(self) -> Any:
        """Wait for the result of the item, and return it."""
        with _noticing_death():
            is_error, result = self.pipe.recv()
        if is_error:
            raise result
        return result

    def stop(self) -> None:
        """End the process at once, whatever it does."""
        self._process.terminate()
        self._process.join()
        self.pipe.close()


@contextmanager
def _noticing_death() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:  # OSError: it was killed while it sent a result
        raise WorkerDiedError(
            "a worker process was killed, perhaps because memory ran out; use fewer --workers."
        ) from error


def _has_one_thread() -> bool:
    """Return whether this process can be copied as it is, with all modules that it has imported (Linux).

    A copy has none of the other threads, and the locks that they hold are never released, so a process with several
    threads starts new ones, which take a third of a second each to import what they need.
    """
    if sys.platform != "linux":
        return False
    try:
        return Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[17] == "1"
    except (OSError, IndexError):
        return False


def _serve(pipe: Connection, pickled_work: bytes, is_command_line: bool) -> None:
    """Work on the items that come through a pipe, until the other side is gone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a copy of a process has its handlers
    name_options(is_command_line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also where the process was started by another thread
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import_arrow_alone()
    work = pickle.loads(pickled_work)  # after that, because it imports what it needs
    with suppress(EOFError, OSError):  # OSError: the other side ended in the middle of a message
        while True:
            item = pipe.recv()
            try:
                result = False, work(item)
            except Exception as error:
                result = True, portable(error)
            pipe.send(result)


def _end_with_parent() -> None:
    """End this process at once when the one that started it was killed, so that it writes no more."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
