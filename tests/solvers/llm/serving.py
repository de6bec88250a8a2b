"""Starts and stops the fake server for tests and benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_SCRIPT = Path(__file__).with_name("fake_server.py")


class FakeServer:
    """A fake server in a process of its own, on loopback."""

    def __init__(self, **settings: Any) -> None:
        self.settings, self.port = settings, 0
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start, or start again at the same address."""
        command = [sys.executable, str(_SCRIPT), "--port", str(self.port), "--settings", json.dumps(self.settings)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._call("/asked"))
        return found

    def behave(self, **settings: Any) -> None:
        self.settings = settings
        self._call("/mode", json.dumps(settings).encode())

    def _call(self, path: str, data: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + path, data=data, timeout=10) as response:
            return bytes(response.read())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
