"""Throughput per core of generating and verifying `tomi` in shards, by worker processes and on Ray.

    python -m benchmarks.cluster [--stories N] [--json FILE]

Prints one line of JSON per engine. CPU seconds are those of the work itself; what the driver and, on Ray, the services
of the cluster take besides is listed apart.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import storyproof
from storyproof.engines import make_engine

STORIES = 983_040
SHARD = 61_440
PLANNED = 10_000_000_008  # stories
CORE_HOUR = 0.04  # dollars, an assumption


class Timed:
    """Work that also returns how many CPU seconds it took."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work

    def __call__(self, item: Any) -> tuple[Any, float]:
        start = time.process_time()
        return self._work(item), time.process_time() - start


class TimedEngine:
    """An engine that adds up the CPU seconds of the work."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.cpu_s = engine, 0.0

    @property
    def workers(self) -> int:
        return int(self._engine.workers)

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for place, (found, cpu_s) in self._engine.run(Timed(work), items):
            self.cpu_s += cpu_s
            yield place, found


def services_cpu_s() -> float:
    """Return the CPU seconds of the processes that this one has started, such as Ray's services, without workers."""
    found = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def measure(name: str, stories: int) -> dict[str, Any]:
    with TemporaryDirectory() as folder, make_engine(name, workers=2) as engine:
        list(engine.run(abs, range(8)))  # starts the workers of Ray
        figures: dict[str, Any] = {"engine": name, "stories": stories}
        before = services_cpu_s()
        for verb in ("generate", "verify"):
            timed = TimedEngine(engine)
            start, driver = time.monotonic(), time.process_time()
            if verb == "generate":
                storyproof.generate(
                    "tomi", train=stories, seed=7, out=f"{folder}/tomi", engine=timed, shard_stories=SHARD
                )
            else:
                assert storyproof.verify(f"{folder}/tomi", engine=timed).ok
            figures[verb] = {
                "stories_per_cpu_s": round(stories / timed.cpu_s),
                "work_cpu_s": round(timed.cpu_s, 2),
                "driver_cpu_s": round(time.process_time() - driver, 2),
                "wall_s": round(time.monotonic() - start, 2),
            }
        if name != "processes":
            figures["services_cpu_s"] = round(services_cpu_s() - before, 2)
        figures["bytes_per_story"] = round(
            sum(path.stat().st_size for path in Path(folder, "tomi").iterdir()) / stories
        )
        return figures


def flat(found: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return figures by name, with what follows from them for ten billion stories."""
    figures: dict[str, float] = {}
    for name, each in found.items():
        for verb in ("generate", "verify"):
            figures[f"{name} {verb}"] = each[verb]["stories_per_cpu_s"]
        figures[f"{name} driver"] = each["generate"]["driver_cpu_s"] + each["verify"]["driver_cpu_s"]
        figures[f"{name} bytes"] = each["bytes_per_story"]
    figures["services"] = found["ray"]["services_cpu_s"]
    for verb in ("generate", "verify"):
        hours = PLANNED / figures[f"ray {verb}"] / 3600
        figures |= {f"{verb} hours": hours, f"{verb} minutes": hours / 64 * 60, f"{verb} dollars": hours * CORE_HOUR}
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=STORIES)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    measured = {}
    for engine_name in ("processes", "ray"):
        measured[engine_name] = measure(engine_name, asked.stories)
        print(json.dumps(measured[engine_name]), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(flat(measured), indent=1) + "\n")
