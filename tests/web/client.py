"""A client that calls an ASGI application in this process, without a network and without another package."""

import asyncio
import json
import re
from dataclasses import dataclass
from html import unescape
from typing import Any

from starlette.types import ASGIApp, Message

HOST = "127.0.0.1:8642"
PATIENT_S = 600.0  # for requests in tests: a machine that runs tests may be busy


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def error(self) -> str:
        if self.headers["content-type"] == "application/json":
            return str(self.json["error"])
        (message,) = re.findall(r'<p class="lead data">(.*?)</p>', self.text, re.DOTALL)
        return unescape(message)


class Client:
    """Sends requests as the explorer's own page does, unless headers say otherwise."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, values: Any = None, **body: Any) -> Answer:
        return self.request("POST", path, json.dumps(body if values is None else values).encode())

    def request(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        given = {"host": HOST}
        if method == "POST":
            given |= {"content-type": "application/json", "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
        given |= headers or {}
        return asyncio.run(self.send(method, path, body, given))

    async def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        plain, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": plain,
            "raw_path": plain.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8642),
        }
        pieces = [body[place : place + 4096] for place in range(0, len(body), 4096)] or [b""]
        sent: list[Message] = []
        done = asyncio.Event()

        async def receive() -> Message:
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": len(pieces) > 0}
            await done.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                done.set()

        await self._app(scope, receive, send)
        started = next(each for each in sent if each["type"] == "http.response.start")
        found: dict[str, str] = {}
        for name, value in started["headers"]:  # of several with the same name, such as cookies, one per line
            key = name.decode().lower()
            found[key] = f"{found[key]}\n{value.decode()}" if key in found else value.decode()
        content = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
        return Answer(started["status"], found, content)
