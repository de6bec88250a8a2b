"""How fast the explorer answers a change of dials under 20 clients: `python -m benchmarks.explorer`.

The server runs as users run it, in a process of its own. Each client is a thread with its own connection that turns a
dial, waits for the story, looks at it for a while (a second on average), and turns the next one. A second measurement
lets all clients turn dials without a pause, so that 20 requests are always waiting: it shows how many stories per
second one server can make.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

CLIENTS = 20
GOAL_MS = 200.0
LOOK_S = 2.0  # at most, between two turns of a dial
DIALS: dict[str, list[dict[str, object]]] = {
    "tomi": [{}, {"disjoint": "agents"}, {"disjoint": "rooms,objects"}],
    "tomi-matched": [{}, {"disjoint": "containers"}],
    "tom-babi": [{"noise": str(share)} for share in (0, 0.1, 0.5, 1)],
    "tom-babi-easy": [{"noise": str(share)} for share in (0, 0.3)],
    "clutrr": [
        *({"test_k": str(k)} for k in range(2, 11)),
        *({"task": task, "test_k": "2-4"} for task in ("supporting", "irrelevant", "disconnected", "all", "memory")),
        *({"text": text} for text in ("plain", "placeholders", "synthetic")),
        {"names": "mixed"},
        {"cloze": True},
        {"reading": "published", "test_k": "2,3"},
    ],
}


def turn_dials(address: str, turns: int, seed: int, look_s: float) -> list[tuple[str, float]]:
    """Turn dials; return the benchmark and the milliseconds of each turn."""
    draws = random.Random(seed)
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    taken = []
    for _ in range(turns):
        time.sleep(draws.uniform(0, look_s))
        benchmark = draws.choice(list(DIALS))
        body = json.dumps({"benchmark": benchmark, "settings": draws.choice(DIALS[benchmark])})
        start = time.perf_counter()
        connection.request("POST", "/api/story", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        taken.append((benchmark, 1000 * (time.perf_counter() - start)))
        if answer.status != 200:
            raise SystemExit(f"status {answer.status}: {content[:300]!r} for {body}")
    connection.close()
    return taken


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def measure(address: str, turns: int, look_s: float, what: str) -> float:
    """Let all clients turn dials; print and return the 95th percentile in milliseconds."""
    start = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        jobs = [clients.submit(turn_dials, address, turns, seed, look_s) for seed in range(CLIENTS)]
        taken = [each for job in jobs for each in job.result()]
    rate = len(taken) / (time.perf_counter() - start)
    print(f"{what}: {len(taken):,} stories, {rate:.0f} per second")
    for name in (*DIALS, "all"):
        values = [value for benchmark, value in taken if name in (benchmark, "all")]
        print(
            f"  {name:<14}" + "".join(f"  p{int(100 * p)} {percentile(values, p):6.0f} ms" for p in (0.5, 0.95, 0.99))
        )
    return percentile([value for _, value in taken], 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40, help="how often each client turns a dial")
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "storyproof", "serve", "--port", "0", "--data", folder, "--seed", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+/", server.stdout.readline())
                assert found
                turn_dials(found[0], 40, -1, 0.0)  # imports and tables, once
                slowest = measure(found[0], turns, LOOK_S, f"{CLIENTS} clients that look at each story")
                measure(found[0], turns, 0.0, f"{CLIENTS} clients without a pause")
            finally:
                server.terminate()
    print(f"p95 {slowest:.0f} ms; goal below {GOAL_MS:.0f} ms")
    if slowest >= GOAL_MS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
