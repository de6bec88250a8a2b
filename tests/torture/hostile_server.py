"""An OpenAI-compatible server that misbehaves in every way we know of, in a process of its own.

The first part of a path names the mode: `http://127.0.0.1:PORT/html/v1` answers with web pages, `…/good/v1` as it
should. `MODES` says for each mode how the server behaves, and how `evaluate` must end. `python -m
tests.torture.hostile_server` prints two ports: of the server, and of another one to which a mode redirects.
`GET /seen` returns the keys that the other one was sent.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.solvers.llm.fake_server import answer

MODEL = "m"
ESCAPES = "\x1b[2J\x1b]0;pwned\x07\x1b[31mred\x9b31m\u202edlrow\x00\x08\r"
_PIECE = bytes(1 << 16)


@dataclass(slots=True)
class Exchange:
    """One request, and the connection that it came on.

    Attributes:
        writer: The connection.
        path: Where the request goes, without the mode.
        headers: Its headers, names in lower case.
        prompt: What is asked; empty for other requests.
        number: How many requests of this mode there have been, this one included.
        times: How often this prompt has been asked.
    """

    writer: asyncio.StreamWriter
    path: str
    headers: dict[str, str]
    prompt: str
    number: int
    times: int

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def respond(self, body: bytes, status: str = "200 OK", **headers: object) -> None:
        given = {"Content-Type": "application/json", "Content-Length": len(body)}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in given.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body)


Behaviour = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a server misbehaves, and how `evaluate` ends with it.

    Attributes:
        behave: What it does with a request to complete a prompt.
        code: The exit code: 0 all answered, 2 cannot be used, 3 too few answers.
        says: What `evaluate` prints, among other things.
        lists: What it does with a request for its models.
        own_replies: Whether it replies with something else than a good server, which is kept.
        options: Options of `evaluate`.
    """

    behave: Behaviour
    code: int = 0
    says: str = ""
    lists: Behaviour | None = None
    own_replies: bool = False
    options: tuple[str, ...] = ()


def completion(text: Any, **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage, **more}).encode()


async def good(ask: Exchange) -> None:
    await ask.respond(completion(answer(ask.prompt)))


async def list_models(ask: Exchange) -> None:
    await ask.respond(json.dumps({"data": [{"id": MODEL}]}).encode())


def respond(body: bytes | str, status: str = "200 OK", **headers: object) -> Behaviour:
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return lambda ask: ask.respond(content, status, **headers)


def send(data: bytes, *, close: bool = False) -> Behaviour:
    async def behave(ask: Exchange) -> None:
        await ask.send(data)
        if close:
            ask.writer.close()

    return behave


def at_first(behave: Behaviour) -> Behaviour:
    """Misbehave the first time that a prompt is asked."""
    return lambda ask: behave(ask) if ask.times == 1 else good(ask)


def once(behave: Behaviour) -> Behaviour:
    """Misbehave for one request only."""
    return lambda ask: behave(ask) if ask.number == 5 else good(ask)


def sometimes(behave: Behaviour) -> Behaviour:
    """Misbehave for every tenth request, of which none is asked again."""
    return lambda ask: behave(ask) if ask.number % 10 == 3 else good(ask)


def busy(retry_after: str | None = None) -> Behaviour:
    more = {} if retry_after is None else {"Retry_After": retry_after}
    return respond('{"error": {"message": "slow down"}}', "429 Too Many Requests", **more)


def error(message: Any, status: str = "500 Oops") -> Behaviour:
    return respond(json.dumps({"error": {"message": message}}), status)


def packed(content: bytes, encoding: str) -> Behaviour:
    return respond(content, Content_Encoding=encoding)


async def hang(ask: Exchange) -> None:
    await asyncio.sleep(3600)


async def reset(ask: Exchange) -> None:
    """Abort the connection, so that the client's system reports a reset."""
    ask.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ask.writer.transport.abort()


async def close(ask: Exchange) -> None:
    ask.writer.close()


async def drip(ask: Exchange) -> None:
    """Send a good reply in pieces of a few bytes."""
    body = completion(answer(ask.prompt))
    whole = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    for start in range(0, len(whole), 7):
        await ask.send(whole[start : start + 7])
        await asyncio.sleep(0)


def endless(head: bytes, piece: bytes, pause_s: float = 0.0) -> Behaviour:
    """Send pieces until the client has enough."""

    async def behave(ask: Exchange) -> None:
        await ask.send(head)
        while not ask.writer.is_closing():
            await ask.send(piece)
            await asyncio.sleep(pause_s)

    return behave


async def huge(ask: Exchange) -> None:
    """Reply with 50 MB of text."""
    size = 50_000_000
    begin, _, end = completion("*").partition(b"*")
    await ask.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(begin) + size + len(end)}\r\n\r\n".encode() + begin)
    for _ in range(size // 50_000):
        if ask.writer.is_closing():
            return
        await ask.send(b"a" * 50_000)
    await ask.send(end)


def bomb(wbits: int) -> bytes:
    """Return 4 MB that unpack to 4 GB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    begin = packer.compress(completion("*").partition(b"*")[0]) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"a" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)  # may be repeated, being on its own
    return begin + 4000 * block


async def gzipped(ask: Exchange) -> None:
    await ask.respond(gzip.compress(completion(answer(ask.prompt))), Content_Encoding="gzip")


async def repeat_key(ask: Exchange) -> None:
    """Say which key was sent, as some servers do."""
    await error(f"the key {ask.headers.get('authorization')} is wrong", "400 Bad Request")(ask)


def repeat_key_as(way: Callable[[str], str]) -> Behaviour:
    async def behave(ask: Exchange) -> None:
        key = ask.headers.get("authorization", "").removeprefix("Bearer ")
        await ask.respond(way(key).encode(), "400 Bad Request")

    return behave


async def list_key(ask: Exchange) -> None:
    """List the key as a model."""
    await ask.respond(json.dumps({"data": [{"id": f"model of {ask.headers.get('authorization')}"}]}).encode())


async def answer_with_key(ask: Exchange) -> None:
    """Give a good answer, and the key."""
    await ask.respond(completion(f"{answer(ask.prompt)} {ask.headers.get('authorization')}"))


def _elsewhere(ask: Exchange) -> str:
    return f"http://127.0.0.1:{OTHER[0]}/good/v1/chat/completions"


def redirect(place: str | Callable[[Exchange], str], status: str = "307 Temporary Redirect") -> Behaviour:
    async def behave(ask: Exchange) -> None:
        to = place if isinstance(place, str) else place(ask)
        await ask.respond(b"", status, Location=to)

    return behave


def letters(score: str) -> Behaviour:
    """Give log-likelihoods of letters that are no numbers."""
    tops = ", ".join(f'{{"token": "{letter}", "logprob": {score}}}' for letter in "AB")
    logprobs = f'{{"content": [{{"token": "A", "logprob": {score}, "top_logprobs": [{tops}]}}]}}'
    return respond(f'{{"choices": [{{"message": {{"content": "A"}}, "logprobs": {logprobs}}}]}}')


_draws = random.Random(7)
_WRONG = (busy(), busy("0"), error("boom"), close, reset, respond(completion("box")[:-10]), respond("<html>"))


async def mix(ask: Exchange) -> None:
    """Do something wrong to a third of the requests, whatever they are."""
    await (_draws.choice(_WRONG) if _draws.random() < 0.3 else good)(ask)


def _text(content: str) -> Behaviour:
    return respond(f'{{"choices": [{{"message": {{"content": {content}}}, "finish_reason": "stop"}}]}}')


_USAGE = '{{"choices": [{{"message": {{"content": "The box."}}}}], "usage": {}}}'
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_BOMBS = {name: packed(bomb(wbits), name) for name, wbits in (("gzip", 31), ("deflate", 15))}
_CHOICE = ("--prompt", "multiple-choice")
_WAITS = {
    "seconds": "100000",
    "more-seconds": "1e300",
    "infinite": "inf",
    "date": "Fri, 31 Dec 9999 23:59:59 GMT",
    "digits": "9" * 300,
}
_ODD_WAITS = {
    "negative": "-1",
    "minus-infinite": "-inf",
    "not-a-number": "nan",
    "past": "Mon, 01 Jan 2001 00:00:00 GMT",
    "no-date": "Fri, 31 Dec 99999 23:59:59 GMT",
    "word": "soon",
    "hex": "0x10",
    "escapes": "\x1b[31m5",
}
_INVALID = "not a valid reply"
_LOST = "dropped the connection"
_MOVED = "redirects are not followed"
_REDIRECTS = ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent")
_WAYS: dict[str, Callable[[str], str]] = {
    "cut": lambda key: "x" * 65 + key,
    "cut-end": lambda key: key[: len(key) // 2],
    "cut-start": lambda key: key[len(key) // 2 :],
    "encoded": lambda key: "".join(f"%{ord(each):02X}" for each in key),
    "encoded-twice": lambda key: "".join(f"%25{ord(each):02X}" for each in key),
    "escaped": lambda key: "".join(f"\\u{ord(each):04x}" for each in key),
    "spaced": " ".join,
    "split": lambda key: f"{key[:9]}\n{key[9:]}",
    "upper": str.upper,
}

# By what is wrong: pauses, statuses, connections, bodies, replies, and lists of models.
MODES: dict[str, dict[str, Mode]] = {
    "pauses": {
        "good": Mode(good),
        "429": Mode(at_first(busy())),
        "429-always": Mode(busy(), 3, "HTTP 429: slow down"),
        "429-after-1-s": Mode(at_first(busy("1"))),
        **{f"429-once-{name}": Mode(once(busy(value)), 0, "trying again sooner") for name, value in _WAITS.items()},
        **{f"429-always-{name}": Mode(busy(value), 3, "--option max-wait is 1 s") for name, value in _WAITS.items()},
        **{f"429-odd-{name}": Mode(at_first(busy(value))) for name, value in _ODD_WAITS.items()},
        "503-infinite": Mode(respond("", "503 Busy", Retry_After="inf"), 3, "--option max-wait is 1 s"),
    },
    "statuses": {
        "500": Mode(at_first(respond("<html>boom</html>", "500 Oops", Content_Type="text/html"))),
        "500-always": Mode(respond("boom", "500 Oops"), 3, "HTTP 500"),
        "400-some": Mode(sometimes(error("no", "400 Bad Request")), 3, "HTTP 400: no"),
        "400-key": Mode(repeat_key, 3, "the key Bearer … is wrong"),
        "401": Mode(error("who are you?", "401 Unauthorized"), 3, "was refused"),
        "403": Mode(error("no", "403 Forbidden"), 3, "was refused"),
        "404": Mode(error("no", "404 Not Found"), 3, "a base URL usually ends in /v1"),
        "418": Mode(error("teapot", "418 I'm a teapot"), 3, "HTTP 418"),
        "999": Mode(respond("{}", "999 Odd"), 3, "HTTP 999"),
        "204": Mode(send(b"HTTP/1.1 204 No Content\r\n\r\n"), 3, "HTTP 204"),
        "206": Mode(respond(completion("The box."), "206 Partial Content"), 3, "HTTP 206"),
        "100-first": Mode(lambda ask: _after(ask, b"HTTP/1.1 100 Continue\r\n\r\n")),
        "error-surrogate": Mode(respond('{"error": {"message": "bad \\ud800 thing"}}', "500 Oops"), 3, "bad ? thing"),
        "error-surrogate-some": Mode(
            sometimes(respond('{"error": {"message": "bad \\ud800 thing"}}', "400 Bad")), 3, "bad ? thing"
        ),
        "error-escapes": Mode(error(ESCAPES), 3, "\\x1b[2J"),
        "error-escapes-some": Mode(sometimes(error(ESCAPES, "400 Bad")), 3, "\\x1b[2J"),
        "error-escapes-raw": Mode(respond(ESCAPES, "500 Oops"), 3, "\\x1b[2J"),
        "error-long": Mode(error("x" * 1_000_000), 3, "xxx…"),
        "error-endless": Mode(endless(b"HTTP/1.1 500 Oops\r\n\r\n", _PIECE), 3, "HTTP 500"),
        "error-deep": Mode(respond("[" * 200_000, "500 Oops"), 3, "HTTP 500"),
        "error-deep-object": Mode(respond('{"error":' * 20_000 + "1" + "}" * 20_000, "500 Oops"), 3, "HTTP 500"),
        "error-digits": Mode(respond('{"error": ' + "9" * 5000 + "}", "500 Oops"), 3, "HTTP 500"),
        "error-list": Mode(error([["a", None]] * 1000), 3, "HTTP 500: [['a', None]"),
        "reason-escapes": Mode(respond("{}", "500 \x1b[31mred"), 3, ""),
        "redirect-loop": Mode(redirect(lambda ask: ask.path), 3, _MOVED),
        "redirect-file": Mode(redirect("file:///etc/passwd"), 3, _MOVED),
        "redirect-nowhere": Mode(redirect("http://\x1b[31m"), 3, _MOVED),
        **{f"redirect-{status[:3]}": Mode(redirect(_elsewhere, status), 3, _MOVED) for status in _REDIRECTS},
        **{f"key-{name}": Mode(repeat_key_as(way), 3, "HTTP 400") for name, way in _WAYS.items()},
    },
    "connections": {
        "hang": Mode(hang, 3, "gave no reply within", options=("--option", "timeout=0.5")),
        "hang-some": Mode(at_first(sometimes(hang)), options=("--option", "timeout=0.5")),
        "drip": Mode(drip),
        "drip-for-ever": Mode(
            endless(_CHUNKED, b"1\r\n \r\n", 0.05), 3, "gave no reply", options=("--option", "timeout=0.5")
        ),
        "headers-for-ever": Mode(
            endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", 0.05), 3, "", options=("--option", "timeout=0.5")
        ),
        "reset": Mode(at_first(reset)),
        "reset-always": Mode(reset, 3, _LOST),
        "close": Mode(at_first(close)),
        "close-always": Mode(close, 3, _LOST),
        "short": Mode(send(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", close=True), 3, _LOST),
        "no-http": Mode(send(b"hello\r\n\r\n", close=True), 3, _LOST),
        "no-http-escapes": Mode(send(ESCAPES.encode() + b"\r\n\r\n", close=True), 3, _LOST),
        "http-0.9": Mode(send(completion("The box."), close=True), 3, _LOST),
        "bad-status": Mode(send(b"HTTP/9.9 abc\r\n\r\n"), 3, ""),
        "long-header": Mode(send(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 1_000_000 + b"\r\n\r\n{}"), 3, _LOST),
        "many-headers": Mode(send(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000 + b"\r\n{}"), 3, ""),
        "header-escapes": Mode(send(b"HTTP/1.1 200 OK\r\nX-A: \x1b[31m\x00\r\nContent-Length: 2\r\n\r\n{}"), 3, ""),
        "negative-length": Mode(send(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"), 3, _LOST),
        "absurd-length": Mode(
            send(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n{}", close=True), 3, ""
        ),
        "two-lengths": Mode(
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}", close=True), 3, ""
        ),
        "bad-chunk": Mode(send(_CHUNKED + b"zz\r\n{}\r\n", close=True), 3, _LOST),
        "chunk-ends-early": Mode(send(_CHUNKED + b"ff\r\n{}", close=True), 3, _LOST),
        "more-than-asked": Mode(lambda ask: _before(ask, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")),
        "mix": Mode(mix, options=("--option", "retries=30")),
    },
    "bodies": {
        "html": Mode(respond("<html><script>alert(1)</script></html>", Content_Type="text/html"), 3, "a web page"),
        "not-json": Mode(respond("OK"), 3, f"{_INVALID}: 'OK'"),
        "empty": Mode(respond(""), 3, _INVALID),
        "escapes-raw": Mode(respond(ESCAPES), 3, _INVALID),
        "bad-utf8": Mode(respond(b'{"choices":[{"message":{"content":"bask\xff\xfeet"}}]}'), 3, _INVALID),
        "utf16": Mode(respond(completion("The box.").decode().encode("utf-16")), own_replies=True),
        "other-type": Mode(respond(completion("The box."), Content_Type="text/plain; charset=x"), own_replies=True),
        "cut-json": Mode(at_first(respond(completion("The box.")[:-20]))),
        "cut-json-always": Mode(respond(completion("The box.")[:-20]), 3, _INVALID),
        "deep": Mode(respond("[" * 200_000), 3, _INVALID),
        "deep-object": Mode(respond('{"choices":' * 20_000 + "1" + "}" * 20_000), 3, _INVALID),
        "huge": Mode(huge, 3, "longer than 4 MB"),
        "huge-once": Mode(once(huge), 0, "longer than 4 MB"),
        "endless": Mode(endless(b"HTTP/1.1 200 OK\r\n\r\n", _PIECE), 3, "longer than 4 MB"),
        "endless-chunks": Mode(endless(_CHUNKED, b"10000\r\n" + _PIECE + b"\r\n"), 3, "longer than 4 MB"),
        "gzip": Mode(gzipped),
        "gzip-bomb": Mode(_BOMBS["gzip"], 3, "longer than 4 MB"),
        "gzip-bomb-once": Mode(once(_BOMBS["gzip"]), 0, "longer than 4 MB"),
        "deflate-bomb": Mode(_BOMBS["deflate"], 3, "longer than 4 MB"),
        "gzip-twice": Mode(packed(gzip.compress(gzip.compress(completion("x"))), "gzip, gzip"), 3, "content encoding"),
        "gzip-cut": Mode(packed(gzip.compress(completion("x"))[:-9], "gzip"), 3, "ends in the middle"),
        "gzip-and-more": Mode(packed(gzip.compress(completion("x")) + _PIECE * 4, "gzip"), 3, "after the end"),
        "gzip-not": Mode(packed(completion("x"), "gzip"), 3, "cannot be unpacked"),
        "gzip-error": Mode(respond(b"boom", "500 Oops", Content_Encoding="gzip"), 3, "cannot be unpacked"),
        "brotli": Mode(packed(b"\x1b\x07\x00", "br"), 3, "content encoding 'br'"),
        "zstd": Mode(packed(b"(\xb5/\xfd\x00\x00\x01\x00\x00", "zstd"), 3, "content encoding 'zstd'"),
        "encoding-escapes": Mode(packed(b"{}", "\x1b[31m"), 3, ""),
    },
    "replies": {
        "no-choices": Mode(respond('{"choices": []}'), 3, _INVALID),
        "three-choices": Mode(
            respond(json.dumps({"choices": [{"message": {"content": text}} for text in ("The box.", "x", "y")]})),
            own_replies=True,
        ),
        "choices-object": Mode(respond('{"choices": {"0": {"message": {"content": "a"}}}}'), 3, _INVALID),
        "choices-text": Mode(respond('{"choices": "message"}'), 3, _INVALID),
        "choice-null": Mode(respond('{"choices": [null]}'), 3, _INVALID),
        "content-null": Mode(_text("null"), 3, "the reply is empty"),
        "content-list": Mode(_text('[{"type": "text", "text": "box"}]'), 3, _INVALID),
        "content-number": Mode(_text("7"), 3, _INVALID),
        "content-missing": Mode(respond('{"choices": [{"message": {}}]}'), 3, _INVALID),
        "message-null": Mode(respond('{"choices": [{"message": null}]}'), 3, _INVALID),
        "list": Mode(respond("[1, 2, 3]"), 3, _INVALID),
        "null": Mode(respond("null"), 3, _INVALID),
        "number": Mode(respond("9" * 5000), 3, _INVALID),
        "surrogate": Mode(_text('"The \\ud800 box."'), own_replies=True),
        "nul": Mode(_text('"The \\u0000 box."'), own_replies=True),
        "escapes": Mode(_text(json.dumps(ESCAPES)), own_replies=True),
        "key": Mode(answer_with_key, own_replies=True),
        "page": Mode(_text('"<script>alert(1)</script>"'), own_replies=True),
        "empty-text": Mode(_text('""'), own_replies=True),
        "long": Mode(_text(json.dumps("word " * 2000)), own_replies=True),
        "tokens-2-63": Mode(respond(_USAGE.format('{"prompt_tokens": 9223372036854775808}')), own_replies=True),
        "tokens-10-30": Mode(respond(_USAGE.format(f'{{"prompt_tokens": {10**30}}}')), own_replies=True),
        "tokens-digits": Mode(respond(_USAGE.format(f'{{"prompt_tokens": {"9" * 5000}}}')), 3, _INVALID),
        "tokens-negative": Mode(
            respond(_USAGE.format('{"prompt_tokens": -5, "completion_tokens": true}')), own_replies=True
        ),
        "tokens-infinite": Mode(
            respond(_USAGE.format('{"prompt_tokens": 1e999, "completion_tokens": NaN}')), own_replies=True
        ),
        "tokens-cached": Mode(
            respond(_USAGE.format('{"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 7}}')),
            own_replies=True,
        ),
        "usage-list": Mode(respond(_USAGE.format("[1]")), own_replies=True),
        "end-list": Mode(
            respond('{"choices": [{"message": {"content": "The box."}, "finish_reason": ["length"]}]}'),
            own_replies=True,
        ),
        "end-long": Mode(
            respond(json.dumps({"choices": [{"message": {"content": None}, "finish_reason": "x" * 10**6}]})),
            3,
            "the reply is empty",
        ),
        **{
            f"letters-{name}": Mode(letters(score), own_replies=True, options=_CHOICE)
            for name, score in {
                "not-a-number": "NaN",
                "infinite": "Infinity",
                "minus-infinite": "-Infinity",
                "large": "1e6",
                "digits": "1" + "0" * 400,
                "text": '"-1"',
                "null": "null",
            }.items()
        },
    },
    "lists of models": {
        "list-deep": Mode(good, lists=respond("[" * 200_000)),
        "list-huge": Mode(good, lists=endless(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"data":[{"id":"', b"a" * 65536)),
        "list-bomb": Mode(good, lists=_BOMBS["gzip"]),
        "list-garbage": Mode(good, lists=respond(b"\xff\xfe\x00garbage")),
        "list-html": Mode(good, lists=respond("<html>")),
        "list-empty-body": Mode(good, lists=respond("")),
        "list-500": Mode(good, lists=error("boom")),
        "list-404": Mode(good, lists=error("no", "404 Not Found")),
        "list-401": Mode(good, 2, "was refused", lists=error("no", "401 Unauthorized")),
        "list-redirect": Mode(good, 2, _MOVED, lists=redirect(lambda ask: ask.path)),
        "list-key": Mode(good, 2, "unknown model 'm'", lists=list_key),
        "list-reset": Mode(good, 2, "no server at", lists=reset),
        "list-numbers": Mode(good, lists=respond('{"data": [{"id": 7}]}')),
        "list-texts": Mode(good, lists=respond('{"data": ["m"]}')),
        "list-none": Mode(good, 2, "unknown model 'm'", lists=respond('{"data": []}')),
        "list-surrogates": Mode(good, 2, "has: bad ?", lists=respond('{"data": [{"id": "bad \\ud800"}]}')),
        "list-escapes": Mode(good, 2, "\\x1b[2J", lists=respond(json.dumps({"data": [{"id": ESCAPES}]}))),
        "list-long-names": Mode(
            good, 2, "xxx…", lists=respond(json.dumps({"data": [{"id": "x" * 1_000_000} for _ in range(3)]}))
        ),
        "list-many": Mode(
            good, 2, "and 99,988 more", lists=respond(json.dumps({"data": [{"id": f"n{n}"} for n in range(100_000)]}))
        ),
        "list-any": Mode(good, lists=respond('{"data": [{"id": "x", "owned_by": "llamacpp"}]}')),
    },
}
_BY_NAME = {name: mode for group in MODES.values() for name, mode in group.items()}
OTHER = [0]  # the port of the other server


async def _after(ask: Exchange, data: bytes) -> None:
    await ask.send(data)
    await good(ask)


async def _before(ask: Exchange, data: bytes) -> None:
    await good(ask)
    await ask.send(data)


class Server:
    """Serves all modes on one port; remembers what was asked."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()
        self.times: Counter[tuple[str, str]] = Counter()
        self.seen: list[str] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        place = head[0].split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if writer.get_extra_info("sockname")[1] == OTHER[0]:
            self.seen += [headers["authorization"]] if "authorization" in headers else []
        name, _, path = place.removeprefix("/").partition("/")
        if name == "seen":
            await Exchange(writer, path, headers, "", 0, 0).respond(json.dumps(self.seen).encode())
            return
        mode = _BY_NAME[name]
        if path.endswith("models"):
            await (mode.lists or list_models)(Exchange(writer, place, headers, "", 0, 0))
            return
        prompt = "\n\n".join(each["content"] for each in json.loads(body)["messages"])
        self.numbers[name] += 1
        self.times[name, prompt] += 1
        await mode.behave(Exchange(writer, place, headers, prompt, self.numbers[name], self.times[name, prompt]))


async def serve() -> None:
    server = Server()
    ours = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=1 << 24, backlog=1024)
    other = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=1 << 24, backlog=1024)
    OTHER[0] = other.sockets[0].getsockname()[1]
    print(ours.sockets[0].getsockname()[1], OTHER[0], flush=True)
    async with ours, other:
        await asyncio.gather(ours.serve_forever(), other.serve_forever())


if __name__ == "__main__":
    asyncio.run(serve())
