r"""Standard output and standard error: everything that a command prints passes here.

Stories, replies, names of files and messages of servers may hold terminal escapes, which would clear a screen, forge
lines or rename a window. They are printed as visible escapes such as `\x1b`, on a terminal and in a pipe. Only styles
that this package itself adds reach the terminal as escapes. Characters that the encoding of the output does not have
are replaced, and an output that is closed or full ends the command with one sentence.
"""

from __future__ import annotations

import codecs
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from storyproof.errors import OutputError, ReaderLeftError

if TYPE_CHECKING:
    from rich.console import Console

# C0 and C1 controls except line feed and tab, line separators, bidirectional overrides, and unpaired surrogates.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_STAND_INS = {
    **dict.fromkeys("–—−─", "-"),
    **dict.fromkeys("│├", "|"),
    **dict.fromkeys("·•", "*"),
    **{"└": "`", "→": ">", "←": "<", "«": "<", "»": ">", "⚭": "=", "×": "x", "…": "...", "’": "'", "±": "+-"},
}
_ENCODING_ERRORS = "storyproof.stand-ins"
_PIPE_WIDTH = 200
_quiet = [False]


def make_visible(text: str) -> str:
    r"""Return text in which control characters and bidirectional overrides are written as escapes such as `\x1b`.

    Line feeds and tabs stay. What is left can be encoded: unpaired surrogates are written as escapes, too.
    """
    return _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def echo(line: object = "", *, err: bool = False, end: str = "\n") -> None:
    """Print one line to standard output or standard error; line feeds in it are written as escapes, too.

    So neither data nor names of files can forge lines of a report.

    Raises:
        OutputError: If standard output cannot be written to; of standard error that is ignored, as nobody can be told.
    """
    echo_text(str(line).replace("\n", "\\n"), err=err, end=end)


def echo_text(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Print text of several lines, as `echo` prints one.

    Raises:
        OutputError: If standard output cannot be written to.
    """
    shown = make_visible(text)
    if not err:
        print(shown, end=end, flush=True)
        return
    with suppress(OSError, OutputError):
        print(shown, end=end, file=sys.stderr, flush=True)


def complain(message: object) -> None:
    """Print what is wrong to standard error, in one line whatever it quotes."""
    echo(f"storyproof: {message}", err=True)


def remark(message: object) -> None:
    """Print what may be of interest to standard error, such as progress, unless `--quiet` is given."""
    if not is_quiet():
        complain(message)


def note(line: object, *, err: bool = False) -> None:
    """Print what was done, such as where a result was written, unless `--quiet` is given."""
    if not is_quiet():
        echo(line, err=err)


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _quiet[-1]


@contextmanager
def quietly(wanted: bool) -> Iterator[None]:
    """Print results and errors only, if that is wanted."""
    log = logging.getLogger("storyproof")
    level = log.level
    _quiet.append(wanted or is_quiet())
    if wanted:
        log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        _quiet.pop()
        log.setLevel(level)


def console(*, err: bool = False) -> Console:
    """Return a console that prints text unchanged except for what it makes visible; in a pipe lines are not folded."""
    from storyproof.cli.visible_console import VisibleConsole

    stream = sys.stderr if err else sys.stdout
    settings: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}  # paths may have brackets, colons
    settings |= {"file": stream.styled} if isinstance(stream, Screen) else {"stderr": err}
    screen = VisibleConsole(**settings)
    return screen if screen.is_terminal else VisibleConsole(width=_PIPE_WIDTH, **settings)


class Screen:
    """Standard output or standard error, as a text stream that shows control characters instead of sending them."""

    def __init__(self, stream: TextIO, *, styled: bool = False) -> None:
        self._stream, self._styled = stream, styled

    @property
    def styled(self) -> Screen:
        """The same stream for a console, which makes data visible itself and adds styles."""
        return Screen(self._stream, styled=True)

    def write(self, text: str) -> int:
        """Write text."""
        with _naming_output():
            self._stream.write(text if self._styled else make_visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what has been written; a closed stream has nothing left, as when another library's log ends."""
        if self._stream.closed:
            return
        with _naming_output():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Make everything that is printed visible and encodable, log messages among it, and survive closed outputs."""
    codecs.register_error(_ENCODING_ERRORS, _stand_in)
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, _screen(before[0], 1)), cast(TextIO, _screen(before[1], 2))
    log, handler = logging.getLogger("storyproof"), _LogHandler()
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
        sys.stdout, sys.stderr = before


def discard_output() -> None:
    """Send what is left in standard output nowhere, or an ordinary exit would try to write it again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _LogHandler(logging.Handler):
    """Prints what modules report by logging: on a terminal warnings only, as there are bars for all else."""

    def emit(self, record: logging.LogRecord) -> None:
        complain(record.getMessage().removeprefix("storyproof: "))


def _screen(stream: TextIO | None, descriptor: int) -> Screen:
    """Return a stream as a screen; of one that was closed, a screen that shows nothing."""
    if stream is None:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != descriptor:  # else a file that is opened next would get what libraries print
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(stream, Screen):
        return stream
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=_ENCODING_ERRORS)
    return Screen(stream)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding does not have: what this package prints by plain characters, all else by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(each) or each.encode("ascii", "backslashreplace").decode() for each in bad), error.end


@contextmanager
def _naming_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeftError("nobody reads the output any more.") from error
    except (OSError, ValueError) as error:  # ValueError: it was closed in this process
        why = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot write the output: {why}; send it elsewhere.") from error
