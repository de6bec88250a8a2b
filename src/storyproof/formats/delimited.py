"""Tables as text: one record per line, cells separated by commas, tabs, semicolons or bars, with a header.

Encodings, byte order marks, ends of lines and quotes stay as they are in corrected copies. Lines that begin with `#`
before the header are comments.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import DataError, quoted
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.format import PART_BYTES, WHOLE, Format, Part, ended, formats
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.lines import long_line, unreadable
from storyproof.formats.records import Record, has_questions, read_strictly
from storyproof.io.bounded_input import LONGEST_LINE, MOST_COLUMNS, LongLineError, has_surrogate, lines_of, open_file

_BEGINNING = 1 << 16  # bytes that tell encoding and separator
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_OTHERS = "cp1252"  # what programs on Windows write if it is not UTF-8
_SEPARATORS = ",\t;|"
_BYTE_ORDER_MARK = "\ufeff"


class TextRecord(NamedTuple):
    """A record: its number from 0 (-1 for the header and lines before it), its first line from 1, its text, its cells.

    Empty lines and comments are records without cells; they are not numbered.
    """

    row: int
    line: int
    raw: str
    cells: list[str]
    problem: str = ""


class Manner(NamedTuple):
    """How a file is written: its encoding, what separates cells, whether quotes mean anything, lines of comment."""

    encoding: str
    separator: str
    has_quotes: bool
    comments: int = 0


def manner_of(path: Path) -> Manner:
    """Return how a file is written, by its beginning.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        with open_file(path) as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        raise unreadable(path, error) from error
    encoding = next((name for mark, name in _MARKS.items() if beginning.startswith(mark)), "")
    if not encoding:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(beginning)
            encoding = "utf-8"
        except UnicodeDecodeError:
            encoding = _OTHERS
    lines = [line for line in beginning.decode(encoding, "replace").lstrip(_BYTE_ORDER_MARK).splitlines() if line]
    comments = _comments(lines)
    header = lines[comments] if lines else ""
    counts = {sign: re.sub(r'"[^"]*"', "", header).count(sign) for sign in _SEPARATORS}
    separator = max(_SEPARATORS, key=lambda sign: counts[sign])
    if not counts[separator]:
        separator = "\t" if path.suffix == ".tsv" else ","
    whole = lines[:-1] if len(beginning) == _BEGINNING else lines
    # In a cell of a quoted table may be ends of lines; in a plain one quotes are letters like any others.
    is_even = all(line.count(separator) == counts[separator] for line in whole[comments:])
    is_plain = separator == "\t" and is_even and any(line.count('"') % 2 for line in whole)
    return Manner(encoding, separator, not is_plain, comments)


def _comments(lines: Sequence[str]) -> int:
    """Return how many lines are comments before the header."""
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    if count == 1 and len(lines) > 1 and any(lines[0].count(sign) == lines[1].count(sign) > 0 for sign in _SEPARATORS):
        return 0  # a header whose first name begins so
    return 0 if count == len(lines) else count


def read_text_records(path: Path, manner: Manner | None = None, part: Part = WHOLE) -> Iterator[TextRecord]:
    """Read a file's records with their texts, the header first; what cannot be read says why.

    Args:
        path: The file.
        manner: How it is written; by default its beginning tells.
        part: Which records follow the header, see `Format.parts`.

    Raises:
        DataError: If the file cannot be read, or has no header.
    """
    manner = manner or manner_of(path)
    try:
        with open_file(path) as file:
            text = io.TextIOWrapper(file, encoding=manner.encoding, newline="", errors="surrogateescape")
            records = _split(path, lines_of(text), manner)
            if not part.first:
                yield from records
                return
            header = next(each for each in records if each.cells)
            yield header
        with open_file(path) as file:
            file.seek(part.at)
            text = io.TextIOWrapper(file, encoding=manner.encoding, newline="", errors="surrogateescape")
            before = header._replace(row=part.first - 2, line=part.line)
            yield from _split(path, lines_of(text), manner, before)
    except UnicodeError as error:  # half a character of UTF-16
        raise DataError(f"{path} is not text in {manner.encoding}: {error}.") from error
    except OSError as error:
        raise unreadable(path, error) from error
    except LongLineError as error:
        raise long_line(path, error) from error


def _split(path: Path, lines: Iterable[str], manner: Manner, before: TextRecord | None = None) -> Iterator[TextRecord]:
    """Split lines into records.

    Args:
        path: The file, for messages.
        lines: Its lines, with their ends.
        manner: How it is written.
        before: The number of the record before these lines, the line at which they begin, and the cells of the header;
            None if they begin with the header.
    """
    taken: list[str] = []
    held = 0  # characters
    source = iter(lines)

    def take() -> Iterator[str]:
        nonlocal held
        for text in source:
            taken.append(text)
            held += len(text)
            if held > LONGEST_LINE:
                raise csv.Error(f"a record of more than {LONGEST_LINE:,} characters")
            yield text.removeprefix(_BYTE_ORDER_MARK)

    reader = (
        csv.reader(take(), delimiter=manner.separator)
        if manner.has_quotes
        else csv.reader(take(), delimiter=manner.separator, quoting=csv.QUOTE_NONE)
    )
    row, line, width, comments = -1, 1, 0, manner.comments
    if before is not None:
        row, line, width = before.row + 1, before.line, len(before.cells)
    while True:
        problem = ""
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            cells, problem = [], f"found {error}, expected a record of a table"
        raw, held = "".join(taken), 0
        taken.clear()
        if row < 0 and (not raw.strip(_BYTE_ORDER_MARK).strip() or comments):
            comments -= bool(raw.strip())
            yield TextRecord(-1, line, raw, [])
            line += 1
            continue
        if row < 0:
            if problem or len(cells) > MOST_COLUMNS:
                what = problem or f"it has {len(cells):,} columns, expected at most {MOST_COLUMNS:,}"
                raise DataError(f"{path}, line {line}: {what}.")
            width = len(cells)
        elif cells and len(cells) != width and not problem:
            problem = f"it has {len(cells)} cells, expected {width} as in the header"
        if has_surrogate(raw):
            problem = problem or "found bytes that are not text in its encoding"
        yield TextRecord(row, line, raw, cells, problem)
        row, line = row + bool(cells or problem), line + (raw.count("\n") or raw.count("\r") or 1)
    if not width:
        raise DataError(f"{path} is empty, expected a header with the names of columns.")


def parts_of_table(path: Path) -> list[Part]:
    """Divide a file into parts of `PART_BYTES`.

    Raises:
        DataError: If the file cannot be read, or has no header.
    """
    manner = manner_of(path)
    if manner.encoding not in ("utf-8", _OTHERS):
        return [WHOLE]
    return parts_by_bytes(path, manner) or _parts_by_records(path, manner)


def _parts_by_records(path: Path, manner: Manner) -> list[Part]:
    """Divide a file by reading its records."""
    parts, at, begun = [WHOLE], 0, 0
    before = WHOLE
    for record in read_text_records(path, manner):
        if record.row >= 0 and (record.cells or record.problem):
            if at - begun >= PART_BYTES and record.row:
                parts.append(before._replace(first=record.row))
                begun = at
            before = Part(at=at, line=record.line)
        at += len(record.raw.encode(manner.encoding, "surrogateescape"))
    return ended(parts)


def parts_by_bytes(path: Path, manner: Manner) -> list[Part]:
    """Divide a file by its quotes and ends of lines alone; return no parts where these do not tell its records.

    Python's reader knows more kinds of records: quotes within cells that do not begin with one, ends of lines without a
    line feed, cells that are too long. Files with such records are divided by reading them.
    """
    parts = [WHOLE]
    if path.stat().st_size <= PART_BYTES:
        return parts
    at, line = 0, 1
    for record in read_text_records(path, manner):
        at += len(record.raw.encode(manner.encoding, "surrogateescape"))
        line += record.raw.count("\n")
        if record.cells:
            break
    row, before, rest = 0, WHOLE, b""
    with open_file(path) as file:
        file.seek(at)
        while True:
            block = file.read(PART_BYTES)
            content = rest + block
            ends = _ends_of_records(content, manner, is_last=not block)
            if ends is None:
                return []
            if row > parts[-1].first:
                parts.append(before._replace(first=row))
            starts = np.append([0], ends)[:-1]
            first = np.frombuffer(content, np.uint8)[starts]
            filled = starts[(first != ord("\r")) & (first != ord("\n"))]
            last, used = 0, int(ends[-1]) if len(ends) else 0
            if len(filled):
                row += len(filled)
                last = int(filled[-1])
                line += content.count(b"\n", 0, last)
                before = Part(at=at + last, line=line)
            rest = content[used:]
            at, line = at + used, line + content.count(b"\n", last, used)
            if not block:
                return ended(parts)


def _ends_of_records(content: bytes, manner: Manner, *, is_last: bool) -> npt.NDArray[np.intp] | None:
    """Return where the records of a text end that begins with a record; None if quotes and ends of lines do not tell.

    Args:
        content: The text.
        manner: How it is written.
        is_last: Whether the file ends there, so that its last record does, too.
    """
    letters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    quotes = np.flatnonzero(letters == ord('"')) if manner.has_quotes else np.zeros(0, np.intp)
    # Lines end within quotes where more of these have begun than ended; there are fewer quotes than lines.
    places = np.searchsorted(ends, quotes)
    begun, over = (np.bincount(each, minlength=len(ends) + 1) for each in (places[::2], places[1::2]))
    ends = ends[np.cumsum(begun - over)[: len(ends)] == 0] + 1
    if is_last and len(content) and (not len(ends) or ends[-1] < len(content)):
        ends = np.append(ends, len(content))
    used = int(ends[-1]) if len(ends) else 0
    longest = int(np.diff(ends, prepend=0).max(initial=len(content) - used))
    if longest > csv.field_size_limit():
        return None
    if codecs.BOM_UTF8[0] in content and content.find(codecs.BOM_UTF8, 0, used) >= 0:  # a byte is found sooner
        return None
    returns = content.count(b"\r", 0, used)
    if returns and returns != content.count(b"\r\n", 0, used):
        return None
    quotes = quotes[: np.searchsorted(quotes, used)]
    around = np.frombuffer(f'{manner.separator}"\r\n'.encode(), np.uint8)
    before, after = letters[quotes[::2] - 1], letters[np.minimum(quotes[1::2] + 1, len(letters) - 1)]
    begins = np.isin(before, around) | (quotes[::2] == 0)
    closes = np.isin(after, around) | (quotes[1::2] == len(letters) - 1)
    return ends if begins.all() and closes.all() else None


def names_of_header(cells: Sequence[str]) -> list[str]:
    """Return the names of columns; those without a name, or with one that another has, get one from their place."""
    found: list[str] = []
    for place, cell in enumerate(cells):
        name = cell.strip()
        found.append(name if name and name not in found else f"{name or 'column'} {place + 1}")
    return found


class Delimited(Format):
    """Tables as text."""

    name = "table"
    suffixes = (".csv", ".tsv")
    opening = "a header with a column for the story or the question"
    holds_text = True
    has_free_answers = True

    def recognise(self, path: Path) -> bool:
        """Return whether a file's name says that it is a table, and no other format has such tables."""
        others = (each for each in formats() if each is not self and path.suffix in each.suffixes)
        return path.suffix in self.suffixes and not any(each.recognise(path) for each in others)

    def is_data(self, path: Path) -> bool:
        """Return whether a file has columns of questions."""
        return has_questions(self, path)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a file whose columns are found by their names."""
        return read_strictly(path, self, rows, places=places)

    def parts(self, path: Path, *, as_records: bool) -> Sequence[Part]:
        """Divide a file at ends of records."""
        return parts_of_table(path)

    def records(self, path: Path, columns: Collection[str] | None = None, part: Part = WHOLE) -> Iterator[Record]:
        """Read the records of a file."""
        names: list[str] = []
        for row, line, _, cells, problem in read_text_records(path, part=part):
            if not cells and not problem:
                continue
            if row < 0:
                names = names_of_header(cells)
            elif problem:
                yield Record(None, line, row, problem)
            else:
                yield Record(dict(zip(names, cells, strict=True)), line, row)

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Replace cells in the text of their records, quoted as they were."""
        return {path.name: lambda file: file.writelines(_patched_records(path, changes))}


def _patched_records(path: Path, changes: Changes) -> Iterator[bytes]:
    manner = manner_of(path)
    names: list[str] = []
    added: list[str] = []
    rows = 0
    for record in read_text_records(path, manner):
        text = record.raw
        if record.row < 0 and record.cells:
            names = names_of_header(record.cells)
            used = {name for each in changes.values.values() for name in each}
            added = [name for name in changes.added if name in used and name not in names]
            text = patched(path, record, names, {}, changes, added, manner)
        elif record.row >= 0 and (record.cells or record.problem):
            rows += 1
            if record.row in changes.gone:
                continue
            if not record.problem:
                values = changes.values.get(record.row, {})
                more = [str(values.get(name, changes.added[name])) for name in added]
                text = patched(path, record, names, values, changes, more, manner)
        yield text.encode(manner.encoding, "surrogateescape")
    changes.check_rows(path, rows)


def patched(
    path: Path,
    record: Any,
    names: Sequence[str],
    values: dict[str, Any],
    changes: Changes,
    more: Sequence[str],
    manner: Manner,
) -> str:
    """Return a record's text with some cells replaced, and some added at the end.

    Raises:
        DataError: If a cell is not as when the file was audited.
    """
    values = {name: value for name, value in values.items() if name in names}
    if not values and not more:
        return str(record.raw)
    parts, end = split_raw(record.raw, manner)
    for name, value in values.items():
        place = names.index(name)
        if changes.expected(record.row, name) not in (None, record.cells[place]):
            raise DataError(
                f"{path}, row {record.row}, line {record.line}: {name} is {quoted(record.cells[place])}, expected "
                f"{quoted(changes.expected(record.row, name))} as when it was audited; audit it again."
            )
        if value != record.cells[place]:
            parts[place] = in_manner(str(value), parts[place], manner)
    like = '"' if all(part.startswith('"') for part in parts) else ""
    return manner.separator.join([*parts, *(in_manner(each, like, manner) for each in more)]) + end


COMMAS = Manner("utf-8", ",", True)


def split_raw(raw: str, manner: Manner = COMMAS) -> tuple[list[str], str]:
    """Split a record's text into the texts of its cells, quotes included, and the end of the line."""
    body = raw.rstrip("\r\n")
    sign = re.escape(manner.separator)
    if not manner.has_quotes:
        return body.split(manner.separator), raw[len(body) :]
    cell = re.compile(rf'\ufeff?"(?:[^"]|"")*"[^{sign}]*|[^"{sign}\r\n][^{sign}\r\n]*|')
    parts, at = [], 0
    while at <= len(body):
        match = cell.match(body, at)
        parts.append(match[0] if match else "")
        at += len(parts[-1]) + 1  # past the separator
    return parts, raw[len(body) :]


def in_manner(value: str, like: str, manner: Manner = COMMAS) -> str:
    """Return a cell in the style of another: in quotes if that one is, or if it must be."""
    if not manner.has_quotes:
        return value
    if like.startswith('"') or any(each in value for each in f'{manner.separator}"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


FORMAT = Delimited()
