"""`openai/MODEL`: any OpenAI-compatible server, over HTTP, with many requests in flight."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, ClassVar

from storyproof import __version__
from storyproof.errors import ModelError
from storyproof.runtime.optional_packages import need
from storyproof.solvers.llm.api import NO_LIKELIHOOD, body_of
from storyproof.solvers.llm.backend import KeyedReply, KeyedRequest
from storyproof.solvers.llm.bounded_body import ACCEPTED
from storyproof.solvers.llm.client import Server, Servers, base_urls
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.options import ModelOptions, public
from storyproof.solvers.llm.streamed_reply import Hear

_LEAST_ASLEEP, _ASLEEP = 64, 4  # the most requests that wait to be sent again: 64, or 4 times those in flight


class OpenAI:
    """A model behind one or more servers.

    Args:
        model: The model, as its server names it.
        options: Which servers, and how they are asked.
    """

    options: ClassVar[frozenset[str]] = frozenset(
        {
            "api",
            "api_key_env",
            "base_urls",
            "concurrency",
            "extra",
            "max_reply_mb",
            "max_wait_s",
            "patience_s",
            "retries",
            "seed",
            "temperature",
            "timeout_s",
            "top_p",
        }
    )

    def __init__(self, model: str, options: ModelOptions) -> None:
        self.name = f"openai/{model}"
        self._http = need("aiohttp", "llm", f"the model '{self.name}'")
        self._model, self._options = model, options
        self._urls = base_urls(options)
        self._found: dict[str, Any] = {}
        self.likelihood = True  # until a server refuses to return likelihoods
        self.hear: Hear | None = None

    def identity(self) -> dict[str, Any]:
        """Return the model and the options that may change a reply; not the address, which may change between runs."""
        return {"model": self.name, **self._options.identity()}

    def about(self) -> dict[str, Any]:
        """Return the addresses of the servers, and what they say about the model."""
        urls = [public(url) for url in self._urls]
        return {"backend": "openai", "api": self._options.api, "base_urls": urls, "servers": self._found}

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield replies as they come, and keep as many requests in flight as the servers can handle."""
        source = iter(requests)
        first = next(source, None)
        if first is None:
            return  # all replies are known, so no server is needed
        servers = [Server(url, self._options, self._http, self.hear) for url in self._urls]
        yield from _Pump(self, servers, first, source).replies()

    def close(self) -> None:
        """Connections last no longer than the requests."""

    def session(self) -> Any:
        """Return a session; call it on the loop that will use it."""
        headers = {"Content-Type": "application/json", "User-Agent": f"storyproof/{__version__}"}
        headers["Accept-Encoding"] = ACCEPTED
        key = os.environ.get(self._options.api_key_env)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        timeout = self._http.ClientTimeout(total=self._options.timeout_s, sock_connect=30)
        connector = self._http.TCPConnector(limit=0)
        return self._http.ClientSession(
            connector=connector,
            headers=headers,
            timeout=timeout,
            cookie_jar=self._http.DummyCookieJar(),
            auto_decompress=False,  # bodies are unpacked where they are bounded
        )

    async def check(self, session: Any, servers: Iterable[Server]) -> None:
        """Check that all servers can be reached and have the model."""
        for server in servers:
            self._found[server.url] = await server.check(session, self._model, self._options.api_key_env)

    def body(self, request: Request) -> bytes:
        """Return the body of a request."""
        body = body_of(self._model, self._options, request, likelihood=self.likelihood)
        if self.hear is not None and "logprobs" not in body:
            body["stream"] = True
        return json.dumps(body).encode()

    def gather(self, servers: list[Server]) -> Servers:
        """Let servers share the load."""
        return Servers(servers, self._options, self._model)


class _Pump:
    """Takes requests from an iterator and yields replies; the event loop runs only while a reply is waited for.

    There is no thread. The code that builds requests and stores replies runs between two turns of the loop, so that a
    reply is stored before further requests are sent.
    """

    def __init__(
        self, backend: OpenAI, servers: list[Server], first: KeyedRequest, source: Iterator[KeyedRequest]
    ) -> None:
        self._backend, self._list, self._servers = backend, servers, backend.gather(servers)
        self._source = source
        self._prepared: deque[tuple[str, Request, bytes]] = deque()
        self._more = True
        self._prepare(first)
        self._ready: deque[KeyedReply] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._wake: asyncio.Future[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._session: Any = None
        self._servers.on_sleep = self._look_up

    def replies(self) -> Iterator[KeyedReply]:
        """Yield replies as they come."""
        try:
            self._drive(self._start())
            while self._prepared or self._tasks or self._ready:
                if not self._ready:
                    self._drive(self._turn())
                while self._ready:
                    yield self._ready.popleft()
                if self._error is not None:
                    raise self._error
        except (KeyboardInterrupt, ModelError):
            while self._ready:
                yield self._ready.popleft()  # replies that have come are kept
            raise
        finally:
            self._drive(self._stop())
            self._loop.close()

    def _drive(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the loop; in a notebook, which runs a loop in this thread, in another thread."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            with deferred_interrupt(self._loop.create_task(work)) as task:
                self._loop.run_until_complete(task)
            return
        with ThreadPoolExecutor(1) as beside:
            beside.submit(self._loop.run_until_complete, work).result()

    async def _start(self) -> None:
        self._session = self._backend.session()
        await self._backend.check(self._session, self._list)

    async def _turn(self) -> None:
        """Run until a reply is ready; prepare the next requests meanwhile, so that servers do not wait for them."""
        self._fill()
        while not self._ready and self._more and len(self._prepared) < self._servers.room and self._error is None:
            self._prepare_next()
            await asyncio.sleep(0)
        if not self._ready and self._tasks and self._error is None:
            self._wake = self._loop.create_future()
            await self._wake

    async def _stop(self) -> None:
        """Cancel what is left on the loop, the tasks of `aiohttp` too: after an interrupt they have no owner."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _fill(self) -> None:
        """Send as many requests as there is room for.

        This is done after all replies have been taken, so that never more requests are open than may be in flight.
        Requests that wait to be sent again take no room, because a few errors would delay all others; but if too many
        wait, no more are sent.
        """
        room = self._servers.room
        most_asleep = max(_LEAST_ASLEEP, _ASLEEP * room)
        while self._prepared and self._error is None:
            asleep = self._servers.asleep
            if asleep >= most_asleep or len(self._tasks) - asleep >= room:
                return
            task = self._loop.create_task(self._one(*self._prepared.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._done)
            if not self._prepared:
                self._prepare_next()

    def _prepare_next(self) -> None:
        try:
            asked = next(self._source, None) if self._more else None
        except Exception as error:  # raised later, outside the loop
            asked, self._error = None, error
        self._more = asked is not None
        if asked is not None:
            self._prepare(asked)

    def _prepare(self, asked: KeyedRequest) -> None:
        name, request = asked
        self._prepared.append((name, request, self._backend.body(request)))

    async def _one(self, name: str, request: Request, body: bytes) -> None:
        reply = await self._servers.ask(self._session, body, request.choices)
        if (reply.error or "").startswith(NO_LIKELIHOOD):
            self._backend.likelihood = False
            reply = await self._servers.ask(self._session, self._backend.body(request))
        self._ready.append((name, reply))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._error = self._error or task.exception()
        self._look_up()

    def _look_up(self) -> None:
        """End this turn: there is a reply to take, or room for a request."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


@contextmanager
def deferred_interrupt(task: asyncio.Task[None]) -> Iterator[asyncio.Task[None]]:
    """Let an interrupt cancel a task, and raise KeyboardInterrupt when the loop has ended.

    Raised wherever a coroutine happens to be, it would leave others half-run, whose libraries then complain.
    """
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or current_thread() is not main_thread():
        yield task
        return
    raised: list[KeyboardInterrupt] = []

    def defer(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt as interrupt:
            raised.append(interrupt)
            task.get_loop().call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGINT, defer)
    try:
        yield task
    except asyncio.CancelledError:
        if not raised:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
    if raised:
        raise raised[0]
