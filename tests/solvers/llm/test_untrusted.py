"""Servers that repeat the key, or send requests elsewhere."""

import json
import logging
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from storyproof.errors import ModelError
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.openai import OpenAI
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.store import Store

KEY = "sk-ADVSECRET-abcdefghijklmnopqrstuvwxyz0123456789"
LISTING = json.dumps({"data": [{"id": "m"}]}).encode()

Answer = tuple[int, dict[str, str], bytes]


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()


class Server(ThreadingHTTPServer):
    """Answers POST by `post` and GET by `get`, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.get: Callable[[str], Answer] = lambda key: (200, {}, LISTING)
        self.post: Callable[[str], Answer] = lambda key: (200, {}, completion("The box."))
        self.seen: list[tuple[str, bytes, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        authorization = self.headers.get("Authorization", "")
        self.server.seen.append((self.command, body, authorization))
        answer = self.server.post if self.command == "POST" else self.server.get
        status, headers, content = answer(authorization.removeprefix("Bearer "))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, format: str, *values: object) -> None:
        pass


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Server]]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    both = Server(), Server()
    for each in both:
        Thread(target=each.serve_forever, args=(0.01,), daemon=True).start()  # it ends when it looks
    yield both
    for each in both:
        each.shutdown()
        each.server_close()


def ask(server: Server) -> Reply:
    backend = OpenAI("m", ModelOptions(base_urls=(server.url,), retries=0, timeout_s=60))
    [(_, reply)] = backend.complete([("x", Request((Message("user", "Where is the ball?"),), 10))])
    return reply


def no_part_in(text: str) -> bool:
    return not any(KEY[place : place + 8] in text for place in range(len(KEY) - 7))


@pytest.mark.parametrize("before", [0, 20, 40, 60, 75])
@pytest.mark.parametrize("status", [400, 200, 500])
def test_a_key_is_hidden_before_a_body_is_cut(servers: tuple[Server, Server], before: int, status: int) -> None:
    servers[0].post = lambda key: (status, {}, b"x" * before + key.encode())
    error = ask(servers[0]).error or ""
    assert "…" in error
    assert no_part_in(error)


def test_a_key_in_a_message_of_json_is_hidden_before_it_is_cut(servers: tuple[Server, Server]) -> None:
    servers[0].post = lambda key: (400, {}, json.dumps({"error": {"message": "x" * 280 + key}}).encode())
    assert no_part_in(ask(servers[0]).error or "")


def test_a_key_in_the_list_of_models(servers: tuple[Server, Server]) -> None:
    servers[0].get = lambda key: (200, {}, json.dumps({"data": [{"id": f"a model of {key}"}]}).encode())
    with pytest.raises(ModelError) as raised:
        ask(servers[0])
    assert str(raised.value).endswith("The server has: a model of ….")


def test_a_key_in_a_reply_is_neither_returned_nor_stored(servers: tuple[Server, Server], tmp_path: Path) -> None:
    servers[0].post = lambda key: (200, {}, completion(f"The box. {key} {' '.join(key)}"))
    reply = ask(servers[0])
    assert reply.text == "The box. … …"
    with Store(tmp_path / "x") as store:
        store.put(b"key", reply)
    assert b"SECRET" not in (tmp_path / "x").read_bytes()


def test_a_key_in_a_header(servers: tuple[Server, Server]) -> None:
    servers[0].post = lambda key: (200, {"Content-Encoding": "x" * 60 + key}, b"")
    assert no_part_in(ask(servers[0]).error or "")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_prompts_go_to_no_other_host(
    servers: tuple[Server, Server], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    first, other = servers
    first.post = lambda key: (status, {"Location": f"{other.url}/chat/completions"}, b"")
    with caplog.at_level(logging.WARNING), pytest.raises(ModelError) as raised:
        ask(first)
    assert str(raised.value) == (
        f"HTTP redirect {status}: {first.url} points to '{other.url}'; redirects are not followed, since prompts would "
        "go there: if you trust it, give it as --base-url."
    )
    assert other.seen == []


def test_a_list_of_models_elsewhere(servers: tuple[Server, Server]) -> None:
    first, other = servers
    first.get = lambda key: (302, {"Location": f"http://me:word@127.0.0.1:{other.server_port}/v1/models?{key}"}, b"")
    with pytest.raises(ModelError, match=rf"{first.url} points to 'http://127.0.0.1:{other.server_port}/v1/models\?…'"):
        ask(first)
    assert other.seen == []
    assert [each[0] for each in first.seen] == ["GET"]


def test_a_redirect_to_nowhere(servers: tuple[Server, Server]) -> None:
    servers[0].post = lambda key: (302, {}, b"")
    with pytest.raises(ModelError, match="points to nowhere; redirects are not followed"):
        ask(servers[0])
