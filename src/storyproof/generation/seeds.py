"""The only source of randomness.

Every draw comes from the raw output of a counter-based bit generator (Philox) whose key is a hash of the purpose of the
draw. Nothing depends on the order in which blocks are generated, on the machine, or on how a NumPy version turns bits
into numbers.
"""

from __future__ import annotations

import hashlib
import json
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
_ROUNDS = 6


def digest(*purpose: object) -> bytes:
    """Return the hash of a purpose; equal purposes give equal bytes everywhere."""
    text = json.dumps(purpose, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def combination(rank: int, size: int, length: int) -> list[int]:
    """Return the combination of `length` numbers of 0 … size-1 that has a rank in lexicographic order.

    Args:
        rank: From 0 on, and below `math.comb(size, length)`.
        size: How many numbers there are.
        length: How many of them to choose.
    """
    chosen, number = [], 0
    while length:
        beginning_here = comb(size - number - 1, length - 1)
        if rank < beginning_here:
            chosen.append(number)
            length -= 1
        else:
            rank -= beginning_here
        number += 1
    return chosen


class Draws:
    """A stream of uniform draws that belongs to one purpose alone."""

    def __init__(self, *purpose: object) -> None:
        key = np.frombuffer(digest(*purpose)[:16], dtype="<u8").astype(np.uint64)
        self._bits = np.random.Philox(key=key)

    @property
    def place(self) -> Any:
        """How far the stream was used, for `return_to`."""
        return self._bits.state

    def return_to(self, place: Any) -> None:
        """Go on as if no more had been used; what was drawn since is drawn again."""
        self._bits.state = place

    def below(self, limit: int | Indices, size: int, at: Indices | None = None) -> Indices:
        """Draw `size` integers from 0 up to, not including, `limit` (at most 2³¹; bias below limit / 2³²).

        With `at`, return only those at the given places; the stream goes on as if all had been returned.
        """
        raw = self._bits.random_raw((size + 1) // 2).astype("<u8", copy=False).view("<u4")[:size]
        raw = (raw if at is None else raw[at]).astype(np.uint64)
        raw *= np.asarray(limit, np.uint64)
        raw >>= np.uint64(32)
        return raw.view(np.int64)

    def bytes(self, *shape: int) -> npt.NDArray[np.uint8]:
        """Draw an array of random bytes."""
        size = prod(shape)
        raw = self._bits.random_raw((size + 7) // 8).astype("<u8", copy=False)
        return raw.view(np.uint8)[:size].reshape(shape)

    def order(self, count: int) -> Indices:
        """Draw a random order of 0 … count-1."""
        drawn: Indices = self.orders(1, count)[0]
        return drawn

    def orders(self, times: int, count: int) -> Indices:
        """Draw several random orders of 0 … count-1, [time, place]: what as many calls of `order` draw."""
        raw = self._bits.random_raw(times * count).reshape(times, count)
        return np.argsort(raw, axis=1, kind="stable").astype(np.int64)


class Permutation:
    """A random order of 0 … size-1 in which any place can be looked up without computing the rest.

    A Feistel network over the next power of four, iterated until the value is inside: distinct places give distinct
    values, so that no two stories of a dataset are equal although every block is generated alone.
    """

    def __init__(self, size: int, *purpose: object) -> None:
        self.size = size
        self._half = np.uint64(max(1, ((size - 1).bit_length() + 1) // 2))
        self._low = np.uint64((1 << int(self._half)) - 1)
        raw = b"".join(digest(*purpose, number) for number in range(_ROUNDS))
        self._keys = np.frombuffer(raw, dtype="<u8").astype(np.uint64)[::4]

    def __call__(self, places: Indices) -> Indices:
        """Look up the values at the given places."""
        values = self._shuffle(places.astype(np.uint64))
        outside = np.flatnonzero(values >= np.uint64(self.size))
        while outside.size:
            values[outside] = self._shuffle(values[outside])
            outside = outside[values[outside] >= np.uint64(self.size)]
        return values.astype(np.int64)

    def _shuffle(self, values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        left, right = values >> self._half, values & self._low
        for key in self._keys:
            mixed = (right ^ key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
            mixed *= np.uint64(0xBF58476D1CE4E5B9)
            left, right = right, left ^ ((mixed >> np.uint64(32)) & self._low)
        return (left << self._half) | right
