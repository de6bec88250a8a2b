"""The explorer under attack: broken requests, many at once, and kills while it writes."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.torture.trial import Trial
from tests.web.test_stories import FAMILY, QUESTION, STORY

WAIT_S = 120
BROKEN = 150
AT_ONCE = 60
KILLS = 6
GOOD = b"POST /api/story HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n"
GOOD += b'{"benchmark": "tomi"}'
REQUESTS: list[tuple[str, dict[str, object]]] = [
    ("/api/story", {"benchmark": "clutrr", "settings": {"task": "all", "test_k": "9"}}),
    ("/api/story", {"benchmark": "tom-babi", "settings": {"noise": "1"}}),
    ("/api/read", {"story": STORY, "question": QUESTION}),
    ("/api/read", {"story": FAMILY, "question": "What is Dan to Ann?"}),
    ("/api/steps", {"story": STORY, "question": QUESTION, "order": 6}),
    ("/api/ask", {"story": STORY, "question": QUESTION, "model": "oracle"}),
    ("/api/dataset", {"benchmark": "tomi", "test": 30}),
]


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "storyproof", "serve", "--port", "0", "--data", str(folder), "--seed", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert found
            yield process, int(found[1])
        finally:
            process.kill()


def post(port: int, path: str, **body: object) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    found: dict[str, object] = json.loads(answer.read())
    connection.close()
    return answer.status, found


def break_up(draws: random.Random) -> bytes:
    """Return a request with bytes changed, left out, repeated or cut off."""
    request = bytearray(GOOD)
    for _ in range(draws.randint(1, 12)):
        at = draws.randrange(len(request) + 1)
        match draws.randrange(4):
            case 0:
                request[at : at + 1] = bytes([draws.randrange(256)])
            case 1:
                del request[at : at + draws.randint(1, 20)]
            case 2:
                request[at:at] = request[at : at + 30] * draws.randint(1, 50)
            case _:
                request = request[: at + 1]
    return bytes(request) + b"\r\n" * draws.randint(0, 2)


def send_broken(port: int, content: bytes) -> None:
    """Send something and hang up; whatever comes back, or nothing, is fine."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def test_broken_requests(trial: Trial, tmp_path: Path) -> None:
    draws = random.Random(18)
    with server(tmp_path / "data") as (process, port):
        for number in range(BROKEN):
            with trial.case(f"broken request {number}"):
                content = break_up(draws)
                with suppress(ConnectionError):  # it may hang up first
                    send_broken(port, content)
                assert process.poll() is None
            if number % 10 == 0:
                with trial.case(f"a good request after broken request {number}"):
                    assert post(port, "/api/story", benchmark="tomi")[0] == 200
    assert not (tmp_path / "data").exists()


def test_many_at_once(trial: Trial, tmp_path: Path) -> None:
    with server(tmp_path / "data") as (_, port), ThreadPoolExecutor(AT_ONCE) as clients:
        jobs = [(path, clients.submit(post, port, path, **body)) for path, body in REQUESTS * 12]
        for number, (path, job) in enumerate(jobs):
            with trial.case(f"{number} {path}"):
                status, found = job.result()
                assert status == 200, found


def test_kills_while_writing(trial: Trial, tmp_path: Path) -> None:
    downloads = tmp_path / "data" / "downloads"
    for number in range(KILLS):
        with trial.case(f"kill {number}"):
            with server(tmp_path / "data") as (process, port), ThreadPoolExecutor(1) as client:
                job = client.submit(post, port, "/api/dataset", benchmark="tomi", test=6000, seed=number)
                while not job.done() and not (downloads / ".making").exists():
                    pass  # until it has begun
                process.send_signal(signal.SIGKILL)
                job.exception()
            with server(tmp_path / "data") as (_, port):
                status, _ = post(port, "/api/dataset", benchmark="tomi", test=3, seed=number)
                assert status == 200
            for path in downloads.iterdir():
                assert path.suffix == ".zip", path
                with zipfile.ZipFile(path) as archive:
                    assert archive.testzip() is None
