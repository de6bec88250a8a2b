"""What the harness costs: `python -m benchmarks.llm`, side by side with a bare loop.

Without `--base-url` against a fake server with 20 ms latency in a process of its own; with it, against a real one, the
same prompts by a bare asynchronous loop, by us, and (if they are installed) by other harnesses' own commands.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import aiohttp

from storyproof.datasets.generate import generate
from storyproof.example import Example
from storyproof.solvers.llm.api import body_of, read_reply
from storyproof.solvers.llm.language_model import Session
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.openai import OpenAI
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompt import load_prompt
from storyproof.solvers.llm.store import Store
from tests.solvers.llm.serving import FakeServer


def say(what: str, figure: str, goal: str = "") -> None:
    print(f"{what:<66}{figure:>18}   {goal}", flush=True)


def examples(count: int) -> Iterator[Example]:
    """Give so many different questions, six to a story."""
    table = generate("tomi", test=198, seed=1)
    rows = [Example.from_row(row) for row in table.to_pylist()]
    for number in range(count):
        row = rows[number % len(rows)]
        again = number // len(rows)
        yield replace(row, story=f"{row.story}\nPhone {again} rang.") if again else row


def asked(count: int) -> list[Request]:
    prompt = load_prompt("zero-shot")
    return [request for each in examples(count) if (request := prompt.request(each, [])) is not None]


def bare(url: str, model: str, requests: list[Request], in_flight: int) -> tuple[float, float]:
    """The same requests from a bare loop: nothing stored, nothing retried; wall and CPU seconds."""
    bodies = [json.dumps(body_of(model, ModelOptions(), request)).encode() for request in requests]

    async def work() -> None:
        source = iter(bodies)

        async def worker(session: aiohttp.ClientSession) -> None:
            for body in source:
                async with session.post(f"{url}/chat/completions", data=body) as response:
                    read_reply(await response.read(), 0.0)

        headers = {"Content-Type": "application/json"}
        timeout = aiohttp.ClientTimeout(total=3600)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as session:
            await asyncio.gather(*(worker(session) for _ in range(in_flight)))

    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(work())
    return time.perf_counter() - wall, time.process_time() - cpu


def ours(url: str, model: str, count: int, in_flight: int, folder: Path) -> tuple[float, float, dict[str, object]]:
    """The same by storyproof, every reply stored; wall and CPU seconds, data and prompts included."""
    backend = OpenAI(model, ModelOptions(base_urls=(url,), concurrency=in_flight, timeout_s=3600))
    rows = list(examples(count))
    with tempfile.TemporaryDirectory(dir=folder) as own, Store(Path(own) / "replies.sqlite") as store:
        run = Session(lambda: rows, load_prompt("zero-shot"), backend, store)
        wall, cpu = time.perf_counter(), time.process_time()
        run.ask()
        spent = time.perf_counter() - wall, time.process_time() - cpu
        traffic = run.traffic.as_dict()
        if len(store) + traffic["failed"] != count:  # a random model says nothing now and then, which is a failure
            raise SystemExit(f"{count - len(store) - traffic['failed']} of {count} replies are missing")
    return (*spent, traffic)


def requests_a_second(folder: Path, count: int) -> None:
    with FakeServer(latency_s=0.02) as server:
        bare(server.url, "fake", asked(2000), 256)
        wall, cpu = bare(server.url, "fake", asked(count), 256)
        say(
            f"bare loop, {count:,} requests, 256 in flight, 20 ms",
            f"{count / wall:,.0f} /s",
            f"{count / cpu:,.0f} /CPU s",
        )
        wall, cpu, _ = ours(server.url, "fake", count, 256, folder)
        say("storyproof, every reply stored", f"{count / wall:,.0f} /s", f"goal 1,500; {count / cpu:,.0f} /CPU s")


def memory(folder: Path) -> None:
    """Peak memory of whole evaluations, by a function that answers at once."""
    (folder / "model.py").write_text("def answer(text):\n    return 'the box'\n")
    code = (
        "import sys, resource, storyproof\n"
        "storyproof.evaluate(sys.argv[1], sys.argv[2], output_dir=sys.argv[3])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    for stories in (168, 16_668, 166_668):
        data = folder / f"tomi-{stories}"
        generate("tomi", test=stories, seed=1, out=data)
        command = [
            sys.executable,
            "-c",
            code,
            f"{folder / 'model.py'}:answer",
            str(data),
            str(folder / f"out-{stories}"),
        ]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        spent = time.perf_counter() - start
        say(
            f"peak memory, {6 * stories:,} examples",
            f"{int(done.stdout) / 1024:,.0f} MiB",
            f"{6 * stories / spent:,.0f} /s",
        )


def real_server(url: str, model: str, count: int, in_flight: int, folder: Path, rounds: int) -> None:
    """Wall time on a real server, in turns, so that neither has the warmer cache or the quieter machine."""
    requests = asked(count)
    bare(url, model, requests[: 4 * in_flight], in_flight)
    loops, harness = [], []
    for _ in range(rounds):
        loops.append(bare(url, model, requests, in_flight))
        harness.append(ours(url, model, count, in_flight, folder))
    traffic = harness[-1][2]
    for name, found in (("bare loop", loops), ("storyproof", harness)):
        walls, cpu = sorted(each[0] for each in found), median(each[1] for each in found)
        say(
            f"{name}, {count:,} prompts, {in_flight} in flight, median of {rounds}",
            f"{median(walls):.1f} s",
            f"{walls[0]:.1f} to {walls[-1]:.1f}; {1e6 * cpu / count:,.0f} µs CPU a request",
        )
    ratio = median(each[0] for each in harness) / median(each[0] for each in loops)
    say("ratio of the medians", f"{ratio:.3f}", "goal 1.05")
    say("shared by a prompt with the one before", f"{traffic['shared_prefix']:.0%}", f"failed {traffic['failed']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="a real server")
    parser.add_argument("--model", default="model")
    parser.add_argument("--prompts", type=int, default=1200)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5, help="how often both are measured, in turns")
    parser.add_argument("--memory", action="store_true", help="also measure memory, up to a million examples")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.base_url:
            real_server(chosen.base_url, chosen.model, chosen.prompts, chosen.in_flight, Path(folder), chosen.rounds)
            return
        requests_a_second(Path(folder), 20_000)
        if chosen.memory:
            memory(Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say("peak memory of this benchmark", f"{peak:,.0f} MiB")


if __name__ == "__main__":
    main()
