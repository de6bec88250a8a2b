"""The client against a real server on loopback, in another process."""

import asyncio
import gc
import os
import signal
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientRequest

from storyproof.errors import ConfigError, ModelError
from storyproof.solvers.llm import client
from storyproof.solvers.llm.language_model import Session
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.openai import OpenAI
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.store import Store
from tests.solvers.llm.fake_server import answer
from tests.solvers.llm.serving import FakeServer, meanwhile, wait_for
from tests.solvers.llm.stand_ins import OneStep, note_waits, questions


@pytest.fixture(scope="module")
def shared() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def server(shared: FakeServer) -> FakeServer:
    shared.behave()
    return shared


def model(*servers: FakeServer, name: str = "fake", **options: Any) -> OpenAI:
    return OpenAI(name, ModelOptions(base_urls=tuple(each.url for each in servers), **options))


def ask(backend: OpenAI, *texts: str) -> dict[str, Reply]:
    return dict(backend.complete((text, Request((Message("user", text),), 10)) for text in texts))


@pytest.mark.parametrize("api", ["chat", "completion"])
def test_asks(server: FakeServer, api: str) -> None:
    texts = [f"{api} {n}" for n in range(100)]
    start = time.monotonic()
    found = ask(model(server, api=api), *texts)
    spent = time.monotonic() - start
    assert {text: reply.text for text, reply in found.items()} == {text: answer(text) for text in texts}
    reply = found[f"{api} 3"]
    assert (reply.prompt_tokens, reply.output_tokens, reply.cached_tokens, reply.error) == (2, 2, 1, None)
    assert 0 < reply.seconds < spent


@pytest.mark.parametrize("api", ["chat", "completion"])
def test_reply_that_was_cut_off(server: FakeServer, api: str) -> None:
    server.behave(finish_reason="length")
    assert ask(model(server, api=api), "x")["x"].cut_off
    server.behave()
    assert not ask(model(server, api=api), "x")["x"].cut_off


def test_empty_reply_of_one_that_still_thinks_is_asked_again(server: FakeServer) -> None:
    examples = questions(3)
    with Store(None) as store:
        server.behave(reply=None, finish_reason="length")
        run = Session(lambda: examples, OneStep(), model(server), store)
        run.ask()
        cause = (
            "the reply is empty: it was cut off at 2 tokens, perhaps while the model was still thinking; "
            "raise --max-tokens"
        )
        assert [each.error for each in run.answers()] == [cause] * 3
        server.behave()
        again = Session(lambda: examples, OneStep(), model(server), store)
        again.ask()
        assert again.traffic.asked == 3
        assert all(each.complete and each.text for each in again.answers())


def test_nothing_to_ask_needs_no_server() -> None:
    backend = OpenAI("fake", ModelOptions(base_urls=("http://127.0.0.1:9/v1",)))
    assert ask(backend) == {}


def test_requests_are_taken_only_as_there_is_room(server: FakeServer) -> None:
    taken = 0

    def requests() -> Iterator[tuple[str, Request]]:
        nonlocal taken
        for n in range(200):
            taken += 1
            yield f"lazy {n}", Request((Message("user", f"lazy {n}"),), 10)

    replies = model(server, concurrency=5).complete(requests())
    next(replies)
    assert taken < 30
    replies.close()  # type: ignore[attr-defined]


def test_never_more_at_once_than_allowed(server: FakeServer) -> None:
    def release() -> None:
        wait_for(lambda: own.counts()["in_flight"] == 7, "seven requests at once")
        own.behave()

    with FakeServer(hold_after=0) as own:
        with meanwhile(release):
            ask(model(own, concurrency=7), *(f"few {n}" for n in range(60)))
        assert own.counts()["most"] == 7


def test_several_servers_share_the_load(server: FakeServer) -> None:
    """Neither answers before all have been asked, so each has half of them, however busy the machine is."""
    texts = [f"several {n}" for n in range(30)]

    def in_flight() -> list[int]:
        return [each.counts()["in_flight"] for each in (server, other)]

    def release() -> None:
        wait_for(lambda: in_flight() == [15, 15], "half of the requests at each server")
        for each in (server, other):
            each.behave()

    with FakeServer(hold_after=0) as other:
        server.behave(hold_after=0)
        with meanwhile(release):
            found = ask(model(server, other, concurrency=20), *texts)
        asked = [sum(text in each.counts()["asked"] for text in texts) for each in (server, other)]
    assert {reply.error for reply in found.values()} == {None}
    assert (len(found), asked) == (30, [15, 15])


def test_one_of_several_goes_away(server: FakeServer) -> None:
    with FakeServer(latency_s=0.002) as other:
        server.behave(latency_s=0.002)
        backend = model(server, other, concurrency=20)
        found = {}
        for name, reply in backend.complete(
            (f"gone {n}", Request((Message("user", f"gone {n}"),), 9)) for n in range(400)
        ):
            found[name] = reply
            if len(found) == 100:
                other.kill()
        assert len(found) == 400
        assert {reply.error for reply in found.values()} == {None}
        other.start()


def test_pace_adapts_to_a_server_that_bears_little(server: FakeServer) -> None:
    with FakeServer(latency_s=0.005, at_once=6) as narrow:
        found = ask(model(narrow, concurrency=64, retries=30), *(f"narrow {n}" for n in range(150)))
        counts = narrow.counts()
    assert {reply.error for reply in found.values()} == {None}
    assert counts["kinds"]["rate_limited"] < 150


@pytest.mark.parametrize("kind", ["broken", "malformed"])
def test_stray_errors_hold_up_nobody_else(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is not overloaded is sent as much as before, and what failed is soon sent again."""
    slowed, waits = list[object](), note_waits(monkeypatch)
    monkeypatch.setattr(client.Pace, "refused", lambda *arguments: slowed.append(arguments))
    with FakeServer(latency_s=0.02, **{kind: 0.3}) as flaky:
        found = ask(model(flaky, retries=30), *(f"flaky {n}" for n in range(360)))
    assert {reply.error for reply in found.values()} == {None}
    assert slowed == []
    assert len(waits) > 36
    assert max(waits) <= client._LONGEST_STRAY_S


def test_waiting_to_ask_again_is_bounded(server: FakeServer) -> None:
    server.behave(rate_limited=1.0)
    taken = 0

    def requests() -> Iterator[tuple[str, Request]]:
        nonlocal taken
        for n in range(5000):
            taken += 1
            yield str(n), Request((Message("user", str(n)),), 10)

    with pytest.raises(ModelError, match="HTTP 429"):
        list(model(server, retries=2, patience_s=0.5).complete(requests()))
    assert taken < 1000


def test_no_server() -> None:
    with pytest.raises(ModelError, match=r"no server at http://127\.0\.0\.1:9/v1 \(.*\); start one there, or give"):
        ask(OpenAI("fake", ModelOptions(base_urls=("http://127.0.0.1:9/v1",))), "x")


def test_unknown_model(server: FakeServer) -> None:
    with pytest.raises(ModelError, match=r"unknown model 'fakee' at .*\. The server has: fake, other-model\."):
        ask(model(server, name="fakee"), "x")


def test_missing_and_wrong_key(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.behave(key="secret")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        ModelError, match=r"wants a key, and the one in the environment variable OPENAI_API_KEY is not set"
    ):
        ask(model(server), "x")
    monkeypatch.setenv("MY_KEY", "wrong")
    with pytest.raises(ModelError, match="MY_KEY was refused"):
        ask(model(server, api_key_env="MY_KEY"), "x")
    monkeypatch.setenv("MY_KEY", "secret")
    backend = model(server, api_key_env="MY_KEY")
    assert ask(backend, "x")["x"].error is None
    assert "secret" not in str((backend.about(), backend.identity()))


def test_no_key_for_the_usual_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match=r"no key for https://api\.openai\.com/v1: set .* OPENAI_API_KEY"):
        OpenAI("gpt", ModelOptions())


def test_address_from_the_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret@host:port/v1?key=secret")
    with pytest.raises(ConfigError, match=r"variable OPENAI_BASE_URL is 'http://…@host:port/v1\?…'; expected http"):
        client.base_urls(ModelOptions())
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert ask(OpenAI("fake", ModelOptions()), "x")["x"].text == answer("x")


@pytest.mark.parametrize("key", ["", "another"])
def test_password_of_an_address_is_sent_but_not_kept(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    address = server.url.replace("://", "://me:s%C3%A9cret@")
    backend = OpenAI("fake", ModelOptions(base_urls=(address,), retries=0, timeout_s=0.2))
    server.behave(authorization="Authorization: Basic " + b64encode("me:sécret".encode()).decode())
    assert ask(backend, "x")["x"].text == answer("x")
    examples = questions(1)
    with Store(tmp_path / "x") as store:
        server.behave(hung=1.0)
        run = Session(lambda: examples, OneStep(), backend, store)
        run.ask()
        [found] = run.answers()
        assert (found.error or "").startswith(f"{server.url} gave no reply")
    assert b"cret" not in (tmp_path / "x").read_bytes()
    server.behave(authorization="Authorization: Basic other")
    with pytest.raises(ModelError, match=f"{server.url} refused the user name and password in its --base-url"):
        ask(backend, "x")
    assert "cret" not in str((backend.about(), backend.identity(), ModelOptions(base_urls=(address,))))
    assert backend.about()["base_urls"] == [server.url]


def test_wrong_address(server: FakeServer) -> None:
    backend = OpenAI("fake", ModelOptions(base_urls=(server.url.removesuffix("/v1"),)))
    with pytest.raises(ModelError, match=r"a base URL usually ends in /v1"):
        ask(backend, "x")


def choose(backend: OpenAI, count: int) -> dict[str, Reply]:
    texts = [f"choose {n}" for n in range(count)]
    return dict(backend.complete((text, Request((Message("user", text),), 10, choices=("A", "B"))) for text in texts))


def test_letters_by_likelihood(server: FakeServer) -> None:
    found = choose(model(server), 3)
    assert {(reply.text, reply.choice_scores) for reply in found.values()} == {("B", (-1.5, -0.5))}


def test_server_that_gives_no_likelihoods_is_asked_without(server: FakeServer) -> None:
    server.behave(no_logprobs=True, latency_s=0.01)
    backend = model(server)
    found = choose(backend, 60)
    assert {text: reply.text for text, reply in found.items()} == {text: answer(text) for text in found}
    assert not backend.likelihood


def test_context_too_long_fails_alone(server: FakeServer) -> None:
    server.behave(context=20)
    found = ask(model(server), "short", *("long " * 10 + str(n) for n in range(30)))
    assert found["short"].error is None
    errors = {reply.error for text, reply in found.items() if text != "short"}
    assert errors == {"context too long: This model's maximum context length is 20 tokens."}


def test_server_that_never_answers_ends_the_run(server: FakeServer) -> None:
    server.behave(broken=1.0)
    with pytest.raises(ModelError, match=r"HTTP 500: out of memory"):
        ask(model(server, retries=1, patience_s=0.2), *map(str, range(500)))


def test_hanging_server_is_not_waited_for(server: FakeServer) -> None:
    server.behave(hung=1.0)
    found = ask(model(server, timeout_s=0.1, retries=0), "hang 1", "hang 2")
    assert all("gave no reply within" in (reply.error or "") for reply in found.values())


def test_error_in_reading_the_data_comes_through(server: FakeServer) -> None:
    def requests() -> Iterator[tuple[str, Request]]:
        for n in range(50):
            yield str(n), Request((Message("user", str(n)),), 10)
        raise ConfigError("row 51 is broken")

    with pytest.raises(ConfigError, match="row 51 is broken"):
        list(model(server).complete(requests()))


def test_interrupted_keeps_what_came_back(server: FakeServer, tmp_path: Path) -> None:
    def watch(*_: object) -> None:
        nonlocal heard
        heard += 1
        if heard == 40:
            raise KeyboardInterrupt

    heard = 0
    examples = questions(300)
    with Store(tmp_path / "x") as store:
        run = Session(lambda: examples, OneStep(), model(server), store, watch=watch)
        with pytest.raises(KeyboardInterrupt):
            run.ask()
        assert len(store) >= 40


def test_inside_a_running_loop(server: FakeServer) -> None:
    async def notebook() -> dict[str, Reply]:
        return ask(model(server), "in a notebook")

    assert asyncio.run(notebook())["in a notebook"].text == answer("in a notebook")


@pytest.mark.filterwarnings("error")
def test_interrupt_leaves_nothing_half_run(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever a coroutine of the client library is: an interrupt cancels it, and is raised outside of the loop."""
    real = ClientRequest.write_bytes
    after: list[str] = []

    async def interrupted(self: ClientRequest, *arguments: Any, **more: Any) -> None:
        await asyncio.sleep(0)  # in a task of its own
        if self.method == "POST" and not after:
            os.kill(os.getpid(), signal.SIGINT)
            after.append("goes on")
        await real(self, *arguments, **more)

    monkeypatch.setattr(ClientRequest, "write_bytes", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells let it be ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(model(server, concurrency=4), *(f"{n}" for n in range(20)))
        gc.collect()
        assert after == ["goes on"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []
