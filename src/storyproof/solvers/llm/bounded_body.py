"""Bodies of HTTP responses: read as they come, unpacked, and never longer than allowed.

A server may send a reply that never ends, or a few kilobytes that unpack to gigabytes. So bodies are not left to the
HTTP library, which reads all of them: they are unpacked here, piece by piece, and given up as soon as they are too
long. Only a few long bodies are held at once, whatever the number of requests in flight.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from storyproof.errors import quoted

ACCEPTED = "gzip, deflate"  # as Accept-Encoding; the standard library unpacks these in pieces
MEGABYTE = 1_000_000
_ZLIB = ("gzip", "x-gzip", "deflate")
_GZIP_OR_ZLIB = 47  # of zlib's window bits: find out by the first bytes which of the two it is
_PIECE = 1 << 16
_LONG = 1 << 18  # bytes; of longer bodies only a few are read at once
LONG_AT_ONCE = 8


class BodyError(Exception):
    """A body that cannot be used.

    Args:
        what: What is wrong with it.
        again: Whether another attempt may bring a better one.
    """

    def __init__(self, what: str, *, again: bool) -> None:
        super().__init__(what)
        self.what, self.again = what, again


async def read_body(
    response: Any,
    most_mb: float,
    long_bodies: asyncio.Semaphore,
    *,
    cut: bool = False,
    hear: Callable[[bytes], None] | None = None,
) -> bytes:
    """Read and unpack the body of a response.

    Args:
        response: The response, from a session that does not unpack bodies itself.
        most_mb: How many megabytes it may have, unpacked.
        long_bodies: Held while a long body is read.
        cut: Return the beginning of a body that is too long, as of an error message.
        hear: Called with each piece as it comes, unpacked.

    Raises:
        BodyError: If it is too long, or cannot be unpacked.
    """
    most = most_mb * MEGABYTE
    body = _Body(response.headers.get("Content-Encoding", ""))
    held = False
    try:
        async for packed in response.content.iter_any():
            for piece in body.unpack(packed):
                body.add(piece)
                if body.length > most:
                    response.close()  # what is still on its way is not wanted
                    if cut:
                        return body.joined()
                    raise BodyError(f"the reply is longer than {most_mb:g} MB (see --option max-reply-mb)", again=False)
                if hear is not None:
                    hear(piece)
            if body.length > _LONG and not held:
                await long_bodies.acquire()
                held = True
        body.check_end()
        return body.joined()
    finally:
        if held:
            long_bodies.release()


class _Body:
    """The part of a body that has come so far.

    Raises:
        BodyError: If it is packed in a way that was not asked for.
    """

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", *_ZLIB):
            raise BodyError(f"the reply has the content encoding {quoted(encoding)}, not {ACCEPTED}", again=False)
        self._zlib = zlib.decompressobj(_GZIP_OR_ZLIB) if name in _ZLIB else None
        self._pieces: list[bytes] = []
        self.length = 0

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """Yield what some bytes unpack to, in small pieces."""
        if self._zlib is None:
            yield packed
            return
        if self._zlib.eof and packed:
            raise BodyError("the reply goes on after the end of its packed body", again=True)
        try:
            while packed:
                yield self._zlib.decompress(packed, _PIECE)
                packed = self._zlib.unconsumed_tail
        except zlib.error as error:
            raise BodyError(f"the reply cannot be unpacked ({error})", again=True) from error

    def add(self, piece: bytes) -> None:
        """Keep a piece."""
        self._pieces.append(piece)
        self.length += len(piece)

    def check_end(self) -> None:
        """Raise BodyError if a packed body ends too soon."""
        if self._zlib is not None and not self._zlib.eof:
            raise BodyError("the reply ends in the middle of its packed body", again=True)

    def joined(self) -> bytes:
        """Return all that has come."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
