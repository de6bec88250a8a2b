"""Runs tests of one mutant after another, for `tests/mutants.py`, in a copy of the tree.

Each run is a fork of a process that has imported the libraries, but nothing of storyproof: the code under test is
imported anew from the copy, where a mutant stands in place of its module. Requests and results are lines of JSON on
standard input and output.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

import pytest

MEMORY = 8 << 30  # bytes that a mutant may use
OPTIONS = (
    *("-x", "-q", "-m", "not slow", "--assert=plain", "--hypothesis-profile=mutants", "--basetemp=scratch"),
    *(f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "cov")),
)


class QuickestFirst:
    """A plugin that begins with the tests that are likely to fail soon, and notes how long each takes."""

    def __init__(self, order: dict[str, float]) -> None:
        self._order = order
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.failed = self.reason = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._order.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed, self.reason = report.nodeid, report.longreprtext[-2000:]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed, self.reason = report.nodeid, report.longreprtext[-2000:]


def run_tests(sender: Connection, tests: list[str], cpu_s: float, order: dict[str, float]) -> None:
    """Run tests in a process of their own, and send what came of it."""
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    if cpu_s:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    plugin = QuickestFirst(order)
    code = int(pytest.main([*OPTIONS, *tests], plugins=[plugin]))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    sender.send(
        {
            "code": code,
            "cpu_s": sum(each.ru_utime + each.ru_stime for each in used),
            "seconds": plugin.seconds,
            "failed": plugin.failed,
            "reason": plugin.reason,
            "modules": [name for name in sys.modules if not name.startswith(("storyproof", "tests", "__main__"))],
        }
    )
    sender.close()
    os._exit(0)


def answer(
    tests: list[str],
    order: dict[str, float],
    cpu_s: float = 0,
    wall_s: float | None = None,
    modules: Sequence[str] = (),
) -> dict[str, Any]:
    """Run tests; without limits of time they are unchanged, and are measured."""
    for name in modules:
        if name not in sys.modules:
            with suppress(BaseException):
                import_module(name)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=run_tests, args=(sender, tests, cpu_s, order))
    process.start()
    sender.close()
    found: dict[str, Any] | None = None
    with suppress(EOFError):
        if receiver.poll(wall_s):
            found = receiver.recv()
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    receiver.close()
    if found is None:  # killed by a limit, or crashed
        timed_out = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        return {"code": 1, "timed_out": timed_out, "failed": "", "reason": f"exit status {process.exitcode}"}
    return {**found, "timed_out": False}


def main() -> None:
    """Answer requests until there are no more."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print is not an answer
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
