"""An OpenAI-compatible server that misbehaves on demand, in a process of its own.

Standard library only and one small loop, so that it answers thousands of requests a second: the client is measured, not
the server. `GET /asked` tells how often each prompt was asked and answered; `POST /mode` changes how it behaves, and
releases requests that are held. `hold_after` and `dies_after` say after how many answers further requests are held, and
the server ends; so tests need not wait for a time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

MODELS = ["fake", "other-model"]
_PLACE = re.compile(r"(?:in|to) the (\w+)\.")


def answer(prompt: str) -> str:
    """What this model says: always the same to the same prompt, one of the places that the prompt names if it does."""
    number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big")
    places = sorted(set(_PLACE.findall(prompt)))
    return f"The {places[number % len(places)]}." if places else f"reply {number:08x}"


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Behaviour:
    """What goes wrong how often, and what was asked so far."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self.held: list[Callable[[], None]] = []

    def rate(self, name: str) -> float:
        return float(self.settings.get(name, 0.0))

    def fate(self) -> str:
        """Draw what happens to a request."""
        for name in ("rate_limited", "broken", "dropped", "hung", "malformed", "truncated"):
            if random.random() < self.rate(name):
                return name
        return "good"


class Connection(asyncio.Protocol):
    """One client; requests on one connection come one after the other."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.buffer = b""
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            length = 0
            for line in head.split(b"\r\n")[1:]:
                if line[:15].lower() == b"content-length:":
                    length = int(line[15:])
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            method, path = head.split(b"\r\n", 1)[0].decode().split(" ")[:2]
            self.handle(method, path, rest[:length], head)

    def handle(self, method: str, path: str, body: bytes, head: bytes) -> None:
        behaviour = self.behaviour
        if path == "/asked":
            counts = {"asked": behaviour.asked, "answered": behaviour.answered, "kinds": behaviour.kinds}
            self.send(
                200,
                {
                    **counts,
                    "most": behaviour.most,
                    "in_flight": behaviour.in_flight,
                    "answered_in_all": behaviour.answered.total(),
                },
            )
        elif path == "/mode":
            behaviour.settings = json.loads(body)
            self.send(200, {})
            held, behaviour.held = behaviour.held, []
            for finish in held:
                finish()
        elif behaviour.settings.get("authorization", "").encode() not in head:
            self.send(401, {"error": {"message": "who are you?"}})
        elif behaviour.settings.get("key") and f"Bearer {behaviour.settings['key']}".encode() not in head:
            self.send(401, {"error": {"message": "no key"}})
        elif path == "/v1/models" and method == "GET":
            self.send(200, {"data": [{"id": name} for name in MODELS]})
        elif path in ("/v1/chat/completions", "/v1/completions"):
            self.complete(json.loads(body))
        else:
            self.send(404, {"error": "not found"})

    def complete(self, body: dict[str, Any]) -> None:
        behaviour = self.behaviour
        prompt = body["prompt"] if "prompt" in body else "\n\n".join(each["content"] for each in body["messages"])
        if isinstance(prompt, list):
            [prompt] = prompt  # as some clients ask
        behaviour.asked[prompt] += 1
        behaviour.in_flight += 1
        behaviour.most = max(behaviour.most, behaviour.in_flight)
        if body.get("logprobs") and behaviour.settings.get("no_logprobs"):
            behaviour.in_flight -= 1
            self.send(400, {"error": {"message": "logprobs are not supported"}})
            return
        fate = behaviour.fate()
        most = behaviour.settings.get("at_once")
        if most is not None and behaviour.in_flight > most:
            fate = "rate_limited"
        behaviour.kinds[fate] += 1
        if fate == "hung":
            return
        if behaviour.answered.total() >= behaviour.settings.get("hold_after", 1 << 60):
            behaviour.held.append(partial(self.finish, fate, prompt, body))
            return
        delay = 0.0 if fate == "rate_limited" else behaviour.rate("latency_s")
        asyncio.get_running_loop().call_later(delay, self.finish, fate, prompt, body)

    def finish(self, fate: str, prompt: str, body: dict[str, Any]) -> None:
        behaviour = self.behaviour
        behaviour.in_flight -= 1
        if len(prompt) > behaviour.settings.get("context", 1 << 30):
            message = f"This model's maximum context length is {behaviour.settings['context']} tokens."
            self.send(400, {"error": {"message": message}})
        elif fate == "rate_limited":
            self.send(
                429, {"error": {"message": "slow down"}}, {"Retry-After": behaviour.settings.get("retry_after", 0)}
            )
        elif fate == "broken":
            self.send(500, {"error": {"message": "out of memory"}})
        elif fate == "dropped":
            self.transport.abort()
        elif fate == "malformed":
            self.send_raw(b'{"choices": [{"message": {"content": "bo', 200)
        elif fate == "truncated":
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
            self.transport.close()
        else:
            text = behaviour.settings.get("reply", answer(prompt))
            said = {"text": text} if "prompt" in body else {"message": {"role": "assistant", "content": text}}
            message: dict[str, Any] = {
                "index": 0,
                "finish_reason": behaviour.settings.get("finish_reason", "stop"),
                **said,
            }
            if body.get("top_logprobs"):
                tops = [{"token": "B", "logprob": -0.5}, {"token": "A", "logprob": -1.5}]
                message["logprobs"] = {"content": [{"top_logprobs": tops}]}
            words = len(prompt.split())
            usage = {"prompt_tokens": words, "completion_tokens": 2, "total_tokens": words + 2}
            details = {"prompt_tokens_details": {"cached_tokens": 1}}
            if body.get("stream"):
                self.stream(text, message["finish_reason"], usage | details)
                behaviour.answered[prompt] += 1
                return
            kind = "text_completion" if "prompt" in body else "chat.completion"
            about = {"id": "x", "object": kind, "created": 0, "model": body["model"]}
            if self.send(200, {**about, "choices": [message], "usage": usage | details}):
                behaviour.answered[prompt] += 1
            if behaviour.answered.total() == behaviour.settings.get("dies_after"):
                os._exit(0)

    def stream(self, text: str, finish_reason: str, usage: dict[str, Any]) -> None:
        """Send a reply as events, a word each; some wait until the server is told to behave otherwise."""
        words = [{"choices": [{"index": 0, "delta": {"content": word}}]} for word in re.findall(r"\S+\s*", text)]
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}], "usage": usage}
        events = [f"data: {json.dumps(each)}\n\n".encode() for each in [*words, last]]
        if self.behaviour.settings.get("ends_in_the_middle"):
            events = events[:2]
        else:
            events.append(b": nothing more\n\ndata: [DONE]\n\n")
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
        first = self.behaviour.settings.get("hold_after_words", len(events))
        self.transport.write(head.encode() + b"".join(map(_chunk, events[:first])))

        def finish() -> None:
            self.transport.write(b"".join(map(_chunk, events[first:])) + b"0\r\n\r\n")

        if first < len(events):
            self.behaviour.held.append(finish)
        else:
            finish()

    def send(self, status: int, body: Any, headers: dict[str, Any] | None = None) -> bool:
        return self.send_raw(json.dumps(body).encode(), status, headers)

    def send_raw(self, body: bytes, status: int, headers: dict[str, Any] | None = None) -> bool:
        if self.transport.is_closing():
            return False
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)
        return True


async def serve(port: int, settings: dict[str, Any]) -> None:
    behaviour = Behaviour(settings)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(behaviour), "127.0.0.1", port, backlog=1024, reuse_port=True
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--settings", default="{}")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, json.loads(arguments.settings)))


if __name__ == "__main__":
    main()
