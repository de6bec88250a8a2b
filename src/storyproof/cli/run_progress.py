"""Progress of a run of a language model: rate, time left, running accuracy, failures; and an end by Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from storyproof.cli.progress import ProgressLines, make_bar
from storyproof.cli.safe_terminal import complain, is_quiet, remark
from storyproof.runtime.progress import listening
from storyproof.solvers.llm.messages import RETRIES


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
