"""Starts and stops the fake server for tests and benchmarks."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SECONDS = 300.0  # that a condition may take on a machine that is busy with other things
_SCRIPT = Path(__file__).with_name("fake_server.py")


class FakeServer:
    """A fake server in a process of its own, on loopback."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        # Bound but not listening: nobody else gets the port while the server is down, and connections are refused.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self.port: int = self._reserved.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start, or start again at the same address; return when it listens."""
        command = [sys.executable, str(_SCRIPT), "--port", str(self.port), "--settings", json.dumps(self.settings)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        listening = self._process.stdout.readline()
        assert int(listening or 0) == self.port, "the fake server did not start"

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self.wait()

    def wait(self) -> None:
        """Wait until the process has ended by itself."""
        assert self._process is not None
        self._process.wait(timeout=SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._call("/asked"))
        return found

    def behave(self, **settings: Any) -> None:
        self.settings = settings
        self._call("/mode", json.dumps(settings).encode())

    def _call(self, path: str, data: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + path, data=data, timeout=SECONDS) as response:
            return bytes(response.read())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._reserved.close()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds; fail if it does not for long."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread; it has ended when this ends, and what it raises is raised here."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        yield
        done.result()
