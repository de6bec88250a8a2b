"""Footers of Parquet files: what they say about row groups and columns, read without Arrow.

Arrow's own accessors of a column's metadata end the process when a footer contradicts itself: the exception is thrown
in C++ where nothing translates it. Here such a footer is an error like any other. A footer is one struct in the compact
protocol of Thrift; the numbers of its fields are those of `parquet.thrift`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

from storyproof.io.bounded_input import LARGEST_DOCUMENT, size

_MAGIC = b"PAR1"
_DEEPEST = 32  # structs and lists within each other; a footer has eight
_CODECS = {0: "NONE", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4"}
_BYTE_ARRAY = 6
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)


class FooterError(ValueError):
    """What is wrong with a footer."""


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column of a row group.

    Attributes:
        path: Its name; of a nested one, the names on the way to it, joined by dots.
        is_bytes: Whether its values are texts or other bytes.
        codec: How it is compressed, as Arrow names it; None if the codec is unknown.
        uncompressed: Its bytes once it is uncompressed.
        has_dictionary: Whether values are stored as codes.
        has_statistics: Whether there are statistics of its values.
    """

    path: str
    is_bytes: bool
    codec: str | None
    uncompressed: int
    has_dictionary: bool
    has_statistics: bool


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group: its rows, its bytes once it is uncompressed, and its columns in the order of the schema."""

    rows: int
    uncompressed: int
    columns: tuple[ColumnChunk, ...]


def read_footer(file: BinaryIO) -> list[RowGroup]:
    """Read what the footer of a Parquet file says about its row groups.

    Raises:
        FooterError: If it is damaged.
        OSError: If it cannot be read.
    """
    end = file.seek(0, 2)
    if end < 12:
        raise FooterError("it is too short")
    file.seek(end - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC:
        raise FooterError("it does not end in PAR1")
    if length > min(end - 12, LARGEST_DOCUMENT):
        raise FooterError(f"its footer claims {size(length)}")
    file.seek(end - 8 - length)
    try:
        groups = _Thrift(file.read(length)).struct().get(4, [])
        return [
            RowGroup(_whole(group, 3), _whole(group, 2), tuple(_column(each) for each in group[1])) for group in groups
        ]
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise FooterError("its footer is damaged") from error


def _column(chunk: dict[int, Any]) -> ColumnChunk:
    about = chunk[3]
    return ColumnChunk(
        path=".".join(name.decode() for name in about[3]),
        is_bytes=about[1] == _BYTE_ARRAY,
        codec=_CODECS.get(about[4]),
        uncompressed=_whole(about, 6),
        has_dictionary=11 in about,
        has_statistics=12 in about,
    )


def _whole(struct: dict[int, Any], field: int) -> int:
    value = struct[field]
    if not isinstance(value, int) or value < 0:
        raise FooterError("a size in its footer is below 0")
    return value


class _Thrift:
    """Reads values of the compact protocol, structs as dictionaries by the numbers of their fields.

    Raises:
        FooterError: If the bytes are not such values.
        IndexError: If they end too early.
    """

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read a struct."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise FooterError("its footer is nested too deeply")
        if kind in _VARINTS:
            return self._zigzag()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in self._counted(count)]
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            return [
                (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in self._counted(count)
            ]
        raise FooterError(f"its footer has a value of the unknown type {kind}")

    def _counted(self, count: int) -> range:
        if count > len(self._content) - self._at:  # each item takes a byte at least
            raise FooterError("a list in its footer is longer than the footer")
        return range(count)

    def _byte(self) -> int:
        byte = self._content[self._at]
        self._at += 1
        return byte

    def _bytes(self, count: int) -> bytes:
        start, self._at = self._at, self._at + count
        if self._at > len(self._content):
            raise FooterError("a text in its footer is longer than the footer")
        return self._content[start : self._at]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._content[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise FooterError("a number in its footer is too long")

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
