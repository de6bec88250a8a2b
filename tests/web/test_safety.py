"""What keeps other pages, large requests and endless work away from the explorer."""

import asyncio
import re
import threading
from pathlib import Path

import pytest

from storyproof.runtime.guard import LARGEST_REQUEST
from storyproof.web import app as application
from storyproof.web.app import create_app, explorer_page
from tests.solvers.llm.serving import wait_for
from tests.web.client import HOST, PATIENT_S, Client


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(create_app(tmp_path_factory.mktemp("data"), seed=1, quick_s=PATIENT_S))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:99", "localhost:8642", "LOCALHOST", "[::1]:8642"])
def test_own_names(client: Client, host: str) -> None:
    assert client.get("/", {"host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8642",
        "127.0.0.1.evil.example",
        "localhost.",
        "a@127.0.0.1",
        "127.0.0.1:x",
        "[::1",
        "10.0.0.7",
        "127.0.0.1/x",
        "0.0.0.0",
    ],
)
def test_other_names_are_refused(client: Client, host: str) -> None:
    for path in ("/", "/api/start", "/api/files"):
        assert client.get(path, {"host": host}).status == 421


def test_an_open_server_takes_addresses_but_no_names(tmp_path: Path) -> None:
    client = Client(create_app(tmp_path, hosts=["0.0.0.0"], any_address=True, quick_s=PATIENT_S))
    assert client.get("/", {"host": "10.0.0.7:80"}).status == 200
    assert client.get("/", {"host": "[fe80::1]:80"}).status == 200
    assert client.get("/", {"host": "evil.example"}).status == 421


def test_other_pages_cannot_send_requests(client: Client) -> None:
    body = b'{"benchmark": "tomi"}'
    for origin in (
        "http://evil.example",
        "null",
        "https://127.0.0.1:8642",
        "http://127.0.0.1:99",
        "http://localhost:8642",
    ):
        assert client.request("POST", "/api/story", body, {"origin": origin}).status == 403
    for site in ("cross-site", "same-site"):
        assert client.get("/api/files", {"sec-fetch-site": site}).status == 403
        assert client.get("/", {"sec-fetch-site": site}).status == 200  # a link to the page is fine
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert client.request("POST", "/api/story", body, {"content-type": kind}).status == 415
    assert client.request("POST", "/api/story", body, {"content-type": "application/json; charset=utf-8"}).status == 200


def test_large_requests_are_refused(client: Client) -> None:
    large = b" " * (LARGEST_REQUEST + 1)
    assert client.request("POST", "/api/read", large, {"content-length": str(len(large))}).status == 413
    assert client.request("POST", "/api/read", large).status == 413  # even if nobody says how large
    assert client.request("POST", "/api/read", b"{}", {"content-length": "-1"}).status == 413
    assert client.get("/report?" + "run=a&" * 5000).status == 414
    long = {"story": "a" * 20_001, "question": "Where?"}
    assert "at most 20,000" in client.post("/api/read", long).error
    assert "lines" in client.post("/api/read", {"story": "\n" * 200, "question": "Where?"}).error
    assert "names" in client.post("/api/read", {"story": "", "question": "", "people": ["a"] * 65}).error


@pytest.mark.parametrize("path", ["/", "/api/start", "/api/files", "/nothing", "/downloads/x.zip", "/report", "/audit"])
def test_every_response_has_a_policy(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_the_page_runs_its_own_scripts_only_and_requests_nothing_else(client: Client) -> None:
    page = client.get("/")
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert all(source.startswith("'sha256-") for source in policy["script-src"].split() + policy["style-src"].split())
    assert not re.findall(r"(?:src|href|action)\s*=\s*[\"']?\s*(?:https?:)?//", page.text)
    assert "innerHTML" not in page.text
    assert " style=" not in page.text
    assert " onclick=" not in page.text


def test_other_methods_and_addresses(client: Client) -> None:
    assert client.get("/api/story").status == 405
    assert client.request("PUT", "/").status == 405
    assert client.get("/../etc/passwd").status == 404


def test_work_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page gets an answer in time, and later requests are answered as long as there is a free place."""
    release, calls = threading.Event(), list[int]()

    def endless(*_: object) -> object:
        calls.append(1)
        release.wait()
        raise AssertionError

    client = Client(create_app(tmp_path, seed=1, quick_s=0.05))
    monkeypatch.setattr(application, "fresh_story", endless)

    async def try_often() -> list[int]:
        headers = {"host": HOST, "content-type": "application/json"}
        body = b'{"benchmark": "tomi"}'
        found = [await client.send("POST", "/api/story", body, headers) for _ in range(application.MOST_AT_ONCE + 2)]
        page = await client.send("GET", "/", b"", headers)
        return [*(each.status for each in found), page.status]

    try:
        assert asyncio.run(asyncio.wait_for(try_often(), 60)) == [503] * (application.MOST_AT_ONCE + 2) + [200]
        wait_for(lambda: len(calls) >= application.MOST_AT_ONCE, "the threads that were given up to begin")
        assert len(calls) == application.MOST_AT_ONCE  # the others were not begun
    finally:
        release.set()


def test_a_bug_is_reported_without_details(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(application, "fresh_story", broken)
    with pytest.raises(ZeroDivisionError):  # Starlette hands it on to the server's log, after the answer
        client.post("/api/story", benchmark="tomi")


def test_the_page_is_built_once() -> None:
    assert explorer_page() is explorer_page()
