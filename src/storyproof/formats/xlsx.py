"""Sheets of Excel (`.xlsx`): the first sheet with rows, whose first row has the names of columns.

Read with openpyxl, an optional dependency. In corrected copies only the cells that change are written again, as text.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import pyarrow as pa

from storyproof.errors import DataError
from storyproof.formats.chunks import CHUNK_ROWS
from storyproof.formats.delimited import names_of_header
from storyproof.formats.format import Format
from storyproof.formats.json_edits import Changes, Write
from storyproof.formats.records import Record, has_questions, read_strictly
from storyproof.io.bounded_input import LONGEST_LINE, MOST_COLUMNS, open_file, size
from storyproof.runtime.optional_packages import need

LARGEST_SHEET = 512 << 20  # bytes of all parts of a file, uncompressed; texts are held as a whole
_EMPTY_ROWS = 1_000  # in a row, after which nothing more is expected
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"((?:\s[^>]*?)?)(/>|>.*?</c>)', re.DOTALL)
_ROW = re.compile(rb'<row\b[^>]*?\br="(\d{1,7})"[^>]*?(?:/>|>.*?</row>)', re.DOTALL)


class Xlsx(Format):
    """Sheets of Excel."""

    name = "xlsx"
    suffixes = (".xlsx",)
    has_free_answers = True

    def is_data(self, path: Path) -> bool:
        """Return whether a file has columns of questions."""
        return has_questions(self, path)

    def read(self, path: Path, rows: int = CHUNK_ROWS, *, places: bool = False) -> Iterator[pa.Table]:
        """Read a sheet whose columns are found by their names."""
        return read_strictly(path, self, rows, places=places)

    def records(self, path: Path, columns: Collection[str] | None = None) -> Iterator[Record]:
        """Read the rows of the first sheet that has any; lines are those of the sheet."""
        with _opened(path) as book:
            sheet, names = _find_sheet(path, book)
            empty = number = 0
            header = True
            for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                if all(each is None for each in cells):
                    empty += 1
                    if empty > _EMPTY_ROWS:
                        return
                    continue
                empty = 0
                if header:
                    header = False
                    continue
                value = {name: _plain(each) for name, each in zip(names, cells, strict=False)}
                long = next(
                    (name for name, each in value.items() if isinstance(each, str) and len(each) > LONGEST_LINE), ""
                )
                yield Record(None if long else value, line, number, f"'{long}' is very long" if long else "")
                number += 1

    def patch(self, path: Path, changes: Changes) -> dict[str, Write]:
        """Replace cells in the sheet; all other parts of the file are copied."""
        return {path.name: lambda file: _write_patched(path, file, changes)}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file with openpyxl, if its parts are of bounded size.

    Raises:
        DataError: If it cannot be read.
        ConfigError: If openpyxl is not installed.
    """
    openpyxl = need("openpyxl", "xlsx", "reading .xlsx files")
    try:
        _check_parts(path)
        with open_file(path) as file, closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
            yield book
    except (DataError, GeneratorExit):
        raise
    except Exception as error:  # openpyxl raises whatever a damaged part leads to
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise DataError(f"{path} is not a readable .xlsx file ({reason}); expected a complete one.") from error


def _check_parts(path: Path) -> None:
    with open_file(path) as file, zipfile.ZipFile(file) as parts:
        total = sum(each.file_size for each in parts.infolist())
        if total > LARGEST_SHEET:
            raise DataError(
                f"{path} is {size(total)} large once it is uncompressed; at most {size(LARGEST_SHEET)} are read; write "
                "it as CSV."
            )
        for each in parts.infolist():
            if each.filename.endswith((".xml", ".rels")):
                with parts.open(each) as part:
                    if b"<!DOCTYPE" in part.read(4096):
                        raise DataError(f"{path}: {each.filename} has a document type, which no sheet needs.")


def _find_sheet(path: Path, book: Any) -> tuple[Any, list[str]]:
    """Return the first sheet that has rows, and the names of its columns."""
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what a file says about them may be wrong
        for line, cells in enumerate(sheet.iter_rows(values_only=True)):
            if any(each is not None for each in cells):
                if len(cells) > MOST_COLUMNS:
                    raise DataError(f"{path} has {len(cells):,} columns; at most {MOST_COLUMNS:,} are read.")
                return sheet, names_of_header(["" if each is None else str(each) for each in cells])
            if line > _EMPTY_ROWS:
                break
    raise DataError(f"{path} has no rows; expected a header with the names of columns.")


def _write_patched(path: Path, file: BinaryIO, changes: Changes) -> None:
    if changes.gone or changes.added.keys() & {name for each in changes.values.values() for name in each}:
        raise DataError(f"{path}: rows and columns of a sheet stay; leave out --fix, or write it as CSV.")
    records = {number: record.line for number, record in enumerate(FORMAT.records(path))}
    changes.check_rows(path, len(records))
    with _opened(path) as book:
        sheet, names = _find_sheet(path, book)
        title = sheet.title
    cells = {
        (_letters(names.index(name)), records[row]): value
        for row, values in changes.values.items()
        for name, value in values.items()
    }
    with open_file(path) as source, zipfile.ZipFile(source) as parts, zipfile.ZipFile(file, "w") as out:
        changed = _part_of(parts, title)
        for each in parts.infolist():
            content = parts.read(each)
            if each.filename == changed:
                content = _with_cells(path, content, cells)
            out.writestr(each, content, each.compress_type)


def _part_of(parts: zipfile.ZipFile, title: str) -> str:
    """Return the name of the part that holds a sheet."""
    from xml.etree import ElementTree

    book = ElementTree.fromstring(parts.read("xl/workbook.xml"))
    relation = next(
        each.get(_RELATION) for each in book.iter() if each.tag.endswith("}sheet") and each.get("name") == title
    )
    relations = ElementTree.fromstring(parts.read("xl/_rels/workbook.xml.rels"))
    target = next(str(each.get("Target")) for each in relations if each.get("Id") == relation)
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _with_cells(path: Path, content: bytes, cells: dict[tuple[str, int], Any]) -> bytes:
    """Return a sheet's text with some cells replaced by texts."""
    left = dict(cells)

    def replaced(match: re.Match[bytes]) -> bytes:
        key = match[1].decode(), int(match[2])
        if key not in left:
            return match[0]
        kept = re.sub(rb'\st="[^"]*"', b"", match[3])
        text = escape(str(left.pop(key))).encode()
        return (
            b'<c r="%s%s"%s t="inlineStr"><is><t xml:space="preserve">' % (match[1], match[2], kept)
            + text
            + b"</t></is></c>"
        )

    lines = {line for _, line in cells}
    sheet = _ROW.sub(lambda row: _CELL.sub(replaced, row[0]) if int(row[1]) in lines else row[0], content)
    if left:
        (column, line), *_ = left
        raise DataError(f"{path}: the cell {column}{line} is not found as it was audited; audit it again.")
    return sheet


def _letters(place: int) -> str:
    """Return the name of a column of a sheet: A, B … Z, AA."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


FORMAT = Xlsx()
