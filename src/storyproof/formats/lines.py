"""Lines of text files as bytes, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from storyproof.errors import DataError
from storyproof.io.bounded_input import LONGEST_LINE, LongLineError, lines_of, open_file, open_text

MARK = b"\xef\xbb\xbf"  # the byte order mark with which some editors begin a file


def numbered_lines(path: Path, at: int = 0, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Read a file's lines with their ends, whatever those are, counted from 1.

    Args:
        path: The file.
        at: The byte at which a line begins.
        first: The number of that line.

    Raises:
        DataError: If the file cannot be read.
    """
    number = first - 1
    try:
        with open_file(path) as file:
            file.seek(at)
            for piece in iter(partial(file.readline, LONGEST_LINE + 1), b""):
                if len(piece) > LONGEST_LINE:
                    raise long_line(path, LongLineError(number + 1, LONGEST_LINE))
                for line in piece.splitlines(keepends=True):  # a lone carriage return ends a line too
                    number += 1
                    yield number, line
    except OSError as error:
        raise unreadable(path, error) from error


def text_lines(path: Path, *, newline: str | None = None, errors: str | None = None, at: int = 0) -> Iterator[str]:
    """Read a file's lines as text.

    Args:
        path: The file.
        at: The byte at which a line begins.
        newline: As for `open`; empty to have the ends of lines as they are.
        errors: As for `open`: what becomes of bytes that are not UTF-8.

    Raises:
        DataError: If the file cannot be read, or a line is too long.
        UnicodeDecodeError: If it is not UTF-8, unless `errors` says otherwise.
    """
    try:
        with open_text(path, newline=newline, errors=errors) as file:
            file.buffer.seek(at)
            yield from lines_of(file)
    except OSError as error:
        raise unreadable(path, error) from error
    except LongLineError as error:
        raise long_line(path, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """Return an error that says why a file cannot be read."""
    return DataError(f"cannot read {path}: {error.strerror or error}.")


def long_line(path: Path, error: LongLineError) -> DataError:
    """Return an error that names a line that is too long."""
    return DataError(f"{path}, line {error.number}: {error}; divide it, or remove it.")


def filled_lines(path: Path, at: int = 0, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Read the lines that are not empty, without their ends and without a byte order mark.

    Args:
        path: The file.
        at: The byte at which a line begins.
        first: The number of that line.

    Raises:
        DataError: If the file cannot be read.
    """
    for number, line in numbered_lines(path, at, first):
        if text := line.removeprefix(MARK if number == 1 else b"").rstrip(b"\r\n"):
            yield number, text


def first_line(path: Path) -> str:
    """Return the first line that has more than spaces, as text; empty if there is none or the file cannot be read."""
    try:
        return next((line.decode(errors="replace") for _, line in filled_lines(path) if line.strip()), "")
    except DataError:
        return ""


def find_bad_bytes(*paths: Path) -> DataError | None:
    """Return an error that names the first line that is not UTF-8; None if all files are."""
    for path in paths:
        for number, line in numbered_lines(path) if path.exists() else ():
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return bad_byte(f"{path}, line {number}", error)
    return None


def bad_byte(where: str, error: UnicodeDecodeError) -> DataError:
    """Return an error that names the byte at which a text stops being UTF-8."""
    return DataError(f"{where}: found the byte 0x{error.object[error.start]:02x}; expected text in UTF-8.")
