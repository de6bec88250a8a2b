"""storyproof serve: starts, answers and ends."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from storyproof.web.serve import serve
from tests.cli.invocation import run

WAIT_S = 120  # far longer than it takes; a machine that runs tests may be busy


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [
        sys.executable,
        "-m",
        "storyproof",
        "serve",
        "--port",
        "0",
        "--data",
        str(tmp_path / "data"),
        "--seed",
        "3",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        line = process.stdout.readline()  # comes when the address can be opened
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, line
        yield process, found[0]
        if process.poll() is None:
            process.kill()


def test_it_answers_and_ends(server: tuple[subprocess.Popen[str], str], tmp_path: Path) -> None:
    process, address = server
    with urlopen(address, timeout=WAIT_S) as page:
        assert "<title>storyproof</title>" in page.read().decode()
        assert "server" not in page.headers
    wanted = Request(f"{address}api/story", b'{"benchmark": "tomi"}', {"Content-Type": "application/json"})
    with urlopen(wanted, timeout=WAIT_S) as answer:
        assert json.load(answer)["confirmed"]
    with pytest.raises(HTTPError, match="421"):
        urlopen(Request(address, headers={"Host": "evil.example"}), timeout=WAIT_S)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, errors) == (0, "")
    assert list(tmp_path.iterdir()) == []  # nothing was written


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("serve", "--port", taken.getsockname()[1], "--data", tmp_path)
    assert "is in use" in str(done.exception)


def test_what_cannot_be_served(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "choose a folder for --data" in str(run("serve", "--data", tmp_path / "file").exception)
    assert "use 0 to 65535" in str(run("serve", "--data", tmp_path, "--port", 99999).exception)
    assert "rulez" in str(run("serve", "--data", tmp_path, "--model", "rulez").exception)
    assert "choose another --host" in str(run("serve", "--data", tmp_path, "--host", "203.0.113.9").exception)


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(Exception, match=r"uvicorn"):
        serve(tmp_path)
