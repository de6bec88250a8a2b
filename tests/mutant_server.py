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
from collections import Counter
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

    def __init__(self, seconds: dict[str, float], kills: Counter[str]) -> None:
        self._known, self._kills = seconds, kills
        self.seconds: Counter[str] = Counter()
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._known:
            items.sort(key=lambda item: self._known.get(item.nodeid, 0) / (self._kills[item.nodeid] + 0.5))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed = report.nodeid


def run_tests(
    sender: Connection, tests: list[str], cpu_s: float, seconds: dict[str, float], kills: Counter[str]
) -> None:
    """Run tests in a process of their own, and send what came of it."""
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    if cpu_s:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    plugin = QuickestFirst(seconds, kills)
    code = int(pytest.main([*OPTIONS, *tests], plugins=[plugin]))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    sender.send(
        {
            "code": code,
            "cpu_s": sum(each.ru_utime + each.ru_stime for each in used),
            "seconds": plugin.seconds,
            "failed": plugin.failed,
            "modules": [name for name in sys.modules if not name.startswith(("storyproof", "tests", "__main__"))],
        }
    )
    sender.close()
    os._exit(0)


class Server:
    """Remembers how long tests take and which of them noticed mutants."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._kills: Counter[str] = Counter()

    def answer(self, tests: list[str], cpu_s: float, wall_s: float) -> dict[str, Any]:
        """Run tests; without a limit they are unchanged, and are measured."""
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        known = self._seconds if cpu_s else {}
        process = context.Process(target=run_tests, args=(sender, tests, cpu_s, known, self._kills))
        process.start()
        sender.close()
        found: dict[str, Any] | None = None
        with suppress(EOFError):
            if receiver.poll(wall_s or None):
                found = receiver.recv()
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        receiver.close()
        if found is None:  # killed by a limit, or crashed
            return {"code": 1, "timed_out": process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)}
        self._kills[found["failed"]] += 1
        if not cpu_s:
            self._seconds |= found["seconds"]
            for name in found["modules"]:
                with suppress(BaseException):
                    import_module(name)
        return {"code": found["code"], "cpu_s": found["cpu_s"], "timed_out": False}


def main() -> None:
    """Answer requests until there are no more."""
    server, replies = Server(), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print is not an answer
    for line in sys.stdin:
        print(json.dumps(server.answer(**json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
