"""How fast a study answers 200 participants at once: `python -m benchmarks.study`.

The server runs as labs run it, in a process of its own, with SQLite in the study's folder, or with `--database URL` in
PostgreSQL. The participants run in a second process, a thread and a connection each: all arrive within ten seconds,
consent, answer and rate, and look at each page for a while (three seconds on average, which is short for people), until
the study ends.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import storyproof
from benchmarks.explorer import percentile
from storyproof.study.new import new_study

PEOPLE = 200
GOAL_MS = 300.0
LOOK_S = 3.0  # on average
ARRIVE_S = 10.0
# A parser of HTML would use more time than the server, and two hundred threads would measure each other.
_FORM = re.compile(r'<form[^>]* action="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
_INPUT = re.compile(r'<input type="(\w+)" name="(\w+)" value="([^"]*)"')


def read_form(page: str) -> tuple[str, dict[str, str], dict[str, list[str]]] | None:
    """Return where the first form of a page goes, its fields, and what can be chosen; None if there is no form."""
    found = _FORM.search(page)
    if found is None:
        return None
    fields: dict[str, str] = {}
    choices: dict[str, list[str]] = {}
    for kind, name, value in _INPUT.findall(found[2]):
        if kind == "hidden":
            fields[name] = unescape(value)
        else:
            choices.setdefault(name, []).append(unescape(value))
    return found[1], fields, choices


def take_part(address: str, seed: int, look_s: float, arrive_s: float) -> list[tuple[str, float]]:
    """Take part in the study; return what was asked of the server and the milliseconds that it took."""
    draws = random.Random(seed)
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    taken: list[tuple[str, float]] = []

    def ask(method: str, path: str, fields: dict[str, str] | None = None) -> tuple[str, str]:
        body = urlencode(fields) if fields else None
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
        start = time.perf_counter()
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):  # closed while nobody asked; browsers do the same
            connection.close()
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
        text = reply.read().decode()
        taken.append((method, 1000 * (time.perf_counter() - start)))
        if reply.status >= 400:
            raise SystemExit(f"status {reply.status} of {path}: {text[:500]}")
        return reply.headers.get("location", ""), text

    time.sleep(draws.uniform(0, arrive_s))
    place = "/"
    while True:
        form = read_form(ask("GET", place)[1])
        if form is None and "/feedback/" not in place:
            break  # the study has ended
        time.sleep(draws.expovariate(1 / look_s) if look_s else 0)
        if form is None:
            place = place.partition("/feedback/")[0]
            continue
        action, fields, choices = form
        chosen = {name: draws.choice(values) for name, values in choices.items()}
        place, _ = ask("POST", action, {**fields, **chosen, "browser_ms": "1000"})
        place = place or action.rpartition("/")[0]
    connection.close()
    return taken


def crowd(address: str, people: int, look_s: float, arrive_s: float) -> None:
    """Let everybody take part; print how long pages took, and end with 1 if they took too long."""
    start = time.perf_counter()
    with ThreadPoolExecutor(people) as threads:
        jobs = [threads.submit(take_part, address, seed, look_s, arrive_s) for seed in range(people)]
        taken = [each for job in jobs for each in job.result()]
    seconds = time.perf_counter() - start
    print(f"{people} participants, {len(taken):,} pages in {seconds:.0f} s, {len(taken) / seconds:.0f} per second")
    for name in ("GET", "POST", "all"):
        values = [value for method, value in taken if name in (method, "all")]
        print(f"  {name:<5}" + "".join(f"  p{int(100 * p)} {percentile(values, p):6.0f} ms" for p in (0.5, 0.95, 0.99)))
    slowest = percentile([value for _, value in taken], 0.95)
    print(f"p95 {slowest:.0f} ms; goal below {GOAL_MS:.0f} ms")
    if slowest >= GOAL_MS:
        raise SystemExit(1)


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far; 0 where the system does not tell (other than Linux)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--look", type=float, default=LOOK_S, help="seconds on each page, on average")
    parser.add_argument("--arrive", type=float, default=ARRIVE_S, help="seconds within which everybody arrives")
    parser.add_argument("--database", default="", help="the address of an empty PostgreSQL database")
    parser.add_argument("--crowd", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.crowd:
        crowd(given.crowd, given.people, given.look, given.arrive)
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        storyproof.generate("clutrr", train=0, val=0, test=given.people, seed=1, out=data, test_k=(2, 3, 4))
        settings = {"kind": "solve", "items": 2 * given.people, "tasks_per_participant": 4, "answers_per_item": 2}
        study, _ = new_study(Path(folder) / "load", settings, data=data, database=given.database)
        study.close()
        command = [sys.executable, "-m", "storyproof", "study", "serve", str(study.folder), "--port", "0"]
        command += ["--database", given.database] if given.database else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"(http://\S+?)/ ", server.stdout.readline())
                assert found
                people = [sys.executable, "-m", "benchmarks.study", "--crowd", found[1]]
                people += ["--people", str(given.people), "--look", str(given.look), "--arrive", str(given.arrive)]
                before = cpu_seconds(server.pid)
                code = subprocess.run(people, check=False).returncode
                print(f"the server used {cpu_seconds(server.pid) - before:.1f} s of CPU time")
            finally:
                server.terminate()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
