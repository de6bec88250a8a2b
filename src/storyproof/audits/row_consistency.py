"""What rows must have in common: ids of their own, the same text for one story, one benchmark and one split.

Any number of ids is compared in bounded memory. Ids that storyproof generated come in order, so whole ranges of them
are remembered by their ends. Others are kept in memory up to a number; beyond that they are divided by hash into
temporary files, each small enough to look through.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import DataError
from storyproof.example import SPLITS, story_of_id
from storyproof.findings import ORDER, Finding
from storyproof.formats.format import numbers_of

_STORY = ("story_id", "story")
_COLUMNS = ("id", "story_id", "benchmark", "split", "story")
Numbers = npt.NDArray[np.int64]
Text = tuple[str | None, str]  # the id of a story, and its text
_NOBODY: Text = (None, "")


class RowPlace(NamedTuple):
    """A row, for findings about it."""

    row: int
    line: int
    id: str | None


@dataclass(frozen=True, slots=True)
class OrderOfRows:
    """What must be known of consecutive rows to say whether they fit those before them.

    Attributes:
        findings: What does not fit within them, by row.
        first: The first row.
        story: The id and the text of the first row's story.
        last: Those of the last row's story.
        benchmarks: The benchmark of each row in which it is another than in the row before.
        ranges: The numbers of generated ids, as far as they are in order; see `RepeatedNumbers`.
        numbers: The others.
        ids: The ids that were not generated.
        places: The numbers and the lines of their rows.
    """

    findings: list[Finding]
    first: RowPlace | None
    story: Text
    last: Text
    benchmarks: list[tuple[RowPlace, str]]
    ranges: list[tuple[int, int, int]]
    numbers: Numbers
    ids: pa.Array
    places: Numbers


class RowOrder:
    """Checks how consecutive rows fit each other, wherever they are read; `SplitOrder` puts the results together.

    A table that storyproof generated is checked in whole columns; where a row does not fit, row by row.

    Args:
        split: The split of all rows, if that can be told.
        file: What findings call their file.
    """

    def __init__(self, split: str | None, file: str) -> None:
        self._split, self._file = split, file
        self._first: RowPlace | None = None
        self._story = self._last = _NOBODY
        self._benchmarks: list[tuple[RowPlace, str]] = []
        self._findings: list[Finding] = []
        self._ranges: list[tuple[int, int, int]] = []
        self._numbers: list[Numbers] = []  # of generated ids, in no range
        self._ids: list[pa.Array] = []
        self._places: list[Numbers] = []

    def check(self, table: pa.Table) -> None:
        """Take the next rows."""
        if not table.num_rows:
            return
        numbers, lines = numbers_of(table.slice(0, 1))
        first = RowPlace(numbers[0], lines[0], _values(table.slice(0, 1), "id")[0])
        if not self._fit(table, first):
            self._check_rows(table)

    def summary(self) -> OrderOfRows:
        """Return what is known once all rows were taken."""
        ids = pa.concat_arrays(self._ids) if self._ids else pa.array([], pa.string())
        return OrderOfRows(
            self._findings,
            self._first,
            self._story,
            self._last,
            self._benchmarks,
            self._ranges,
            np.concatenate([np.zeros(0, np.int64), *self._numbers]),
            ids,
            np.concatenate([np.zeros((0, 2), np.int64), *self._places]),
        )

    def _fit(self, table: pa.Table, first: RowPlace) -> bool:
        """Take rows if they fit by whole columns; return False, and take nothing, if one may not."""
        if any(name not in table.column_names for name in _COLUMNS):
            return False
        benchmarks, splits = (pc.unique(table.column(name)).to_pylist() for name in ("benchmark", "split"))
        if len(benchmarks) != 1 or benchmarks[0] is None or len(splits) != 1:
            return False
        split = splits[0]
        if split not in SPLITS or split != (self._split or split):
            return False
        numbers = _our_numbers(table, split)
        if numbers is None:
            return False
        if not np.array_equal(_changes(table, "story_id"), _changes(table, "story")):
            return False
        ends = [_story_of(table.slice(row, 1)) for row in (0, table.num_rows - 1)]
        self._take_first(first, ends[0])
        self._last = ends[1]
        self._take_benchmark(first, benchmarks[0])
        if (found := consecutive_stories(numbers)) is None:
            self._numbers.append(numbers)
        else:
            add_range(self._ranges, found)
        return True

    def _check_rows(self, table: pa.Table) -> None:
        """Check and take rows one by one."""
        numbers: list[int] = []
        others: list[RowPlace] = []
        columns = [_values(table, name) for name in _COLUMNS]
        for row, line, name, story_id, benchmark, split, story in zip(*numbers_of(table), *columns, strict=True):
            place = RowPlace(row, line, name)
            if name is not None:
                ours = story_of_id(name)
                if ours is None:
                    others.append(place)
                else:
                    numbers.append(_first_number(name[:-12]) + int(name[-11:-2]) * 10 + int(name[-1]))
                    self._check_id(place, name, ours, story_id)
            if benchmark is not None:
                self._take_benchmark(place, benchmark)
            if split is not None and split != (self._split or split):
                self._add(place, "split", split, self._split or "")
            if story_id is not None:
                text = story_id, story or ""
                self._take_first(place, text)
                self._last = text
        self._numbers.append(np.array(numbers, np.int64))
        self._ids.append(pa.array([each.id for each in others], pa.string()))
        self._places.append(np.array([each[:2] for each in others], np.int64).reshape(-1, 2))

    def _check_id(self, place: RowPlace, name: str, ours: str, story_id: str | None) -> None:
        """Check a generated id."""
        if story_id is not None and ours != story_id:
            self._add(place, "story_id", story_id, ours)
        if self._split is not None and not name.startswith(self._split):
            self._add(place, "id", name, f"an id of the {self._split} split")

    def _take_first(self, place: RowPlace, text: Text) -> None:
        """Take a row with a story's id: the first one, or check that it fits the story of the row before."""
        if self._first is None:
            self._first, self._story = place, text
        else:
            self._findings += check_text(self._file, place, text, self._last)

    def _take_benchmark(self, place: RowPlace, benchmark: str) -> None:
        if not self._benchmarks or self._benchmarks[-1][1] != benchmark:
            self._benchmarks.append((place, benchmark))

    def _add(self, place: RowPlace, field: str, found: str, expected: str) -> None:
        self._findings.append(order_finding(self._file, place, field, found, expected))


class SplitOrder:
    """Checks that the rows of one split fit each other, by what `RowOrder` says of consecutive parts."""

    def __init__(self) -> None:
        self._file = ""  # that was read last
        self._benchmark: str | None = None
        self._numbers = RepeatedNumbers()  # of generated ids
        self._others = RepeatedTexts()  # other ids
        self._last = _NOBODY

    def follow(self, order: OrderOfRows, file: str) -> list[Finding]:
        """Return what does not fit in the next rows, by row."""
        self._file = file
        findings = []
        for (row, line), name in zip(order.places.tolist(), order.ids.to_pylist(), strict=True):
            if self._others.add(name):
                findings.append(_repeated(file, RowPlace(row, line, name)))
        for each in order.ranges:
            self._numbers.add_range(*each)
        self._numbers.add(order.numbers)
        for place, benchmark in order.benchmarks:
            self._benchmark = self._benchmark or benchmark
            if benchmark != self._benchmark:
                findings.append(order_finding(file, place, "benchmark", benchmark, self._benchmark))
        if order.first is not None:
            findings += check_text(file, order.first, order.story, self._last)
            self._last = order.last
        return sorted([*findings, *order.findings], key=lambda each: each.row)

    def close(self) -> Iterator[Finding]:
        """Yield ids that occur twice, and of which that was not known before."""
        for number in self._numbers.close():
            yield _repeated(self._file, RowPlace(-1, 0, _id_of(number)))
        for name in self._others.close():
            yield _repeated(self._file, RowPlace(-1, 0, name))


def check_text(file: str, place: RowPlace, text: Text, last: Text) -> Iterator[Finding]:
    """Check that rows of one story have the same text, or continue that of the row before."""
    (story_id, story), (last_id, last_story) = text, last
    if story_id == last_id and not (story == last_story or story.startswith(last_story + "\n")):
        yield order_finding(file, place, "story", "another text than in the row before", f"the story {story_id}")
    elif story_id != last_id and story == last_story and story_id is not None:
        finding = order_finding(file, place, "story_id", story_id, f"{last_id}, which has the same text")
        yield replace(finding, is_claim=story_of_id(place.id or "") is not None)  # others number stories as they like


def order_finding(file: str, place: RowPlace, field: str, found: str, expected: str) -> Finding:
    """Return that a row does not fit those before it."""
    at: dict[str, Any] = {"row": place.row, "line": place.line, "id": place.id or ""}
    return Finding(file=file, kind=ORDER, field=field, found=found, expected=expected, **at)


def _repeated(file: str, place: RowPlace) -> Finding:
    return order_finding(file, place, "id", "the same id twice", "an id of its own")


def _story_of(row: pa.Table) -> Text:
    """Return the id and the text of the story of a row."""
    (story_id,), (story,) = (_values(row, name) for name in _STORY)
    return story_id, story or ""


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
    numbers: npt.NDArray[np.int64] = digits.astype(np.int64) @ 10 ** np.arange(9, -1, -1) + _first_number(split)
    return numbers


def _changes(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Return where the value of a column differs from the one before."""
    column = table.column(name).combine_chunks()
    values = column.indices if pa.types.is_dictionary(column.type) else column
    return np.asarray(pc.not_equal(values[1:], values[:-1]))


def _first_number(split: str) -> int:
    """Return the number of a split's first generated id, so that those of several splits differ."""
    return SPLITS.index(split) * _IDS


def _id_of(number: int) -> str:
    """Return the generated id with a number."""
    split, rest = divmod(number, _IDS)
    return f"{SPLITS[split]}-{rest // 10:09d}-{rest % 10}"


_IDS = 10**10  # that a split can have
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
    """Finds numbers of generated ids that occur twice.

    A number is ten times that of the story, plus that of the question, after those of the splits before.
    """

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
        found = consecutive_stories(numbers)
        if found is None or not self._remember(*found):
            self._keep(numbers)

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

    def _remember(self, start: int, end: int, questions: int) -> bool:
        """Remember a range, unless there are too many."""
        if len(self._ranges) >= _MOST_RANGES and not _continues(self._ranges, start, questions):
            return False
        add_range(self._ranges, (start, end, questions))
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


def consecutive_stories(numbers: Numbers) -> tuple[int, int, int] | None:
    """Return numbers as a range if they are all questions of consecutive stories; see `RepeatedNumbers.add_range`."""
    start, end = int(numbers[0]) // 10, int(numbers[-1]) // 10 + 1
    questions = int(numbers[-1]) % 10 + 1
    if len(numbers) != (end - start) * questions:
        return None
    expected = 10 * np.arange(start, end)[:, None] + np.arange(questions)
    return (start, end, questions) if np.array_equal(numbers, expected.reshape(-1)) else None


def add_range(ranges: list[tuple[int, int, int]], added: tuple[int, int, int]) -> None:
    """Add a range to others, or extend the last one if it goes on there."""
    start, end, questions = added
    if _continues(ranges, start, questions):
        ranges[-1] = ranges[-1][0], end, questions
    else:
        ranges.append(added)


def _continues(ranges: Sequence[tuple[int, int, int]], start: int, questions: int) -> bool:
    return bool(ranges) and ranges[-1][1:] == (start, questions)
