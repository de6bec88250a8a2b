"""What an exception that nobody expected leaves: one sentence, and a report that can be attached to an issue."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from storyproof import __version__
from storyproof.cli.screen import complain, echo_text
from storyproof.errors import quoted

EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h; 1 means findings and 2 a user's mistake
DEBUG = "STORYPROOF_DEBUG"
_PACKAGES = ("numpy", "pyarrow", "pyyaml", "rich", "typer", "torch", "safetensors", "scikit-learn")


def report_crash(error: BaseException) -> int:
    """Print that an exception is a bug and where its report is; return the exit code."""
    show_traceback(error)
    trace = "".join(traceback.format_exception(error))
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200].rstrip(" .:")
    path = _write_report(trace)
    if path is None:
        where = f"this traceback, the command and the output of {quoted('storyproof --version')}"
        if not _is_debugging():
            echo_text(trace, err=True)
    else:
        where = f"{path}, which has the command, the versions and the traceback, and if possible the input"
    complain(f"this is a bug of storyproof ({what}); please open an issue and attach {where}.")
    return EXIT_CODE


def show_traceback(error: BaseException) -> None:
    """Print the traceback of any error if STORYPROOF_DEBUG is set."""
    if _is_debugging():
        echo_text("".join(traceback.format_exception(error)), err=True)


def _is_debugging() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def _write_report(trace: str) -> Path | None:
    """Write the report to the folder for temporary files; return None if that cannot be done."""
    lines = [
        f"command: {shlex.join(sys.argv)}",
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


def _versions() -> list[str]:
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
