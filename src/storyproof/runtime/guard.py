"""What stands between a server of storyproof and the network.

A page of another site must not reach a server on this machine: neither by a name that it makes resolve to 127.0.0.1
(DNS rebinding, hence the check of `Host`), nor by sending requests from its own pages (hence the checks of `Origin` and
`Sec-Fetch-Site`, and of the types of what is sent). Requests are bounded in size, and every response has the
headers that keep a browser from guessing, framing and leaking.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_REQUEST = 64 << 10  # bytes of a body
LONGEST_QUERY = 8 << 10  # bytes of a query string
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_JSON = "application/json"
_ALWAYS = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_AGAINST_FRAMES = ("x-frame-options", "cross-origin-resource-policy")
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


class TooLargeError(Exception):
    """A request whose body is longer than allowed."""


class Guard:
    """Refuses requests that are not from the server's own pages, and adds headers to all responses.

    Args:
        app: What it guards.
        hosts: The names under which the server may be called, besides those of this machine itself.
        any_address: Whether it may also be called by any numeric address, which no name server can forge.
        types: The types that the body of a request may have.
        is_linked: Whether other sites may link to a path.
        largest: How many bytes a body may have that is sent to a path.
        schemes: How the server may be called; behind a proxy also as `https`.
        frames: Sites that may show pages in a frame, as in `frame-ancestors`; by default none.
        referrer: To whom pages say where requests come from. Forms need `same-origin`, or their `Origin` is null.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] = (),
        any_address: bool = False,
        types: Collection[str] = (_JSON,),
        is_linked: Callable[[str], bool] = lambda path: path == "/",
        largest: Callable[[str], int] = lambda path: LARGEST_REQUEST,
        schemes: Collection[str] = ("http",),
        frames: str = "",
        referrer: str = "no-referrer",
    ) -> None:
        self._app = app
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self._any_address = any_address
        self._types, self._is_linked, self._schemes = frozenset(types), is_linked, frozenset(schemes)
        self._largest = largest
        self._always = {name: value for name, value in _ALWAYS.items() if not (frames and name in _AGAINST_FRAMES)}
        self._always["referrer-policy"] = referrer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, reason = self._refusal(scope)
        if status:
            await _refuse(send, status, reason)
            return
        seen, started, largest = 0, False, self._largest(scope["path"])

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest:
                raise TooLargeError
            return message

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in self._always.items():
                    headers[name] = value
                headers.setdefault("content-security-policy", _NOTHING)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._app(scope, bounded, with_headers)
        except TooLargeError:
            if not started:
                await _refuse(send, 413, f"the request is larger than {largest:,} bytes.")

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        """Return status and reason if a request must not be answered; 0 if it may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(f"http://{host}"):
            return 421, "this server answers under the names of this machine only."
        origin = headers.get("origin")
        if origin is not None and (not self._is_ours(origin) or urlsplit(origin).netloc.lower() != host.lower()):
            return 403, "this request comes from another page."
        is_page = scope["method"] in ("GET", "HEAD") and self._is_linked(scope["path"])
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_page:
            return 403, "this request comes from another page."
        if len(scope.get("query_string", b"")) > LONGEST_QUERY:
            return 414, "the address is too long."
        if scope["method"] == "POST" and _type_of(headers) not in self._types:
            return 415, f"expected a body of the type {' or '.join(sorted(self._types))}."
        length = headers.get("content-length", "0")
        largest = self._largest(scope["path"])
        if not length.isdecimal() or int(length[:12]) > largest:
            return 413, f"the request is larger than {largest:,} bytes."
        return 0, ""

    def _is_ours(self, address: str) -> bool:
        """Return whether an address is one of this server's own."""
        try:
            parts = urlsplit(address)
            name, _ = (parts.hostname or "").lower(), parts.port  # raises ValueError if the port is none
        except ValueError:
            return False
        if parts.scheme not in self._schemes or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
            return False
        if name in self._hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return self._any_address


def _type_of(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = {**_ALWAYS, "content-type": _JSON, "content-length": str(len(body)), "content-security-policy": _NOTHING}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
