import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from storyproof.errors import ModelError
from storyproof.solvers.llm import client as servers
from storyproof.solvers.llm.api import Fate, Trouble
from storyproof.solvers.llm.client import Pace, Servers, _wait_s
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.llm.options import ModelOptions

Found = Reply | Trouble


class Scripted:
    """A server that does what it is told; notes when it was asked."""

    def __init__(self, *script: Found, concurrency: int = 4, seconds: float = 0.0) -> None:
        self.url, self.pace = "http://scripted/v1", Pace(concurrency)
        self._script, self._seconds = list(script), seconds
        self.asked: list[float] = []
        self.most = 0

    def refusal(self, key_env: str) -> str:
        return f"{self.url} wants a key"

    async def ask(self, session: Any, body: bytes, choices: Any = ()) -> Found:
        self.asked.append(time.monotonic())
        self.most = max(self.most, self.pace.in_flight)
        await asyncio.sleep(self._seconds)
        return self._script.pop(0) if self._script else Reply(body.decode())


def together(*scripted: Scripted, **options: Any) -> Servers:
    return Servers(list(scripted), ModelOptions(**options), "m")  # type: ignore[arg-type]


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(work(), 60))  # type: ignore[arg-type]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; `run` bounds how long."""
    while not condition():
        await asyncio.sleep(0.001)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_WAIT_S", 0.001)


def test_asks_again_until_there_is_a_reply() -> None:
    server = Scripted(Trouble("HTTP 500", Fate.AGAIN), Trouble("not a valid reply", Fate.AGAIN))
    assert run(lambda: together(server).ask(None, b"box")) == Reply("box", retries=2)
    assert len(server.asked) == 3


def test_retries_are_bounded() -> None:
    server = Scripted(*[Trouble("HTTP 500", Fate.AGAIN)] * 9)
    assert run(lambda: together(server, retries=2).ask(None, b"box")).error == "HTTP 500"
    assert len(server.asked) == 3


def test_what_cannot_succeed_is_not_asked_again() -> None:
    server = Scripted(Trouble("HTTP 400: bad stop", Fate.FAILED))
    assert run(lambda: together(server).ask(None, b"box")).error == "HTTP 400: bad stop"
    assert len(server.asked) == 1


def test_retry_after_is_honoured_by_all() -> None:
    server = Scripted(Trouble("HTTP 429", Fate.AGAIN, wait_s=0.3))

    async def work() -> list[Reply]:
        shared = together(server)
        first = asyncio.create_task(shared.ask(None, b"first"))
        await until(lambda: server.pace.paused_until > 0)
        return [await shared.ask(None, b"second"), await first]

    assert [reply.text for reply in run(work)] == ["second", "first"]
    assert min(server.asked[1:]) - server.asked[0] >= 0.29


def test_other_servers_go_on_while_one_waits(caplog: pytest.LogCaptureFixture) -> None:
    paused, free = Scripted(Trouble("HTTP 429", Fate.AGAIN, wait_s=300.0)), Scripted()
    free.pace.in_flight = 1  # so that the other is asked first

    async def work() -> list[Reply]:
        shared = together(paused, free)
        first = asyncio.create_task(shared.ask(None, b"first"))
        await until(lambda: paused.pace.paused_until > 0)
        replies = [await shared.ask(None, b"more") for _ in range(5)]
        return [*replies, await first]  # the request itself goes to the other server, too

    assert [reply.text for reply in run(work)] == [*["more"] * 5, "first"]
    assert (len(paused.asked), len(free.asked)) == (1, 6)
    said = "http://scripted/v1 asks for a pause of 300 s; until then nothing is sent there."
    assert [record.getMessage() for record in caplog.records] == [said]


@pytest.mark.parametrize("asked_s", [7200.0, float("inf")])
def test_too_long_a_wait_is_not_waited_for(caplog: pytest.LogCaptureFixture, asked_s: float) -> None:
    server = Scripted(Trouble("HTTP 429", Fate.AGAIN, wait_s=asked_s, overload=True))
    what = f"HTTP 429 (asks to wait {asked_s:.0f} s; --option max-wait is 300 s)"

    async def work() -> list[Reply]:
        shared = together(server)
        return [await shared.ask(None, text) for text in (b"first", b"second")]

    assert run(work) == [Reply("first", retries=1), Reply("second")]
    assert server.pace.paused_until < time.monotonic()
    said = f"http://scripted/v1: {what}; trying again sooner."
    assert [record.getMessage() for record in caplog.records] == [said]


def test_too_long_a_wait_twice_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    server = Scripted(*[Trouble("HTTP 429", Fate.AGAIN, wait_s=61.0, overload=True)] * 4)

    async def work() -> list[Reply]:
        shared = together(server, max_wait_s=60.0)
        return [await shared.ask(None, text) for text in (b"first", b"second", b"third")]

    first, second, third = run(work)
    assert first.error == second.error == "HTTP 429 (asks to wait 61 s; --option max-wait is 60 s)"
    assert third == Reply("third")
    assert len(caplog.records) == 1  # once for each server


def test_silence_is_reported(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(servers, "_SILENCE_S", -1.0)
    server = Scripted(*[Trouble("HTTP 500", Fate.AGAIN)] * 3)
    assert run(lambda: together(server).ask(None, b"box")) == Reply("box", retries=3)
    [record] = caplog.records  # not again within half a minute
    assert re.fullmatch(r"no reply for \d+ s, still trying; the last error: HTTP 500\.", record.getMessage())


def test_a_server_that_sends_something_else_is_soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_WAIT_S", 1000.0)  # which nothing may wait for
    monkeypatch.setattr(servers, "_FIRST_STRAY_S", 0.0)
    page = Trouble("a web page, not a reply: '<html>'", Fate.AGAIN, malformed=True)
    server = Scripted(*[page] * 1000)

    async def work() -> None:
        shared = together(server, retries=8)
        await asyncio.gather(*(shared.ask(None, b"box") for _ in range(30)))

    with pytest.raises(ModelError, match="20 requests in a row failed; the last error: a web page, not a reply"):
        run(work)


def test_a_server_that_has_replied_before_is_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_STRAY", 0)
    malformed = Trouble("not a valid reply: ''", Fate.AGAIN, malformed=True)
    server = Scripted(malformed, Reply("box"), malformed, concurrency=8)

    async def work() -> list[int]:
        shared = together(server)
        limits = []
        for _ in range(2):
            await shared.ask(None, b"box")
            limits.append(server.pace.limit)
        return limits

    assert run(work) == [8, 4]


def test_never_more_than_the_limit_and_nobody_waits_for_ever() -> None:
    server = Scripted(*[Trouble("no server", Fate.AGAIN, wait_s=0.02)] * 5, concurrency=2, seconds=0.001)

    async def work() -> list[Reply]:
        shared = together(server, retries=0)
        return await asyncio.gather(*(shared.ask(None, str(n).encode()) for n in range(12)))

    replies = run(work)
    assert sum(reply.error is not None for reply in replies) == 5
    assert server.most <= 2


@pytest.mark.parametrize(
    ("status", "message"), [("HTTP 401: no", "wants a key"), ("HTTP 404: no", "usually ends in /v1")]
)
def test_hopeless(status: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        run(lambda: together(Scripted(Trouble(status, Fate.FATAL))).ask(None, b"box"))


def test_silence_ends_patience() -> None:
    server = Scripted(*[Trouble("HTTP 502", Fate.AGAIN)] * 99, seconds=0.02)

    async def work() -> None:
        shared = together(server, retries=3, patience_s=0.1)
        for _ in range(20):
            await shared.ask(None, b"box")

    with pytest.raises(ModelError, match=r"no reply for \d+ s; the last error: HTTP 502\."):
        run(work)


def test_stray_error_concerns_that_request_alone() -> None:
    server = Scripted(*[Trouble("HTTP 500", Fate.AGAIN)] * 3, concurrency=8)
    assert run(lambda: together(server).ask(None, b"box")) == Reply("box", retries=3)
    assert server.pace.limit == 8


def test_overload_lowers_the_limit() -> None:
    for trouble in (Trouble("HTTP 429", Fate.AGAIN, overload=True), Trouble("HTTP 500", Fate.AGAIN, wait_s=0.01)):
        server = Scripted(trouble, concurrency=8)
        assert run(lambda server=server: together(server).ask(None, b"box")) == Reply("box", retries=1)
        assert server.pace.limit == 4


def test_nothing_but_errors_is_no_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_STRAY_S", 0.001)
    monkeypatch.setattr(servers, "_LONGEST_STRAY_S", 0.01)
    monkeypatch.setattr(servers, "_LONGEST_WAIT_S", 0.01)
    server = Scripted(*[Trouble("HTTP 500", Fate.AGAIN)] * 12, concurrency=8)
    assert run(lambda: together(server, retries=20).ask(None, b"box")) == Reply("box", retries=12)
    assert server.pace.limit < 8


def test_who_waits_to_ask_again_leaves_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_STRAY_S", 100.0)
    monkeypatch.setattr(servers, "_LONGEST_STRAY_S", 100.0)
    server = Scripted(Trouble("HTTP 500", Fate.AGAIN), concurrency=1)
    sleep = asyncio.sleep

    async def work() -> None:
        over = asyncio.Event()

        async def held(seconds: float) -> None:
            await (over.wait() if seconds > 1 else sleep(seconds))

        monkeypatch.setattr(asyncio, "sleep", held)
        shared, told = together(server), list[int]()
        shared.on_sleep = lambda: told.append(shared.asleep)
        first = asyncio.create_task(shared.ask(None, b"first"))
        await until(lambda: bool(told))
        assert (told, shared.asleep) == ([1], 1)
        assert await shared.ask(None, b"second") == Reply("second")
        assert not first.done()
        over.set()
        assert await first == Reply("first", retries=1)
        assert shared.asleep == 0

    run(work)


def test_waits_grow_and_differ() -> None:
    waits = [[_wait_s(attempt, None) for _ in range(50)] for attempt in (1, 4)]
    assert max(waits[0]) < min(waits[1])
    assert len(set(waits[0])) > 1
    assert all(_wait_s(1, None, stray=True) <= 0.05 < _wait_s(4, None, stray=True) <= 1.0 for _ in range(20))
    assert all(_wait_s(1, 2.0) <= 0.001 for _ in range(20))  # the server's pause is waited for where it is chosen
