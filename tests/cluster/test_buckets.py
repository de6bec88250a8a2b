"""Datasets in buckets of real servers of S3 and of Google Cloud Storage."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import storyproof
from storyproof.datasets.folders import RECORDS
from storyproof.errors import DataError
from storyproof.io.storage import RemoteFolder
from tests.cluster.conftest import storyproof as run
from tests.cluster.conftest import wait_for
from tests.cluster.gated import waiting_at
from tests.cluster.test_ray import DRIVER, files_of

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

COUNTS = {"train": 2 * 6144 + 300, "test": 600}
OPTIONS = ["--train", str(COUNTS["train"]), "--val", "0", "--test", "600", "--seed", "7", "--shard-stories", "6144"]


def fetched(url: str, into: Path) -> Path:
    """Copy a dataset to this machine."""
    into.mkdir()
    folder = RemoteFolder(url)
    for name in folder.sizes():
        folder.fetch(name, into)
    return into


def test_a_dataset_in_a_bucket_is_that_of_one_process(bucket: str, address: str, tmp_path: Path) -> None:
    url, rays = f"{bucket}/tomi", ["--engine", "ray", "--address", address]
    made = run("generate", "tomi", "--out", url, *OPTIONS, *rays)
    assert made.returncode == 0, made.stderr
    assert f"written to {url}" in made.stdout
    assert made.stderr == ""
    storyproof.generate("tomi", **COUNTS, seed=7, out=tmp_path / "one", shard_stories=6144)
    here = fetched(url, tmp_path / "fetched")
    assert files_of(here) == files_of(tmp_path / "one")
    for args in (["verify"], ["audit"]):
        near, far = run(*args, str(here)), run(*args, url, *rays)
        assert (near.returncode, near.stdout) == (far.returncode, far.stdout), far.stderr
        assert far.returncode == 0
    near, far = (
        run("evaluate", "--model", "rules", "--data", data, "--json", str(tmp_path / name), *more)
        for data, name, more in ((str(here), "near.json", []), (url, "far.json", rays))
    )
    assert far.returncode == 0, far.stderr
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("near.json", "far.json"))
    assert one["predictions"] == two["predictions"]
    assert one["intervals"] == two["intervals"]
    assert one["run"]["data"] == two["run"]["data"]
    again = run("generate", "tomi", "--out", url, *OPTIONS, *rays)
    assert again.returncode == 2
    assert "is not empty; choose another folder or replace it with --force" in again.stderr


def test_shards_in_a_bucket_survive_the_death_of_a_worker_and_of_the_command(
    bucket: str, address: str, gate: Path, tmp_path: Path
) -> None:
    url, many = f"{bucket}/killed", {"train": 6 * 6144 + 300, "val": 0, "test": 600}
    storyproof.generate("tomi", **many, seed=7, out=tmp_path / "one", shard_stories=6144)
    folder = RemoteFolder(url)

    def done() -> set[str]:
        return {name for name in folder.sizes() if name.startswith(f"{RECORDS}/")}

    command = [sys.executable, "-c", DRIVER.replace("{counts}", repr(many)), url]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as driver:
        [first] = wait_for(lambda: waiting_at(gate), "a worker at the gate")
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: len(waiting_at(gate)) == 2, "another worker at the gate")
        wait_for(lambda: len(done()) >= 3, "some shards")
        driver.kill()
    [second] = set(waiting_at(gate)) - {first}
    wait_for(lambda: not Path(f"/proc/{second}").exists(), "the end of its workers")
    with pytest.raises(DataError, match="killed is unfinished"):
        storyproof.verify(url)
    finished = len(done())
    (gate / "open").touch()
    options = ["--train", str(many["train"]), "--val", "0", "--test", "600", "--seed", "7", "--shard-stories", "6144"]
    again = run("generate", "tomi", "--out", url, *options, "--engine", "ray", "--address", address)
    assert again.returncode == 0, again.stderr
    assert f"{finished} of 8 shards were done" in again.stderr
    here = fetched(url, tmp_path / "fetched")
    assert files_of(here) == files_of(tmp_path / "one")  # with the manifest, which has the hashes of the content


def test_a_bucket_is_resumed_protected_and_replaced(bucket: str) -> None:
    url = f"{bucket}/again"
    first = storyproof.generate("tomi", **COUNTS, seed=7, out=url)
    folder = RemoteFolder(url)
    sizes = folder.sizes()
    assert RECORDS not in {name.partition("/")[0] for name in sizes}
    with pytest.raises(DataError, match="is not empty"):
        storyproof.generate("tomi", **COUNTS, seed=8, out=url)
    folder.write("notes.txt", b"mine")
    with pytest.raises(DataError, match=r"files that storyproof did not write.*notes\.txt"):
        storyproof.generate("tomi", **COUNTS, seed=8, out=url, force=True)
    folder.remove(["notes.txt"])
    second = storyproof.generate("tomi", **COUNTS, seed=8, out=url, force=True)
    assert second["files"].keys() == first["files"].keys()
    assert second["files"] != first["files"]
    assert storyproof.verify(url).ok


def test_what_was_changed_in_a_bucket_is_found(bucket: str, tmp_path: Path) -> None:
    url = f"{bucket}/changed"
    storyproof.generate("tomi", test=600, seed=7, out=url, format="jsonl")
    folder = RemoteFolder(url)
    [name] = [name for name in folder.sizes() if name.endswith(".jsonl")]
    lines = folder.fetch(name, tmp_path).read_text().splitlines(keepends=True)
    row = json.loads(lines[4])
    row["answer"] = next(each for each in row["candidates"] if each != row["answer"])
    lines[4] = json.dumps(row) + "\n"
    folder.write(name, "".join(lines).encode())
    found = storyproof.verify(url)
    assert found.findings[0].found == f"{name} differs from the manifest (sha256)"
    assert found.findings[1].id == row["id"]
    [report] = storyproof.audit(url).files
    assert report.file == name
    assert report.findings
    damaged = "".join(lines[:3]) + "{\n"
    folder.write(name, damaged.encode())
    [unread] = [each for each in storyproof.verify(url).findings if each.row == 3]
    assert unread.line == 4


@pytest.fixture
def locked(s3: str) -> Any:
    """Let the server check keys, and give keys that it does not know."""

    def post(count: str) -> None:
        place = os.environ["AWS_ENDPOINT_URL"] + "/moto-api/reset-auth"
        urlopen(Request(place, count.encode(), {"Content-Type": "text/plain"}, method="POST")).read()

    post("0")
    yield s3
    post("inf")


def test_a_bucket_without_rights_is_one_sentence(locked: str) -> None:
    found = run("generate", "tomi", "--out", f"{locked}/x", *OPTIONS, AWS_ACCESS_KEY_ID="AKIAUNKNOWN000000000")
    assert found.returncode == 2, found.stderr
    assert f"{locked}/x: permission denied" in found.stderr
    assert "check the bucket, its rights and your keys." in found.stderr
    assert "Traceback" not in found.stderr


@pytest.fixture
def denying() -> Iterator[str]:
    """Start a server that denies everything in the words of Google Cloud Storage, which the other one does not."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = {"error": {"code": 403, "message": "Anonymous caller does not have storage.objects.list access"}}
            body = json.dumps(said).encode()
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_bucket_of_google_without_rights_is_one_sentence(denying: str) -> None:
    found = run("generate", "tomi", "--out", "gs://lab/x", *OPTIONS, STORAGE_EMULATOR_HOST=denying)
    assert found.returncode == 2, found.stderr
    [line] = found.stderr.splitlines()
    assert line.startswith("storyproof: cannot list gs://lab/x: Forbidden")
    assert "does not have storage.objects.list access" in line
    assert line.endswith("check the bucket, its rights and your keys.")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://no-such-bucket/x", "cannot list s3://no-such-bucket/x: it does not exist"),
        ("gs://no-such-bucket/x", "cannot list gs://no-such-bucket/x: it does not exist"),
        ("nonsense://x/y", "nonsense://x/y cannot be reached"),
    ],
)
def test_places_that_do_not_exist_are_one_sentence(s3: str, gcs: str, url: str, expected: str) -> None:
    for args in (["generate", "tomi", "--out", url, *OPTIONS], ["verify", url]):
        found = run(*args)
        assert found.returncode == 2, found.stderr
        assert expected in found.stderr
        assert "Traceback" not in found.stderr
