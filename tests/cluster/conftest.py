"""A cluster of Ray, and servers of S3 and Google Cloud Storage: started once for all tests, on the loopback device."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from storyproof.engines import make_engine
from tests.cluster.gated import GATE

ROOT = Path(__file__).parents[2]
BUCKET = "stories"
_WAITED_S = 300.0


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds, and return it; fail the test if it never does."""
    end = time.monotonic() + _WAITED_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    pytest.fail(f"waited for {what} in vain")


def storyproof(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = [sys.executable, "-m", "storyproof", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Set what workers inherit: where this package and its tests are, and keys that the server of S3 accepts."""
    gate = tmp_path_factory.mktemp("gate")
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    more = {
        GATE: str(gate),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in more.items():
            patch.setenv(name, value)
        for name in ("RAY_ADDRESS", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        yield gate


@pytest.fixture(scope="session")
def s3(environment: Path) -> Iterator[str]:
    """Start a server of S3 with a bucket, and return the bucket's URL."""
    moto = pytest.importorskip("moto.server")
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        yield f"s3://{BUCKET}"
    server.stop()


@pytest.fixture(scope="session")
def gcs(environment: Path) -> Iterator[str]:
    """Start a server of Google Cloud Storage with a bucket, and return the bucket's URL."""
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket=BUCKET),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        yield f"gs://{BUCKET}"


@pytest.fixture(params=["s3", "gcs"])
def bucket(request: pytest.FixtureRequest) -> str:
    """Return the URL of a bucket, on each server in turn."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture(scope="session")
def cluster(environment: Path, s3: str, gcs: str) -> Iterator[Any]:
    """Start a cluster with two workers, and return the engine."""
    if find_spec("ray") is None:
        pytest.skip("needs Ray, which make test-cluster installs")
    with make_engine("ray", workers=2) as engine:
        yield engine


@pytest.fixture(scope="session")
def address(cluster: Any) -> str:
    """Return where the cluster is."""
    import ray

    return str(ray.get_runtime_context().gcs_address)


@pytest.fixture
def gate(environment: Path) -> Iterator[Path]:
    """Return a closed gate; it is open after the test."""
    for path in environment.iterdir():
        path.unlink()
    yield environment
    (environment / "open").touch()
