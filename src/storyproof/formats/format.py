"""What a file format is: one object that recognises, reads, writes and patches files.

`generate`, `verify`, `audit`, `process` and all that reads data look formats up here and never ask which one it is.
Another package adds a format through the entry point group `storyproof.formats`; its value is an instance of `Format`.

A new format must have a name, suffixes and `read`. Without `writer` nothing can be written in it; without `patch`
an audit cannot fix its files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.catalog import load, names
from storyproof.errors import DataError, quoted
from storyproof.example import SPLITS
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.lines import filled_lines
from storyproof.io.bounded_input import name_of

if TYPE_CHECKING:
    from storyproof.formats.records import Record

_OTHER_NAMES = {"validation", "valid", "dev"}  # of the split for validation
PLACE = "place"  # the column that says where a row stands, see `Place`
_PLACE_TYPE = pa.struct(
    [
        ("row", pa.int64()),
        ("line", pa.int64()),
        ("beside", pa.int64()),
        ("sentences", pa.list_(pa.int64())),
        ("answer", pa.string()),
    ]
)


class SplitWriter(Protocol):
    """Writes one split in one format."""

    def write(self, table: pa.Table) -> None:
        """Add rows, whole stories."""

    def close(self) -> list[Path]:
        """Finish the files and return them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in its file.

    Attributes:
        row: Its number, from 0.
        line: The line that holds its answer, or at which it begins, from 1; 0 if the format has no lines.
        beside: Its line in the file beside the data, such as a trace, from 1; 0 if there is none.
        sentences: The lines of its story's sentences; empty if these have no lines of their own.
        answer: The name under which it has its answer.
    """

    row: int
    line: int = 0
    beside: int = 0
    sentences: Sequence[int] = ()
    answer: str = "answer"

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> Place:
        """Build a place from a value of the column `place`."""
        return cls(value["row"], value["line"], value["beside"], value["sentences"] or (), value["answer"] or "answer")

    def line_of(self, sentence: int) -> int:
        """Return the line of a sentence of the story, counted from 1; that of the row if sentences have none."""
        return self.sentences[sentence - 1] if sentence <= len(self.sentences) else self.line


class Part(NamedTuple):
    """Some consecutive rows of a file, which can be read by themselves.

    Attributes:
        first: The number of the first row; 0 in the first part.
        end: The number of the row after the last one; None if all that follow belong to it.
        at: Where reading begins, as the format counts: at the row before the first one, so that its story is known.
        line: The line there, from 1.
        beside: Where reading begins in the file beside the data, if there is one.
    """

    first: int = 0
    end: int | None = None
    at: int = 0
    line: int = 1
    beside: int = 0


WHOLE = Part()
PART_BYTES = 1 << 20  # of text in a part, the least that a worker gets
PART_ROWS = 2_048  # of a part that is read as records from a file with arrays


def ended(parts: Sequence[Part]) -> list[Part]:
    """Return parts that end where the next one begins."""
    return [*(each._replace(end=following.first) for each, following in pairwise(parts)), *parts[-1:]] or [WHOLE]


def joined(parts: Sequence[Part]) -> Part:
    """Return consecutive parts as one."""
    return parts[0]._replace(end=parts[-1].end)


class Spot(NamedTuple):
    """Where a value stands: the name of the file, the line (0 if there is none) and the name that it has there."""

    file: str
    line: int
    field: str


class Format(ABC):
    """One file format.

    Attributes:
        name: How users, reports and the catalog call it.
        suffixes: How names of its files end; formats may share suffixes.
        opening: What its files begin with, for messages.
        short_name: What `generate --format` calls it, where that is another name.
        family: The only family whose rows it can hold; empty if it can hold those of all.
        keeps_all: Whether files hold all columns, so that every benchmark can be written in it. In others only those
            benchmarks can be written that name it in `Benchmark.formats`.
        holds_text: Whether all values are text, so that corrections are written as findings give them; in other formats
            values of columns that hold no text are written as JSON.
        has_free_answers: Whether answers are in free words; of several that are accepted, `read_foreign` puts each
            into a line of its own.
        beside: How names of files end that belong to a file of the same stem.
        reads_arrays: Whether `read` makes arrays of columns at once, so that files of ours are read by it, faster than
            as records.
        makes_rows: Whether `make_row` says what a record holds, rather than its columns.
        stored_as: The name of the format that its files are in, if they are those of another format, with documents
            beside them; they are then read as files of that format.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    opening: ClassVar[str] = ""
    short_name: ClassVar[str] = ""
    family: ClassVar[str] = ""
    keeps_all: ClassVar[bool] = False
    holds_text: ClassVar[bool] = False
    has_free_answers: ClassVar[bool] = False
    beside: ClassVar[tuple[str, ...]] = ()
    reads_arrays: ClassVar[bool] = False
    makes_rows: ClassVar[bool] = False
    stored_as: ClassVar[str] = ""

    @property
    def written_as(self) -> str:
        """What `generate --format` calls it."""
        return self.short_name or self.name

    def recognise(self, path: Path) -> bool:
        """Return whether a file is in this format rather than in another one of the same suffix, by how it begins.

        Files that cannot be read are not recognised; reading them then raises the error.
        """
        return path.suffix in self.suffixes

    def is_data(self, path: Path) -> bool:
        """Return whether a file in a dataset's folder, whose suffix fits, holds examples."""
        return True

    @abstractmethod
    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file in tables of about `rows` rows, with the columns of examples; values that it lacks are null.

        Args:
            path: The file.
            rows: About how many rows a table has.
            places: Add the column `place`, see `with_places`.

        Raises:
            DataError: If the file cannot be read; the message says what was found where, and what was expected.
        """

    def read_foreign(self, path: Path, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """Read a file that somebody else wrote, for an audit, with places.

        Values under the names of our columns that do not fit their types can be dropped, and text can be normalised.
        """
        return self.read(path, rows, places=True)

    def records(self, path: Path, columns: Collection[str] | None = None) -> Iterator[Record]:
        """Read the records of a file, with any columns; see `formats.records`. One that cannot be read says why.

        Args:
            path: The file.
            columns: The columns that are needed, if not all are.

        Raises:
            DataError: If nothing of the file can be read.
        """
        raise DataError(f"{path}: files in the format '{self.name}' have no columns to choose; leave out --columns.")

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Return parts of a file that can be read by themselves; they follow from the file alone.

        A format that divides files takes a part in `records`, and in `read` if it `reads_arrays`, and in its own
        `read_foreign` if it has one. It reads from the row before the part on, to the end of the file: whoever reads a
        part stops once its last story ends.

        Args:
            path: The file.
            as_records: Whether it is read as records, which takes longer, rather than as `read` does.

        Raises:
            DataError: If the file cannot be read.
        """
        return [WHOLE]

    @property
    def has_records(self) -> bool:
        """Whether files can be read as records, with any columns."""
        return type(self).records is not Format.records

    def make_row(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record as a row, if `makes_rows`, with `answer at`: the name under which it has its answer.

        Raises:
            DataError: If it is no such record.
        """
        raise NotImplementedError

    def columns(self, path: Path) -> Collection[str]:
        """Return the columns that the first row of a file has values in; none if there is no row.

        Raises:
            DataError: If the file cannot be read.
        """
        first = next(self.read(path, 1), None)
        if first is None or not first.num_rows:
            return ()
        return [name for name in first.column_names if first.column(name)[0].is_valid]

    def locate(self, path: Path, column: str, place: Place) -> Spot:
        """Return where the value of a column stands."""
        return Spot(path.name, place.line, place.answer if column == "answer" else column)

    def writer(self, folder: Path, split: str) -> SplitWriter:
        """Return what writes a split into a folder.

        Raises:
            DataError: If nothing can be written in this format.
        """
        raise DataError(f"files in the format '{self.name}' can be read, but not written; choose another format.")

    def write_documents(self, folder: Path, manifest: Mapping[str, Any]) -> list[Path]:
        """Write what a dataset's folder has besides data, such as a card, and return the files; by default none.

        Args:
            folder: The folder, whose data are complete.
            manifest: Its manifest, without the documents.
        """
        return []

    @property
    def can_write(self) -> bool:
        """Whether files can be written in this format."""
        return type(self).writer is not Format.writer

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Return what writes a file, and those beside it, with some changes, by name; all else stays byte for byte.

        Changes are keyed by the names that `locate` returns.

        Raises:
            DataError: If files of this format cannot be patched, or the file is not as it was audited.
        """
        raise DataError(f"{path}: files in the format '{self.name}' can be audited, but not fixed; leave out --fix.")


def with_places(
    table: pa.Table,
    first: int,
    lines: Sequence[int] | None = None,
    *,
    beside: Sequence[int] | None = None,
    sentences: Sequence[Sequence[int]] | None = None,
    answers: Sequence[str] | None = None,
) -> pa.Table:
    """Add the column `place`: where each row stands.

    Args:
        table: The rows.
        first: The number of the first one in the file, from 0.
        lines: The line of each; none if the format has no lines.
        beside: The line of each in the file beside.
        sentences: The lines of the sentences of each.
        answers: The name under which each has its answer.
    """
    count = table.num_rows
    zeros = np.zeros(count, np.int64)
    columns = [
        pa.array(np.arange(first, first + count, dtype=np.int64)),
        pa.array(zeros if lines is None else lines, pa.int64()),
        pa.array(zeros if beside is None else beside, pa.int64()),
        pa.nulls(count, pa.list_(pa.int64())) if sentences is None else pa.array(sentences, pa.list_(pa.int64())),
        pa.nulls(count, pa.string()) if answers is None else pa.array(answers, pa.string()),
    ]
    return table.append_column(pa.field(PLACE, _PLACE_TYPE), pa.StructArray.from_arrays(columns, fields=_PLACE_TYPE))


def place_of(table: pa.Table, row: int) -> Place:
    """Return where a row of a table that was read with places stands."""
    return Place.from_value(table.column(PLACE)[row].as_py())


def numbers_of(table: pa.Table) -> tuple[list[int], list[int]]:
    """Return the numbers and the lines of all rows of a table that was read with places."""
    column = table.column(PLACE)
    rows, lines = (pc.struct_field(column, name).to_pylist() for name in ("row", "line"))
    return rows, lines


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats: those of storyproof, then those of other packages."""
    return tuple(load_format(name) for name in names("format"))


def load_format(name: str) -> Format:
    """Return a format by name.

    Raises:
        UnknownNameError: If there is no such format.
    """
    found: Format = load("format", name)
    return found


def suffixes() -> tuple[str, ...]:
    """Return how names of data files can end, sorted."""
    return tuple(sorted({suffix for each in formats() for suffix in each.suffixes}))


def recognise_format(path: Path) -> Format | None:
    """Return the format that recognises a file: one with its suffix, else any; None if none does."""
    fitting = [each for each in formats() if path.suffix in each.suffixes]
    others = [each for each in formats() if each not in fitting]
    return next((each for each in (*fitting, *others) if each.recognise(path)), None)


def format_of(path: Path) -> Format:
    """Return the format of a file; if none recognises it, the first one with its suffix, whose reader says why.

    Raises:
        DataError: If no format has its suffix.
    """
    fitting = [each for each in formats() if path.suffix in each.suffixes]
    if not fitting:
        raise DataError(f"{path} has an unknown form; expected a file ending in {', '.join(suffixes())}.")
    return (recognise_format(path) or fitting[0]) if len(fitting) > 1 else fitting[0]


def expect_format(path: Path) -> Format:
    """Return the format of a file, as `format_of`, but raise DataError if its beginning fits no format."""
    fitting = [each for each in formats() if path.suffix in each.suffixes]
    if len(fitting) == 1:
        return fitting[0]
    found = recognise_format(path)
    if found is not None:
        return found
    number, line = next(filled_lines(path), (1, b""))
    what = quoted(line.decode(errors="replace"), 60) if line else "nothing"
    openings: dict[str, list[str]] = {}
    for each in formats():
        if each.opening:
            openings.setdefault(each.opening, []).append(each.name)
    expected = " or ".join(f"{opening} ({', '.join(names)})" for opening, names in openings.items())
    raise DataError(f"{path}, line {number}: found {what}; expected {expected}.")


def stem_of(path: Path) -> str:
    """Return the stem of a file's name, from which rows without an id get one, as text that every file can hold."""
    return name_of(path.stem)


def split_of(path: Path) -> str | None:
    """Return the split that a file's name tells: `train.txt`, `fb_all_val.txt`, `fb_belief_test_test.txt`."""
    parts = path.stem.replace("-", "_").replace(".", "_").split("_")
    return next((split for split in SPLITS if split in parts), "val" if _OTHER_NAMES & {*parts} else None)


def split_in(path: Path) -> str | None:
    """Return the split that a file's name tells, or else that of its folder: `train/data-00000-of-00001.arrow`."""
    return split_of(path) or (split_of(path.parent) if path.suffix == ".arrow" else None)
