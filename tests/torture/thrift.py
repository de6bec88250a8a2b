"""Thrift's compact protocol as trees that can be changed and written again: footers and page headers of Parquet.

A struct is a list of `[field, kind, value]`, a list is `(kind, values)`, and every other value is what it is.
"""

from __future__ import annotations

from random import Random
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
NUMBERS = (0, 1, 2, -1, 3, 4, 7, 127, 128, 255, 2**15, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
_TEXTS = (b"", b"\0", b"\xff", b"story", b"list", b"element", b"x" * 300, b"\xed\xa0\x80", b"a.b.c")


class Struct(list[list[Any]]):
    """The fields of a struct, each `[number, kind, value]`."""


class Items(list[Any]):
    """The items of a list, of one kind."""

    def __init__(self, kind: int, values: Any = ()) -> None:
        super().__init__(values)
        self.kind = kind
        self.claimed: int | None = None  # a count that is not true


def read(content: bytes, at: int = 0) -> tuple[Struct, int]:
    """Return the struct at a place, and where it ends."""

    def varint() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = content[at]
            at += 1
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7

    def zigzag() -> int:
        found = varint()
        return (found >> 1) ^ -(found & 1)

    def value(kind: int) -> Any:
        nonlocal at
        if kind in (I16, I32, I64):
            return zigzag()
        if kind in (TRUE, FALSE, BYTE):
            at += 1
            return content[at - 1]
        if kind in (BINARY, DOUBLE):
            count = varint() if kind == BINARY else 8
            at += count
            return content[at - count : at]
        if kind == STRUCT:
            return struct()
        if kind in (LIST, SET):
            head = content[at]
            at += 1
            count = head >> 4 if head >> 4 < 15 else varint()
            return Items(head & 15, [value(head & 15) for _ in range(count)])
        raise ValueError(f"kind {kind}")

    def struct() -> Struct:
        nonlocal at
        found, number = Struct(), 0
        while True:
            head = content[at]
            at += 1
            if not head:
                return found
            number = number + (head >> 4) if head >> 4 else zigzag()
            kind = head & 15
            found.append([number, kind, None if kind in (TRUE, FALSE) else value(kind)])

    return struct(), at


def _varint(number: int) -> bytes:
    found = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else (-number << 1) - 1)


def write(value: Any, kind: int = STRUCT) -> bytes:
    """Return the bytes of a value; one that does not fit its kind becomes some value of that kind."""
    if kind == STRUCT:
        fields = value if isinstance(value, Struct) else Struct()
        found, last = b"", 0
        for number, each, inner in fields:
            step = number - last
            found += bytes([step << 4 | each]) if 0 < step < 16 else bytes([each]) + _zigzag(number)
            found += b"" if each in (TRUE, FALSE) else write(inner, each)
            last = number
        return found + b"\0"
    if kind in (LIST, SET):
        items = value if isinstance(value, Items) else Items(I32)
        count = len(items) if items.claimed is None else items.claimed
        head = bytes([count << 4 | items.kind]) if count < 15 else bytes([0xF0 | items.kind]) + _varint(count)
        return head + b"".join(write(each, items.kind) for each in items)
    if kind in (BINARY, DOUBLE):
        text = value if isinstance(value, bytes) else b"\0" * 8
        return _varint(len(text)) + text if kind == BINARY else text[:8].ljust(8, b"\0")
    number = value if isinstance(value, int) else 0
    if kind in (TRUE, FALSE, BYTE):
        return bytes([number & 255])
    return _zigzag(number) if kind in (I16, I32, I64) else bytes([number & 255])


def _containers(value: Any) -> list[Any]:
    inner = [each[2] for each in value] if isinstance(value, Struct) else value if isinstance(value, Items) else []
    found = [value] if isinstance(value, Struct | Items) and value else []
    return [*found, *(each for child in inner for each in _containers(child))]


def _other(random: Random, value: Any) -> Any:
    if isinstance(value, bytes):
        return random.choice([*_TEXTS, value[:-1], value + value, value[::-1]])
    if isinstance(value, int):
        return random.choice([*NUMBERS, value + 1, value - 1, value * 2, -value])
    return value


def change(random: Random, tree: Struct) -> None:
    """Damage a tree at one to three places: fields and items dropped, repeated, renumbered, retyped or changed."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        containers = _containers(tree)
        if not containers:
            return
        parent = random.choice(containers)
        at = random.randrange(len(parent))
        kind = random.randrange(10)
        if kind == 0:
            del parent[at]
        elif kind == 1:
            parent.insert(random.randrange(len(parent) + 1), parent[at])
        elif kind == 2 and isinstance(parent, Items):
            parent.claimed = random.choice([0, 1, len(parent) + 1, 14, 15, 2**31 - 1, 2**31, 2**40])
        elif kind == 3 and isinstance(parent, Items):
            parent.kind = random.randrange(14)
        elif kind == 2:
            parent[at][0] = random.choice([0, -1, 1, 2, 3, 5, 11, 12, 16, 30, 2**15])
        elif kind == 3:
            parent[at][1] = random.randrange(14)
        elif isinstance(parent, Struct):
            parent[at][2] = _other(random, parent[at][2])
        else:
            parent[at] = _other(random, parent[at])
