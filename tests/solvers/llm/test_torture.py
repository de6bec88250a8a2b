"""Whatever servers and users do, nothing is lost, nothing is asked twice, and the result is the same."""

import json
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.evaluation.runs import Evaluation
from storyproof.solvers.llm import client as servers
from storyproof.solvers.llm.options import ModelOptions
from tests.solvers.llm.serving import SECONDS, FakeServer, meanwhile, wait_for

TROUBLE = {
    "rate_limited": 0.08,
    "retry_after": 0.05,
    "broken": 0.05,
    "dropped": 0.05,
    "hung": 0.01,
    "malformed": 0.05,
    "truncated": 0.03,
    "latency_s": 0.002,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", test=51, seed=7, out=out)
    return out


@pytest.fixture(scope="module")
def undisturbed(data: Path) -> list[dict[str, Any]]:
    with FakeServer() as server:
        return lasting(evaluate(data, server, None).predictions)


def lasting(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Predictions without what differs from run to run."""
    return [{name: value for name, value in row.items() if name != "effort"} for row in rows]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(servers, "_LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr(servers, "_UNREACHED_S", 0.1)


def evaluate(data: Path, server: FakeServer, out: Path | None, **options: Any) -> Evaluation:
    made = ModelOptions(base_urls=(server.url,), **{"concurrency": 16, **options})
    return storyproof.evaluate("openai/fake", data, output_dir=out, options=made)


@pytest.mark.usefixtures("impatient")
def test_server_that_does_everything_wrong(data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    with FakeServer(**TROUBLE) as server:
        found = evaluate(data, server, tmp_path, timeout_s=0.4, retries=400)
        counts = server.counts()
    assert {"rate_limited", "broken", "dropped", "malformed"} < set(counts["kinds"])
    assert found.details["failures"]["failed"] == 0
    assert lasting(found.predictions) == undisturbed
    assert set(counts["answered"].values()) == {1}


@pytest.mark.usefixtures("impatient")
def test_failures_are_asked_again_by_the_next_run(
    data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]]
) -> None:
    with FakeServer(broken=0.3) as server:
        first = evaluate(data, server, tmp_path, retries=0)
        missing = first.details["failures"]["failed"]
        assert 0 < missing < 306
        assert first.scores.questions == 306 - missing
        assert not first.counts
        server.behave()
        again = evaluate(data, server, tmp_path)
        assert again.details["traffic"] | {"shared_prefix": 0} == {
            "requests": 306,
            "asked": missing,
            "found": 306 - missing,
            "failed": 0,
            "retries": 0,
            "shared_prefix": 0,
        }
        assert set(server.counts()["answered"].values()) == {1}
    assert lasting(again.predictions) == undisturbed


@pytest.mark.usefixtures("impatient")
def test_server_that_dies_and_comes_back(
    data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, ask = threading.Event(), servers.Server.ask

    async def watched(self: servers.Server, *arguments: Any) -> Any:
        found = await ask(self, *arguments)
        if isinstance(found, servers.Trouble) and found.what.startswith("no server at"):
            refused.set()
        return found

    monkeypatch.setattr(servers.Server, "ask", watched)
    with FakeServer(dies_after=60) as server:

        def bring_back() -> None:
            for settings in ({"dies_after": 60}, {}):
                server.wait()
                refused.clear()
                assert refused.wait(SECONDS), "nobody noticed that the server is down"
                server.settings = settings
                server.start()

        with meanwhile(bring_back):
            found = evaluate(data, server, tmp_path, concurrency=8, retries=10_000)
    assert found.details["failures"]["failed"] == 0
    assert lasting(found.predictions) == undisturbed
    assert sum(row["effort"]["retries"] for row in found.predictions) > 0


@pytest.mark.usefixtures("impatient")
def test_server_that_dies_for_good(data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    with FakeServer(dies_after=60) as server:
        found = evaluate(data, server, tmp_path, concurrency=8, retries=2, patience_s=0.3)
        assert "no server at" in str(found.ended)
        assert 0 < found.scores.questions < 306
        assert not found.counts
        right = {row["id"]: row for row in undisturbed}
        assert all(row == right[row["id"]] for row in lasting(found.predictions))
        server.wait()
        server.settings = {}
        server.start()
        again = evaluate(data, server, tmp_path)
        assert lasting(again.predictions) == undisturbed
        assert sum(server.counts()["asked"].values()) == 306 - found.scores.questions


def command(data: Path, server: FakeServer, out: Path, *more: str) -> list[str]:
    made = [sys.executable, "-m", "storyproof", "evaluate", "--model", "openai/fake", "--base-url", server.url]
    return [*made, "--data", str(data), "--output-dir", str(out), *more]


def kill_and_resume(
    data: Path, out: Path, times: int, in_flight: int, draws: random.Random, **settings: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Kill the evaluator at random moments of its work, then let it finish; gives the server's counts and the run."""
    with FakeServer(**settings) as server:
        arguments = command(data, server, out, "--concurrency", str(in_flight))
        for _ in range(times):
            enough = server.counts()["answered_in_all"] + draws.randint(1, 60)
            process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(
                lambda enough=enough, process=process: (  # type: ignore[misc]
                    process.poll() is not None or server.counts()["answered_in_all"] >= enough
                ),
                "the evaluator to ask",
            )
            process.kill()
            process.wait()
            wait_for(lambda: server.counts()["in_flight"] == 0, "the server to finish what it was asked")
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return server.counts(), json.loads((out / "openai-fake_test.json").read_text())


@pytest.mark.slow  # the torture tests kill it too
def test_evaluator_that_is_killed(data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    counts, found = kill_and_resume(data, tmp_path, 2, 4, random.Random(1), latency_s=0.02)
    assert lasting(found["predictions"]) == undisturbed
    # What was on its way when the evaluator died was asked again, and nothing else.
    assert sum(counts["asked"].values()) - 306 <= 2 * 4
    assert sum(counts["answered"].values()) - 306 <= 2 * 4
    assert len(counts["asked"]) == 306


def test_interrupt_ends_cleanly(data: Path, tmp_path: Path) -> None:
    with FakeServer(hold_after=20) as server:
        arguments = command(data, server, tmp_path, "--concurrency", "4")
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        wait_for(
            lambda: process.poll() is not None or server.counts()["in_flight"] > 0,
            "requests that the server holds",
        )
        wait_for(lambda: process.poll() is not None or server.counts()["answered_in_all"] >= 20, "twenty answers")
        process.send_signal(signal.SIGINT)
        begun, noticed = process.stderr.readline(), process.stderr.readline()
        server.behave()  # answers what it holds
        out, err = process.communicate(timeout=SECONDS)
        counts = server.counts()
    assert process.returncode == 130
    assert "306 questions" in begun
    assert "waiting for" in noticed
    assert "Traceback" not in err
    assert "ended early: interrupted" in out
    assert err.endswith("storyproof: interrupted; what was finished is kept, and nothing is half-written.\n")
    read = json.loads((tmp_path / "openai-fake_test.json").read_text())
    assert read["questions"] == sum(counts["answered"].values())  # all that was answered is kept
    assert 20 <= read["questions"] < 306


def test_interrupt_before_any_answer_promises_nothing(data: Path, tmp_path: Path) -> None:
    with FakeServer(hold_after=0) as server:
        arguments = command(data, server, tmp_path, "--concurrency", "4")
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        wait_for(
            lambda: process.poll() is not None or server.counts()["in_flight"] > 0, "requests that the server holds"
        )
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "press Ctrl-C again" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert (out, err) == ("", "storyproof: interrupted; nothing is half-written.\n")
    assert not (tmp_path / "openai-fake_test.json").exists()


@pytest.mark.slow
def test_evaluator_killed_and_server_wrong(data: Path, tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    for seed in range(6):
        trouble = {**TROUBLE, "hung": 0.0, "latency_s": 0.02}
        out = tmp_path / str(seed)
        counts, found = kill_and_resume(data, out, 5, 8, random.Random(seed), **trouble)
        assert lasting(found["predictions"]) == undisturbed
        assert sum(counts["answered"].values()) - 306 <= 5 * 8
