"""CPU time and memory, of this process and of commands."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Measure the CPU time of all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def run_command(command: list[str]) -> tuple[float, float, float]:
    """Run a command; gives CPU seconds, wall seconds and peak memory in MiB, its children included."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024
