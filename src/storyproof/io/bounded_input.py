"""Files and text that others wrote: opened without waiting, and parsed to plain values of bounded depth.

Every reader of storyproof opens files here, so that a named pipe or a device in place of a file is refused instead of
read without end, and parses JSON and YAML here, so that all that can be wrong with them is one kind of error.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any, TextIO

# Limits on what others wrote: input beyond them is refused before it can fill the memory. They are far above what any
# known dataset needs; docs/formats.md lists them.
DEEPEST = 100  # lists and objects within each other, in JSON and YAML
LARGEST_DOCUMENT = 64 << 20  # bytes of a file of JSON that is read as a whole, such as a manifest or placeholders
LARGEST_YAML = 8 << 20  # bytes of a prompt, a vocabulary, or rules; parsing YAML takes a second per megabyte
LARGEST_RUN = 2 << 30  # bytes of a file of predictions
LONGEST_LINE = 16 << 20  # characters of a line, of an object in a JSON list, or of a text in Parquet
MOST_COLUMNS = 1_000  # of a table
MOST_NESTED = 16  # levels of a column in Parquet; a list has two
LARGEST_ROW_GROUP = 4 << 30  # bytes of a row group of Parquet, uncompressed
LARGEST_ROW = 256 << 20  # bytes of all texts of a row of Parquet, and of the rows that are held at a time
MOST_ALIASED = 1_000_000  # values that a YAML document has, those counted again to which aliases refer

FILE, FOLDER = "a file", "a folder"
_KINDS = {
    stat.S_IFDIR: FOLDER,
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DEEP_FLOW = re.compile(rf"(?:[\[{{]\s*+){{{DEEPEST + 1}}}")
_DIGITS = "integer string conversion"  # what Python says of numbers with too many digits


def size(count: int) -> str:
    """Return a number of bytes in words, such as `16 MB`."""
    for unit, bytes_each in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if count >= bytes_each:
            return f"{count / bytes_each:.3g} {unit}"
    return f"{count} bytes"


# Files.


def kind_of(path: Path) -> str:
    """Return what is at a path: `FILE`, `FOLDER`, another kind in words, or empty if there is nothing to be found."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return ""
    return FILE if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "not a file")


def resolved(path: Path) -> Path:
    """Return a path without links.

    Raises:
        OSError: If links lead in a circle, or the path cannot be one.
    """
    try:
        return path.resolve()
    except RuntimeError as error:  # what Python raises for a circle before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from error


def open_file(path: Path) -> io.BufferedReader:
    """Open a regular file to read bytes; anything else is refused, and nothing is waited for.

    Raises:
        OSError: If it is not a regular file, or cannot be opened.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a NUL in the path
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    _refuse_special(path, mode)  # before it is opened: opening a device can have effects
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _refuse_special(path, os.fstat(file.fileno()).st_mode)  # it may have been replaced in between
    except OSError:
        file.close()
        raise
    return file


def name_of(path: str | Path) -> str:
    r"""Return a path as text that every file can hold; bytes of it that are not UTF-8 become `\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _refuse_special(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a file")
        raise OSError(errno.EINVAL, f"it is {kind}, expected a regular file", str(path))


def open_text(path: Path, *, newline: str | None = None, errors: str | None = None) -> TextIO:
    """Open a regular file to read UTF-8, without a byte order mark.

    Raises:
        OSError: If it is not a regular file, or cannot be opened.
    """
    return io.TextIOWrapper(open_file(path), encoding="utf-8-sig", newline=newline, errors=errors)


def read_bytes(path: Path, most: int = LARGEST_DOCUMENT) -> bytes:
    """Read a whole regular file.

    Raises:
        OSError: If it cannot be read, or is larger than `most`.
    """
    with open_file(path) as file:
        content = file.read() if os.fstat(file.fileno()).st_size <= most else None
    if content is None or len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {size(most)}, the most that is read of such a file", str(path))
    return content


def read_text(path: Path, most: int = LARGEST_DOCUMENT) -> str:
    """Read a whole regular file as UTF-8, without a byte order mark.

    Raises:
        OSError: If it cannot be read, or is larger than `most`.
        UnicodeDecodeError: If it is not UTF-8.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def lines_of(file: TextIO, most: int = LONGEST_LINE) -> Iterator[str]:
    """Yield the lines of a text, as iterating over it does.

    Raises:
        LongLineError: If a line is longer than `most`.
    """
    for number, line in enumerate(iter(partial(file.readline, most + 1), ""), start=1):
        if len(line) > most:
            raise LongLineError(number, most)
        yield line


class LongLineError(ValueError):
    """A line that is longer than any line of data."""

    def __init__(self, number: int, most: int) -> None:
        self.number = number
        super().__init__(f"the line is longer than {most:,} characters, the most that is read")


# Text.


class DocumentError(ValueError):
    """What is wrong with a text that should be JSON or YAML; `line` is where, from 1, or 0 if that is not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.line = line
        super().__init__(reason)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON.

    Raises:
        DocumentError: If it is not JSON, is nested too deeply, or has numbers or text that no file should have.
        UnicodeDecodeError: If bytes are not UTF-8.
    """
    if isinstance(text, bytes):
        text = text.decode()
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(str(error), error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise beyond(error) from error
    check_json(value, text)
    return value


def check_json(value: Any, text: str) -> None:
    """Check what was parsed from a text of JSON: its depth, and that it is text that can be written again.

    Raises:
        DocumentError: If it is nested too deeply, or contains an unpaired surrogate.
    """
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        raise DocumentError(_TOO_DEEP)
    if "\\u" in text and _ESCAPED_SURROGATE.search(text) and has_surrogate(value):
        raise DocumentError("it contains an unpaired surrogate")


def parse_yaml(text: str) -> Any:
    """Parse YAML to plain values.

    Raises:
        DocumentError: If it is not YAML, is nested too deeply, or has aliases that would make it very large.
    """
    import yaml

    if _DEEP_FLOW.search(text):  # which takes long to parse
        raise DocumentError(_TOO_DEEP)
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise DocumentError(reason, mark.line + 1 if mark else 0) from error
    except (ValueError, RecursionError) as error:
        raise beyond(error) from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
    ) as error:  # tags on values that they do not fit: !!bool x
        raise DocumentError(f"a value does not fit its tag ({type(error).__name__})") from error
    if _is_deep(value, MOST_ALIASED):
        raise DocumentError(f"{_TOO_DEEP}, or its aliases make it larger than {MOST_ALIASED:,} values")
    if has_surrogate(value):
        raise DocumentError("it contains an unpaired surrogate")
    return value


def compose_yaml(text: str) -> Any:
    """Parse YAML to nodes of PyYAML, which know their lines; None if there is nothing.

    Raises:
        DocumentError: As `parse_yaml`, which is called first.
    """
    import yaml

    parse_yaml(text)
    return yaml.compose(text, Loader=yaml.SafeLoader)


_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"


def beyond(error: Exception) -> DocumentError:
    """Return the problem of a value beyond what Python parses."""
    if isinstance(error, RecursionError):
        return DocumentError(_TOO_DEEP)
    if _DIGITS in str(error):
        return DocumentError("it has a number of more than 4,300 digits")
    return DocumentError(str(error))


def _is_deep(value: Any, most: float = inf) -> bool:
    """Return whether values are nested too deeply, or are more than `most`."""
    level, count = [value], 0
    for _ in range(DEEPEST):
        level = [child for each in level for child in _children(each)]
        count += len(level)
        if not level or count > most:
            break
    return count > most or any(isinstance(each, list | dict) for each in level)


def has_surrogate(value: Any) -> bool:
    """Return whether a text in values of bounded depth has an unpaired surrogate, which no file can hold."""
    level = [value]
    while level:
        if any(isinstance(each, str) and not each.isascii() and _SURROGATE.search(each) for each in level):
            return True
        level = [child for each in level for child in _children(each)]
    return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else list(value) if isinstance(value, tuple | set) else []


# YAML that ships with storyproof.


def shipped_loader() -> Any:
    """Return the fastest loader of PyYAML: the one in C, if it was built with it.

    It is for files that ship with storyproof only. In files of users the other one, `yaml.SafeLoader`, finds the same
    mistakes with better messages, and survives any depth of nesting.
    """
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_shipped(text: str) -> Any:
    """Parse the text of a shipped file, quickly."""
    import yaml

    return yaml.load(text, Loader=shipped_loader())


@cache
def load_shipped(package: str, name: str) -> Any:
    """Read a YAML file that ships in a package, once per process."""
    return parse_shipped(files(package).joinpath(name).read_text(encoding="utf-8"))
