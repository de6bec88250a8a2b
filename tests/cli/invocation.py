"""Ways to run the command line that the tests of all commands share: in this process, or as the installed program."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner, Result

from storyproof import cli

EXECUTABLE = Path(sys.executable).with_name("storyproof")


class Ended(NamedTuple):
    """How the program ended: its exit code, and what it wrote to standard output and to standard error."""

    code: object
    out: str
    err: str


# What the fixtures of these names are.
Program = Callable[[str], Ended]
Refuse = Callable[[str], str]


def run(*arguments: object, typed: str | None = None) -> Result:
    """Run a command given as arguments; errors are in the result, not yet made into what a user sees."""
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], input=typed)


def run_line(command: str) -> Result:
    """Run a command as one types it in a shell."""
    return run(*shlex.split(command))


def execute(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the installed program in a process of its own."""
    command = [EXECUTABLE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
