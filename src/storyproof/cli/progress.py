"""Progress of long work: a bar on a terminal; elsewhere a line now and then, so that a log shows that it goes on.

Both show what the work itself counts and what its parts report (`storyproof.runtime.progress`): the steps of an epoch,
the bytes of a download, requests that are sent again. `--quiet` shows neither.

A run of a language model also shows rate, time left, running accuracy and failures, and ends by Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from storyproof.cli.safe_terminal import complain, console, is_quiet, remark
from storyproof.runtime.progress import RETRIES, listening

if TYPE_CHECKING:
    from rich.progress import Progress


EVERY = "STORYPROOF_PROGRESS_S"  # the environment variable with the seconds between two lines
_EVERY_S = 30.0


def seconds_between_lines() -> float:
    """Return how often a line is printed where there is no terminal."""
    try:
        return max(0.0, float(os.environ.get(EVERY, "")))
    except ValueError:
        return _EVERY_S


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
        self._part = ""
        self._began = self._reported = clock()

    def advance(self, done: int, state: str = "") -> None:
        """Count items that are done, and report if it is time for it; `state` is what else is known."""
        self._done += done
        self._part = ""
        self._report(state)

    def note(self, part: str, done: int, total: int | None) -> None:
        """Take note how far a part of the next item is, and report if it is time for it."""
        self._part = f"{part} {done:,}" + ("" if total is None else f" of {total:,}")
        self._report("")

    def end(self, state: str = "") -> None:
        """Report how much was done in all."""
        remark(f"{self._count()} in {self._clock() - self._began:.0f} s{f'; {state}' if state else ''}")

    def _report(self, state: str) -> None:
        now = self._clock()
        if now - self._reported < seconds_between_lines():
            return
        self._reported = now
        parts = "; ".join(each for each in (self._part, state) if each)
        remark(f"{self._count()}, {self._rate(now)}{f'; {parts}' if parts else ''}")

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


class _Bars:
    """A bar for the work, and one below it for what its parts report."""

    def __init__(self, bar: Progress, what: str, total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task(what, total=total, state="")
        self._parts: dict[str, Any] = {}

    def advance(self, done: int) -> None:
        self._bar.advance(self._task, done)

    def note(self, part: str, done: int, total: int | None) -> None:
        if part not in self._parts:
            self._parts[part] = self._bar.add_task(part, total=total, state="")
        self._bar.update(self._parts[part], completed=done, total=total)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of items done since the last call."""
    if is_quiet():
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        lines = ProgressLines(what, total)
        with listening(lines.note):
            yield lines.advance
        return
    with make_bar() as bar:
        bars = _Bars(bar, what, total)
        with listening(bars.note):
            yield bars.advance


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


class RunProgress:
    """Shows progress, and turns the first Ctrl-C into an end that waits for what is on its way."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._lines: ProgressLines | None = None
        self._done = self._right = self._failed = self._retries = 0
        self._heard = ExitStack()
        self._stop = False
        self._before: Any = None

    @contextmanager
    def running(self, model: str) -> Iterator[None]:
        """Show on a terminal that a model is loaded and the data are read, until its run begins."""
        try:
            if not is_quiet() and sys.stderr.isatty():
                self._start_bar(f"{model}: preparing")
            yield
        finally:
            self.end()

    def _start_bar(self, title: str) -> None:
        self._bar = make_bar()
        self._bar.start()
        self._task = self._bar.add_task(title, total=None, state="")

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """A run begins."""
        self._done = self._right = self._failed = self._retries = 0
        self._heard.enter_context(listening(self._hear))
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        title, count = f"{model} {prompt}".strip(), total()
        if is_quiet():
            return
        if not sys.stderr.isatty():
            remark(f"{title}: {count:,} questions")
            self._lines = ProgressLines(title, count)
            return
        if self._bar is None:
            self._start_bar(title)
        self._bar.reset(self._task, description=title, total=count, state="")

    def answered(self, right: bool | None) -> None:
        """A question was answered, or failed."""
        self._done += 1
        self._right += right is True
        self._failed += right is None
        self._show(1)

    def _hear(self, part: str, done: int, total: int | None) -> None:
        """Take note of requests that are sent again; while a server is down nothing else happens."""
        if part == RETRIES:
            self._retries = done
            self._show(0)

    def _show(self, advance: int) -> None:
        if self._lines is not None:
            self._lines.advance(advance, self._state())
        if self._bar is not None:
            speed = f"{self._bar.tasks[0].speed or 0:.1f}/s"
            self._bar.update(self._task, advance=advance, state=f"{speed}, {self._state()}")

    def stopping(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stop

    def end(self) -> None:
        """The run is over."""
        self._heard.close()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if self._lines is not None:
            if self._done:
                self._lines.end(self._state())
            self._lines = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _state(self) -> str:
        answered = self._done - self._failed
        right = [f"{100 * self._right / answered:.1f}% right"] if answered else []
        failed = [f"{self._failed:,} failed"] if self._failed else []
        retries = [f"{self._retries:,} {'retry' if self._retries == 1 else 'retries'}"] if self._retries else []
        return ", ".join([*right, *failed, *retries])

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True
        complain("waiting for requests in flight; press Ctrl-C again to stop at once.")
