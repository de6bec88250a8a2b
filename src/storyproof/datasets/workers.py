"""Worker processes that generate the blocks of a split.

Each has a pipe of its own, which nobody else holds. So each side notices at once if the other was killed: workers end
with the process that started them, and that process does not wait for a block that never comes.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection

import pyarrow as pa

from storyproof.benchmark import Benchmark
from storyproof.errors import ConfigError

_AHEAD = 2  # blocks for each worker that are asked for before they are needed: workers must not run ahead of the disk


def blocks_from_workers(benchmark: Benchmark, split: str, count: int, workers: int) -> Iterator[pa.Table]:
    """Yield the blocks of a split in order, made by worker processes.

    Args:
        benchmark: What to make.
        split: Which split.
        count: How many stories it has.
        workers: How many processes.

    Raises:
        ConfigError: If a worker was killed.
    """
    blocks = benchmark.block_count(count)
    started: list[_Worker] = []
    try:
        with _deaf_to_interrupts():
            for _ in range(min(workers, blocks)):
                started.append(_Worker(benchmark, split, count))
        waiting: deque[Future[pa.Table]] = deque()
        for index in range(blocks):
            waiting.append(started[index % len(started)].make(index))
            if len(waiting) == _AHEAD * len(started):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for worker in started:
            worker.stop()


class _Worker:
    """A process that makes blocks, and a thread that waits for them."""

    def __init__(self, benchmark: Benchmark, split: str, count: int) -> None:
        spawn = get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, benchmark, split, count), daemon=True)
        self._process.start()
        theirs.close()
        self._thread = ThreadPoolExecutor(1)

    def make(self, index: int) -> Future[pa.Table]:
        """Ask for a block."""
        return self._thread.submit(self._make, index)

    def stop(self) -> None:
        """End the process at once, whatever it does."""
        self._process.terminate()
        self._thread.shutdown(cancel_futures=True)
        self._process.join()
        self._pipe.close()

    def _make(self, index: int) -> pa.Table:
        try:
            self._pipe.send(index)
            made = self._pipe.recv()
        except (EOFError, ConnectionError) as error:
            raise ConfigError(
                "a worker process was killed, perhaps because memory ran out; use fewer --workers."
            ) from error
        if isinstance(made, Exception):
            raise made
        return made


def _serve(pipe: Connection, benchmark: Benchmark, split: str, count: int) -> None:
    """Make the blocks whose numbers come through a pipe, until the other side is gone."""
    with suppress(EOFError, ConnectionError):
        while True:
            index = pipe.recv()
            try:
                made = benchmark.part(split, count, index)
            except Exception as error:
                made = error
            pipe.send(made)


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
