"""An HTTP client for OpenAI-compatible servers: how much each is sent, which is next, and when to give up.

Servers are not trusted: bodies are bounded (`bounded_body`), pauses that they ask for are bounded and reported,
redirects are not followed, and what they say is cut where messages repeat it, after the keys and passwords in it have
been hidden.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from storyproof.errors import ConfigError, ModelError, quoted, shorten
from storyproof.io.redaction import Secrets
from storyproof.runtime.progress import RETRIES, beat
from storyproof.solvers.llm.api import Fate, Trouble, list_names, model_names, read_error, read_reply
from storyproof.solvers.llm.bounded_body import LONG_AT_ONCE, BodyError, read_body
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.llm.options import CHAT, ModelOptions, authorization, check_address, public
from storyproof.solvers.llm.streamed_reply import EVENTS, Hear, StreamedReply

OPENAI_URL = "https://api.openai.com/v1"
MOVED = "HTTP redirect"

_log = logging.getLogger(__name__)

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 30.0
_FIRST_STRAY_S, _LONGEST_STRAY_S = 0.05, 1.0  # after an error that is no sign of overload
_STRAY = 10  # after this number of errors in a row, of any requests, the servers count as overloaded
_CHECK_S = 15.0
_UNREACHED_S = 2.0  # how long a server that cannot be reached is not asked
_FIRST_LIMIT = 32
_FASTER = 1.05  # replies must come this much faster, or doubling the limit gained nothing
_SLOW = 2.0  # replies that take this much longer than the best ones wait in a queue of the server
_REPORTED_PAUSE_S = 5.0  # shorter pauses are not reported
_SILENCE_S, _REPORT_EVERY_S = 10.0, 30.0  # errors without a reply in between are reported after, and then every
_ERROR_MB = 0.1  # of the body of an error
_IN_REPLY = 8  # letters and digits of a key in a row that a reply may not have; fewer may be a word
_REDIRECTS = (301, 302, 303, 307, 308)
_FAILURES = 20  # requests in a row that fail for good end the run


class Pace:
    """How many requests one server is sent at once.

    The limit doubles as long as that makes replies come faster. Then it grows by one at a time while replies take about
    as long as before (additive increase). It is halved when the server is overloaded or does not answer (multiplicative
    decrease), once for all requests that were in flight then. After that it moves half way back to where it was
    refused, again and again; if the server accepts that now, it doubles as in the beginning.

    Args:
        most: The most requests in flight.
        clock: Returns seconds.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self.limit = min(_FIRST_LIMIT, most)
        self.in_flight = 0
        self.paused_until = 0.0
        self._doubling = True
        self._refused_at = 0  # the limit that was refused last, until it is reached again
        self._replies, self._took = 0, 0.0
        self._since, self._halved = clock(), clock()
        self._rate, self._best_s = 0.0, float("inf")

    @property
    def open(self) -> bool:
        """Whether one more request may be sent now."""
        return self.in_flight < self.limit and self.paused_until <= self._clock()

    @property
    def load(self) -> float:
        """The share of the limit that is in use, for the choice between servers."""
        return self.in_flight / self.limit

    def replied(self, seconds: float) -> None:
        """Take note of a good reply."""
        self._replies += 1
        self._took += seconds
        if self._replies >= self.limit:
            self._look_back()

    def refused(self, started: float, wait_s: float = 0.0) -> None:
        """Take note that the server is overloaded, or does not answer.

        Args:
            started: When the request was sent; one from before the last halving does not halve the limit again.
            wait_s: How long to send nothing.
        """
        now = self._clock()
        self.paused_until = max(self.paused_until, now + wait_s)
        if started >= self._halved:
            self._halved = now
            self._doubling = False
            self._refused_at = self.limit
            self.limit = max(1, self.limit // 2)
            self._replies, self._took, self._since = 0, 0.0, now

    def _look_back(self) -> None:
        """Adapt the limit after as many replies as it allows requests at once."""
        now = self._clock()
        rate, mean_s = self._replies / max(now - self._since, 1e-9), self._took / self._replies
        self._best_s = min(self._best_s, mean_s)
        if self._doubling:
            self._doubling = rate > self._rate * _FASTER
            grown = 2 * self.limit if self._doubling else self.limit
        elif self.limit < self._refused_at:
            grown = self.limit + max(1, (self._refused_at - self.limit) // 2)
        elif self._refused_at:
            self._doubling, self._refused_at = True, 0
            grown = 2 * self.limit
        else:
            grown = self.limit + (mean_s < self._best_s * _SLOW)
        self._rate = rate
        self.limit = min(grown, self._most)
        self._replies, self._took, self._since = 0, 0.0, now


class Server:
    """One OpenAI-compatible server.

    Attributes:
        url: Its base URL, as it may be shown and kept.

    Args:
        url: Its base URL, up to and with `/v1`; a user name and password in it are sent with every request.
        options: How it is to be asked.
        http: The HTTP library (aiohttp).
        hear: Called with what the model has said so far, if the server streams its reply.
    """

    def __init__(self, url: str, options: ModelOptions, http: Any, hear: Hear | None = None) -> None:
        self.url = public(url).rstrip("/")
        own = authorization(url)
        self._headers = {} if own is None else {"Authorization": own}
        self.pace = Pace(options.concurrency)
        self._http, self._hear = http, hear
        self._post = self.url + ("/chat/completions" if options.api == CHAT else "/completions")
        parts = urlsplit(url)
        bypassed = bool(proxy_bypass(parts.hostname or ""))
        self._proxy = None if bypassed else getproxies().get(parts.scheme)
        self._most_mb, self._long_bodies = options.max_reply_mb, asyncio.Semaphore(LONG_AT_ONCE)
        passwords = [urlsplit(each).password for each in (url, self._proxy or "")]
        self._secrets = Secrets(
            [
                os.environ.get(options.api_key_env),
                (own or "").removeprefix("Basic "),
                *(unquote(each) for each in passwords if each),
            ]
        )

    async def ask(self, session: Any, body: bytes, choices: Sequence[str] = ()) -> Reply | Trouble:
        """Send one request and read what comes back."""
        reply = await self._ask(session, body, choices)
        if isinstance(reply, Trouble):
            return replace(reply, what=self._secrets.hide(reply.what))
        return replace(reply, text=self._secrets.hide(reply.text, _IN_REPLY))

    async def _ask(self, session: Any, body: bytes, choices: Sequence[str]) -> Reply | Trouble:
        start = time.monotonic()
        try:
            async with session.post(
                self._post, data=body, proxy=self._proxy, headers=self._headers, allow_redirects=False
            ) as response:
                if response.status == 200:
                    content = await self._read(response)
                    reply = read_reply(content, time.monotonic() - start, choices)
                    # Only of what is no reply does a message quote the body, which is cut: keys are hidden before.
                    return reply if isinstance(reply, Reply) else read_reply(self._hidden(content), 0.0, choices)
                if response.status in _REDIRECTS:
                    return Trouble(self._moved(response), Fate.FATAL)
                content = await read_body(response, _ERROR_MB, self._long_bodies, cut=True)
                return read_error(response.status, response.headers, self._hidden(content))
        except BodyError as error:
            return Trouble(error.what, Fate.AGAIN if error.again else Fate.FAILED, malformed=True)
        except TimeoutError:
            return Trouble(
                f"{self.url} gave no reply within {time.monotonic() - start:.0f} s", Fate.AGAIN, overload=True
            )
        except self._http.ClientConnectorError as error:
            self.pace.refused(start, _UNREACHED_S)
            return Trouble(f"no server at {self.url} ({_reason(error)})", Fate.AGAIN, overload=True)
        except (self._http.ClientError, OSError, ValueError) as error:  # ValueError: headers that make no sense
            return Trouble(f"{self.url} dropped the connection ({_reason(error)})", Fate.AGAIN)

    async def _read(self, response: Any) -> bytes:
        """Return the body of a reply; one that is streamed is heard word by word, and put together.

        Raises:
            BodyError: If it cannot be used.
        """
        hear = self._hear
        if hear is None or response.content_type != EVENTS:
            return await read_body(response, self._most_mb, self._long_bodies)
        streamed = StreamedReply(lambda text: hear(self._secrets.hide(text, _IN_REPLY)))
        await read_body(response, self._most_mb, self._long_bodies, hear=streamed.add_bytes)
        body = streamed.body()
        if body is None:
            raise BodyError("the reply ends in the middle", again=True)
        return json.dumps(body).encode()

    def _hidden(self, content: bytes) -> bytes:
        """Return a body without the keys and passwords that the server was sent."""
        text = content.decode("utf-8", "replace")
        hidden = self._secrets.hide(text)
        return content if hidden == text else hidden.encode()

    def _moved(self, response: Any) -> str:
        """Return where a server points that does not answer itself."""
        target = self._secrets.hide(response.headers.get("Location", ""))
        for path in ("/chat/completions", "/completions", "/models"):
            target = target.removesuffix(path)
        return f"{MOVED} {response.status}: {self.url} points to {quoted(public(target)) if target else 'nowhere'}"

    def refusal(self, key_env: str) -> str:
        """Return what is wrong with the key or password that this server was sent."""
        if self._headers:
            return f"{self.url} refused the user name and password in its --base-url; correct them."
        state = "was refused" if os.environ.get(key_env) else "is not set"
        variable = f"the environment variable {key_env}"
        return f"{self.url} wants a key, and the one in {variable} {state}; set it, or see --api-key-env."

    async def check(self, session: Any, model: str, key_env: str) -> dict[str, Any]:
        """Check that the server can be reached and has the model.

        Returns:
            The models of the server; empty if it does not list them.

        Raises:
            ModelError: If it cannot be reached, refuses the key, or does not have the model.
        """
        limit = self._http.ClientTimeout(total=_CHECK_S)
        try:
            async with session.get(
                self.url + "/models", proxy=self._proxy, timeout=limit, headers=self._headers, allow_redirects=False
            ) as response:
                status = response.status
                if status in _REDIRECTS:
                    raise ModelError(moved_message(self._moved(response)))
                content = self._hidden(await read_body(response, self._most_mb, self._long_bodies))
        except BodyError:
            return {}  # as of a server that does not list its models
        except TimeoutError as error:
            raise ModelError(
                f"no reply from {self.url} within {_CHECK_S:.0f} s; is it the right --base-url?"
            ) from error
        except (self._http.ClientError, OSError, ValueError) as error:
            reason = self._secrets.hide(_reason(error))
            raise ModelError(
                f"no server at {self.url} ({reason}); start one there, or give another --base-url."
            ) from error
        if status in (401, 403):
            raise ModelError(self.refusal(key_env))
        listed = model_names(content) if status == 200 else None
        if listed is None:
            return {}
        names, any_name = listed
        shown = self._secrets.hide(list_names(model, names))
        if model not in names and not any_name:
            raise ModelError(f"unknown model '{model}' at {self.url}. The server has: {shown}.")
        return {"listed": shown}


class Servers:
    """Several servers with the same model; each request goes to the least busy one.

    Args:
        servers: One or more servers.
        options: Their options.
        model: Their model.
    """

    def __init__(self, servers: Sequence[Server], options: ModelOptions, model: str) -> None:
        self._servers, self._options, self._model = servers, options, model
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None
        self._last_good, self._refusals, self._failures = time.monotonic(), 0, 0
        self._replied = False  # whether there was any reply yet
        self._reported = 0.0  # when it was reported last that no reply comes
        self._too_long: set[str] = set()  # servers of which it was reported that they ask for too long a pause
        self.asleep = 0  # requests that wait to be sent again
        self.retries = 0  # how often requests were sent again, in all
        self.on_sleep: Callable[[], None] = lambda: None

    @property
    def room(self) -> int:
        """How many requests may be in flight at all servers together."""
        now = time.monotonic()
        return max(1, sum(each.pace.limit for each in self._servers if each.pace.paused_until <= now))

    async def ask(self, session: Any, body: bytes, choices: Sequence[str] = ()) -> Reply:
        """Send a request until there is a reply or the retries are used up; then the reply contains the error.

        A request to a server that asks for a pause goes to another server, if there is one.

        Raises:
            ModelError: If no request can succeed.
        """
        trouble, put_off = Trouble("not asked", Fate.AGAIN), False
        for attempt in range(self._options.retries + 1):
            if attempt:
                self.retries += 1
                beat(RETRIES, self.retries)
                await self._sleep(_wait_s(attempt, trouble.wait_s, stray=self._is_stray(trouble)))
            server = await self._take()
            start = time.monotonic()
            try:
                reply = await server.ask(session, body, choices)
            finally:
                server.pace.in_flight -= 1
                self._wake()
            if isinstance(reply, Reply):
                server.pace.replied(reply.seconds)
                self._last_good, self._refusals, self._failures = time.monotonic(), 0, 0
                self._replied = True
                return replace(reply, retries=attempt) if attempt else reply
            trouble = self._within_limit(server, reply, again=put_off)
            put_off = put_off or trouble.wait_s != reply.wait_s
            if trouble.fate is not Fate.AGAIN:
                break
            self._refused(server, start, trouble)
        self._look_at(server, trouble)
        return Reply("", error=trouble.what, retries=attempt)

    async def _sleep(self, seconds: float) -> None:
        """Wait before a request is sent again; meanwhile another request may take its place."""
        self.asleep += 1
        self.on_sleep()
        try:
            await asyncio.sleep(seconds)
        finally:
            self.asleep -= 1

    def _is_stray(self, trouble: Trouble) -> bool:
        """Return whether an error befell one request, and is no sign of overload.

        A server that has sent nothing but malformed replies is not overloaded, but most likely something else.
        """
        if trouble.overload or trouble.wait_s:
            return False
        return self._refusals <= _STRAY or (trouble.malformed and not self._replied)

    async def _take(self) -> Server:
        """Wait for a server with room, and count one more request in flight there."""
        while True:
            free = [each for each in self._servers if each.pace.open]
            if free:
                server = free[0] if len(free) == 1 else min(free, key=lambda each: each.pace.load)
                server.pace.in_flight += 1
                return server
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            self._set_alarm()
            await waiter

    def _wake(self) -> None:
        """Wake as many waiting requests as there is room for."""
        free = sum(each.pace.limit - each.pace.in_flight for each in self._servers if each.pace.open)
        while free > 0 and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Wake waiting requests when the first pause ends; there may be no other request whose end would wake them."""
        now = time.monotonic()
        ends = [each.pace.paused_until for each in self._servers if each.pace.paused_until > now]
        if self._waiters and ends and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(min(ends) - now + 0.001, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._wake()

    def _refused(self, server: Server, start: float, trouble: Trouble) -> None:
        """Ask a server less if it is overloaded; give all of them up when none has replied for long.

        Raises:
            ModelError: If none has replied for longer than patience lasts.
        """
        wait_s = trouble.wait_s or 0.0
        self._refusals += 1
        now = time.monotonic()
        if not self._is_stray(trouble):
            if wait_s >= _REPORTED_PAUSE_S and server.pace.paused_until <= now:
                _log.warning("%s asks for a pause of %.0f s; until then nothing is sent there.", server.url, wait_s)
            server.pace.refused(start, wait_s)
        silent = now - self._last_good
        if wait_s:
            self._last_good = max(self._last_good, now + wait_s)  # the server asked for this silence
        if silent > self._options.patience_s and self._refusals > self._options.retries:
            raise ModelError(f"no reply for {silent:.0f} s; the last error: {trouble.what}.")
        if silent > _SILENCE_S and now - self._reported > _REPORT_EVERY_S:
            self._reported = now
            _log.warning("no reply for %.0f s, still trying; the last error: %s.", silent, trouble.what)

    def _within_limit(self, server: Server, trouble: Trouble, *, again: bool) -> Trouble:
        """Return an error whose pause may be waited for; without one if the server asks for too long a pause.

        Args:
            server: The server that asks for it.
            trouble: The error.
            again: Whether this request has been asked to wait too long before; then it has failed.
        """
        most = self._options.max_wait_s
        if (trouble.wait_s or 0.0) <= most:
            return trouble
        what = f"{trouble.what} (asks to wait {trouble.wait_s:.0f} s; --option max-wait is {most:g} s)"
        if again:
            return Trouble(what, Fate.FAILED)
        if server.url not in self._too_long:
            self._too_long.add(server.url)
            _log.warning("%s: %s; trying again sooner.", server.url, what)
        return replace(trouble, what=what, wait_s=None)

    def _look_at(self, server: Server, trouble: Trouble) -> None:
        """Count a request that failed for good.

        Raises:
            ModelError: If further requests would fail, too.
        """
        if trouble.fate is Fate.FATAL:
            if trouble.what.startswith(MOVED):
                raise ModelError(moved_message(trouble.what))
            if trouble.what.startswith(("HTTP 401", "HTTP 403")):
                raise ModelError(server.refusal(self._options.api_key_env))
            raise ModelError(
                f"{server.url} does not know the address or the model '{self._model}' ({trouble.what}); a base URL "
                "usually ends in /v1."
            )
        self._failures += not trouble.alone
        if self._failures >= _FAILURES:
            raise ModelError(f"{self._failures} requests in a row failed; the last error: {trouble.what}.")


def base_urls(options: ModelOptions) -> tuple[str, ...]:
    """Return the addresses of the servers: those given, else that of the environment, else that of OpenAI.

    Raises:
        ConfigError: If it is OpenAI's server and there is no key, or the environment does not give an address.
    """
    named = os.environ.get("OPENAI_BASE_URL")
    if named and not options.base_urls:
        check_address(named, "the environment variable OPENAI_BASE_URL")
    urls = options.base_urls or tuple(filter(None, [named])) or (OPENAI_URL,)
    if OPENAI_URL in urls and not os.environ.get(options.api_key_env):
        raise ConfigError(
            f"no key for {OPENAI_URL}: set the environment variable {options.api_key_env}, or give the --base-url of "
            "another server."
        )
    return urls


def moved_message(what: str) -> str:
    """Return what to do about a server that points elsewhere."""
    return f"{what}; redirects are not followed, since prompts would go there: if you trust it, give it as --base-url."


def _wait_s(attempt: int, asked: float | None, *, stray: bool = False) -> float:
    """Return how long to wait before another attempt: twice as long each time, with jitter.

    A pause that a server asked for is not waited for here: the server is not asked meanwhile, but others may be.
    """
    first, longest = (_FIRST_STRAY_S, _LONGEST_STRAY_S) if stray else (_FIRST_WAIT_S, _LONGEST_WAIT_S)
    wait = min(first * 2 ** (attempt - 1), longest) * random.uniform(0.5, 1.0)
    return wait if asked is None else random.uniform(0.0, min(wait, 1.0))


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    number = getattr(inner, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return shorten(str(getattr(inner, "strerror", None) or inner)) or type(inner).__name__
