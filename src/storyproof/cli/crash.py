"""What an exception that nobody expected leaves: one sentence, and a report that can be attached to an issue.

Reports are made public, so they contain no key or password, nor what a database was sent. Those of studies say of
exceptions only their kind: a message may quote what a participant wrote.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from storyproof import __version__
from storyproof.cli.safe_terminal import complain, echo_text
from storyproof.errors import quoted
from storyproof.io.redaction import HIDDEN, Secrets

EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h; 1 means findings and 2 a user's mistake
DEBUG = "STORYPROOF_DEBUG"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS(?!_FILE)|CREDENTIAL|AUTH", re.IGNORECASE)
_KEY_VARIABLE = "--api-key-env"  # the option that names another one
_URL_PASSWORD = re.compile(r"(\w://)[^\s\"'<>]*@")
_NAMED_PASSWORD = re.compile(r"((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key)=)[^\s&;,\"')]+", re.IGNORECASE)
_SQL_VALUES = re.compile(r"\[parameters: .*?\](?=\s|\\n|$)|(?<=DETAIL:)[^\n]*", re.DOTALL)
_PACKAGES = ("numpy", "pyarrow", "pyyaml", "rich", "typer", "torch", "safetensors", "scikit-learn")


def report_crash(error: BaseException) -> int:
    """Print that an exception is a bug and where its report is; return the exit code."""
    show_traceback(error)
    trace = _trace(error)
    message = "" if _is_about_people() else f": {error}"
    what = " ".join(_hide(f"{type(error).__name__}{message}").split())[:200].rstrip(" .:")
    path = _write_report(trace)
    if path is None:
        where = f"this traceback, the command and the output of {quoted('storyproof --version')}"
        if not _is_debugging():
            echo_text(trace, err=True)
    else:
        where = f"{path}, which has the command, the versions and the traceback, and if possible the input"
    complain(f"internal error ({what}); please open an issue and attach {where}.")
    return EXIT_CODE


def show_traceback(error: BaseException) -> None:
    """Print the traceback of any error if STORYPROOF_DEBUG is set."""
    if _is_debugging():
        echo_text(_hide("".join(traceback.format_exception(error))), err=True)


def _is_debugging() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def _write_report(trace: str) -> Path | None:
    """Write the report to the folder for temporary files; return None if that cannot be done."""
    lines = [
        f"command: {_command()}",
        f"storyproof: {__version__}",
        f"python: {platform.python_version()} ({platform.python_implementation()})",
        f"system: {platform.platform()}",
        f"packages: {', '.join(_versions())}",
        "",
        trace,
    ]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="storyproof-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write("\n".join(lines))
    except OSError:
        return None
    return Path(file.name)


def _command() -> str:
    """Return the command line without passwords in addresses and values of options that are named as secrets."""
    shown = [re.sub(r"^(--?)?([^=]+)=.*", rf"\1\2={HIDDEN}", each) if _is_secret(each) else each for each in sys.argv]
    return _hide(shlex.join(shown))


def _is_secret(argument: str) -> bool:
    name, equals, _ = argument.partition("=")
    return bool(equals) and not name.startswith(_KEY_VARIABLE) and _SECRET_NAME.search(name) is not None


def _hide(text: str) -> str:
    """Return a text without the keys and passwords of the environment and of addresses, and without values of SQL."""
    options = [each.replace("_", "-") if each.startswith("--") and "=" not in each else each for each in sys.argv]
    named = [after for before, after in zip(options, sys.argv[1:], strict=False) if before == _KEY_VARIABLE]
    given = [each.partition("=") for each in sys.argv]
    named += [value for name, _, value in given if name.replace("_", "-") == _KEY_VARIABLE]
    variables = [name for name in os.environ if _SECRET_NAME.search(name)] + named
    passwords = [
        password
        for each in [*sys.argv, *os.environ.values()]
        for end in (r"[^\s/@]+", r"\S+")  # a slash or an at sign in a password may be written plainly
        for password in re.findall(rf"://[^\s/@:]*:({end})@", each)
    ]
    text = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", _SQL_VALUES.sub(HIDDEN, text))
    text = _NAMED_PASSWORD.sub(rf"\1{HIDDEN}", text)
    return Secrets([*(os.environ.get(name) for name in variables), *passwords]).hide(text, 8)


def _is_about_people() -> bool:
    """Return whether the command handles what participants of a study sent."""
    return "study" in sys.argv[1:2]


def _trace(error: BaseException) -> str:
    """Return the traceback of an error and of those that it came from."""
    if not _is_about_people():
        return _hide("".join(traceback.format_exception(error)))
    parts, seen = list[str](), set[int]()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = "".join(traceback.format_tb(current.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{frames}{type(current).__qualname__} (message left out)\n")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(reversed(parts))


def _versions() -> list[str]:
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return versions
