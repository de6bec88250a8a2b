"""Work that must not hold up other requests: in threads, a few at a time, each for a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Generic, TypeVar

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Done(Generic[_Found]):
    """What some work returned."""

    result: _Found


class BusyError(Exception):
    """Work that took too long, or could not be begun in time."""


class WorkerThreads:
    """Does work in threads, at most some at a time.

    A thread cannot be ended. One that is given up keeps its place until it is done, so that there are never more; and
    it does not keep the program from ending.

    Args:
        most: How many there may be.
        limit_s: How long a request may wait for its work, the time until it is begun included.
    """

    def __init__(self, most: int, limit_s: float) -> None:
        self._free = asyncio.Semaphore(most)
        self._limit_s = limit_s

    async def run(self, work: Callable[[], _Found]) -> _Found:
        """Return what some work returns, or raise what it raises.

        Raises:
            BusyError: If it takes too long.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_Found] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            self._free.release()
            if not done.done():  # nobody has given it up
                settle()

        def begin() -> None:
            try:
                found = work()
                settle = lambda: done.set_result(found)  # noqa: E731
            except BaseException as error:
                failure = error
                settle = lambda: done.set_exception(failure)  # noqa: E731
            try:
                loop.call_soon_threadsafe(finish, settle)
            except RuntimeError:  # the server has ended
                self._free.release()

        limit = asyncio.timeout(self._limit_s)
        try:
            async with limit:
                await self._free.acquire()
                Thread(target=begin, daemon=True).start()
                return await done
        except TimeoutError as error:
            if limit.expired():
                raise BusyError from error
            raise

    async def listen(self, work: Callable[[Callable[[str], None]], _Found]) -> AsyncIterator[str | Done[_Found]]:
        """Yield what some work says while it is done, each time the latest, and at last what it returns.

        Args:
            work: Is given what it calls with a text.

        Raises:
            BusyError: If it takes too long.
        """
        loop = asyncio.get_running_loop()
        texts: asyncio.Queue[str | None] = asyncio.Queue()

        def say(text: str) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(texts.put_nowait, text)

        running = asyncio.create_task(self.run(lambda: work(say)))
        running.add_done_callback(lambda _: texts.put_nowait(None))
        try:
            while (text := await texts.get()) is not None:
                while text is not None and not texts.empty():
                    text = texts.get_nowait()
                if text is None:
                    break
                yield text
            yield Done(await running)
        finally:
            running.cancel()
