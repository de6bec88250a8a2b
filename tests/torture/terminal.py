"""Programs on a pseudo-terminal, and what of their output would act on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence

# What rich writes on a terminal: colours, lines that are cleared, and a cursor that is moved up or hidden.
_OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[[12]K|\x1b\[1A|\x1b\[\?25[lh]|\r")
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SIZE = (24, 100)


def run_on_terminal(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, bytes]:
    """Run a command on a pseudo-terminal; return its exit code and what it wrote there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
    given = dict(environment)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=given) as process:
        os.close(slave)
        written = b"".join(_pieces(master))
        os.close(master)
    return process.returncode, written


def _pieces(master: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # Linux reports the end so
            return
        if not piece:
            return
        yield piece


def hidden_in(text: str, *, styled: bool) -> list[str]:
    """Return the characters that would act on a terminal, besides styles where they may be."""
    return _HIDDEN.findall(_OURS.sub("", text) if styled else text)
