"""Whatever a server sends: a sentence and an exit code, no question lost, and time and memory stay bounded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import storyproof
from storyproof.solvers.llm.options import ModelOptions
from tests.torture.hostile_server import ESCAPES, MODEL, MODES, Mode
from tests.torture.trial import Trial

KEY = "sk-torture-0123456789"
QUICK = ("--option", "retries=2", "--option", "timeout=5", "--option", "max-wait=1")
SECONDS = 60.0  # for a run that takes a few on an idle machine
MEGABYTES = 150.0  # more than a run with a good server
QUESTIONS = 36
_SCRIPT = Path(__file__).with_name("hostile_server.py")


class Servers(NamedTuple):
    """Where the hostile server listens, and its process."""

    port: int
    pid: int

    def url(self, mode: str) -> str:
        return f"http://127.0.0.1:{self.port}/{mode}/v1"

    def seen(self) -> list[str]:
        """The keys that came to the server to which a mode redirects."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/seen", timeout=60) as response:
            found: list[str] = json.load(response)
        return found


class Run(NamedTuple):
    """How a run of `evaluate` ended, and what it took."""

    code: int
    out: str
    seconds: float
    megabytes: float


@contextmanager
def hostile_servers() -> Iterator[Servers]:
    with subprocess.Popen([sys.executable, str(_SCRIPT)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port, _ = process.stdout.readline().split()
        try:
            yield Servers(int(port), process.pid)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with hostile_servers() as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", test=6, seed=7, out=out)
    return out


@pytest.fixture(scope="module")
def undisturbed(data: Path, servers: Servers) -> dict[str, list[dict[str, Any]]]:
    """What a good server's answers lead to, by prompt."""
    return {prompt: heal(data, servers, None, prompt)[0] for prompt in ("zero-shot", "multiple-choice")}


@pytest.fixture(scope="module")
def usual(data: Path, servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> float:
    """The megabytes that a run with a good server takes."""
    return evaluate(data, servers, "good", Mode(_unused), tmp_path_factory.mktemp("usual")).megabytes


async def _unused(ask: object) -> None:
    """Stand for a behaviour that only the server's process needs."""


def heal(data: Path, servers: Servers, out: Path | None, prompt: str) -> tuple[list[dict[str, Any]], int]:
    """Run again with a good server; return the predictions, without what differs between runs, and what was asked."""
    options = ModelOptions(base_urls=(servers.url("good"),))
    found = storyproof.evaluate(f"openai/{MODEL}", data, output_dir=out, options=options, prompt=prompt)
    rows = [{name: value for name, value in row.items() if name != "effort"} for row in found.predictions]
    return rows, found.details["traffic"]["asked"]


def evaluate(data: Path, servers: Servers, name: str, mode: Mode, out: Path) -> Run:
    """Run the program against one mode, and measure it."""
    command = [sys.executable, "-m", "storyproof", "evaluate", "--model", f"openai/{MODEL}", "--data", str(data)]
    command += ["--base-url", servers.url(name), "--output-dir", str(out / "runs"), *QUICK, *mode.options]
    out.mkdir(exist_ok=True)
    start = time.monotonic()
    with (out / "printed").open("wb") as printed:
        environment = {**os.environ, "OPENAI_API_KEY": KEY}
        process = subprocess.Popen(command, stdout=printed, stderr=printed, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = (out / "printed").read_text(encoding="utf-8")
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return Run(process.returncode, text, time.monotonic() - start, usage.ru_maxrss / scale)


def check_printed(run: Run, mode: Mode) -> None:
    assert "Traceback" not in run.out
    assert run.code == mode.code, run.out
    assert mode.says in run.out
    assert not set(run.out) & (set(ESCAPES) - set("[2J]0;pwnedr31mlow"))
    assert max(map(len, run.out.splitlines())) < 2500
    check_secret(run.out)


def check_secret(text: str) -> None:
    """Check that a text has no eight characters of the key in a row, however they are written."""
    plain = re.sub(r"[\s]|%(25)*|(?<=\\)u00|\\", "", text).lower()
    for key in (KEY, "".join(f"{ord(each):02x}" for each in KEY)):
        assert not any(key[at : at + 8] in plain for at in range(len(key) - 7))


@pytest.mark.parametrize("group", MODES)
def test_hostile_server(
    group: str,
    data: Path,
    servers: Servers,
    undisturbed: dict[str, list[dict[str, Any]]],
    usual: float,
    tmp_path: Path,
    trial: Trial,
) -> None:
    for name, mode in MODES[group].items():
        with trial.case(name):
            out = tmp_path / name
            run = evaluate(data, servers, name, mode, out)
            check_printed(run, mode)
            assert run.seconds < SECONDS
            assert run.megabytes < usual + MEGABYTES
            prompt = "multiple-choice" if "multiple-choice" in mode.options else "zero-shot"
            healed, asked = heal(data, servers, out / "runs", prompt)
            assert len(healed) == QUESTIONS
            if mode.own_replies:
                assert asked == 0  # its replies are kept
            else:
                assert healed == undisturbed[prompt]
            for path in out.rglob("*"):
                if path.is_file():
                    check_secret(path.read_bytes().decode("latin-1"))
    assert servers.seen() == []
