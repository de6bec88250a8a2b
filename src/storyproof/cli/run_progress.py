"""How a run of a language model goes, on a terminal: rate, time left, running accuracy, failures. Silent in a pipe."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import typer


class RunProgress:
    """Shows progress, and turns the first Ctrl-C into an end that waits for what is on its way."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._done = self._right = self._failed = 0
        self._stop = False
        self._before: Any = None

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """A run begins."""
        self._done = self._right = self._failed = 0
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(f"{model} {prompt}", total=total(), state="")

    def answered(self, right: bool | None) -> None:
        """A question was answered, or failed."""
        self._done += 1
        self._right += right is True
        self._failed += right is None
        if self._bar is not None:
            task = self._bar.tasks[0]
            answered = self._done - self._failed
            state = f"{task.speed or 0:.1f}/s, {100 * self._right / max(answered, 1):.1f}% right"
            if self._failed:
                state += f", {self._failed:,} failed"
            self._bar.update(self._task, advance=1, state=state)

    def stopping(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stop

    def end(self) -> None:
        """The run is over."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True
        typer.echo("storyproof: waiting for requests in flight; press Ctrl-C again to stop at once.", err=True)
