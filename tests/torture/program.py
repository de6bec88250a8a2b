"""Runs commands in processes of their own, which can be killed or paused at any step of their work.

A step is an operation that changes the file system, or any call of a function. A server process has imported
everything and forks for each command, so that a command takes a fraction of a second.
"""

from __future__ import annotations

import os
import resource
import shlex
import signal
import sys
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 300.0  # that a command may take on a machine that is busy with other things
OPERATIONS, CALLS = "operations", "calls"
WAITS = "time.sleep"  # instead of a path: the process waits for another one
Tree = dict[str, bytes | None]  # files with their contents, and folders
_CHANGES = {
    *("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"),
    *("os.utime", "sqlite3.connect"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PRELOADED = (
    "__main__",
    "aiohttp",
    "altair",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "storyproof.audits.audit",
    "storyproof.cli",
    "storyproof.datasets.process",
    "storyproof.evaluation.evaluate",
    "storyproof.experiments.experiment",
    "storyproof.families.belief.family",
    "storyproof.families.kinship.family",
    "storyproof.reports.audit_sections",
    "storyproof.solvers.neural.solver",
    "storyproof.solvers.neural.train",
    "tests.torture.program",
    "torch._dynamo",
)
_server = get_context("forkserver")
_server.set_forkserver_preload(list(_PRELOADED))


class Ended(NamedTuple):
    """How a command ended: its exit code, what it wrote, and how many steps it took."""

    code: int | None
    out: str
    err: str
    steps: int

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Halt:
    """Where a process stops: before which step, counted from 1; 0 counts steps only.

    Attributes:
        step: Which step.
        kind: Whether operations or calls are counted.
        kills: Whether it is killed there, by itself, or paused.
        on: Which operations count: those on paths that contain this, or `WAITS`.
    """

    step: int
    kind: str = OPERATIONS
    kills: bool = True
    on: str = ""


class Run:
    """A command that was started."""

    def __init__(
        self, command: str, folder: Path, halt: Halt, limit: int | None, around: AbstractContextManager[Any]
    ) -> None:
        self._command = command
        self._signals, signals = _server.Pipe()
        pipes = [_server.Pipe(duplex=False) for _ in range(2)]
        self._pipes = [reader for reader, _ in pipes]
        given = (shlex.split(command), folder, halt, limit, around, signals, *(writer for _, writer in pipes))
        self._process = _server.Process(target=_run, args=given)
        self._process.start()
        for mine in (signals, *(writer for _, writer in pipes)):
            mine.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself or was killed."""
        return not self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()

    def wait_until_paused(self) -> bool:
        """Wait until it is paused; return False if it ended instead."""
        return bool(self._hear() == "paused")

    def resume(self) -> None:
        self._signals.send("go on")

    def wait(self) -> Ended:
        """Wait until it has ended, and all processes that it started."""
        said = [b"", b""]
        end = time.monotonic() + SECONDS
        while open_ones := [pipe for pipe in self._pipes if not pipe.closed]:
            ready = connection.wait(open_ones, end - time.monotonic())
            if not ready:
                self._process.kill()
                raise AssertionError(f"{self._command}: it, or a process that it started, does not end")
            for number, pipe in enumerate(self._pipes):
                if pipe in ready:
                    part = os.read(pipe.fileno(), 1 << 16)
                    said[number] += part
                    if not part:
                        pipe.close()
        self._process.join()
        code, heard = self._process.exitcode, self._hear()
        self._process.close()
        self._signals.close()
        out, err = (text.decode("utf-8", "replace") for text in said)
        return Ended(code, out, err, heard if isinstance(heard, int) else 0)

    def _hear(self) -> Any:
        try:
            return self._signals.recv() if self._signals.poll(SECONDS) else None
        except (EOFError, ConnectionError):
            return None


def start(
    command: str,
    folder: Path,
    halt: Halt = Halt(0),  # noqa: B008
    *,
    limit: int | None = None,
    around: AbstractContextManager[Any] = nullcontext(),  # noqa: B008
) -> Run:
    """Start a command in a folder.

    Args:
        command: Its arguments, as one types them.
        folder: Where it runs; only changes there count as operations.
        halt: Where it stops.
        limit: The most bytes that a file may have; writing more fails, as on a full disk.
        around: Entered in the new process before it goes to the folder, and left when the command has ended.
    """
    return Run(command, folder, halt, limit, around)


def run(command: str, folder: Path, halt: Halt = Halt(0), **how: Any) -> Ended:  # noqa: B008
    """Run a command to its end."""
    return start(command, folder, halt, **how).wait()


def _run(
    arguments: list[str],
    folder: Path,
    halt: Halt,
    limit: int | None,
    around: AbstractContextManager[Any],
    signals: Connection,
    out: Connection,
    err: Connection,
) -> None:
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    out.close()
    err.close()
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.stderr.reconfigure(line_buffering=True, errors="backslashreplace")
    with around:
        os.chdir(folder)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # Python ignores the signal, so writing fails
        from storyproof import cli

        sys.argv = ["storyproof", *arguments]
        _announce_sleep()
        steps = _Steps(halt, signals)
        steps.watch(folder)
        try:
            cli.main()
        finally:
            steps.end()


def _announce_sleep() -> None:
    """Raise the audit event of `time.sleep`, which Python itself does from 3.13 on."""
    if sys.version_info >= (3, 13):
        return
    sleep = time.sleep

    def announced(seconds: Any) -> None:
        sys.audit(WAITS, seconds)
        sleep(seconds)

    time.sleep = announced


class _Steps:
    """Counts the steps of this process, and stops it where it is to stop."""

    def __init__(self, halt: Halt, signals: Connection) -> None:
        self._halt, self._signals, self._count, self._over = halt, signals, 0, False

    def watch(self, folder: Path) -> None:
        if self._halt.kind == CALLS:
            sys.setprofile(lambda frame, event, argument: self._step() if event.endswith("call") else None)
        else:
            inside, on = str(folder), self._halt.on
            sys.addaudithook(lambda event, details: self._step() if _changes(event, details, inside, on) else None)

    def end(self) -> None:
        self._over = True
        sys.setprofile(None)
        with suppress(OSError):
            sys.stdout.flush()
        self._signals.send(self._count)

    def _step(self) -> None:
        if self._over:
            return
        self._count += 1
        if self._count != self._halt.step:
            return
        if self._halt.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        self._signals.send("paused")
        self._signals.recv()


def _changes(event: str, details: tuple[Any, ...], folder: str, on: str) -> bool:
    """Return whether an audit event is an operation that may change something in a folder, on a path with some text."""
    if event in ("fcntl.flock", WAITS):
        return on == (WAITS if event == WAITS else "")
    if event == "open":
        path, mode, flags = details
        if not (flags & _WRITING) and not (mode and set(mode) & set("wax+")):
            return False
    elif event in _CHANGES:
        path = details[0]
    else:
        return False
    if isinstance(path, int):
        return False
    path = os.fsdecode(path)
    return on in path and (not path.startswith("/") or path.startswith(folder))


def tree(folder: Path) -> Tree:
    """Return all files below a folder with their contents, and all folders; hidden ones as well."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")} if folder.is_dir() else {}
    return {name: path.read_bytes() if path.is_file() else None for name, path in sorted(found.items())}
