"""Finds what occurs twice among any number of ids, in bounded memory.

Ids that storyproof generated come in order, so that whole ranges of them are remembered by their ends. Others are kept
in memory up to a number; beyond that they are divided by hash into temporary files, each small enough to look through.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO
from zlib import crc32

import numpy as np
import numpy.typing as npt

from storyproof.errors import DataError

Numbers = npt.NDArray[np.int64]

MOST_KEPT = 1_000_000  # ids in memory
_MOST_RANGES = 1_000
_FILES = 64
_BUFFERED = 1 << 16  # bytes of each file that are held before they are written
_LENGTH = struct.Struct("<I")


class _Buckets:
    """Bytes divided among temporary files, which disappear with the process."""

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = []

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, number: int, content: bytes) -> None:
        """Add bytes to a file.

        Raises:
            DataError: If they cannot be written.
        """
        try:
            while len(self._files) < _FILES:
                self._files.append(TemporaryFile(buffering=_BUFFERED))  # noqa: SIM115
            self._files[number].write(content)
        except OSError as error:
            raise DataError(
                f"cannot write temporary files, by which ids that occur twice are found: {error.strerror or error}; "
                "free the disk, or set TMPDIR to another folder."
            ) from error

    def contents(self) -> Iterator[bytes]:
        """Yield what each file holds, and remove it."""
        while self._files:
            with self._files.pop() as file:
                file.seek(0)
                yield file.read()


class RepeatedTexts:
    """Finds texts that occur twice; of most it is known at once, of those beyond a number at the end."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: set[str] = set()
        self._rest = _Buckets()

    def add(self, text: str) -> bool:
        """Take a text, and return whether it is known to have occurred before."""
        if text in self._kept:
            return True
        if len(self._kept) < self._most:
            self._kept.add(text)
            return False
        content = text.encode("utf-8", "surrogatepass")
        self._rest.add(crc32(content) % _FILES, _LENGTH.pack(len(content)) + content)
        return False

    def close(self) -> list[str]:
        """Return the texts whose repetition was not known at once, once for each time, sorted."""
        found: list[str] = []
        for content in self._rest.contents():
            seen: set[bytes] = set()
            place = 0
            while place < len(content):
                start = place + _LENGTH.size
                place = start + _LENGTH.unpack_from(content, place)[0]
                text = content[start:place]
                if text in seen:
                    found.append(text.decode("utf-8", "surrogatepass"))
                seen.add(text)
        return sorted(found)


class RepeatedNumbers:
    """Finds numbers of generated ids that occur twice: ten times the story's number, plus the question's."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._ranges: list[tuple[int, int, int]] = []  # stories from, until, and the questions of each
        self._kept: list[Numbers] = []
        self._count = 0
        self._rest = _Buckets()

    def add(self, numbers: Numbers) -> None:
        """Take the next numbers."""
        if not len(numbers):
            return
        if not self._continues(numbers):
            self._keep(numbers)

    def ranges(self) -> tuple[tuple[int, int, int], ...] | None:
        """Return all numbers as ranges: the stories from, until, and the questions of each; None if there are more."""
        return None if self._kept or self._rest else tuple(self._ranges)

    def add_range(self, start: int, end: int, questions: int) -> None:
        """Take all questions of consecutive stories."""
        if not self._remember(start, end, questions):
            for first in range(start, end, _MOST_RANGES):
                stories = np.arange(first, min(end, first + _MOST_RANGES), dtype=np.int64)
                self._keep((10 * stories[:, None] + np.arange(questions)).reshape(-1))

    def close(self) -> list[int]:
        """Return the numbers that occur twice or more, sorted."""
        found: set[int] = set()
        for part in self._parts():
            numbers, counts = np.unique(part, return_counts=True)
            twice = counts > 1
            for start, end, questions in self._ranges:
                story, question = np.divmod(numbers, 10)
                twice |= (story >= start) & (story < end) & (question < questions)
            found.update(numbers[twice].tolist())
        self._ranges.sort()
        for place, (start, end, questions) in enumerate(self._ranges):
            for other, until, asked in self._ranges[place + 1 :]:
                if other >= end:
                    break
                stories = range(max(start, other), min(end, until))
                found.update(10 * story + each for story in stories for each in range(min(questions, asked)))
        return sorted(found)

    def _continues(self, numbers: Numbers) -> bool:
        """Return whether numbers are all questions of consecutive stories; they are then remembered as a range."""
        start, end = int(numbers[0]) // 10, int(numbers[-1]) // 10 + 1
        questions = int(numbers[-1]) % 10 + 1
        if len(numbers) != (end - start) * questions:
            return False
        expected = 10 * np.arange(start, end)[:, None] + np.arange(questions)
        if not np.array_equal(numbers, expected.reshape(-1)):
            return False
        return self._remember(start, end, questions)

    def _remember(self, start: int, end: int, questions: int) -> bool:
        """Remember a range, unless there are too many."""
        if self._ranges and self._ranges[-1][1:] == (start, questions):
            self._ranges[-1] = self._ranges[-1][0], end, questions
        elif len(self._ranges) < _MOST_RANGES:
            self._ranges.append((start, end, questions))
        else:
            return False
        return True

    def _keep(self, numbers: Numbers) -> None:
        self._kept.append(numbers)
        self._count += len(numbers)
        if self._count > self._most:
            self._divide()

    def _parts(self) -> Iterator[Numbers]:
        """Yield the numbers that are in no range, equal ones together; files are needed only if there are many."""
        if self._kept and not self._rest:
            yield np.concatenate(self._kept)
            return
        if self._kept:
            self._divide()
        for content in self._rest.contents():
            yield np.frombuffer(content, np.int64)

    def _divide(self) -> None:
        """Write the numbers that are kept to files, equal ones to the same."""
        numbers = np.concatenate(self._kept)
        self._kept, self._count = [], 0
        file = numbers // 10 % _FILES
        order = np.argsort(file, kind="stable")
        ends = np.searchsorted(file[order], np.arange(_FILES + 1))
        for number in range(_FILES):
            self._rest.add(number, numbers[order[ends[number] : ends[number + 1]]].tobytes())
