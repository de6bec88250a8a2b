"""The exception tree.

::

    StoryproofError            a user's mistake or unusable input; the CLI prints it and exits with 2
    ├── ConfigError            a setting that cannot be honoured
    │   └── UnknownNameError   a name that is in no table; lists the known ones
    ├── VocabularyError        a word list that cannot be used
    ├── ModelError             a language model that cannot be reached or used
    │   └── NoAnswersError     one that answered nothing at all; exit code 3
    ├── DataError              a file that cannot be read or written
    │   ├── ParseError         a line of text that is not in any known form
    │   └── NoRulesError       a family for which no paper gives simple rules
    ├── OutputError            standard output cannot be written to
    │   └── ReaderLeftError    nobody reads it any more, as after `head`; exit code 141, without a message
    └── StoppedError           a user stopped the work, and what was finished is kept; exit code 130

    ProofError                 a benchmark breaks its promise while generating (provers differ, a story occurs twice): a
                               bug, never a user's mistake

Messages are written with the options of the command line, such as `--max-stories`. The command line says once that it
is what calls (`name_options`); everybody else is a Python program, which reads the argument, `max_stories`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

QUOTED = 80  # characters of data that a message quotes
SHORTENED = 300  # characters of another program's message that ours repeats
_NEAR = 0.6  # how alike two words must be for one to be meant by the other, from 0 to 1
LONGEST = 2000  # characters of a message

# An option, unless it is quoted or belongs to a command that is quoted whole.
_OPTION = re.compile(r"`[^`]*`|\bpip install( --\S+)*|(?<![\w'\"/=.-])--(?P<name>[a-z][a-z0-9]*(-[a-z0-9]+)*)")
# Arguments that are not called as their options are, or need a value.
_ARGUMENTS = {
    "base-url": "base_urls",
    "force": "force=True",
    "max-wait": "max_wait_s",
    "option": "extra",
    "shortcuts": "learned=True",
    "timeout": "timeout_s",
}
_is_command_line = [False]


def name_options(wanted: bool = True) -> None:
    """Let messages name options of the command line, as they are written, rather than arguments of Python."""
    _is_command_line[0] = wanted


def names_options() -> bool:
    """Return whether messages name options of the command line."""
    return _is_command_line[0]


def as_arguments(message: str) -> str:
    """Return a message with arguments of Python in place of options, such as `max_stories` for `--max-stories`."""
    return _OPTION.sub(_argument, message)


def _argument(match: re.Match[str]) -> str:
    name = match["name"]
    if name is None:
        return match[0]
    if name.startswith("no-"):
        return f"{name[3:].replace('-', '_')}=False"
    return _ARGUMENTS.get(name, name.replace("-", "_"))


def quoted(value: object, most: int = QUOTED) -> str:
    """Return a value from data as messages quote it, cut if it is long: `'box'`, `'bo…`, `['a', 'b']`."""
    text = value
    if isinstance(value, str | bytes):
        text = value[: most + 1]  # so that the rest of a long text costs nothing
    try:
        shown = repr(text)
    except (ValueError, RecursionError):  # a number of thousands of digits, or lists in lists in lists
        return f"a value ({type(value).__name__}) that is too long to show"
    return shown if len(shown) <= most + 2 else f"{shown[: most + 1]}…"


def shorten(text: str, most: int = SHORTENED) -> str:
    """Return what another program said as messages repeat it: in one line, encodable, and cut if it is long."""
    line = " ".join(text[: 4 * most].encode("utf-8", "replace").decode().split())
    return line if len(line) <= most else f"{line[:most]}…"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them, such as `a, b and c`; nothing for none."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


class StoryproofError(Exception):
    """Base of everything storyproof raises on purpose: a user's mistake, or input that cannot be used.

    Example:
        >>> import storyproof
        >>> try:
        ...     storyproof.stream("tomy")
        ... except storyproof.StoryproofError as error:
        ...     print(error)
        unknown benchmark 'tomy'. Did you mean 'tomi'? Known: ...
    """

    exit_code = 2

    def __str__(self) -> str:
        """Return the message; of one that quotes too much, its beginning and its end, which says what to do."""
        message = super().__str__()
        if not names_options():
            message = as_arguments(message)
        if len(message) <= LONGEST:
            return message
        return f"{message[: LONGEST - 400]} … {message[-400:]}"


class ConfigError(StoryproofError):
    """A setting that cannot be honoured."""


class UnknownNameError(ConfigError):
    """A name that is in no table."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"unknown {what} '{name}'.{suggest(name, names)} Known: {', '.join(names)}.")


def suggest(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'tomi'?" with the known word that is nearest, or has these initials; nothing if none is."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=_NEAR)
    close += [name for name in names if "-" in name and word == "".join(part[:1] for part in name.split("-"))]
    return f" Did you mean '{close[0]}'?" if close else ""


class VocabularyError(StoryproofError):
    """A word list that cannot be used."""


class ModelError(StoryproofError):
    """A language model that cannot be reached or used."""


class NoAnswersError(ModelError):
    """A language model that answered nothing at all, so that there is nothing to score."""

    exit_code = 3


class DataError(StoryproofError):
    """A file that cannot be read or written."""


class ParseError(DataError):
    """A line of text that is not in any known form."""


class OutputError(StoryproofError):
    """Standard output cannot be written to."""


class ReaderLeftError(OutputError):
    """The pipe of standard output is closed, as by `head`."""

    exit_code = 141  # as of a program that SIGPIPE ends


class StoppedError(StoryproofError):
    """A user stopped the work, and what was finished is kept."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted; what was finished is kept, and nothing is half-written.")


class NoRulesError(DataError):
    """A family for which no paper gives simple rules, so that the solver `rules` is left out."""


class ProofError(RuntimeError):
    """A benchmark breaks its promise while generating: provers differ, or a story occurs twice; nothing is written."""
