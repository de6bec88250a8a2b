"""Progress of a run of a language model: rate, time left, running accuracy, failures; and an end by Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from storyproof.cli.progress import ProgressLines, make_bar
from storyproof.cli.screen import complain


class RunProgress:
    """Shows progress, and turns the first Ctrl-C into an end that waits for what is on its way."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._lines: ProgressLines | None = None
        self._done = self._right = self._failed = 0
        self._stop = False
        self._before: Any = None

    def begin(self, model: str, prompt: str, total: Callable[[], int]) -> None:
        """A run begins."""
        self._done = self._right = self._failed = 0
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        title, count = f"{model} {prompt}".strip(), total()
        if not sys.stderr.isatty():
            complain(f"{title}: {count:,} questions")
            self._lines = ProgressLines(title, count)
            return
        self._bar = make_bar()
        self._bar.start()
        self._task = self._bar.add_task(title, total=count, state="")

    def answered(self, right: bool | None) -> None:
        """A question was answered, or failed."""
        self._done += 1
        self._right += right is True
        self._failed += right is None
        if self._lines is not None:
            self._lines.advance(1, self._state())
        if self._bar is not None:
            self._bar.update(self._task, advance=1, state=f"{self._bar.tasks[0].speed or 0:.1f}/s, {self._state()}")

    def stopping(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stop

    def end(self) -> None:
        """The run is over."""
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
        return ", ".join([*right, *([f"{self._failed:,} failed"] if self._failed else [])])

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True
        complain("waiting for requests in flight; press Ctrl-C again to stop at once.")
