"""Progress of long work: a bar on a terminal; elsewhere a line now and then, so that a log shows that it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from storyproof.cli.screen import complain, console

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY_S = 30.0


class ProgressLines:
    """Reports progress in lines on standard error, about two in a minute.

    Args:
        what: What is counted, or whose work it is.
        total: How many items there are, if that is known.
        clock: Returns seconds.
    """

    def __init__(self, what: str, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._done = 0
        self._began = self._reported = clock()

    def advance(self, done: int, state: str = "") -> None:
        """Count items that are done, and report if it is time for it; `state` is what else is known."""
        self._done += done
        now = self._clock()
        if now - self._reported >= _EVERY_S:
            self._reported = now
            complain(f"{self._count()}, {self._rate(now)}{f'; {state}' if state else ''}")

    def end(self, state: str = "") -> None:
        """Report how much was done in all."""
        complain(f"{self._count()} in {self._clock() - self._began:.0f} s{f'; {state}' if state else ''}")

    def _count(self) -> str:
        of = "" if self._total is None else f" of {self._total:,}"
        return f"{self._what}: {self._done:,}{of} done"

    def _rate(self, now: float) -> str:
        """Return how fast it goes, and how long it will take if that can be told."""
        rate = self._done / max(now - self._began, 1e-9)
        if self._total is None or not self._done:
            return f"{now - self._began:.0f} s so far"
        left_s = (self._total - self._done) / rate
        shown = f"{left_s / 60:.0f} min" if left_s >= 120 else f"{left_s:.0f} s"
        return f"{rate:.1f}/s, about {shown} left"


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of items done since the last call."""
    if not sys.stderr.isatty():
        yield ProgressLines(what, total).advance
        return
    with make_bar() as bar:
        task = bar.add_task(what, total=total, state="")
        yield lambda done: bar.advance(task, done)


def make_bar() -> Progress:
    """Return a bar for standard error; it shows the field `state` of its task, and vanishes at the end."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),  # shows that it goes on while a single item takes long
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    return Progress(*columns, console=console(err=True), transient=True)
