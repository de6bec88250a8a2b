"""Counts what a trial tried and what failed, so that `make torture` can print both for each part."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager


class Trial:
    """One part of the torture tests: many cases, of which none may fail."""

    def __init__(self, part: str):
        self.part = part
        self.tried = 0
        self.failures: list[str] = []

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Count a case. One that raises has failed, and the next ones are still tried."""
        self.tried += 1
        try:
            yield
        except Exception:
            self.failures.append(f"{name}\n{traceback.format_exc(limit=-2)}")

    def assert_nothing_failed(self) -> None:
        """Raise AssertionError with the first failures, or if nothing was tried."""
        assert self.tried, f"{self.part}: nothing was tried"
        shown = "\n".join(self.failures[:10])
        assert not self.failures, f"{self.part}: {len(self.failures)} of {self.tried} failed\n{shown}"
