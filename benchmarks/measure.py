"""CPU time and memory, of this process and of commands."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# A process's peak counts what it was forked from, so a small one stands between this one and the command.
_BETWEEN = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""


def say(what: str, figure: str, goal: str = "") -> None:
    """Print a figure."""
    print(f"{what:<62}{figure:>18}   {goal}", flush=True)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Measure the CPU time of all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def run_command(command: list[str]) -> tuple[float, float, float]:
    """Run a command; gives CPU seconds, wall seconds and peak memory in MiB, its children included."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", _BETWEEN, *command], stdout=subprocess.PIPE, text=True, check=True)
    code, cpu, peak = json.loads(done.stdout)
    if code:
        raise SystemExit(f"failed: {' '.join(command)}")
    return cpu, time.perf_counter() - start, peak


class Record:
    """The figures of a benchmark by name, for docs/figures."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}

    def note(self, name: str, value: float) -> None:
        """Remember a figure.

        Raises:
            ValueError: If there is one of this name.
        """
        if name in self._values:
            raise ValueError(f"there are two figures of the name '{name}'")
        self._values[name] = value

    def say(self, what: str, figure: str, goal: str = "", **figures: float) -> None:
        """Print a line, and remember its figures by name."""
        for name, value in figures.items():
            self.note(name, value)
        say(what, figure, goal)

    def write(self, path: str | None) -> None:
        """Write all figures to a file, if there is a path."""
        if path is not None:
            Path(path).write_text(json.dumps(self._values, indent=1) + "\n", encoding="utf-8")
