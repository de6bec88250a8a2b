"""Many participants at once, each a thread with its own connection, against a server that may be killed at any time."""

import http.client
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from urllib.parse import urlencode

from tests.study.browser import FormFields, forms_of

WAIT_S = 300
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Server:
    """A study's server in a process of its own, which can be killed and started again at the same port."""

    def __init__(self, folder: Path, port: int, database: str = "") -> None:
        self.port = port
        self._command = [sys.executable, "-m", "storyproof", "study", "serve", str(folder), "--port", str(port)]
        self._command += ["--database", database] if database else []
        self._process: subprocess.Popen[str] | None = None
        self.is_up = Event()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert "The study is at" in line, line
        self.is_up.set()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End the process at once, as `kill -9` does."""
        assert self._process is not None
        self.is_up.clear()
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@dataclass
class Acknowledged:
    """What the server has said it has taken: form by form."""

    forms: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    count: int = 0
    changed: Condition = field(default_factory=Condition)

    def add(self, path: str, fields: dict[str, str]) -> None:
        with self.changed:
            self.count += 1
            self.forms.setdefault((path, fields.get("slot", "")), fields)
            self.changed.notify_all()


class Visitor:
    """A participant who never gives up: what got no reply is sent again, and now and then twice for no reason."""

    def __init__(self, server: Server, seed: int, done: Acknowledged) -> None:
        self._server, self._draws, self._done = server, random.Random(seed), done
        self.finished = False

    def _request(self, method: str, path: str, body: str = "") -> tuple[int, str, str]:
        for _ in range(1_000):
            assert self._server.is_up.wait(WAIT_S)
            connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=WAIT_S)
            try:
                connection.request(method, path, body, FORM if method == "POST" else {})
                reply = connection.getresponse()
                text = reply.read().decode()
                if reply.status != 503:
                    return reply.status, reply.headers.get("location", ""), text
            except (OSError, http.client.HTTPException):
                continue  # the server was killed; whether it took the form, we do not know
            finally:
                connection.close()
        raise AssertionError("the server did not come back")

    def send(self, path: str, fields: dict[str, str]) -> tuple[int, str]:
        """Send a form, sometimes several times; return the status and where it leads."""
        found = (0, "")
        for _ in range(self._draws.choice((1, 1, 1, 2, 3))):
            status, place, text = self._request("POST", path, urlencode(fields))
            assert status in (200, 303, 409), (path, status, text[:2000])
            if status == 303:
                self._done.add(path, fields)
            found = (status, place)
        return found

    def take_part(self) -> None:
        """Go through the whole study."""
        _, _, page = self._request("GET", "/")
        form = forms_of(page)[0]
        status, place = self.send(form.action, {**form.fields, "agree": "yes"})
        if status == 200:
            return  # there was nothing left to do
        path = place
        for _ in range(10_000):
            status, _, page = self._request("GET", path)
            assert status == 200, page[:2000]
            forms = forms_of(page)
            if not forms:
                self.finished = True
                return
            self.send(forms[0].action, self._fill(forms[0], page))
        raise AssertionError("the study does not end")

    def _fill(self, form: FormFields, page: str) -> dict[str, str]:
        kind = form.action.rsplit("/", 1)[1]
        if kind == "start":
            return form.fields
        if kind == "write":
            listed = page.partition('class="facts"')[2].partition("</ul>")[0]
            facts = " ".join(map(unescape, re.findall('<span class="data">(.*?)</span>', listed)))
            return {**form.fields, "text": f"{opening(int(form.fields['slot']))}{facts}", "browser_ms": "500"}
        if kind == "review":
            good = self._draws.random() < 0.7
            verdict = {"verdict": "good"} if good else {"verdict": "bad", "reason": "nonsense"}
            return {**form.fields, **verdict, "browser_ms": "500"}
        if kind == "answer":
            return {**form.fields, "answer": self._draws.choice(form.choices["answer"]), "browser_ms": "500"}
        return {**form.fields, "difficulty": self._draws.choice(form.choices["difficulty"])}


def opening(number: int) -> str:
    """Return sentences that no other story begins with."""
    things = ("rain", "wind", "snow", "storm", "heat", "frost", "fog", "hail", "thunder", "drizzle", "cold", "mist")
    return f"The {things[number % 12]} had stopped at last. The {things[number // 12 % 12]} was next. "


def play_with_kills(server: Server, people: int, kill_every: int) -> tuple[Acknowledged, list[Visitor], int]:
    """Let participants take part while the server is killed after every so many forms; return what was taken."""
    done, failures, lock = Acknowledged(), list[BaseException](), Lock()
    visitors = [Visitor(server, seed, done) for seed in range(people)]
    left = people

    def run(work: Callable[[], None]) -> None:
        nonlocal left
        try:
            work()
        except BaseException as error:
            with lock:
                failures.append(error)
        with done.changed:
            left -= 1
            done.changed.notify_all()

    server.start()
    threads = [Thread(target=run, args=[visitor.take_part], daemon=True) for visitor in visitors]
    for thread in threads:
        thread.start()
    kills, wanted = 0, kill_every
    while True:
        with done.changed:
            assert done.changed.wait_for(lambda goal=wanted: done.count >= goal or left == 0, WAIT_S)
            if left == 0:
                break
            wanted = done.count + kill_every
        server.kill()
        kills += 1
        server.start()
    for thread in threads:
        thread.join(WAIT_S)
    server.kill()
    assert failures == []
    return done, visitors, kills


def token_of(path: str) -> str:
    found = re.match("/s/([^/]+)/", path)
    return found[1] if found else ""
