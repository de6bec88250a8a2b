import asyncio
import gzip
import os
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import pytest

from storyproof.solvers.llm.bounded_body import LONG_AT_ONCE, MEGABYTE, BodyError, read_body

REPLY = b'{"choices": [{"text": "box"}]}' * 1000
UNPACKED = 500 * MEGABYTE


class Response:
    """What the HTTP library gives: headers, and a body in pieces."""

    def __init__(self, pieces: Iterator[bytes], encoding: str | None = None) -> None:
        self.headers = {} if encoding is None else {"Content-Encoding": encoding}
        self.content, self._pieces = self, pieces
        self.closed = False
        self.taken = 0

    def close(self) -> None:
        self.closed = True

    async def iter_any(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.taken += len(piece)
            yield piece


def pieces(body: bytes, size: int = 100) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def read(response: Response, most_mb: float = 4.0, **how: Any) -> bytes:
    async def work() -> bytes:
        return await read_body(response, most_mb, asyncio.Semaphore(LONG_AT_ONCE), **how)

    return asyncio.run(work())


@cache
def bomb(wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    zeros = bytes(MEGABYTE)
    return b"".join([*(packer.compress(zeros) for _ in range(UNPACKED // MEGABYTE)), packer.flush()])


@pytest.mark.parametrize("size", [1, 100, 10**6])
@pytest.mark.parametrize("encoding", [None, "", "identity", "gzip", "GZIP", "x-gzip", "deflate"])
def test_bodies_are_read_whole(encoding: str | None, size: int) -> None:
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}.get((encoding or "").lower().removeprefix("x-"), bytes)
    assert read(Response(pieces(packed(REPLY), size), encoding)) == REPLY


def test_empty_body() -> None:
    assert read(Response(iter(()))) == b""


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "\x1b[31m"])
def test_encodings_that_were_not_asked_for(encoding: str) -> None:
    with pytest.raises(BodyError, match=r"the reply has the content encoding '.*', not gzip, deflate") as found:
        read(Response(pieces(REPLY), encoding))
    assert not found.value.again


@pytest.mark.parametrize(
    ("packed", "what"),
    [
        (gzip.compress(REPLY)[:-20], "ends in the middle"),
        (b"", "ends in the middle"),
        (b"not packed at all", "cannot be unpacked"),
        (gzip.compress(REPLY)[:-8] + bytes(8), "cannot be unpacked"),
        (gzip.compress(REPLY) + b"x" * 300, "goes on after the end"),
    ],
)
def test_packed_bodies_that_are_damaged(packed: bytes, what: str) -> None:
    with pytest.raises(BodyError, match=what) as found:
        read(Response(pieces(packed), "gzip"))
    assert found.value.again


def test_a_body_that_never_ends_is_given_up() -> None:
    response = Response(iter(lambda: bytes(10_000), b""))
    with pytest.raises(BodyError, match=r"longer than 0\.5 MB \(see --option max-reply-mb\)") as found:
        read(response, 0.5)
    assert not found.value.again
    assert response.closed
    assert response.taken <= 0.5 * MEGABYTE + 10_000


@pytest.mark.parametrize(("wbits", "encoding"), [(31, "gzip"), (15, "deflate")])
@pytest.mark.parametrize("size", [1000, 10**9])
def test_a_packed_bomb_is_given_up_before_it_is_unpacked(wbits: int, encoding: str, size: int) -> None:
    packed = bomb(wbits)
    assert len(packed) < UNPACKED / 500
    response = Response(pieces(packed, size), encoding)
    tracemalloc.start()
    try:
        with pytest.raises(BodyError, match="longer than 4 MB"):
            read(response)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10 * MEGABYTE


def test_the_beginning_of_a_long_error_is_kept() -> None:
    response = Response(pieces(os.urandom(10**6), 50_000))
    assert len(read(response, 0.1, cut=True)) == 150_000
    assert response.closed


def test_few_long_bodies_are_held_at_once() -> None:
    held = most = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal held, most
        for number in range(30):
            yield bytes(100_000)
            await asyncio.sleep(0)
            if number == 5:
                held += 1
                most = max(most, held)
        held -= 1

    async def work() -> None:
        semaphore = asyncio.Semaphore(LONG_AT_ONCE)
        responses = [Response(iter(())) for _ in range(50)]
        for response in responses:
            response.iter_any = body  # type: ignore[method-assign]
        found = await asyncio.gather(*(read_body(each, 4.0, semaphore) for each in responses))
        assert {len(each) for each in found} == {3_000_000}

    asyncio.run(work())
    assert most == LONG_AT_ONCE
