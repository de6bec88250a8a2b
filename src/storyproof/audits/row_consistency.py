"""What rows must have in common: ids of their own, the same text for one story, one benchmark and one split.

Any number of ids is compared in bounded memory. Ids that storyproof generated come in order, so whole ranges of them
are remembered by their ends. Others are kept in memory up to a number; beyond that they are divided by hash into
temporary files, each small enough to look through.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import IO
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError
from storyproof.example import story_of_id
from storyproof.findings import ORDER, Finding
from storyproof.formats.format import PLACE, numbers_of

_STORY = ("story_id", "story")
_COLUMNS = ("id", "story_id", "benchmark", "split", "story")


@dataclass(frozen=True, slots=True)
class OrderOfFile:
    """What must be known of a file to say whether its rows fit those of the files before it.

    Attributes:
        fits: Whether its rows fit each other, by whole columns; if not, they must be read again after those before.
        benchmark: The benchmark of all rows.
        first: The id and the text of the first story; empty if there are no rows.
        last: Those of the last story.
        ranges: The numbers of its ids, see `RepeatedNumbers.ranges`.
    """

    fits: bool
    benchmark: str | None = None
    first: tuple[str | None, str] = (None, "")
    last: tuple[str | None, str] = (None, "")
    ranges: tuple[tuple[int, int, int], ...] = ()


class FileOrder:
    """Checks the rows of one file alone, wherever it is read; `RowOrder.follow` then continues with the result."""

    def __init__(self, split: str | None) -> None:
        self._order = RowOrder(split)
        self._fits = True
        self._first: tuple[str | None, str] | None = None

    def check(self, table: pa.Table) -> tuple[()]:
        """Take the next rows; nothing is found here."""
        if not table.num_rows:
            return ()
        if self._first is None and self._fits:
            first = [table.column(name)[0].as_py() if name in table.column_names else None for name in _STORY]
            self._first = first[0], first[1] or ""
        self._fits = self._fits and self._order.take(table)
        return ()

    def summary(self) -> OrderOfFile:
        """Return what is known once all rows were taken."""
        ranges = self._order.ranges()
        if not self._fits or ranges is None:
            return OrderOfFile(False)
        return OrderOfFile(True, self._order.benchmark, self._first or (None, ""), self._order.last, ranges)


class RowOrder:
    """Checks the rows of one split as they are read, and remembers what later ones must fit.

    A table that storyproof generated is checked in whole columns; where a row does not fit, row by row.

    Attributes:
        file: What findings call the file whose rows are being read.
    """

    def __init__(self, split: str | None) -> None:
        self.file = ""
        self._split = split
        self._benchmark: str | None = None
        self._numbers = RepeatedNumbers()  # of generated ids
        self._others = RepeatedTexts()  # other ids
        self._last: tuple[str | None, str] = (None, "")

    def check(self, table: pa.Table) -> Iterator[Finding]:
        """Yield rows that do not fit those before them."""
        if not table.num_rows or self.take(table):
            return
        numbers: list[int] = []
        places = zip(*numbers_of(table), strict=True) if PLACE in table.column_names else iter(lambda: (-1, 0), None)
        for (row, line), *values in zip(places, *(_values(table, name) for name in _COLUMNS), strict=False):
            yield from (replace(each, row=row, line=line) for each in self._check_row(numbers, *values))
        self._numbers.add(np.array(numbers, np.int64))

    def take(self, table: pa.Table) -> bool:
        """Take rows if they fit by whole columns; return False, and take nothing, if one may not."""
        if not self._fits(table):
            return False
        last = table.slice(table.num_rows - 1)
        self._benchmark = last.column("benchmark")[0].as_py()
        self._last = last.column("story_id")[0].as_py(), last.column("story")[0].as_py()
        return True

    def follow(self, file: OrderOfFile) -> bool:
        """Take all rows of a file that was read elsewhere; return False, and take nothing, if one may not fit."""
        if not file.fits:
            return False
        if file.benchmark is None:
            return True  # no rows
        if self._benchmark not in (None, file.benchmark):
            return False
        if (file.first[0] == self._last[0]) != (file.first[1] == self._last[1]):
            return False
        for each in file.ranges:
            self._numbers.add_range(*each)
        self._benchmark, self._last = file.benchmark, file.last
        return True

    @property
    def benchmark(self) -> str | None:
        """The benchmark of the rows so far."""
        return self._benchmark

    @property
    def last(self) -> tuple[str | None, str]:
        """The id and the text of the last story."""
        return self._last

    def ranges(self) -> tuple[tuple[int, int, int], ...] | None:
        """Return the numbers of all ids, see `RepeatedNumbers.ranges`."""
        return self._numbers.ranges()

    def close(self) -> Iterator[Finding]:
        """Yield ids that occur twice, and of which that was not known before."""
        for number in self._numbers.close():
            yield self._repeated(f"{self._split}-{number // 10:09d}-{number % 10}")
        for name in self._others.close():
            yield self._repeated(name)

    def _repeated(self, name: str) -> Finding:
        return self._finding(name, "id", "the same id twice", "an id of its own")

    def _finding(self, name: str, field: str, found: str, expected: str) -> Finding:
        return Finding(file=self.file, id=name, kind=ORDER, field=field, found=found, expected=expected)

    def _fits(self, table: pa.Table) -> bool:
        """Return whether whole columns fit; False if a row may not."""
        if self._split is None or any(name not in table.column_names for name in _COLUMNS):
            return False
        numbers = _our_numbers(table, self._split)
        if numbers is None:
            return False
        for name, expected in (("benchmark", self._benchmark), ("split", self._split)):
            values = pc.unique(table.column(name)).to_pylist()
            if len(values) != 1 or values[0] != (expected or values[0]):
                return False
        same_id, same_story = (
            table.column(name)[0].as_py() == last for name, last in zip(("story_id", "story"), self._last, strict=True)
        )
        if same_id != same_story:
            return False
        if not np.array_equal(_changes(table, "story_id"), _changes(table, "story")):
            return False
        self._numbers.add(numbers)
        return True

    def _check_row(
        self,
        numbers: list[int],
        name: str | None,
        story_id: str | None,
        benchmark: str | None,
        split: str | None,
        story: str | None,
    ) -> Iterator[Finding]:
        """Check one row; the number of a generated id is added to `numbers`."""
        if name is not None:
            yield from self._check_id(numbers, name, story_id)
        if benchmark is not None and benchmark != (self._benchmark or benchmark):
            yield self._finding(name or "", "benchmark", benchmark, self._benchmark or "")
        self._benchmark = self._benchmark or benchmark
        if split is not None and split != (self._split or split):
            yield self._finding(name or "", "split", split, self._split or "")
        if story_id is not None:
            yield from self._check_text(name or "", story_id, story or "")

    def _check_id(self, numbers: list[int], name: str, story_id: str | None) -> Iterator[Finding]:
        ours = story_of_id(name)
        if ours is None:
            if self._others.add(name):
                yield self._repeated(name)
            return
        numbers.append(int(name[-11:-2]) * 10 + int(name[-1]))
        if story_id is not None and ours != story_id:
            yield self._finding(name, "story_id", story_id, ours)
        if self._split is not None and not name.startswith(self._split):
            yield self._finding(name, "id", name, f"an id of the {self._split} split")

    def _check_text(self, name: str, story_id: str, story: str) -> Iterator[Finding]:
        """Check that rows of one story have the same text, or continue that of the row before."""
        last_id, last_story = self._last
        if story_id == last_id and not (story == last_story or story.startswith(last_story + "\n")):
            yield self._finding(name, "story", "another text than in the row before", f"the story {story_id}")
        elif story_id != last_id and story == last_story:
            finding = self._finding(name, "story_id", story_id, f"{last_id}, which has the same text")
            yield replace(finding, is_claim=story_of_id(name) is not None)  # others number stories as they like
        self._last = story_id, story


def _values(table: pa.Table, name: str) -> list[str | None]:
    values: list[str | None] = table.column(name).to_pylist() if name in table.column_names else [None] * table.num_rows
    return values


def _plain(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.cast(pa.string()).combine_chunks() if not pa.types.is_string(column.type) else column.combine_chunks()


def _letters(array: pa.Array, width: int) -> npt.NDArray[np.uint8] | None:
    """Return strings of one width as a matrix of letters; None if their widths differ."""
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, array.offset * 4)
    if array.null_count or (np.diff(offsets) != width).any():
        return None
    return np.frombuffer(array.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].reshape(-1, width)


def _our_numbers(table: pa.Table, split: str) -> npt.NDArray[np.int64] | None:
    """Return each row's number if all ids were generated and fit those of their stories; else None."""
    head = np.frombuffer(f"{split}-".encode(), np.uint8)
    width = len(head) + 11
    ids, stories = _letters(_plain(table, "id"), width), _letters(_plain(table, "story_id"), width - 2)
    if ids is None or stories is None or not np.array_equal(ids[:, :-2], stories):
        return None
    digits = ids[:, [*range(len(head), width - 2), width - 1]] - ord("0")
    if (ids[:, : len(head)] != head).any() or (ids[:, -2] != ord("-")).any() or (digits > 9).any():
        return None
    numbers: npt.NDArray[np.int64] = digits.astype(np.int64) @ 10 ** np.arange(9, -1, -1)
    return numbers


def _changes(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Return where the value of a column differs from the one before."""
    column = table.column(name).combine_chunks()
    values = column.indices if pa.types.is_dictionary(column.type) else column
    return np.asarray(pc.not_equal(values[1:], values[:-1]))


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
        texts: list[str] = []
        for content in self._rest.contents():
            seen: set[bytes] = set()
            place = 0
            while place < len(content):
                start = place + _LENGTH.size
                place = start + _LENGTH.unpack_from(content, place)[0]
                text = content[start:place]
                if text in seen:
                    texts.append(text.decode("utf-8", "surrogatepass"))
                seen.add(text)
        return sorted(texts)


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
        repeated: set[int] = set()
        for part in self._parts():
            numbers, counts = np.unique(part, return_counts=True)
            twice = counts > 1
            for start, end, questions in self._ranges:
                story, question = np.divmod(numbers, 10)
                twice |= (story >= start) & (story < end) & (question < questions)
            repeated.update(numbers[twice].tolist())
        self._ranges.sort()
        for place, (start, end, questions) in enumerate(self._ranges):
            for other, until, is_question in self._ranges[place + 1 :]:
                if other >= end:
                    break
                stories = range(max(start, other), min(end, until))
                repeated.update(10 * story + each for story in stories for each in range(min(questions, is_question)))
        return sorted(repeated)

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
